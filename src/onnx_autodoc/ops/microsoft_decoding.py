"""Text generation of onnxruntime (com.microsoft), and ai.onnx operators that are not specified."""

from msgspec.structs import replace

from onnx_autodoc.ops.call import Call, shape_of_min_rank, shape_of_rank, size, size_element, sizes
from onnx_autodoc.ops.cost import (
    Cost,
    free,
    generated,
    interpolation_ops,
    per_input_element,
    per_output_element,
    uncounted,
    unknown_arithmetic,
)
from onnx_autodoc.ops.dim_specs import rule
from onnx_autodoc.ops.fused_costs import rms_norm
from onnx_autodoc.ops.microsoft import simplified_norm
from onnx_autodoc.ops.operator import Operator, Trait, WorkClass, constants, weights
from onnx_autodoc.ops.recurrent import cell, recurrent
from onnx_autodoc.ops.shape_rules import same, same_as
from onnx_autodoc.ops.slicing import OPERATORS as SLICING
from onnx_autodoc.ops.values import Contradiction, Dim, Shape, Unknown, ValueInfo, tensor, with_shape


def _vocabulary(call: Call) -> Dim:
    declared = call.attr_int("vocab_size", 0)
    return declared if declared > 0 else Unknown("the vocabulary size is that of the decoder's output")


def _score_type(call: Call, *inputs: int) -> str | None:
    """Return the type of scores: that of the penalties."""
    return next((call.dtype(at) for at in inputs if call.has(at)), None)


def _beams(call: Call) -> list[ValueInfo]:
    """Infer sequences [B, returned, max length], their scores, and the scores of every token at every step."""
    prompt, max_length = shape_of_min_rank(call, 0), size_element(call, 1)
    returned: Shape = (prompt[0], size_element(call, 4))
    steps: Dim = Unknown(f"{call.node.op}: the first decoding step is determined inside the operator")
    if call.attr_int("model_type", 0) == 0 and len(prompt) == 2:
        steps = max_length - prompt[1]
    dtype = _score_type(call, 5, 6)
    return [
        tensor("int32", (*returned, max_length)),
        tensor(dtype, returned),
        tensor(dtype, (steps, prompt[0], size_element(call, 3), _vocabulary(call))),
    ]


def _whisper_beams(call: Call) -> list[ValueInfo]:
    decoded = Unknown("WhisperBeamSearch: the number of decoded tokens is data-dependent")
    inside = Unknown("WhisperBeamSearch: layers, heads and frames are those of its decoder")
    layers = shape_of_min_rank(call, 12)[0] if call.has(12) else inside
    sequences, sequence_scores, scores = _beams(call)
    attention = tensor(None, (*(sequence_scores.shape or ()), layers, decoded, inside))
    return [sequences, sequence_scores, scores, attention, tensor(sequence_scores.dtype, call.shape(0)[:1])]


def _greedy(call: Call) -> list[ValueInfo]:
    batch = shape_of_min_rank(call, 0)[0]
    sequences = tensor("int32", (batch, size_element(call, 1)))
    return [sequences, tensor(_score_type(call, 3), (batch, _vocabulary(call)))]


def _tokenizer(call: Call) -> list[ValueInfo]:
    source = call.shape(0)
    if len(source) not in (1, 2):
        raise Contradiction(f"Tokenizer requires rank 1 or 2, got rank {len(source)}")
    if size(source) < 1:
        return [tensor("string", source)]  # of no strings there are no tokens: the last axis is not added
    return [tensor("string", (*source, Unknown("Tokenizer: the number of tokens is data-dependent")))]


def _bifurcation(call: Call) -> list[ValueInfo]:
    tokens = call.shape(1)
    if call.has(3):
        tokens = (Unknown("BifurcationDetector: the number of accepted tokens is data-dependent"),)
    return [tensor(call.dtype(1), tokens), with_shape(call.input_info(2), call.shape(2))]


def _ngram_hashes(call: Call) -> list[ValueInfo]:
    # ids [B, S] = hashes [B, S, orders * heads], and the ids that the next call needs
    ids, before, heads = shape_of_rank(call, 0, 2), *_ngrams(call)
    return [tensor(call.dtype(0), (*ids, before * heads)), tensor(call.dtype(0), (ids[0], before))]


def _packed_ngram_hashes(call: Call) -> list[ValueInfo]:
    # ids [tokens] of sequences that begin at [B + 1] offsets
    dtype, batch, before, heads = call.dtype(0), shape_of_rank(call, 3, 1)[0] - 1, *_ngrams(call)
    return [
        tensor(dtype, (shape_of_rank(call, 0, 1)[0], before * heads)),
        tensor(dtype, (batch, before)),
        tensor("int32", (batch, before)),
        tensor(dtype, (batch, call.attr_int("state_update_capacity", 0), before)),
    ]


def _ngrams(call: Call) -> tuple[int, int]:
    """Return the number of previous ids in an n-gram, and the heads per order."""
    return call.attr_required("max_ngram_size") - 1, call.attr_required("n_head_per_ngram")


_LSTM = cell("LSTM")
_GENERATED = uncounted("the number of decoder runs is data-dependent")


def _attention_lstm_cost(call: Call) -> Cost:
    """as LSTM over input and attention together; memory size · attention size MACs once per memory; per step, hidden ·
    attention size + memories · (attention size + memory size) MACs, and one per weight of the attention layer; 2 FLOPs
    per key element, 5 per score"""
    (_, batch, width), (_, memories, depth) = shape_of_rank(call, 0, 3), shape_of_rank(call, 11, 3)
    directions, hidden, attention = shape_of_rank(call, 8, 3)
    lstm, runs = _LSTM(call), size(call.shape(0)[:2]) * directions
    layer = size(shape_of_min_rank(call, 13)[1:]) if call.has(13) else 0
    gates = 4 * hidden * (shape_of_rank(call, 1, 3)[2] - width)  # for the attention input
    step = gates + hidden * attention + memories * (attention + depth) + layer
    keys = directions * batch * memories * depth * attention
    return Cost(lstm.macs + runs * step + keys, lstm.other + runs * memories * (2 * attention + 5))


def _hashes_cost(call: Call) -> Cost:
    """1 FLOP per hash for the remainder, 1 for an offset; per token, one multiply per id of the longest n-gram, and one
    operation less to combine them"""
    hashes, before, offsets = call.output(), _ngrams(call)[0], 5 if call.node.op.startswith("Varlen") else 4
    return Cost(other=size(hashes) * (1 + call.has(offsets)) + size(call.shape(0)) * (2 * before + 1))


def _repeat_block_cost(call: Call) -> Cost:
    """n - 1 comparisons per n-gram of the ids"""
    (batch, length), count = shape_of_rank(call, 0, 2), call.attr_required("ngram_size")
    grams = length - count + 1
    return Cost(other=0 if type(grams) is int and grams < 1 else batch * grams * (count - 1))


def _word_embedding_cost(call: Call) -> Cost:
    """window · character size MACs per kernel and position in a word; 3 FLOPs per result: bias, tanh, max"""
    (words, length), kernels = shape_of_rank(call, 0, 2), shape_of_rank(call, 1, 4)
    places = words * (length - kernels[2] + 1)
    if type(places) is int and places < 0:
        raise Contradiction(f"WordConvEmbedding has words of length {length}, shorter than its window ({kernels[2]})")
    return Cost(places * size(kernels), 3 * places * kernels[0])


OPERATORS: dict[str, Operator] = {
    "AttnLSTM": Operator(lambda call: recurrent(call, states=2), cost=_attention_lstm_cost, work=WorkClass.RECURRENT),
    "BeamSearch": Operator(_beams, cost=_GENERATED),
    "BifurcationDetector": Operator(
        _bifurcation, cost=unknown_arithmetic("the number of tokens compared is data-dependent")
    ),
    "DynamicTimeWarping": Operator(
        lambda _: [tensor("int32", (2, Unknown("DynamicTimeWarping: the path length is data-dependent")))],
        cost=per_input_element(3, "two comparisons, add"),
    ),
    "GreedySearch": Operator(_greedy, cost=_GENERATED),
    "NGramHashMapping": Operator(_ngram_hashes, cost=_hashes_cost),
    "NGramRepeatBlock": Operator(same_as(1), cost=_repeat_block_cost),
    "Sampling": Operator(_greedy, cost=_GENERATED),
    "Tokenizer": Operator(_tokenizer, cost=unknown_arithmetic("the number of characters read is data-dependent")),
    "VarlenNGramHashMapping": Operator(_packed_ngram_hashes, cost=_hashes_cost),
    "WhisperBeamSearch": Operator(_whisper_beams, cost=_GENERATED),
    # words as characters [words, longest] under kernels [M, 1, window, C] = [words, M]
    "WordConvEmbedding": Operator(
        rule("0: words ... longest, 1: M ... -> 1: words M"),
        cost=_word_embedding_cost,
        work=WorkClass.CONVOLUTION,
    ),
}


def _given_fill(call: Call) -> list[ValueInfo]:
    extra = call.attr_ints("extra_shape") or ()
    if call.has(0):
        dims = sizes(call, 0) if call.attr_int("input_as_shape", 0) else call.shape(0)
        return [tensor("float32", (*dims, *extra))]
    shape = call.attr_ints("shape")
    if shape is None:
        raise Contradiction("GivenTensorFill requires a shape")
    return [tensor("float32", shape)]


# boxes [B, R, 4] over features [B, C, H, W]
_roi_patches = rule("0: B R _, 1: _ C _ _ -> 0: B R C @pooled_size @pooled_size")

UNSPECIFIED: dict[str, Operator] = {
    "DisentangledAttention_TRT": Operator(
        same, cost=per_output_element(3, "two adds, scale"), work=WorkClass.ATTENTION
    ),
    "DynamicSlice": replace(SLICING["Slice"], traits=SLICING["Slice"].traits | {Trait.EXPERIMENTAL}),
    "EfficientNMS_TRT": Operator(
        rule("0: B ... -> int32: B 1, 0: B @max_output_boxes 4, 0: B @max_output_boxes, int32: B @max_output_boxes"),
        cost=unknown_arithmetic("the number of boxes compared is data-dependent"),
        roles=constants(2),
    ),
    "GRUUnit": Operator(
        same,
        cost=per_output_element(6, "sigmoid, tanh, two multiplies, subtract, add"),
        work=WorkClass.RECURRENT,
        traits={Trait.EXPERIMENTAL},
    ),
    "GivenTensorFill": Operator(
        _given_fill, cost=generated, learned_attributes=("values",), traits={Trait.EXPERIMENTAL}
    ),
    "MemcpyFromHost": Operator(same, cost=free),
    "MemcpyToHost": Operator(same, cost=free),
    "MultilevelCropAndResize_TRT": Operator(
        _roi_patches, cost=per_output_element(interpolation_ops(4), "bilinear interpolation")
    ),
    "PyramidROIAlign_TRT": Operator(
        _roi_patches, cost=unknown_arithmetic("the plugin determines the number of samples per region")
    ),
    "SimplifiedLayerNormalization": Operator(
        simplified_norm, cost=rms_norm, roles=weights(1), traits={Trait.PROPAGATES_NAN}, work=WorkClass.NORMALIZATION
    ),
}
