import msgspec
import pytest

from onnx_autodoc.ir import ExternalData, Model
from onnx_autodoc.text import display_name
from tests._text import model
from tests.lint._check import check_rule


def _with(*paths: str) -> Model:
    plain = model("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    return msgspec.structs.replace(plain, external=tuple(ExternalData(path, None, 8) for path in paths))


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../weights.bin",
        "a/../../b",
        "..",
        "C:\\weights.bin",
        "c:w",
        "\\\\host\\share\\w",
        "..\\w",
        "a\\..\\..\\w",
    ],
)
def test_escaping_paths_are_reported(path: str) -> None:
    (finding,) = check_rule("escaping-external-data", _with(path))
    assert finding.message == f"1 external data path leads outside the model's folder: {display_name(path, 80)}"
    assert (finding.severity, finding.evidence) == ("error", (path,))


@pytest.mark.parametrize("path", ["weights.bin", "a/b.bin", "a/../b.bin", "./w", "..w", "a..b/w...", "", "w..\\x"])
def test_paths_below_the_folder_are_not_reported(path: str) -> None:
    assert check_rule("escaping-external-data", _with(path)) == []


def test_path_is_escaped_for_display() -> None:
    (finding,) = check_rule("escaping-external-data", _with("/tmp/\x1b[31m", "/b"))
    assert finding.message == "2 external data paths lead outside the model's folder: “/tmp/\\x1b[31m” …"
