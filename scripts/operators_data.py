"""What the specification lets each operator be: python -m scripts.operators_data > src/onnx_autodoc/data/operators.json

Written off `onnx.defs`: for every version of every operator its inputs and outputs with their types, and its
attributes. A test holds the file to the onnx that is installed.
"""

import json
import re
import sys
from typing import Any

import onnx
from onnx import TensorProto, defs

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops import SPECIFIED_DOMAINS

_TAGS = {int(tag): tag.name for tag in defs.OpSchema.AttrType}
_LETTERS = {
    "FLOAT": "f",
    "INT": "i",
    "STRING": "s",
    "TENSOR": "t",
    "GRAPH": "g",
    "SPARSE_TENSOR": "p",
    "TYPE_PROTO": "y",
}
_MARKS = {"Single": "", "Optional": "?", "Variadic": "*"}
_NUMBERS = {name.lower(): number for name, number in TensorProto.DataType.items()}


def data() -> dict[str, Any]:
    """Ready for JSON. Sets of types stand once, and are spoken of by their place."""
    types: dict[str, int] = {}
    operators: dict[str, dict[str, list[Any]]] = {}
    for schema in sorted(
        defs.get_all_schemas_with_history(), key=lambda one: (one.domain, one.name, one.since_version)
    ):
        if schema.domain in SPECIFIED_DOMAINS:
            entry = operators.setdefault(schema.domain, {}).setdefault(schema.name, [])
            entry.append(_form(schema, types))
    return {"source": f"onnx.defs of onnx {onnx.__version__}", "types": list(types), "operators": operators}


def _form(schema: defs.OpSchema, types: dict[str, int]) -> list[Any]:
    """In the order of the fields of `OpSchema`."""
    letters = {one.type_param_str: _place(one.allowed_type_strs, types) for one in schema.type_constraints}
    inputs = [_slot(one, letters, types) for one in schema.inputs]
    outputs = [_slot(one, letters, types) for one in schema.outputs]
    given = {name: _kind(one) for name, one in sorted(schema.attributes.items())}
    ins, outs = (schema.min_input, _most(schema.max_input)), (schema.min_output, _most(schema.max_output))
    return [schema.since_version, ins, outs, inputs, outputs, letters, given]


def _most(count: int) -> int | None:
    return None if count > 1_000_000 else count


def _slot(one: Any, letters: dict[str, int], types: dict[str, int]) -> str:
    """A letter of the specification or a type of its own, and whether it may be left out or come many times."""
    if one.type_str not in letters:
        letters[one.type_str] = _place([one.type_str], types)
    mark = _MARKS[one.option.name]
    return one.type_str + (mark + "*" if mark == "*" and not one.is_homogeneous else mark)


def _place(allowed: list[str], types: dict[str, int]) -> int:
    names = sorted({_element(text) for text in allowed})
    return types.setdefault(" ".join(names), len(types))


def _element(text: str) -> str:
    """The tool's own name of an element type; `other` for what is no tensor."""
    found = re.fullmatch(r"tensor\((\w+)\)", text)
    return (dtype_name(_NUMBERS[found[1]]) or "other") if found and found[1] in _NUMBERS else "other"


def _kind(one: Any) -> str:
    name = _TAGS[int(one.type)]
    many = name.endswith("S") and name[:-1] in _LETTERS
    return _LETTERS[name[:-1] if many else name] + ("+" if many else "") + ("!" if one.required else "")


if __name__ == "__main__":
    json.dump(data(), sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")
