"""The program that runs a model: by its text, and by running it."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from onnx_autodoc.api import card
from onnx_autodoc.render.snippet import make_snippet, numbered_literal, quote_literal
from tests._corpus import GRAPH_NAMES, graph
from tests._text import proto
from tests._versions import CASTS_INT4

HOSTILE = (
    'a"b',
    "a'b",
    """both " and '""",
    "back\\slash",
    "line\nbreak\r\u2028",
    "``` \n```",
    "</script><script>alert(1)</script>",
    "\u202egnp.exe",
    "{i}{{x}}%s",
    "\x00\x1b[31m",
    "naïve 入力",
    '"); import os; os.abort() #',
    "x'''\"\"\"",
)


def save_model(model: onnx.ModelProto, folder: Path, name: str = "model.onnx") -> Path:
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return path


def make_text_snippet(text: str, folder: Path, opset: int = 18, **sizes: int) -> str:
    return make_snippet(card(save_model(proto(text, opset), folder), **sizes))  # type: ignore[arg-type]


def run_program(program: str, folder: Path) -> list[str]:
    """What a program prints."""
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def make_tensors(names: list[str], dtype: int, dims: list[int | str]) -> list[onnx.ValueInfoProto]:
    return [helper.make_tensor_value_info(name, dtype, dims) for name in names]


def sum_model(names: list[str], dims: list[int | str], output: str = "y") -> onnx.ModelProto:
    nodes = [helper.make_node("Sum", names, [output])]
    made = helper.make_graph(nodes, "g", make_tensors(names, 1, dims), make_tensors([output], 1, dims))
    return helper.make_model(made, ir_version=9, opset_imports=[helper.make_opsetid("", 18)])


def test_snippet_is_short(tmp_path: Path) -> None:
    text = """g (int64[batch,seq] ids, float[batch,seq,4] x) => (float y)
    { a = Constant<value_ints=[2]>() i = Cast<to=1>(ids) u = Unsqueeze(i, a) y = Mul(x, u) }"""
    assert make_text_snippet(text, tmp_path).splitlines() == [
        "# pip install onnxruntime numpy",
        "import numpy as np",
        "import onnxruntime as ort",
        "",
        "batch, seq = 1, 128",
        "rng = np.random.default_rng(0)",
        'session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])',
        "",
        "inputs = {",
        '    "ids": np.ones((batch, seq), np.int64),',
        '    "x": rng.standard_normal((batch, seq, 4), np.float32),',
        "}",
        "",
        "outputs = session.run(None, inputs)",
        "for output, value in zip(session.get_outputs(), outputs):",
        "    print(output.name, value.dtype, value.shape)",
    ]


def test_snippet_runs_at_card_sizes_and_others(tmp_path: Path) -> None:
    text = "g (float[batch,seq,4] x) => (float y) { y = Relu(x) }"
    assert run_program(make_text_snippet(text, tmp_path), tmp_path) == ["y float32 (1, 128, 4)"]
    other = make_text_snippet(text, tmp_path, batch=3, seq=17)
    assert run_program(other, tmp_path) == ["y float32 (3, 17, 4)"]
    assert run_program(other.replace("batch, seq = 3, 17", "batch, seq = 2, 5"), tmp_path) == ["y float32 (2, 5, 4)"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_name_is_string_literal(name: str, tmp_path: Path) -> None:
    program = make_snippet(
        card(save_model(sum_model([name], [2, name, 3], name + "!"), tmp_path), dims={f"{name}.1": 2})
    )
    assert all(char == "\n" or (char.isascii() and char.isprintable()) for char in program)
    assert "`" not in program and "</" not in program
    assert len(run_program(program, tmp_path)) >= 1


@pytest.mark.parametrize("text", HOSTILE)
def test_literals_evaluate_to_their_text(text: str) -> None:
    i = 7
    assert eval(quote_literal(text)) == text
    for other in HOSTILE:
        assert eval(numbered_literal(text, other), {"i": i}) == f"{text}{i}{other}"


def test_numbered_inputs_become_a_loop(tmp_path: Path) -> None:
    names = [f"past.{at}.{part}" for at in range(30) for part in ("key", "value")]
    program = make_snippet(card(save_model(sum_model([*names, "x"], [1, 2]), tmp_path)))
    assert [line for line in program.splitlines() if "past" in line or "for i" in line] == [
        "for i in range(30):",
        '    inputs[f"past.{i}.key"] = rng.standard_normal((1, 2), np.float32)',
        '    inputs[f"past.{i}.value"] = rng.standard_normal((1, 2), np.float32)',
    ]
    assert run_program(program, tmp_path) == ["y float32 (1, 2)"]


def test_many_equal_inputs_become_a_list(tmp_path: Path) -> None:
    names = [f"column {letter}" for letter in "abcdefghijkl"]
    program = make_snippet(card(save_model(sum_model(names, [1, 1]), tmp_path)))
    assert program.count("np.float32") == 1
    assert run_program(program, tmp_path) == ["y float32 (1, 1)"]


def test_numbers_not_starting_at_zero_are_listed(tmp_path: Path) -> None:
    program = make_snippet(card(save_model(sum_model(["x2", "x5", "x7", "x010"], [1, 2]), tmp_path)))
    assert "for i in (2, 5, 7):" in program
    assert '"x010": ' in program
    run_program(program, tmp_path)


DTYPES = ("float", "float16", "double", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")


BIT_CAST = ("bfloat16", "float8e4m3fn", "float8e5m2", pytest.param("int4", marks=CASTS_INT4))


@pytest.mark.parametrize("dtype", [*DTYPES, "uint64", "string", *BIT_CAST])
@pytest.mark.parametrize("dims", [(), (3,), (2, 3)])
def test_snippet_runs_with_every_dtype(dtype: str, dims: tuple[int, ...], tmp_path: Path) -> None:
    given = TensorProto.DataType.Value(dtype.upper())
    cast = dtype.startswith(("float8", "int4"))  # of these, onnxruntime has no Identity
    node = helper.make_node("Cast", ["x"], ["y"], to=1) if cast else helper.make_node("Identity", ["x"], ["y"])
    ends = make_tensors(["x"], given, [*dims]), make_tensors(["y"], 1 if cast else given, [*dims])
    made = helper.make_graph([node], "g", *ends)
    model = helper.make_model(made, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    (line,) = run_program(make_snippet(card(save_model(model, tmp_path))), tmp_path)
    assert tuple(map(int, re.findall(r"\d+", line.split(" ", 2)[2]))) == dims


def test_length_inputs_follow_their_size(tmp_path: Path) -> None:
    text = """g (float[seq,1,4] x, int32[1] lengths) => (float y)
    { s = Constant<value_ints=[1,12,4]>() w = ConstantOfShape(s)
      t = Constant<value_ints=[1,12,3]>() r = ConstantOfShape(t)
      e = Identity(x) y, h, c = LSTM<hidden_size=3>(e, w, r, , lengths) }"""
    program = make_text_snippet(text, tmp_path, seq=9)
    assert "np.full((1,), seq, np.int32)" in program
    assert run_program(program, tmp_path) == ["y float32 (9, 1, 1, 3)"]


def test_sum_dimensions_are_expressions(tmp_path: Path) -> None:
    past = make_tensors(["past"], 1, [1, 2, "past_len", 4])
    mask = make_tensors(["mask"], 1, [1, "past_len + seq_len"])
    new = make_tensors(["x"], 1, [1, 2, "seq_len", 4])
    nodes = [helper.make_node("Concat", ["past", "x"], ["y"], axis=2), helper.make_node("Identity", ["mask"], ["z"])]
    outputs = [*make_tensors(["y"], 1, [1, 2, "all", 4]), *make_tensors(["z"], 1, [1, "total"])]
    made = helper.make_graph(nodes, "g", [*past, *mask, *new], outputs)
    model = helper.make_model(made, ir_version=9, opset_imports=[helper.make_opsetid("", 18)])
    program = make_snippet(card(save_model(model, tmp_path)))
    assert "(1, past_len + seq_len)" in program
    run_program(program, tmp_path)


def test_sequence_and_map_outputs_are_counted(tmp_path: Path) -> None:
    text = "g (float[4,2] x) => (seq(float[2]) y) { y = SplitToSequence<keepdims=0>(x) }"
    assert run_program(make_text_snippet(text, tmp_path), tmp_path) == ["y seq(tensor(float)) 4 items"]


def test_unknowns_are_stated_at_the_top(tmp_path: Path) -> None:
    made = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "g", [onnx.ValueInfoProto(name="x")], make_tensors(["y"], 1, [2])
    )
    program = make_snippet(card(save_model(helper.make_model(made, ir_version=9), tmp_path)))
    compile(program, "snippet", "exec")
    assert '# To be added: "x", of unknown type.' in program.splitlines()
    absent = make_snippet(card(graph("all-minilm-l6-v2-ts-op14")))
    assert """# Weights are missing: "weights.bin" must be in the model's folder.""" in absent.splitlines()


def test_extension_operators_are_registered(tmp_path: Path) -> None:
    nodes = [helper.make_node("StringUpper", ["x"], ["y"], domain="ai.onnx.contrib")]
    made = helper.make_graph(nodes, "g", make_tensors(["x"], 8, [2]), make_tensors(["y"], 8, [2]))
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.contrib", 1)]
    program = make_snippet(card(save_model(helper.make_model(made, ir_version=9, opset_imports=opsets), tmp_path)))
    assert "# pip install onnxruntime numpy onnxruntime-extensions" in program
    assert "options.register_custom_ops_library(get_library_path())" in program
    assert 'ort.InferenceSession("model.onnx", options, providers=' in program
    compile(program, "snippet", "exec")


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_snippet_of_real_model_fills_each_input_once(name: str) -> None:
    result = card(graph(name))
    program = make_snippet(result)
    assert len(program.splitlines()) < 40
    filled = program.partition("inputs = ")[2].partition("outputs = ")[0]
    space: dict[str, object] = {"np": np, "rng": np.random.default_rng(0), **_read_variables(program)}
    exec("inputs = " + filled, space)
    made = space["inputs"]
    assert isinstance(made, dict)
    assert {key: (value.dtype.name, value.shape) for key, value in made.items()} == {
        port.name: (port.dtype, port.bound) for port in result.interface.inputs
    }


def _read_variables(program: str) -> dict[str, int]:
    space: dict[str, int] = {}
    for line in program.splitlines():
        if re.fullmatch(r"[\w, ]+ = [\d, ]+", line):
            exec(line, {}, space)
    return space


def test_thousands_of_unnamed_dimensions_get_short_variables(tmp_path: Path) -> None:
    ports = [helper.make_tensor_value_info(f"x{at}", TensorProto.FLOAT, [chr(0x4E00 + at)]) for at in range(2_000)]
    made = helper.make_graph([helper.make_node("Relu", ["x0"], ["y"])], "g", ports, ports[:1])
    made.output[0].name = "y"
    program = make_snippet(card(save_model(helper.make_model(made), tmp_path)))
    assert max(map(len, re.findall(r"\w+", program))) < 40
