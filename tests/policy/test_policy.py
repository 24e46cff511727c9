"""The policy file: TOML, YAML and JSON are equivalent, and every mistake is rejected with advice."""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import onnx_autodoc
from onnx_autodoc.errors import BadInput
from onnx_autodoc.lint import RULES
from onnx_autodoc.policy import Allow, Change, Limit, Policy, Rules, Runtimes, check_card, list_figures, read_policy
from onnx_autodoc.schema import SCHEMAS
from tests.policy._cards import SAMPLE, card

VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMAS["policy"]()))
ROOT = Path(onnx_autodoc.__file__).parent
DOCS = Path(__file__).parent.parent.parent / "docs"
EXAMPLE = DOCS / "policy.toml"


def write_toml(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    return path


def write_json_and_yaml(tmp_path: Path, data: Any) -> list[Path]:
    """Write one policy as JSON and as YAML."""
    (tmp_path / "policy.json").write_text(json.dumps(data))
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    return [tmp_path / "policy.json", tmp_path / "policy.yaml"]


def test_documented_example_is_equal_in_toml_yaml_and_json(tmp_path: Path) -> None:
    first = read_policy(EXAMPLE)
    assert first.limits and first.changes and first.rules.allow and first.runtimes.require
    subject = card(SAMPLE[1])
    for path in write_json_and_yaml(tmp_path, tomllib.loads(EXAMPLE.read_text())):
        other = read_policy(path)
        assert other == first
        assert check_card(subject, other, subject) == check_card(subject, first, subject)


def test_yaml_numbers_follow_version_1_2(tmp_path: Path) -> None:
    path = tmp_path / "p.yml"
    path.write_text("limits:\n  compute.macs: {max: 5e9}\n  graph.nodes: {max: 010, min: +.5}\n")
    limits = read_policy(path).limits
    assert limits["compute.macs"].max == 5e9
    assert (limits["graph.nodes"].max, limits["graph.nodes"].min) == (10, 0.5)


INVALID = [
    ('[limits]\n"compute.mac" = { max = 1 }', "compute.macs"),
    ('[limits]\n"compute" = { max = 1 }', "compute.macs"),
    ('[limits]\n"graph.operators.Conv" = { max = 1 }', "graph.operators.<op>.count"),
    ('[limits]\n"graph.operators.Conv.cuont" = { max = 1 }', "graph.operators.<op>.count"),
    ('[limits]\n"compute..macs" = { max = 1 }', "unknown figure"),
    ('[limits]\n"compute.macs." = { max = 1 }', "unknown figure"),
    ('[limits]\n"" = { max = 1 }', "unknown figure"),
    ('[limits]\n"graph.nodes" = { maximum = 1 }', "max"),
    ('[limits]\n"graph.nodes" = 5', "must be a table"),
    ('[limits]\n"graph.nodes" = { max = "5" }', "expected"),
    ('[limits]\n"graph.nodes" = { max = true }', "expected"),
    ('[limits]\n"graph.nodes" = { max = nan }', "max"),
    ('[limits]\n"graph.nodes" = { max = inf }', "max"),
    ('[limits]\n"graph.nodes" = { allow_gaps = true }', "limits nothing"),
    ('[limits]\n"graph.nodes" = {}', "limits nothing"),
    ('[limits]\n"graph.nodes" = { min = 2, max = 1 }', "min 2 is greater than max 1"),
    ('[limits]\n"graph.nodes" = { equals = "x" }', "a number"),
    ('[limits]\n"graph.nodes" = { one_of = [] }', "length"),
    ('[limits]\n"model.precision.label" = { max = 1 }', "equals or one_of"),
    ('[limits]\n"model.precision.label" = { equals = 1 }', "is text"),
    ('[limits]\n"findings.dynamic-inputs.count" = { max = 1 }', "dynamic-input"),
    ('[changes]\n"parameters.totl" = { max_percent = 1 }', "parameters.total"),
    ('[changes]\n"parameters.total" = { max_procent = 1 }', "max_percent"),
    ('[changes]\n"parameters.total" = { breaking = false }', "interface"),
    ('[changes]\n"interface" = { breaking = true }', "leave it out"),
    ('[changes]\n"interface" = { max_percent = 1 }', "equal = true"),
    ('[changes]\n"graph.nodes" = { equal = false }', "leave it out"),
    ('[changes]\n"graph.nodes" = {}', "limits nothing"),
    ('[changes]\n"graph.operators.Conv" = { equal = true }', "graph.operators.<op>.count"),
    ('[rules]\nfail_on = "eror"', "error"),
    ('[rules]\nfailon = "error"', "fail_on"),
    ('[rules]\nallow = [{ rule = "dynamic-inputs", reason = "x" }]', "dynamic-input"),
    ('[rules]\nallow = [{ rule = "dynamic-input" }]', "reason"),
    ('[rules]\nallow = [{ rule = "dynamic-input", reason = "" }]', "entry 1"),
    ('[rules]\nallow = [{ rule = "dynamic-input", reason = " \\t" }]', "entry 1"),
    ('[rules]\nallow = [{ rule = "dynamic-input", reason = "x", abuot = "y" }]', "about"),
    ('[rules]\nallow = ["dynamic-input"]', "must be a table"),
    ('[rules]\nallow = { rule = "dynamic-input", reason = "x" }', "list"),
    ('[rules]\nseverity = { "dynamic-inputs" = "error" }', "dynamic-input"),
    ('[rules]\nseverity = { "dynamic-input" = "off" }', "allow"),
    ('[rules]\nseverity = { "dynamic-input" = "bad" }', "bad"),
    ('[runtimes]\nrequire = ["tensort"]', "tensorrt"),
    ('[runtimes]\nrequires = ["tensorrt"]', "require"),
    ("[runtimes]\nrequire = 'tensorrt'", "expected"),
    ("[limit]", "limits"),
    ("[devices]\nt4 = 1", "limits"),
    ("limits = 3", "table"),
    ("[limits", "invalid TOML"),
]


@pytest.mark.parametrize(("text", "hint"), INVALID)
def test_invalid_policy_is_rejected_with_advice(tmp_path: Path, text: str, hint: str) -> None:
    path = write_toml(tmp_path, text)
    with pytest.raises(BadInput) as raised:
        read_policy(path)
    assert hint in str(raised.value)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text", [text for text, hint in INVALID if hint != "invalid TOML" and "nan" not in text and "inf }" not in text]
)
def test_schema_rejects_invalid_policies(text: str) -> None:
    if "min = 2, max = 1" in text:
        pytest.skip("a JSON Schema cannot compare two numbers")
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(tomllib.loads(text))


VALID = [
    EXAMPLE.read_text(),
    '[limits]\n"model.opsets.com.microsoft.nchwc" = { max = 1 }',
    '[limits]\n"graph.operators.com.microsoft.Gelu.count" = { max = 1.5, min = 1 }',
    '[limits]\n"memory.kv_cache.at.8192.bytes" = { max = 1e9, allow_gaps = true }',
    '[limits]\n"structure.tree.children.b1.children.b2.macs" = { max = 1 }',
    '[limits]\n"interface.inputs.input.1.shape.0" = { equals = "batch" }',
    '[limits]\n"findings.dynamic-input.count" = { max = 0 }',
    '[limits]\n"findings" = { max = 0 }\n"gaps" = { equals = 0 }',
    '[limits]\n"structure.attention.plain.causal" = { equals = true }',
    '[limits]\n"compute.formula.dims.batch" = { max = 2 }',
    '[limits]\n"graph.flow.Conv.Relu.count" = { max = 2 }',
    '[changes]\n"interface" = { breaking = false, equal = true }',
    '[changes]\n"structure" = { equal = true }\n"model.opsets" = { equal = true, max_increase = 0 }',
    '[rules]\nfail_on = "never"\nonly_new = true\nallow_gaps = true',
    '[rules]\nallow = [{ rule = "dynamic-input", reason = "x", about = "tensorrt", evidence = "a*" }]',
    '[runtimes]\nrequire = ["tensorrt", "openvino"]',
]


@pytest.mark.parametrize("text", VALID)
def test_schema_accepts_valid_policies(tmp_path: Path, text: str) -> None:
    read_policy(write_toml(tmp_path, text))
    VALIDATOR.validate(tomllib.loads(text))


def test_every_listed_path_can_be_limited(tmp_path: Path) -> None:
    """Every path is also part of the schema."""
    names = {"<rule>": next(iter(RULES)), "<source.target>": "a.b", "<place>": "0"}
    for path, kinds in list_figures().items():
        if kinds == {"section"}:
            continue
        for placeholder, name in names.items():
            path = path.replace(placeholder, name)
        limit: dict[str, Any] = {"max": 1} if kinds & {"number", "list", "table"} else {"one_of": ["x"]}
        limit = {"equals": True} if kinds == {"flag"} else limit
        for field in (
            "name",
            "op",
            "kind",
            "part",
            "node",
            "path",
            "form",
            "id",
            "batch",
            "tokens",
            "at",
            "section",
            "device",
        ):
            path = path.replace(f"<{field}>", "7")
        data = {"limits": {path: limit}}
        VALIDATOR.validate(data)
        (tmp_path / "p.json").write_text(json.dumps(data))
        read_policy(tmp_path / "p.json")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.toml", '[limits]\n"graph.nodes" = { max = 1 }\n"graph.nodes" = { max = 2 }'),
        ("p.yaml", "limits:\n  graph.nodes: {max: 1}\nlimits:\n  graph.nodes: {max: 2}"),
        ("p.json", '{"limits": {"graph.nodes": {"max": 1, "max": 2}}}'),
        ("p.yaml", "limits: [1"),
        ("p.yaml", "- 1"),
        ("p.yaml", "limits: {1: {max: 2}}"),
        ("p.yaml", "limits: {graph.nodes: {max: }}"),
        ("p.yaml", "limits: !!python/object/apply:os.system [echo]"),
        ("p.json", "{"),
        ("p.json", "[" * 100_000),
        ("p.ini", ""),
        ("p", ""),
        ("absent.toml", None),
    ],
)
def test_file_without_a_policy_is_rejected(tmp_path: Path, name: str, text: str | None) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(BadInput) as raised:
        read_policy(tmp_path / name)
    assert str(tmp_path / name) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_lone_surrogate_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="not UTF-8 text: invalid byte at offset 0"):
        read_policy(tmp_path / "p.toml")


def test_yaml_without_pyyaml_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.yaml").write_text("")
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.delitem(sys.modules, "onnx_autodoc.policy.yaml_loader", raising=False)
    with pytest.raises(BadInput, match=r"pip install 'onnx-autodoc\[yaml\]'"):
        read_policy(tmp_path / "p.yaml")


def test_published_schema_matches_the_types() -> None:
    published = (ROOT / "schema" / "policy-1.json").read_text(encoding="utf-8")
    assert published == SCHEMAS["policy"](), "run `make schema`"
    for schema in (SCHEMAS["policy"](), SCHEMAS["verdict"]()):
        jsonschema.Draft202012Validator.check_schema(json.loads(schema))


def test_documentation_names_every_key() -> None:
    page = (DOCS / "check.md").read_text()
    for kind in (Allow, Change, Limit, Policy, Rules, Runtimes):
        for key in kind.__struct_fields__:
            assert f"`{key}`" in page or f"[{key}]" in page, key


def test_every_documented_policy_is_valid(tmp_path: Path) -> None:
    examples = re.findall(r"```(toml|yaml)\n(.*?)```", (DOCS / "check.md").read_text(), re.S)
    count = 0
    for notation, text in examples:
        if "onnx-autodoc-check" in text or "uses:" in text:
            continue  # configuration files of CI
        (tmp_path / f"p.{notation}").write_text(text)
        read_policy(tmp_path / f"p.{notation}")
        count += 1
    assert count >= 4


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("graph.operators.conv.count", "unknown operator 'conv'; similar: Conv"),
        ("graph.operators.MyOwnThing.count", "(for a custom operator: DOMAIN.NAME)"),
        ("graph.operators.ai.onnx.conv.count", "unknown operator 'ai.onnx.conv'; similar: ai.onnx.Conv"),
        ("graph.operators.Convv.count", "unknown operator 'Convv'; similar: Conv"),
        ("memory.by_op.Resahpe.written_bytes", "unknown operator 'Resahpe'; similar: Reshape"),
        ("parameters.by_dtype.flaot64", "unknown element type 'flaot64'; similar: float64"),
        ("model.precision.weights.int9", "unknown element type 'int9'; similar: "),
        ("structure.blocks.atention.count", "unknown block kind 'atention'; similar: attention"),
        ("structure.residuals.sum", "unknown residual connection 'sum'"),
    ],
)
def test_misspelt_row_name_is_rejected(path: str, error: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(f'[limits]\n"{path}" = {{ max = 0 }}\n')
    with pytest.raises(BadInput, match=re.escape(error)):
        read_policy(file)


@pytest.mark.parametrize("name", ["ai.onnx.MyOwnThing", "com.microsoft.Attention", "my.domain.Attention2", "Loop"])
def test_custom_operators_may_be_limited(name: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(f'[limits]\n"graph.operators.{name}.count" = {{ max = 0 }}\n')
    assert list(read_policy(file).limits) == [f"graph.operators.{name}.count"]
