"""Tasks of text: questions, generation, masked tokens, texts that match images."""

from typing import Final

from onnx_autodoc.architecture.task_context import TaskContext, TaskRule, has_blocks, reads, rules_for

_SOUND: Final = ("audio", "spectrogram")
_SEQUENTIAL: Final = ("lstm", "gru", "rnn", "state-space")
_WHISPER_VOCABULARIES: Final = frozenset((51_864, 51_865, 51_866))


def _has_cross_attention(context: TaskContext) -> bool:
    return any(op.attention.cross for op in context.net.of("attention"))


def _returns_cache(context: TaskContext) -> bool:
    return context.has_cache or bool(context.heads_of("state"))


def _writes_second_text(context: TaskContext) -> bool:
    is_decoder = context.has_block(*_SEQUENTIAL) or context.family != "transformer-encoder"
    has_two_texts = len(context.inputs_of("tokens")) > 1 and len(context.selected) == 1
    return has_two_texts and (is_decoder or _has_cross_attention(context))


def _convolves_frames(context: TaskContext) -> bool:
    """Whether convolutions along time read features of frames: speech with an unusual number of bands."""
    has_frames = any(len(context.dims(name) or ()) == 3 for name in context.inputs_of("features"))
    ops = context.net.of("conv", "conv-norm-act", "linear", "mlp")
    return has_frames and any(len(op.conv.kernel) == 1 for op in ops)


def _is_causal(context: TaskContext) -> bool:
    return any(op.attention.causal for op in context.net.of("attention"))


_CROSS: Final = "read by cross-attention"
_FRAMES: Final = "convolved along time, then read by cross-attention"
_ENCODED: Final = "cross-attention reads encoder states; the input of the encoder is not in this file"
_CACHED: Final = "KV cache"
_CAUSAL: Final = "causal attention"
_PAST: Final = "reads keys and values of past tokens"
_RECURRENT: Final = "read by a recurrent network"
_CONDITIONED: Final = rules_for(
    (),
    (
        lambda context: (
            context.reads("encoder") or (context.family != "transformer-encoder" and _has_cross_attention(context))
        ),
    ),
    TaskRule("speech recognition", 0.85, cites=_SOUND, notes=(_CROSS,)),
    TaskRule("image-to-text", 0.85, cites=("image",), notes=(_CROSS,)),
    TaskRule(
        "speech recognition",
        0.6,
        cites=("features",),
        when=(_convolves_frames,),
        notes=(_FRAMES,),
        also=("text generation",),
    ),
    TaskRule(
        "speech recognition",
        0.7,
        when=(lambda context: any(op.embedding.rows in _WHISPER_VOCABULARIES for op in context.net.of("embedding")),),
        notes=("the vocabulary has the size of Whisper's",),
    ),
    TaskRule(
        "text generation",
        0.6,
        notes=(_ENCODED,),
        also=("text-to-text generation", "speech recognition", "image-to-text"),
    ),
)
_LANGUAGE: Final = rules_for(
    ("lm",),
    (lambda context: len(context.selected) == 1 or context.family != "transformer-encoder",),
    TaskRule(
        "text-to-text generation",
        0.92,
        when=(_writes_second_text,),
        notes=("reads one text and generates another",),
    ),
    *_CONDITIONED,
    TaskRule("speech recognition", 0.75, cites=_SOUND),
    TaskRule("image-to-text", 0.75, cites=("image",)),
    TaskRule("text generation", 0.95, when=(_is_causal, _returns_cache), notes=(_CAUSAL, _CACHED)),
    TaskRule("text generation", 0.92, when=(_is_causal,), notes=(_CAUSAL,)),
    TaskRule("text generation", 0.9, when=(reads("past"),), notes=(_PAST,)),
    TaskRule("text generation", 0.8, when=(has_blocks("attention"), _returns_cache), notes=(_CACHED,)),
    TaskRule(
        "fill mask",
        0.85,
        when=(has_blocks("attention"),),
        notes=("bidirectional attention",),
        also=("text generation",),
    ),
    TaskRule(
        "fill mask",
        0.8,
        when=(lambda context: any(op.recurrent.bidirectional for op in context.net.of(*_SEQUENTIAL)),),
        notes=(_RECURRENT,),
    ),
    TaskRule("text generation", 0.8, when=(has_blocks(*_SEQUENTIAL),), notes=(_RECURRENT,)),
    TaskRule("text generation", 0.6, notes=("no bidirectional attention",)),
)
TEXT_TASKS: Final = (
    TaskRule("question answering", 0.95, ("span",)),
    *_LANGUAGE,
    TaskRule(
        "image-text matching",
        0.92,
        ("matching",),
        cites=("tokens",),
        when=(reads("image"),),
        notes=(lambda context: context.cite("image"),),
    ),
)
