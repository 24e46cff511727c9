"""Operators: one `Operator` row per operator with all that is known of it, in one file per family.

To add an operator, add a row to the `OPERATORS` of its family (a new family needs a line in `registry.FAMILIES`) and a
case to the family's test. Rows know nothing of graphs; `shapes` runs control flow (If, Loop, Scan, SequenceMap).
"""

from onnx_autodoc.ops.call import Call, normalize_axis
from onnx_autodoc.ops.constant import tensor_info
from onnx_autodoc.ops.cost import Cost, CostRule, nbytes
from onnx_autodoc.ops.input_constraints import InputConstraint
from onnx_autodoc.ops.node_checks import SPECIFIED_DOMAINS, check_node, first_opset, newest_opset
from onnx_autodoc.ops.operator import (
    FUSIBLE_CLASSES,
    Arithmetic,
    ConstantRole,
    Identity,
    KVCacheInputs,
    Operator,
    PackedWeight,
    Trait,
    WorkClass,
)
from onnx_autodoc.ops.registry import (
    OPERATORS,
    custom_operators,
    find,
    has_trait,
    load_plugins,
    operator_of,
    register_operator,
    select_op_types,
)
from onnx_autodoc.ops.values import (
    MAX_DIMS,
    MAX_ELEMENTS,
    Array,
    Contradiction,
    Dim,
    InferenceError,
    Shape,
    Unknown,
    ValueInfo,
    format_dims,
    is_array_size,
    merge_dims,
    numpy_dtype,
    unknown_value,
)

__all__ = [
    "FUSIBLE_CLASSES",
    "MAX_DIMS",
    "MAX_ELEMENTS",
    "OPERATORS",
    "SPECIFIED_DOMAINS",
    "Arithmetic",
    "Array",
    "Call",
    "ConstantRole",
    "Contradiction",
    "Cost",
    "CostRule",
    "Dim",
    "Identity",
    "InferenceError",
    "InputConstraint",
    "KVCacheInputs",
    "Operator",
    "PackedWeight",
    "Shape",
    "Trait",
    "Unknown",
    "ValueInfo",
    "WorkClass",
    "check_node",
    "custom_operators",
    "find",
    "first_opset",
    "format_dims",
    "has_trait",
    "is_array_size",
    "load_plugins",
    "merge_dims",
    "nbytes",
    "newest_opset",
    "normalize_axis",
    "numpy_dtype",
    "operator_of",
    "register_operator",
    "select_op_types",
    "tensor_info",
    "unknown_value",
]
