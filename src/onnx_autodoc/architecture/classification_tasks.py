"""Tasks of one result per example or per position: classes, numbers, features."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.architecture.task_context import (
    Condition,
    TaskContext,
    TaskRule,
    has_activation,
    is_activated,
    reads,
    reads_none,
    rules_for,
)
from onnx_autodoc.patterns import COMMON_CLASS_COUNTS, Head

_SOUND: Final = ("audio", "spectrogram")
_MAX_BYTE_ROWS: Final = 300  # a token table with fewer rows holds bytes or characters
_MIN_CHARACTERS: Final = 10  # digits and a blank
_MIN_PHONEMES: Final = 20
_MIN_SAMPLES_PER_RESULT: Final = 16


# Classes per position


def _is_per_token(context: TaskContext, head: Head) -> bool:
    """Whether there are as many results as tokens. Speech that is synthesized from a text has another length."""
    lengths = {(context.dims(name) or (0,))[-1] for name in context.inputs_of("tokens")}
    return head.positions in lengths or not lengths


def _is_sequence(context: TaskContext) -> bool:
    """Whether one result is a class per position along a sequence, not per patch of an image."""
    has_patches = context.has_block("patch-embedding") and not context.reads(*_SOUND)
    return len(context.selected) == 1 and len(context.results) == 1 and not has_patches


def _is_slower_than_audio(context: TaskContext) -> bool:
    """Whether there are far fewer results than samples: as many would be audio again."""
    name = context.inputs_of(*_SOUND)[0]
    dims = context.dims(name) or (0,)
    return context.roles[name] != "audio" or max(dims) >= _MIN_SAMPLES_PER_RESULT * (context.head.positions or 0)


def _sequence_rule(name: str, roles: tuple[str, ...], place: str, min_classes: int, *when: Condition) -> TaskRule:
    """Return a rule whose evidence is that of its head, with where the positions are."""
    conditions = (reads(*roles), _is_sequence, lambda context: (context.head.classes or 0) > min_classes, *when)
    notes = (lambda context: f"{context.head.evidence} along {place}", lambda context: context.cite(*roles))
    return TaskRule(name, 0.8, ("ctc",), when=conditions, notes=notes, quoted=0)


# Classes per example


def _has_only_classes(context: TaskContext) -> bool:
    others = {head.kind for head in context.results} - {"classification", "embedding", "hidden", "features"}
    return not others and len(context.inputs_of("image")) < 2


def _returns_audio_state(context: TaskContext) -> bool:
    return context.reads("audio") and bool(context.heads_of("state"))


def _is_neither_text_nor_stream(context: TaskContext) -> bool:
    return not context.reads("tokens") and not _returns_audio_state(context)


def _is_table(context: TaskContext) -> bool:
    """Whether all inputs are columns of a table."""
    features, names = context.inputs_of("features"), context.net.inputs
    is_flat = all(len(context.dims(name) or ()) == 2 for name in names)
    return 0 < len(features) == len(names) and is_flat and context.family in ("mlp", "tree-ensemble", "unknown")


def _text_score(context: TaskContext) -> float:
    rows = max((op.embedding.rows or 0 for op in context.net.of("embedding")), default=0)
    is_language = rows > _MAX_BYTE_ROWS or context.has_block("attention")
    return 0.9 if is_language and len(context.selected) == 1 else 0.6


def _class_score(activated: float, plain: float) -> Callable[[TaskContext], float]:
    """Class scores without an activation may be keypoints. Other results, a state or a gray image raise doubt."""

    def score(context: TaskContext) -> float:
        is_class = is_activated(context.head) or context.head.classes in COMMON_CLASS_COUNTS
        has_state = context.reads("image") and context.reads("state")
        limit = 0.6 if len(context.selected) > 1 or has_state else 0.7 if context.is_gray_image else 1.0
        return min(activated if is_class else plain, limit)

    return score


def _class_rule(role: str, name: str, activated: float, plain: float) -> TaskRule:
    score, when = _class_score(activated, plain), (_is_neither_text_nor_stream,)
    return TaskRule(name, score, cites=(role,), when=when, also=("image embedding",), has_classes=True)


_VOICE_ACTIVITY: Final = TaskRule(
    "voice activity detection",
    0.7,
    cites=("audio",),
    when=(_returns_audio_state,),
    notes=("a state is carried between chunks of audio",),
    also=("audio classification",),
)
_CLASSES: Final = (
    TaskRule("text classification", 0.95, ("trees",), when=(reads("text"),), has_classes=True),
    TaskRule("tabular classification", 0.95, ("trees",), has_classes=True),
    TaskRule(
        "tabular regression",
        0.95,
        ("trees-regression",),
        when=(lambda context: len(context.selected) == len(context.net.outputs) == 1,),  # without a label
    ),
    TaskRule("token classification", 0.9, ("token-classification",), has_classes=True, head_filter=_is_per_token),
    _sequence_rule("text recognition", ("image",), "the image", _MIN_CHARACTERS),
    _sequence_rule("speech recognition", _SOUND, "the audio", _MIN_PHONEMES, _is_slower_than_audio),
    *(
        replace(rule, prefer=is_activated)
        for rule in rules_for(
            ("classification",),
            (_has_only_classes,),
            TaskRule(
                "text classification",
                _text_score,
                cites=("tokens",),
                when=(reads_none("image", *_SOUND),),
                has_classes=True,
            ),
            *rules_for((), (reads_none("tokens"), lambda context: context.head.classes == 2), _VOICE_ACTIVITY),
            _class_rule("image", "image classification", 0.93, 0.75),  # plain numbers may be keypoints of a face
            _class_rule("audio", "audio classification", 0.88, 0.7),
            _class_rule("spectrogram", "audio classification", 0.78, 0.6),  # or a quality score
            _class_rule("video", "video classification", 0.88, 0.75),
            TaskRule(
                "tabular classification",
                0.8,
                cites=("features",),
                when=(_is_neither_text_nor_stream, _is_table, has_activation("softmax", "argmax")),
                has_classes=True,
            ),
        )
    ),
)


# One number


def _is_only_result(context: TaskContext) -> bool:
    return len(context.results) == 1 and context.is_understood


def _reads_one_image(context: TaskContext) -> bool:
    return len(context.inputs_of("image")) == 1


_NUMBERS: Final = (
    TaskRule(
        "token classification",
        0.55,
        ("probability-per-place", "score-per-place"),
        when=(_is_only_result, reads("tokens")),
        classes=2,
        head_filter=_is_per_token,
    ),
    *rules_for(
        ("probability",),
        (_is_only_result,),
        TaskRule("text classification", _text_score, cites=("tokens",), classes=2),
        _VOICE_ACTIVITY,
        TaskRule("audio classification", 0.6, cites=("audio",)),
        TaskRule("image classification", 0.7, cites=("image",), when=(_reads_one_image,), classes=2),
        TaskRule("tabular classification", 0.75, cites=("features",), when=(_is_table,), classes=2),
    ),
    *rules_for(
        ("score",),
        (_is_only_result,),
        TaskRule("text scoring", 0.6, when=(reads("tokens"),), also=("text classification",)),
        TaskRule("tabular regression", 0.7, cites=("features",), when=(_is_table,)),
    ),
)


# Features


def _are_features_only(context: TaskContext) -> bool:
    is_all = len(context.selected) == len(context.results)
    return is_all and context.is_understood and not context.reads("timestep")


def _is_pooled(context: TaskContext) -> bool:
    return context.head.kind == "embedding"


def _is_sentence_embedding(context: TaskContext) -> bool:
    is_only_embedding = all(head.kind == "embedding" for head in context.selected)
    return _is_pooled(context) and (is_only_embedding or context.head.activation in ("mean", "normalized", "projected"))


def _is_image(context: TaskContext) -> bool:
    """Whether an image is read, but no text. A gray one may be a spectrogram."""
    return not context.reads("tokens") and not context.is_gray_image


def _matches_image_and_text(context: TaskContext) -> bool:
    reads_both = context.reads("tokens") and context.reads("image") and not context.reads("features")
    return reads_both and sum(head.kind == "embedding" for head in context.selected) > 1


_TEXT: Final = reads_none("features", "image")  # speech is synthesized from a text and features
_AUDIO: Final = reads_none("tokens", "image")
_OF_IMAGES: Final = ("feature extraction", "image embedding")
_OF_SOUND: Final = ("speech recognition", "feature extraction")
_FEATURES: Final = rules_for(
    ("hidden", "embedding", "features"),
    (_are_features_only,),
    TaskRule("image-text matching", 0.7, when=(_matches_image_and_text,), quoted=2),
    TaskRule(
        "sentence embedding",
        lambda context: 0.9 if context.head.activation else 0.75,
        cites=("tokens",),
        when=(_TEXT, _is_sentence_embedding),
        also=("feature extraction",),
    ),
    TaskRule(
        "feature extraction",
        lambda context: 0.85 if context.has_block("attention") else 0.6,
        cites=("tokens",),
        when=(_TEXT,),
        also=("sentence embedding",),
    ),
    TaskRule("image embedding", 0.8, cites=("image",), when=(_is_image, _is_pooled), also=_OF_IMAGES),
    TaskRule("feature extraction", 0.7, cites=("image",), when=(_is_image,), also=_OF_IMAGES),
    TaskRule("audio embedding", 0.7, cites=_SOUND, when=(_AUDIO, _is_pooled), also=_OF_SOUND),
    TaskRule("feature extraction", 0.7, cites=_SOUND, when=(_AUDIO,), also=_OF_SOUND),
)
CLASSIFICATION_TASKS: Final = (
    *_CLASSES,
    *_NUMBERS,
    *(replace(rule, prefer=lambda head: head.kind == "embedding") for rule in _FEATURES),
)
