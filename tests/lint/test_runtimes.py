"""The operator tables of runtimes are complete, state their source, and match the installed onnxruntime."""

import datetime as dt
import subprocess
import sys
import time
from pathlib import Path

import onnx
import onnxruntime
import pytest

import onnx_autodoc
from onnx_autodoc.lint.runtimes import RUNTIMES, Runtime, runtimes, unsupported_nodes
from onnx_autodoc.ops import OPERATORS, SPECIFIED_DOMAINS, first_opset
from tests._text import model, proto
from tests.lint._check import lint_context

NAMES = {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas_with_history()}
KNOWN = set(OPERATORS)
NEWEST = {"": onnx.defs.onnx_opset_version(), "ai.onnx.ml": 5, "com.ms.internal.nhwc": onnx.defs.onnx_opset_version()}
FOLDER = Path(onnx_autodoc.__file__).parent / "data/runtimes"
HISTORIC = {"Affine", "Crop", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh"}


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> Runtime:
    return runtimes()[request.param]


def test_every_table_is_registered() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(RUNTIMES)


def test_table_has_version_source_and_date(runtime: Runtime) -> None:
    assert runtimes()[runtime.id] is runtime
    assert runtime.title and runtime.version[0].isdigit() and runtime.source
    assert dt.date.fromisoformat(runtime.date) > dt.date(2025, 1, 1)
    assert runtime.basis in ("run", "run and document", "document")
    assert "" in runtime.complete
    assert runtime.fallback and not runtime.fallback.endswith(".")


def test_every_operator_of_a_table_exists(runtime: Runtime) -> None:
    listed = {(domain, op) for domain, rows in runtime.operators.items() for op in rows}
    assert listed - NAMES - KNOWN - {("", op) for op in HISTORIC} == set()
    assert len(runtime.operators[""]) > 40


def test_ranges_of_opsets_are_sensible(runtime: Runtime) -> None:
    for domain, rows in runtime.operators.items():
        for op, span in rows.items():
            assert 1 <= len(span) <= 2, op
            assert list(span) == sorted(span) and 1 <= span[0] <= NEWEST.get(domain, 1), op


def test_notes_are_on_supported_operators(runtime: Runtime) -> None:
    for domain, rows in runtime.notes.items():
        assert rows.keys() <= runtime.operators[domain].keys()
        assert all(0 < len(text) <= 160 for text in rows.values())


def test_first_opsets_match_the_specification() -> None:
    first: dict[tuple[str, str], int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in SPECIFIED_DOMAINS:
            key = (schema.domain, schema.name)
            first[key] = min(schema.since_version, first.get(key, schema.since_version))
    assert {key: first_opset(*key) for key in first} == first


def test_deprecations_match_the_specification() -> None:
    specified = {
        (domain, op, opset)
        for (domain, op) in NAMES
        for opset in range(1, NEWEST.get(domain, 0) + 1)
        if onnx.defs.has(op, opset, domain) and onnx.defs.get_schema(op, opset, domain).deprecated
    }
    declared = {
        (domain, op, opset)
        for (domain, op), row in OPERATORS.items()
        for opset in range(1, NEWEST.get(domain, 0) + 1)
        if row.deprecated is not None and row.deprecated.applies(opset)
    }
    assert declared == specified


VERSION_CASES = [
    ("g (float[1, 1, 2, 2] x, float[4] s) => (float y) { y = Upsample(x, s) }", "Upsample", range(9, 12)),
    ("g (float[2, 2] x, int64[2, 2] i) => (float y) { y = Scatter(x, i, x) }", "Scatter", range(9, 14)),
    ("g (float[4] x) => (float y) { y = Add(x, x) }", "Add", range(6, 9)),
    ("g (float[2, 2] x) => (float y) { y = Det(x) }", "Det", range(11, 13)),
    ("g (float[4] x) => (float y) { y = Gelu(x) }", "Gelu", range(18, 22)),
    ("g (float[1, 1, 2, 2] x, float[3, 4] r, int64[3] b) => (float y) { y = RoiAlign(x, r, b) }", "RoiAlign", (16, 22)),
    ("g () => (float y) { y = RandomUniform<shape=[2]>() }", "RandomUniform", (16, 22)),
]


@pytest.mark.skipif(
    onnxruntime.__version__ != runtimes()["onnxruntime-cpu"].version, reason="the table is of another version"
)
@pytest.mark.parametrize(
    ("text", "op", "opset"), [(text, op, at) for text, op, opsets in VERSION_CASES for at in opsets]
)
def test_onnxruntime_table_matches_its_behaviour(text: str, op: str, opset: int) -> None:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(proto(text, opset).SerializeToString(), options)
        loads = True
    except Exception:
        loads = False
    assert runtimes()["onnxruntime-cpu"].supports("", op, opset) is loads


def count_unsupported(name: str, text: str, opset: int = 18, functions: str = "") -> dict[tuple[str, str], int]:
    nodes = unsupported_nodes(runtimes()[name], lint_context(model(text, opset, functions)).operator_uses)
    return {key: len(refs) for key, refs in nodes.items()}


FUNCTION = '<domain: "local", opset_import: ["" : 18]> f (x) => (y) { y = Det(x) }'


def test_local_function_is_inlined() -> None:
    text = "g (float[2, 2] x) => (float y) { y = local.f(x) }"
    assert count_unsupported("tensorrt", text, functions=FUNCTION) == {("", "Det"): 1}
    assert count_unsupported("openvino", text, functions=FUNCTION) == {
        ("local", "f"): 1,
        ("", "Det"): 1,
    }  # OpenVINO loads no model with functions


def test_nodes_of_branches_are_counted() -> None:
    text = """g (bool c, float[2, 2] x) => (float y) {
        y = If (c) <then_branch = t () => (float a) { a = Det(x) }, else_branch = e () => (float b) { b = Det(x) }>
    }"""
    assert count_unsupported("tensorrt", text) == {("", "Det"): 2}


def test_nodes_on_constants_and_sizes_need_no_provider_support() -> None:
    text = """g (float[n, 4] x) => (float y) <float[2, 2] w = {1, 2, 3, 4}> {
        d = Det(w)  s = Shape(x)  f = Cast<to=1>(s)  u, v = Unique(f)  k = ReduceSum(u)  a = Mul(x, d)  y = Mul(a, k)
    }"""
    assert count_unsupported("onnxruntime-cuda", text) == {}
    assert count_unsupported("openvino", text) == {
        ("", "Det"): 1
    }  # OpenVINO reads the file and has no conversion for it


def test_nodes_that_onnxruntime_removes_need_no_provider_support() -> None:
    assert (
        count_unsupported("coreml", "g (float[4] x) => (float y) { a = Identity(x) b = Dropout(a) y = Relu(b) }") == {}
    )


def test_domain_outside_the_table_is_not_reported() -> None:
    text = "g (float[4] x) => (float y) { y = custom.Thing(x) }"
    assert all(count_unsupported(name, text) == {} for name in RUNTIMES)


def test_tables_load_within_50_ms() -> None:
    runtimes.cache_clear()
    start = time.perf_counter()
    assert len(runtimes()) == len(RUNTIMES)
    assert time.perf_counter() - start < 0.05  # 2 ms on an ordinary machine


def test_help_loads_no_table() -> None:
    code = "import onnx_autodoc.cli, sys; print([name for name in sys.modules if 'runtimes' in name])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
