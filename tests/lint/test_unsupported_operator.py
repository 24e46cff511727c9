from onnx_autodoc.card import Confidence, Finding, Severity
from onnx_autodoc.lint import RUNTIMES, runtimes
from tests.lint._check import check_rule


def findings(text: str, opset: int = 18) -> dict[str | None, Finding]:
    return {finding.about: finding for finding in check_rule("unsupported-operator", text, opset=opset)}


UNIQUE = "g (float[8] x) => (float y, float z) { [a] u = Unique(x) [b] y = Unique(u) [c] z = Relu(x) }"


def test_each_runtime_has_one_finding() -> None:
    finding = findings(UNIQUE)["tensorrt"]
    assert finding.message == (
        "TensorRT 10.15 does not support 1 operator of this model: Unique (2 nodes); they require plugins, or "
        "onnxruntime's TensorRT provider, which leaves such nodes to CUDA or the CPU"
    )
    assert finding.evidence == ("a", "b")
    assert (finding.severity, finding.confidence) == (Severity.INFO, Confidence.MEDIUM)


def test_table_by_run_has_high_confidence() -> None:
    finding = findings(UNIQUE)["onnxruntime-cuda"]
    assert finding.confidence is Confidence.HIGH
    assert finding.message.endswith("Unique (2 nodes); onnxruntime runs such nodes on the CPU")


def test_model_that_onnxruntime_rejects_is_a_warning() -> None:
    text = "g (float[1, 1, 4, 4] x, float[3, 4] r, int64[3] b) => (float y) { [a] y = RoiAlign(x, r, b) }"
    finding = findings(text, opset=22)["onnxruntime-cpu"]
    assert finding.severity is Severity.WARNING
    version = runtimes()["onnxruntime-cpu"].version
    assert finding.message == (
        f"onnxruntime {version} does not support 1 operator of this model: RoiAlign at opset 22 (1 node); the model "
        "does not load, unless another provider supports them"
    )
    assert "convert_version" in finding.recommendation
    assert "onnxruntime-cpu" not in findings(text, opset=16)  # the same node, as it was defined before


def test_only_the_most_frequent_operators_are_named() -> None:
    nodes = "a = Det(x) b = Unique(x) c = Compress(x, k) d = MaxUnpool(x, i) e = Unique(b) f = BitwiseNot(i)"
    message = findings(f"g (float[2, 2] x, bool[2] k, int64[2] i) => (float a) {{ {nodes} }}")["tensorrt"].message
    assert "does not support 5 operators of this model: Unique (2 nodes), Det (1 node), " in message
    assert " …; " in message


def test_ordinary_network_is_not_reported() -> None:
    text = """g (float[1, 3, 8, 8] x) => (float y) <float[4, 3, 3, 3] w> {
        c = Conv(x, w)  r = Relu(c)  p = GlobalAveragePool(r)  y = Sigmoid(p)
    }"""
    assert findings(text) == {}
    assert len(RUNTIMES) == 8
