"""Text in and text out in onnxruntime (com.microsoft): whole generation loops, tokenizers and embeddings of words."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, Unknown, like, tensor
from onnx_autodoc.ops._operator import Operator
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._sizes import one_size
from onnx_autodoc.ops.recurrent import recurrent

_VOCABULARY = "the size of the vocabulary is that of the decoder's result"


def _vocabulary(call: Call) -> Dim:
    found = call.attr_int("vocab_size", 0)
    return found if found > 0 else Unknown(_VOCABULARY)


def _score_type(call: Call, *inputs: int) -> str | None:
    """Scores have the type of the penalties, where there is one."""
    return next((call.dtype(at) for at in inputs if call.has(at)), None)


def _beams(call: Call) -> list[Known]:
    """[B, returned, longest]; a score for each; the scores of every word at every step."""
    prompt, longest = deep(call, 0), one_size(call, 1)
    best: Shape = (prompt[0], one_size(call, 4))
    steps: Dim = Unknown(f"{call.node.op}: where the decoder begins is decided inside it")
    if call.attr_int("model_type", 0) == 0 and len(prompt) == 2:
        steps = longest - prompt[1]
    dtype = _score_type(call, 5, 6)
    return [
        tensor("int32", (*best, longest)),
        tensor(dtype, best),
        tensor(dtype, (steps, prompt[0], one_size(call, 3), _vocabulary(call))),
    ]


def _whisper_beams(call: Call) -> list[Known]:
    decoded = Unknown("WhisperBeamSearch: how many tokens are decoded depends on the data")
    inside = Unknown("WhisperBeamSearch: the layers, heads and frames are those of its decoder")
    chosen = deep(call, 12)[0] if call.has(12) else inside
    sequences, best, scores = _beams(call)
    attention = tensor(None, (*(best.shape or ()), chosen, decoded, inside))
    return [sequences, best, scores, attention, tensor(best.dtype, call.shape(0)[:1])]


def _greedy(call: Call) -> list[Known]:
    batch = deep(call, 0)[0]
    sequences = tensor("int32", (batch, one_size(call, 1)))
    return [sequences, tensor(_score_type(call, 3), (batch, _vocabulary(call)))]


def _tokenizer(call: Call) -> list[Known]:
    source = call.shape(0)
    if len(source) not in (1, 2):
        raise Contradiction(f"Tokenizer of {len(source)} dimensions")
    if size(source) < 1:
        return [tensor("string", source)]  # of no strings there are no tokens: the last axis is not added
    return [tensor("string", (*source, Unknown("Tokenizer: how many tokens a text has depends on the text")))]


def _repeat_block(call: Call) -> list[Known]:
    return [like(call.known(1), call.shape(1))]


def _bifurcation(call: Call) -> list[Known]:
    tokens = call.shape(1)
    if call.has(3):
        tokens = (Unknown("BifurcationDetector: how many predicted tokens are taken over depends on the data"),)
    return [tensor(call.dtype(1), tokens), like(call.known(2), call.shape(2))]


def _time_warping(call: Call) -> list[Known]:
    return [tensor("int32", (2, Unknown("DynamicTimeWarping: how long the path is depends on the data")))]


def _word_embedding(call: Call) -> list[Known]:
    # words as characters [words, longest] under kernels [M, 1, window, C] = [words, M]
    return [tensor(call.dtype(1), (deep(call, 0, 2)[0], deep(call, 1)[0]))]


def _attention_lstm(call: Call) -> list[Known]:
    return recurrent(call, states=2)


def _ngram_hashes(call: Call) -> list[Known]:
    # ids [B, S] = hashes [B, S, orders * heads], and the ids that the next call needs
    ids, before, heads = ranked(call, 0, 2), *_ngrams(call)
    return [tensor(call.dtype(0), (*ids, before * heads)), tensor(call.dtype(0), (ids[0], before))]


def _packed_ngram_hashes(call: Call) -> list[Known]:
    # ids [tokens] of sequences that begin at [B + 1] offsets
    dtype, batch, before, heads = call.dtype(0), ranked(call, 3, 1)[0] - 1, *_ngrams(call)
    return [
        tensor(dtype, (ranked(call, 0, 1)[0], before * heads)),
        tensor(dtype, (batch, before)),
        tensor("int32", (batch, before)),
        tensor(dtype, (batch, call.attr_int("state_update_capacity", 0), before)),
    ]


def _ngrams(call: Call) -> tuple[int, int]:
    """How many ids before the current one count, and the heads of each order."""
    return call.attr_required("max_ngram_size") - 1, call.attr_required("n_head_per_ngram")


OPERATORS: dict[str, Operator] = {
    "AttnLSTM": Operator(_attention_lstm),
    "BeamSearch": Operator(_beams),
    "BifurcationDetector": Operator(_bifurcation),
    "DynamicTimeWarping": Operator(_time_warping),
    "GreedySearch": Operator(_greedy),
    "NGramHashMapping": Operator(_ngram_hashes),
    "NGramRepeatBlock": Operator(_repeat_block),
    "Sampling": Operator(_greedy),
    "Tokenizer": Operator(_tokenizer),
    "VarlenNGramHashMapping": Operator(_packed_ngram_hashes),
    "WhisperBeamSearch": Operator(_whisper_beams),
    "WordConvEmbedding": Operator(_word_embedding),
}
