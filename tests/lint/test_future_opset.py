import onnx

from onnx_autodoc.lint._runtimes import runtimes
from onnx_autodoc.ops import judged
from tests._text import proto
from tests.lint._judged import found

_TEXT = "g (float[2] x) => (float[2] y) { y = Relu(x) }"


def test_a_version_that_nothing_knows_is_found() -> None:
    (finding,) = found("future-opset", _TEXT, opset=99)
    newest = runtimes()["onnxruntime-cpu"]
    opens = f"{newest.name} opens it up to {newest.newest['']}, the newest known here is {judged.NEWEST_OPSET}"
    assert finding.message == f"the file is written in opset 99 of ai.onnx; {opens}"


def test_one_that_is_released_but_that_onnxruntime_does_not_open_is_found() -> None:
    newest = runtimes()["onnxruntime-cpu"].newest[""]
    for opset in range(newest + 1, judged.NEWEST_OPSET + 1):
        (finding,) = found("future-opset", _TEXT, opset=opset)
        assert "newest known here" not in finding.message


def test_the_newest_that_it_opens_is_not() -> None:
    assert found("future-opset", _TEXT, opset=runtimes()["onnxruntime-cpu"].newest[""]) == []


def test_the_newest_is_no_older_than_that_of_the_onnx_package() -> None:
    assert onnx.defs.onnx_opset_version() <= judged.NEWEST_OPSET


def test_other_operators_of_onnx_have_versions_of_their_own() -> None:
    model = proto(_TEXT)
    model.opset_import.append(onnx.helper.make_opsetid("ai.onnx.ml", 99))
    (finding,) = found("future-opset", model)
    assert finding.message.startswith("the file is written in opset 99 of ai.onnx.ml; ")
    model.opset_import[-1].version = 3
    assert found("future-opset", model) == []
