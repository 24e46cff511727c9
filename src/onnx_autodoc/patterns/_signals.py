"""Pictures, sound and tables of numbers: told apart by the first weights that they meet."""

import re
from typing import Final

from onnx_autodoc.patterns._input_trace import Reach, first_convolution
from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._output_trace import size

_FOURIER: Final = frozenset(("STFT", "DFT", "MelWeightMatrix"))
_COLOURS: Final = (1, 3, 4)
_MELS: Final = frozenset((40, 64, 80, 96, 128, 229))
_SAMPLES: Final = (4, 64)  # a step or a kernel of so many samples is one of sound
_NORMS: Final = ("layer-norm", "rms-norm", "Add")
_SMALLEST: Final = 8  # pixels on a side


def signal_role(net: Net, name: str, value: int, reach: Reach) -> str | None:
    """The role of real numbers that are neither a state nor a mask."""
    if reach.ops & _FOURIER or any(term.op == "stft" for term, _ in reach.meets):
        return "audio"
    for term, _ in reach.meets:
        conv = first_convolution(term)
        if conv is not None and term.op != "attention":
            return _convolved(net, name, value, reach, conv)
    return _mapped(net, value, reach) if reach.meets else None


def _convolved(net: Net, name: str, value: int, reach: Reach, conv: Term) -> str | None:
    kernel = [size for size in conv.facts["kernel"] if size != 1]
    spatial = len(conv.facts["kernel"]) if conv.facts["kernel"][:1] != (1,) or not kernel else max(len(kernel), 1)
    if (net.rank(value) or 0) < 3 or spatial == 1:
        return _signal(net, name, value, conv)
    if spatial == 3:
        return "video" if _channels(net, conv) == 3 else "volume"
    return _picture(net, name, value, reach, conv)


def _channels(net: Net, conv: Term) -> int | None:
    dims = net.shape(conv.facts.get("weight", 0))
    return dims[1] * int(conv.facts.get("group") or 1) if dims and len(dims) > 1 else None


def _signal(net: Net, name: str, value: int, conv: Term) -> str:
    """One channel in long steps is sound; several are features of frames, mel bands where they are as many as usual."""
    channels = _channels(net, conv)
    if channels == 1:
        long = max(conv.facts["strides"]) >= _SAMPLES[0] or max(conv.facts["kernel"]) >= _SAMPLES[1]
        return "audio" if long or _tied(name, "audio") else "signal"
    usual = channels in _MELS
    return "spectrogram" if usual else "features"


def _picture(net: Net, name: str, value: int, reach: Reach, conv: Term) -> str | None:
    if net.rank(value) == 3:
        return "spectrogram"  # frames and bands, looked at as a picture
    if net.rank(value) != 4:
        return None
    layout = _layout(net, value, reach, conv)
    channels = size(net, value, 1 if layout == "NCHW" else 3) or _channels(net, conv)
    if channels == 1 and _tied(name, "spectrogram"):
        return "spectrogram"
    return f"image {layout}" if channels in _COLOURS else "features"


def _layout(net: Net, value: int, reach: Reach, conv: Term) -> str:
    """Channels last, where they are brought forward before the first convolution, or it takes them so."""
    nodes = [term.node for term in reach.terms if term.op == "Transpose"]
    turned = [node.attributes.get("perm") for node in nodes if node is not None]
    if conv.node is not None and conv.node.op.startswith("Nhwc"):
        return "NCHW" if (0, 2, 3, 1) in turned else "NHWC"
    if (0, 3, 1, 2) in turned:
        return "NHWC"
    channels = _channels(net, conv)
    last = channels in _COLOURS and size(net, value, 3) == channels != size(net, value, 1)
    return "NHWC" if last else "NCHW"


def _mapped(net: Net, value: int, reach: Reach) -> str | None:
    """Read by a linear map, a cell or a norm."""
    dims = net.shape(value) or ()
    if len(dims) == 4 and all(term.op == "attention" for term, _ in reach.meets):
        return None  # pictures are cut into patches first
    if len(dims) == 4 and min(sorted(dims[1:])[1:]) >= _SMALLEST:
        return "image NCHW" if dims[1] in _COLOURS else "image NHWC" if dims[3] in _COLOURS else None
    first = [term.op for term, _ in reach.meets]
    if len(dims) == 3 and all(op in _NORMS for op in first) and net.of("attention"):
        return "token embeddings"
    return "features"


def _tied(name: str, kind: str) -> bool:
    """Whether a name decides between two things that the graph allows both."""
    words = {"audio": r"audio|wav|speech|pcm|samples", "spectrogram": r"mel|spec|fbank|audio|mfcc|features"}
    return re.search(words[kind], name, re.I) is not None
