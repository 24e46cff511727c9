"""The versions, inputs, outputs and attributes of each operator in the specification.

    python -m scripts.operators_data > src/onnx_autodoc/data/operators.json

Read from `onnx.defs`: for every version of every operator its inputs and outputs with their types, and its attributes.
A test compares the file with the installed onnx.
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


def collect_operators() -> dict[str, Any]:
    """Return the data for JSON. Sets of types are stored once and referred to by index."""
    types: dict[str, int] = {}
    operators: dict[str, dict[str, list[Any]]] = {}
    for schema in sorted(
        defs.get_all_schemas_with_history(), key=lambda item: (item.domain, item.name, item.since_version)
    ):
        if schema.domain in SPECIFIED_DOMAINS:
            entry = operators.setdefault(schema.domain, {}).setdefault(schema.name, [])
            entry.append(_encode_schema(schema, types))
    return {"source": f"onnx.defs of onnx {onnx.__version__}", "types": list(types), "operators": operators}


def _encode_schema(schema: defs.OpSchema, types: dict[str, int]) -> list[Any]:
    """Encode a schema in the order of the fields of `OpSchema`."""
    letters = {item.type_param_str: _type_index(item.allowed_type_strs, types) for item in schema.type_constraints}
    inputs = [_encode_slot(item, letters, types) for item in schema.inputs]
    outputs = [_encode_slot(item, letters, types) for item in schema.outputs]
    attributes = {name: _encode_attribute(item) for name, item in sorted(schema.attributes.items())}
    ins, outs = (schema.min_input, _max_count(schema.max_input)), (schema.min_output, _max_count(schema.max_output))
    return [schema.since_version, ins, outs, inputs, outputs, letters, attributes]


def _max_count(count: int) -> int | None:
    return None if count > 1_000_000 else count


def _encode_slot(item: Any, letters: dict[str, int], types: dict[str, int]) -> str:
    """Encode an input or output: its type parameter, and whether it is optional or variadic."""
    if item.type_str not in letters:
        letters[item.type_str] = _type_index([item.type_str], types)
    mark = _MARKS[item.option.name]
    return item.type_str + (mark + "*" if mark == "*" and not item.is_homogeneous else mark)


def _type_index(allowed: list[str], types: dict[str, int]) -> int:
    names = sorted({_element_type(text) for text in allowed})
    return types.setdefault(" ".join(names), len(types))


def _element_type(text: str) -> str:
    """Return the tool's name of an element type; `other` for non-tensors."""
    match = re.fullmatch(r"tensor\((\w+)\)", text)
    return (dtype_name(_NUMBERS[match[1]]) or "other") if match and match[1] in _NUMBERS else "other"


def _encode_attribute(item: Any) -> str:
    name = _TAGS[int(item.type)]
    is_list = name.endswith("S") and name[:-1] in _LETTERS
    return _LETTERS[name[:-1] if is_list else name] + ("+" if is_list else "") + ("!" if item.required else "")


if __name__ == "__main__":
    json.dump(collect_operators(), sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")
