"""Every tensor of a file once, by the name and the way there, in memory that does not grow with the weights."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnx_autodoc.analysis.weights import Weights, survey
from onnx_autodoc.readers import read_model
from tests._text import proto
from tests.analysis.weights._made import external, model_of, raw, some, surveyed


def survey_proto(folder: Path, made: onnx.ModelProto) -> Weights:
    (folder / "m.onnx").write_bytes(made.SerializeToString())
    return survey(read_model(folder / "m.onnx"))


def hash_array(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()


def test_tensors_of_all_graphs_and_functions_are_listed_by_path(tmp_path: Path) -> None:
    made = proto(
        """g (bool c, float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
            k = Constant<value = float[2] {3, 4}>()
            a = Add(w, k)
            [branch] y = If (c) <
                then_branch = t () => (float[2] o) { p = Constant<value = float[2] {5, 6}>() o = local.f(p) },
                else_branch = e () => (float[2] o) <float[2] v = {7, 8}> { o = Add(v, a) }
            >
        }""",
        functions='<domain: "local", opset_import: ["" : 18]> f (i) => (o) '
        "{ q = Constant<value = float[2] {9, 10}>() o = Add(i, q) }",
    )
    result = survey_proto(tmp_path, made)
    assert {each.numbers.name: each.numbers.least for each in result.tensors} == {
        "w": 1,
        "k": 3,
        "f/q": 9,
        "branch/then_branch/p": 5,
        "branch/else_branch/v": 7,
    }
    inner = result.find((2, "else_branch"), "v")
    assert inner is not None and inner.least == 7
    outer = result.find((2, "else_branch"), "w")
    assert outer is not None and outer.least == 1
    assert result.find((), "v") is None


def test_plain_numbers_of_constant_are_read_as_tensor(tmp_path: Path) -> None:
    text = """g (float[1] x) => (float[1] y) {
        a = Constant<value_float = 1.5>() b = Constant<value_ints = [3, -4]>()
        c = Constant<value_floats = [0.1, 0.2]>() d = Constant<value_strings = ["s"]>() y = Relu(x)
    }"""
    made = proto(text)
    made.graph.node.add(op_type="Constant", output=["e"]).attribute.add(
        name="value_ints", type=onnx.AttributeProto.INTS, ints=range(5000)
    )
    result = {each.name: each.numbers for each in survey_proto(tmp_path, made).tensors}
    assert (result["a"].dims, result["a"].sha256) == ((), hash_array(np.array(1.5, "<f4")))
    assert (result["b"].dims, result["b"].sha256) == ((2,), hash_array(np.array([3, -4], "<i8")))
    assert result["c"].sha256 == hash_array(np.array([0.1, 0.2], "<f4"))
    assert result["d"].unread == "strings in an attribute, not stored by the reader"
    assert (result["e"].dims, result["e"].unread) == ((5000,), "a long list in an attribute, not stored by the reader")


def test_tensors_without_elements_have_a_reason(tmp_path: Path) -> None:
    sparse = helper.make_sparse_tensor(numpy_helper.from_array(some(2), "s"), raw(7, [2], bytes(16)), [4])
    made = model_of(
        TensorProto(name="none", data_type=TensorProto.FLOAT, dims=[3]),
        TensorProto(name="empty", data_type=TensorProto.FLOAT, dims=[0, 3]),
        TensorProto(name="below", data_type=TensorProto.FLOAT, dims=[-1], raw_data=b"abcd"),
        TensorProto(name="type", data_type=99, dims=[1], raw_data=b"abcd"),
        TensorProto(name="odd", data_type=TensorProto.FLOAT, dims=[2], raw_data=bytes(7)),
    )
    made.graph.sparse_initializer.append(sparse)
    result = {each.name: each.numbers.unread for each in survey_proto(tmp_path, made).tensors}
    assert result == {
        "none": "the file stores no data for it",
        "empty": None,
        "below": "a negative dimension",
        "type": "an element type that ONNX does not define",
        "odd": "the file stores 7 bytes for it, but its type and dimensions require 8",
        "s": "a sparse tensor",
    }


@pytest.mark.parametrize(
    ("numbers", "counts"),
    [
        ([1, 1, 1], (0, 0, 0, 1, 1, True)),
        ([-0.0, 0.0], (0, 0, 2, 0, 0, True)),
        ([1, np.nan, np.inf, -np.inf], (1, 2, 0, 1, 1, False)),
        ([np.inf, np.inf], (0, 2, 0, None, None, True)),
        ([np.inf, -np.inf], (0, 2, 0, None, None, False)),
        ([np.nan, np.nan], (2, 0, 0, None, None, True)),
        ([0, -2.5], (0, 0, 1, -2.5, 0, False)),
    ],
)
@pytest.mark.parametrize("kind", ["<f2", "<f4", "<f8", "bfloat16"])
def test_non_finite_elements_are_counted(
    numbers: list[float], counts: tuple[object, ...], kind: str, tmp_path: Path
) -> None:
    if kind == "bfloat16":
        data = (np.array(numbers, "<f4").view("<u4") >> 16).astype("<u2").tobytes()
        tensor = raw(TensorProto.BFLOAT16, [len(numbers)], data)
    else:
        tensor = numpy_helper.from_array(np.array(numbers, kind), "w")
    (result,) = surveyed(tmp_path, tensor)
    assert (result.nan, result.infinite, result.zeros, result.least, result.most, result.constant) == counts


def test_nan_in_later_piece_is_counted(tmp_path: Path) -> None:
    array = np.ones(1_000_000, "<f4")
    array[-1] = np.nan
    (result,) = surveyed(tmp_path, numpy_helper.from_array(array, "w"))
    assert (result.nan, result.least, result.most, result.constant) == (1, 1, 1, False)


_CODE = """
import re, sys
from pathlib import Path
from onnx_autodoc.readers import read_model
from onnx_autodoc.analysis.weights import survey
found = survey(read_model(sys.argv[1]))
assert all(each.numbers.unread is None for each in found.tensors)
# Not ru_maxrss, which a child inherits from whoever started it.
print(found.bytes_read, re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def measure_memory(path: Path) -> tuple[int, int]:
    """Bytes read, and the most memory that took in KiB."""
    done = subprocess.run([sys.executable, "-c", _CODE, path], capture_output=True, text=True, check=True)
    nbytes, peak = map(int, done.stdout.split())
    return nbytes, peak


@pytest.mark.parametrize("where", ["inline", "external", "varints"])
def test_memory_does_not_grow_with_the_weights(where: str, tmp_path: Path) -> None:
    result = {}
    for name, count in (("small", 1 << 16), ("large", 1 << 25)):
        folder = tmp_path / name
        folder.mkdir()
        tensor = raw(TensorProto.FLOAT, [count], bytes(4 * count))
        if where == "external":
            with (folder / "w.bin").open("wb") as file:
                os.truncate(file.fileno(), 4 * count)
            tensor = external("w.bin", [count])
        if where == "varints":
            tensor = TensorProto(name="w", data_type=TensorProto.INT8, dims=[count], int32_data=bytes(count))
        (folder / "m.onnx").write_bytes(model_of(tensor).SerializeToString())
        result[name] = measure_memory(folder / "m.onnx")
    assert result["large"][0] >= 1 << 25
    assert result["large"][1] < 1.5 * result["small"][1]
