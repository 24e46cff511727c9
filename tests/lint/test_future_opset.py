import onnx

from onnx_autodoc.lint import runtimes
from onnx_autodoc.ops import newest_opset
from tests._text import proto
from tests.lint._check import check_rule

_TEXT = "g (float[2] x) => (float[2] y) { y = Relu(x) }"


def test_unknown_opset_is_reported() -> None:
    (finding,) = check_rule("future-opset", _TEXT, opset=99)
    newest = runtimes()["onnxruntime-cpu"]
    opens = f"{newest.name} supports it up to {newest.newest['']}, this tool up to {newest_opset('')}"
    assert finding.message == f"the file declares opset 99 of ai.onnx; {opens}"


def test_opset_newer_than_onnxruntime_is_reported() -> None:
    newest = runtimes()["onnxruntime-cpu"].newest[""]
    for opset in range(newest + 1, newest_opset("") + 1):
        (finding,) = check_rule("future-opset", _TEXT, opset=opset)
        assert "this tool" not in finding.message


def test_newest_supported_opset_is_not_reported() -> None:
    assert check_rule("future-opset", _TEXT, opset=runtimes()["onnxruntime-cpu"].newest[""]) == []


def test_newest_known_opset_matches_the_onnx_package() -> None:
    assert onnx.defs.onnx_opset_version() <= newest_opset("")


def test_other_domains_have_their_own_versions() -> None:
    model = proto(_TEXT)
    model.opset_import.append(onnx.helper.make_opsetid("ai.onnx.ml", 99))
    (finding,) = check_rule("future-opset", model)
    assert finding.message.startswith("the file declares opset 99 of ai.onnx.ml; ")
    model.opset_import[-1].version = 3
    assert check_rule("future-opset", model) == []
