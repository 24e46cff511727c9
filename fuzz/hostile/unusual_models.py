"""Operators with invalid attributes: one absurd value in an otherwise plain node."""

from collections.abc import Callable
from typing import Final

from fuzz.wire import attr, call, chunk, floats, integer, ints, model, node, one, opset, raw, value, varint, wrapped

_BIG: Final = 1 << 62
_PICTURE: Final = (1, 4, 16, 16)
_NAN: Final = float("nan")


def _conv(
    *attributes: bytes, dims: tuple[int, ...] = _PICTURE, kernel: tuple[int, ...] = (4, 4, 3, 3), op: str = "Conv"
) -> Callable[[], bytes]:
    return lambda: wrapped(op, *attributes, extra=value(11, "w", kernel), more="w", dims=dims)


def _pool(*attributes: bytes, op: str = "MaxPool", dims: tuple[int, ...] = _PICTURE) -> Callable[[], bytes]:
    return lambda: wrapped(op, *attributes, dims=dims)


def _on(
    op: str, *attributes: bytes, dims: tuple[int | str, ...] = (2, 3), extra: bytes = b"", more: str = ""
) -> Callable[[], bytes]:
    return lambda: wrapped(op, *attributes, dims=dims, extra=extra, more=more)


def _slice(start: int, end: int, step: int) -> Callable[[], bytes]:
    extra = ints("s", [start]) + ints("e", [end]) + ints("a", [0]) + ints("p", [step])
    return _on("Slice", extra=extra, more="s e a p")


def _microsoft(op: str, inputs: dict[str, tuple[int, ...]], *attributes: bytes) -> Callable[[], bytes]:
    """Encode a node of com.microsoft on inputs of given sizes."""
    declared = b"".join(value(11, name, dims) for name, dims in inputs.items())
    encoded = call(op, " ".join(inputs), "y", "com.microsoft", 1, attributes)
    return lambda: model(declared + encoded + value(12, "y", ("n",)), extra=opset(1, "com.microsoft"))


def _recurrent(op: str, *attributes: bytes, hidden: int = 8, extra: bytes = b"", more: str = "") -> Callable[[], bytes]:
    gates = {"RNN": 1, "LSTM": 4, "GRU": 3}[op]
    weights = value(11, "w", (1, gates * hidden, 4)) + value(11, "r", (1, gates * hidden, hidden))
    return _on(op, *attributes, dims=(5, 2, 4), extra=weights + extra, more=f"w r {more}")


def _trees(count: int) -> bytes:
    names = ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids")
    lists = [chunk(1, name) + chunk(8, varint(_BIG) * count) + integer(20, 7) for name in names]
    lists.append(chunk(1, "nodes_values") + chunk(7, b"\0\0\xc0\x7f" * count) + integer(20, 6))
    lists.append(chunk(1, "nodes_modes") + chunk(9, "BRANCH_LEQ") * count + integer(20, 8))
    encoded = call("TreeEnsembleRegressor", "x", "y", "ai.onnx.ml", 1, (*lists, attr("n_targets", _BIG)))
    return model(value(11, "x", (2, 3)) + encoded + value(12, "y", ("n",)), extra=opset(3, "ai.onnx.ml"))


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "LayerNormalization of axis 2^31": _on(
        "LayerNormalization", attr("axis", 1 << 31), extra=floats("w", [1.0] * 3), more="w"
    ),
    "LayerNormalization of axis -2^63": _on(
        "LayerNormalization", attr("axis", -(1 << 63)), extra=floats("w", [1.0] * 3), more="w"
    ),
    "Conv of group 0": _conv(attr("group", 0)),
    "Conv of group -1": _conv(attr("group", -1)),
    "Conv of group 2^62": _conv(attr("group", _BIG)),
    "Conv of group 3": _conv(attr("group", 3)),
    "Conv of stride 0": _conv(attr("strides", [0, 0])),
    "Conv of stride -1": _conv(attr("strides", [-1, -1])),
    "Conv of three strides": _conv(attr("strides", [1, 1, 1])),
    "Conv of dilation 2^62": _conv(attr("dilations", [_BIG, _BIG])),
    "Conv of negative pads": _conv(attr("pads", [-9, -9, -9, -9])),
    "Conv of pads of 2^62": _conv(attr("pads", [_BIG] * 4)),
    "Conv of three pads": _conv(attr("pads", [1, 1, 1])),
    "Conv of a kernel of 0": _conv(attr("kernel_shape", [0, 0]), kernel=(4, 4, 0, 0)),
    "Conv of another kernel": _conv(attr("kernel_shape", [5, 5])),
    "Conv of a kernel above the picture": _conv(kernel=(4, 4, 99, 99)),
    "Conv of no axes": _conv(dims=(1, 4), kernel=(4, 4)),
    "Conv of 60 axes": _conv(dims=(1, 4) + (3,) * 60, kernel=(4, 4) + (3,) * 60),
    "Conv of auto_pad 7": _conv(attr("auto_pad", 7)),
    "Conv of auto_pad nonsense": _conv(attr("auto_pad", "\x1b[31m")),
    "Conv of 2^62 channels": _conv(dims=(1, _BIG, 8, 8), kernel=(_BIG, _BIG, 3, 3)),
    "ConvTranspose of output_padding 2^62": _conv(attr("output_padding", [_BIG, _BIG]), op="ConvTranspose"),
    "ConvTranspose of output_shape -1": _conv(attr("output_shape", [-1, -1]), op="ConvTranspose"),
    "DeformConv of offset_group 0": _conv(attr("offset_group", 0), op="DeformConv"),
    "MaxPool of stride 0, ceil": _pool(attr("kernel_shape", [2, 2]), attr("strides", [0, 0]), attr("ceil_mode", 1)),
    "MaxPool of kernel 0, ceil": _pool(attr("kernel_shape", [0, 0]), attr("ceil_mode", 1)),
    "MaxPool of ceil 2^62": _pool(attr("kernel_shape", [3, 3]), attr("strides", [2, 2]), attr("ceil_mode", _BIG)),
    "MaxPool without a kernel": _pool(),
    "MaxPool of kernel 2^62 and pads 2^62": _pool(attr("kernel_shape", [_BIG, _BIG]), attr("pads", [_BIG] * 4)),
    "AveragePool of an empty picture": _pool(attr("kernel_shape", [2, 2]), op="AveragePool", dims=(0, 0, 0, 0)),
    "LpPool of p 0": _pool(attr("kernel_shape", [2, 2]), attr("p", 0), op="LpPool"),
    "Slice of 2^63 bounds": _slice(-(1 << 63), (1 << 63) - 1, 1),
    "Slice backwards by 2^63": _slice((1 << 63) - 1, -(1 << 63), -(1 << 63)),
    "Slice of step 0": _slice(0, 1, 0),
    "Slice of axes twice": _on("Slice", extra=ints("s", [0, 0]) + ints("e", [1, 2]) + ints("a", [0, 0]), more="s e a"),
    "Slice of 10^5 axes": _on("Slice", extra=ints("s", [0] * 100_000) + ints("e", [1] * 100_000), more="s e"),
    "Gather of axis 2^31": _on("Gather", attr("axis", 1 << 31), extra=ints("k", [0]), more="k"),
    "GatherND of batch_dims -1": _on("GatherND", attr("batch_dims", -1), extra=ints("k", [0]), more="k"),
    "GatherND past the rank": _on("GatherND", extra=ints("k", [0] * 9), more="k"),
    "ScatterND of a rank too high": _on("ScatterND", extra=ints("k", [0] * 9) + floats("u", [1.0]), more="k u"),
    "Transpose with one axis twice": _on("Transpose", attr("perm", [0, 0])),
    "Transpose with axis 2^62": _on("Transpose", attr("perm", [_BIG, -_BIG])),
    "Transpose of too many axes": _on("Transpose", attr("perm", list(range(1000)))),
    "Cast to type 999": _on("Cast", attr("to", 999)),
    "Cast to type -2^63": _on("Cast", attr("to", -(1 << 63))),
    "Cast to a text": _on("Cast", attr("to", "float")),
    "BitCast to string": _on("BitCast", attr("to", 8)),
    "Squeeze of axes 2^62": _on("Squeeze", extra=ints("a", [_BIG]), more="a"),
    "Squeeze of 10^5 axes": _on("Squeeze", extra=ints("a", [0] * 100_000), more="a"),
    "Unsqueeze of axes twice": _on("Unsqueeze", extra=ints("a", [0, 0, -1]), more="a"),
    "Unsqueeze of 5,000 axes": _on("Unsqueeze", extra=ints("a", list(range(5_000))), more="a"),
    "Flatten of axis -2^63": _on("Flatten", attr("axis", -(1 << 63))),
    "Concat of axis 2^31": _on("Concat", attr("axis", 1 << 31), more="x"),
    "ReduceSum of axis 2^62": _on("ReduceSum", extra=ints("a", [_BIG]), more="a"),
    "ReduceMean of axes that are floats": _on("ReduceMean", extra=floats("a", [0.5]), more="a"),
    "CumSum of axis 2^62": _on("CumSum", extra=one("a", _BIG), more="a"),
    "ArgMax of axis -2^63": _on("ArgMax", attr("axis", -(1 << 63))),
    "Softmax of axis 2^62": _on("Softmax", attr("axis", _BIG)),
    "Hardmax of rank 0": _on("Hardmax", dims=()),
    "TopK of -1": _on("TopK", extra=ints("k", [-1]), more="k"),
    "OneHot of depth -1": _on("OneHot", extra=one("d", -1) + floats("v", [0.0, 1.0]), more="d v"),
    "Trilu of a huge k": _on("Trilu", extra=one("k", -(1 << 63)), more="k"),
    "Einsum of 10^4 letters": _on("Einsum", attr("equation", "a" * 10_000)),
    "Einsum of 10^4 terms": _on("Einsum", attr("equation", "ab," * 10_000 + "ab->ab"), more="x " * 50),
    "Einsum of dots": _on("Einsum", attr("equation", "...a...b...->...")),
    "Einsum of arrows": _on("Einsum", attr("equation", "->" * 1_000)),
    "Einsum of other letters": _on("Einsum", attr("equation", "\u202eä\0->ß")),
    "Einsum of one letter five times": _on("Einsum", attr("equation", "aa,aaa->a"), more="x"),
    "MatMul of scalars": _on("MatMul", more="x", dims=()),
    "Gemm of rank 64": _on("Gemm", more="x x", dims=(2,) * 64),
    "BatchNormalization of epsilon NaN": _on(
        "BatchNormalization", attr("epsilon", _NAN), extra=floats("w", [1.0] * 3), more="w w w w"
    ),
    "GroupNormalization of 0 groups": _on(
        "GroupNormalization", attr("num_groups", 0), extra=floats("w", [1.0]), more="w w", dims=_PICTURE
    ),
    "LRN of size -1": _on("LRN", attr("size", -1), dims=_PICTURE),
    "QuantizeLinear of axis 2^62": _on("QuantizeLinear", attr("axis", _BIG), extra=floats("s", [0.0] * 3), more="s"),
    "QuantizeLinear of block_size 2^62": _on(
        "QuantizeLinear", attr("block_size", _BIG), extra=floats("s", [_NAN] * 6, [2, 3]), more="s"
    ),
    "QuantizeLinear to type 77": _on(
        "QuantizeLinear", attr("output_dtype", 77), extra=floats("s", [1.0], []), more="s"
    ),
    "DequantizeLinear of block_size -1": _on(
        "DequantizeLinear", attr("block_size", -1), extra=floats("s", [1.0] * 6, [2, 3]), more="s"
    ),
    "DequantizeLinear of strings": _on("DequantizeLinear", extra=raw("s", [1], 8, b"x"), more="s"),
    "LSTM of hidden size 0": _recurrent("LSTM", attr("hidden_size", 0)),
    "LSTM of hidden size 2^62": _recurrent("LSTM", attr("hidden_size", _BIG), hidden=_BIG),
    "LSTM of direction sideways": _recurrent("LSTM", attr("direction", "sideways"), attr("hidden_size", 8)),
    "LSTM of layout 7": _recurrent("LSTM", attr("layout", 7), attr("hidden_size", 8)),
    "LSTM of 10^4 activations": _recurrent("LSTM", attr("activations", ["Tanh"] * 10_000), attr("hidden_size", 8)),
    "LSTM of sequence lengths 2^31 - 1": _recurrent(
        "LSTM", attr("hidden_size", 8), extra=raw("l", [2], 6, b"\xff\xff\xff\x7f" * 2), more="b0 l"
    ),
    "GRU of hidden size -1": _recurrent("GRU", attr("hidden_size", -1)),
    "GRU of direction 3": _recurrent("GRU", attr("direction", 3)),
    "GRU of both directions and one weight": _recurrent(
        "GRU", attr("direction", "bidirectional"), attr("hidden_size", 8)
    ),
    "RNN of clip NaN": _recurrent("RNN", attr("clip", _NAN), attr("hidden_size", 8)),
    "Attention of 0 heads": _on(
        "Attention", attr("q_num_heads", 0), attr("kv_num_heads", 0), more="x x", dims=(1, 4, 8)
    ),
    "Attention of 2^62 heads": _on(
        "Attention", attr("q_num_heads", _BIG), attr("kv_num_heads", _BIG), more="x x", dims=(1, 4, 8)
    ),
    "Attention of 3 heads on 8": _on(
        "Attention", attr("q_num_heads", 3), attr("kv_num_heads", 2), more="x x", dims=(1, 4, 8)
    ),
    "RotaryEmbedding of dim -1": _on(
        "RotaryEmbedding", attr("rotary_embedding_dim", -1), attr("num_heads", 0), more="x x", dims=(1, 4, 8)
    ),
    "GroupQueryAttention of 0 kv heads": _microsoft(
        "GroupQueryAttention",
        {"q": (1, 4, 8), "k": (1, 4, 8), "v": (1, 4, 8)},
        attr("num_heads", 4),
        attr("kv_num_heads", 0),
    ),
    "GroupQueryAttention of -2^63 heads": _microsoft(
        "GroupQueryAttention",
        {"q": (1, 4, 8), "k": (1, 4, 8), "v": (1, 4, 8)},
        attr("num_heads", -(1 << 63)),
        attr("kv_num_heads", 3),
    ),
    "MultiHeadAttention of 0 heads": _microsoft("MultiHeadAttention", {"q": (1, 4, 8)}, attr("num_heads", 0)),
    "MatMulNBits of 0 bits": _microsoft(
        "MatMulNBits", {"a": (1, 8), "b": (4, 1, 4)}, attr("K", 8), attr("N", 4), attr("bits", 0), attr("block_size", 0)
    ),
    "MatMulNBits of K 2^62": _microsoft(
        "MatMulNBits",
        {"a": (1, 8), "b": (4, 1, 4)},
        attr("K", _BIG),
        attr("N", _BIG),
        attr("bits", 4),
        attr("block_size", 1 << 40),
    ),
    "MatMulNBits without attributes": _microsoft("MatMulNBits", {"a": (1, 8), "b": (4, 1, 4)}),
    "QMoE of 0 experts": _microsoft("QMoE", {"a": (1, 8), "b": (1, 0)}, attr("k", _BIG), attr("expert_weight_bits", 0)),
    "BeamSearch without decoder": _microsoft("BeamSearch", {"a": (1, 8)}, attr("eos_token_id", -1)),
    "a tree ensemble of 10^5": lambda: _trees(100_000),
    "DFT of length 2^62": _on("DFT", extra=one("l", _BIG), more="l", dims=(1, 16, 1)),
    "DFT of length 0": _on("DFT", extra=one("l", 0), more="l", dims=(1, 16, 1)),
    "STFT of step 0": _on("STFT", extra=one("p", 0) + floats("w", [1.0] * 4), more="p w", dims=(1, 16, 1)),
    "STFT of frames above the signal": _on(
        "STFT", extra=one("p", 1) + floats("w", []) + one("f", _BIG), more="p w f", dims=(1, 16, 1)
    ),
    "MelWeightMatrix of 2^31 bins": lambda: model(
        one("b", 1 << 31)
        + one("d", 1 << 31)
        + one("r", -1)
        + floats("l", [_NAN], [])
        + floats("h", [1e30], [])
        + node("MelWeightMatrix", "b d r l h", "y")
        + value(12, "y", ("n",))
    ),
    "HannWindow of 2^62": lambda: model(one("n", _BIG) + node("HannWindow", "n", "y") + value(12, "y", ("n",))),
    "ImageDecoder of nonsense": lambda: model(
        value(11, "x", (10,), 2) + node("ImageDecoder", "x", "y", attr("pixel_format", "\x1b")) + value(12, "y", ("n",))
    ),
    "StringSplit of 2^62 pieces": lambda: model(
        value(11, "x", (3,), 8)
        + node("StringSplit", "x", "y z", attr("maxsplit", _BIG), attr("delimiter", ""))
        + value(12, "y", ("n",), 8)
    ),
    "RegexFullMatch that backtracks": lambda: model(
        value(11, "x", (3,), 8)
        + node("RegexFullMatch", "x", "y", attr("pattern", "(a+)+$" * 500))
        + value(12, "y", ("n",), 9)
    ),
    "TfIdfVectorizer of bad pools": _on(
        "TfIdfVectorizer", attr("ngram_counts", [_BIG, -1]), attr("ngram_indexes", [_BIG]), attr("max_gram_length", -1)
    ),
    "RandomNormal of 2^62": lambda: model(
        node("RandomNormal", "", "y", attr("shape", [_BIG, _BIG]), attr("scale", _NAN)) + value(12, "y", ("n",))
    ),
    "Multinomial of -1 samples": _on("Multinomial", attr("sample_size", -1)),
    "RoiAlign of height 2^62": _on(
        "RoiAlign",
        attr("output_height", _BIG),
        attr("output_width", 0),
        extra=value(11, "r", (4, 4)) + ints("b", [0] * 4),
        more="r b",
        dims=_PICTURE,
    ),
    "NonMaxSuppression of 2^62 boxes": _on(
        "NonMaxSuppression", extra=value(11, "s", (1, 1 << 31, _BIG)) + one("m", _BIG), more="s m", dims=(1, _BIG, 4)
    ),
    "GridSample of a wrong rank": _on("GridSample", extra=value(11, "g", (1, 2, 3, 9)), more="g", dims=_PICTURE),
    "AffineGrid of 10 dims": lambda: model(
        value(11, "t", (1, 2, 3)) + ints("s", [1] * 10) + node("AffineGrid", "t s", "y") + value(12, "y", ("n",))
    ),
    "Col2Im of block 0": _on("Col2Im", extra=ints("i", [0, 0]) + ints("k", [0, 0]), more="i k", dims=(1, 4, 4)),
    "CenterCropPad of axes 2^62": _on("CenterCropPad", attr("axes", [_BIG]), extra=ints("s", [-1]), more="s"),
    "MaxUnpool to -1": _on(
        "MaxUnpool",
        attr("kernel_shape", [2, 2]),
        extra=value(11, "i", _PICTURE, 7) + ints("o", [-1] * 4),
        more="i o",
        dims=_PICTURE,
    ),
    "Unique of axis 2^62": _on("Unique", attr("axis", _BIG)),
    "ReverseSequence of axes -1": _on(
        "ReverseSequence", attr("batch_axis", -1), attr("time_axis", _BIG), extra=ints("l", [1]), more="l"
    ),
    "Compress of rank 2": _on("Compress", attr("axis", -9), extra=raw("c", [2, 2], 9, bytes(4)), more="c"),
    "Bernoulli of type 8": _on("Bernoulli", attr("dtype", 8), attr("seed", _NAN)),
}
