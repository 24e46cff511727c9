"""Text in and text out in onnxruntime (com.microsoft): whole generation loops, tokenizers and embeddings of words."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, each_input, uncounted, untold
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, Unknown, like, tensor
from onnx_autodoc.ops._operator import Operator
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._sizes import one_size
from onnx_autodoc.ops.recurrent import cell, recurrent

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


# prices
_LSTM = cell("LSTM")
_GENERATED = uncounted("how often its decoder runs, the data decide")


def _attention_lstm_cost(call: Call) -> Cost:
    """as LSTM, over input and attention together; memory · attention multiply-adds once for each memory; for each step
    hidden · attention, memories · (attention + size of one) and the attention layer's weights; 2 per element of a key,
    5 per score"""
    (_, batch, wide), (_, memories, depth) = ranked(call, 0, 3), ranked(call, 11, 3)
    directions, hidden, attention = ranked(call, 8, 3)
    lstm, runs = _LSTM(call), size(call.shape(0)[:2]) * directions
    layer = size(deep(call, 13)[1:]) if call.has(13) else 0
    more = 4 * hidden * (ranked(call, 1, 3)[2] - wide)  # of the gates, for the attention beside the input
    each = more + hidden * attention + memories * (attention + depth) + layer
    keys = directions * batch * memories * depth * attention
    return Cost(lstm.macs + runs * each + keys, lstm.other + runs * memories * (2 * attention + 5))


def _hashes_cost(call: Call) -> Cost:
    """1 per hash for the remainder, 1 for an offset; for each token a product per id of the longest n-gram, and one
    less to combine them"""
    made, before, offsets = call.output(), _ngrams(call)[0], 5 if call.node.op.startswith("Varlen") else 4
    return Cost(other=size(made) * (1 + call.has(offsets)) + size(call.shape(0)) * (2 * before + 1))


def _repeat_block_cost(call: Call) -> Cost:
    """n - 1 comparisons for each n-gram of the ids"""
    (batch, length), count = ranked(call, 0, 2), call.attr_required("ngram_size")
    grams = length - count + 1
    return Cost(other=0 if type(grams) is int and grams < 1 else batch * grams * (count - 1))


def _word_embedding_cost(call: Call) -> Cost:
    """window · size of a character multiply-adds for each kernel and place in a word; 3 per result: bias, tanh,
    greatest"""
    (words, length), kernels = ranked(call, 0, 2), ranked(call, 1, 4)
    places = words * (length - kernels[2] + 1)
    if type(places) is int and places < 0:
        raise Contradiction(f"WordConvEmbedding of words of {length} characters under a window of {kernels[2]}")
    return Cost(places * size(kernels), 3 * places * kernels[0])


OPERATORS: dict[str, Operator] = {
    "AttnLSTM": Operator(_attention_lstm, cost=_attention_lstm_cost),
    "BeamSearch": Operator(_beams, cost=_GENERATED),
    "BifurcationDetector": Operator(_bifurcation, cost=untold("how many tokens are compared, the data decide")),
    "DynamicTimeWarping": Operator(_time_warping, cost=each_input(3, "two comparisons, one addition")),
    "GreedySearch": Operator(_greedy, cost=_GENERATED),
    "NGramHashMapping": Operator(_ngram_hashes, cost=_hashes_cost),
    "NGramRepeatBlock": Operator(_repeat_block, cost=_repeat_block_cost),
    "Sampling": Operator(_greedy, cost=_GENERATED),
    "Tokenizer": Operator(_tokenizer, cost=untold("how many characters are read, the data decide")),
    "VarlenNGramHashMapping": Operator(_packed_ngram_hashes, cost=_hashes_cost),
    "WhisperBeamSearch": Operator(_whisper_beams, cost=_GENERATED),
    "WordConvEmbedding": Operator(_word_embedding, cost=_word_embedding_cost),
}
