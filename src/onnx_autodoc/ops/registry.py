"""The table of all operators, by domain and op type; registration of operators of custom domains.

Custom operators come from `register_operator`, or from installed packages with entry points in the group
`onnx_autodoc.operators`. Entry points are loaded when the first unknown operator is looked up.
"""

import logging
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Final, ParamSpec, Protocol, TypeVar

from msgspec.structs import replace

from onnx_autodoc.ops import (
    attention,
    constant,
    convolution,
    elementwise,
    image,
    indexing,
    matmul,
    microsoft,
    microsoft_attention,
    microsoft_decoding,
    microsoft_layout,
    microsoft_quantized,
    microsoft_state,
    ml,
    normalization,
    pooling,
    quantization,
    recurrent,
    reduction,
    reshaping,
    sequence,
    signal,
    slicing,
    training,
)
from onnx_autodoc.ops.input_constraints import ONE
from onnx_autodoc.ops.operator import Operator, Trait
from onnx_autodoc.ops.values import InferenceError
from onnx_autodoc.text import quote_name

ENTRY_POINT_GROUP: Final = "onnx_autodoc.operators"

# domain -> the tables of its families; a test checks that no operator is in two of them
FAMILIES: Final[dict[str, tuple[dict[str, Operator], ...]]] = {
    "": (
        attention.OPERATORS,
        constant.OPERATORS,
        sequence.CONTROL_FLOW,
        convolution.OPERATORS,
        elementwise.OPERATORS,
        image.OPERATORS,
        indexing.OPERATORS,
        training.LOSSES,
        matmul.OPERATORS,
        normalization.OPERATORS,
        pooling.OPERATORS,
        quantization.OPERATORS,
        constant.RANDOM,
        recurrent.OPERATORS,
        reduction.OPERATORS,
        reshaping.OPERATORS,
        sequence.OPERATORS,
        signal.OPERATORS,
        slicing.OPERATORS,
        ml.TEXT,
        microsoft_decoding.UNSPECIFIED,
    ),
    "ai.onnx.ml": (ml.OPERATORS,),
    "ai.onnx.preview": (training.PREVIEW,),
    "ai.onnx.preview.training": (training.OPERATORS,),
    "com.microsoft": (
        microsoft.OPERATORS,
        microsoft_attention.OPERATORS,
        microsoft_decoding.OPERATORS,
        microsoft_layout.OPERATORS,
        microsoft_quantized.OPERATORS,
        microsoft_state.OPERATORS,
    ),
    "com.microsoft.nchwc": (microsoft_layout.NCHWC,),
    "com.ms.internal.nhwc": (microsoft_layout.NHWC,),
}
OPERATORS: Final = {
    (domain, op): replace(
        row, domain=domain, op_type=op, constraints={**dict.fromkeys(row.size_inputs, ONE), **row.constraints}
    )
    for domain, tables in FAMILIES.items()
    for table in tables
    for op, row in table.items()
}
_BUILT_IN: Final = frozenset(OPERATORS)
_REGISTERED: Final[dict[tuple[str, str], Operator]] = {}  # by this program, not by a plugin
_NO_ROW: Final = Operator()
_MAX_ERROR_CHARS: Final = 160
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_log = logging.getLogger(__name__)


class HasOpType(Protocol):
    """A node, or whatever else names an operator."""

    @property
    def op(self) -> str: ...
    @property
    def domain(self) -> str: ...


def find(domain: str, op: str) -> Operator | None:
    """Return the row of an operator, or None for an unknown one."""
    row = OPERATORS.get((domain, op))
    if row is None and domain:  # plugins have domains of their own; ONNX's unknown operators need no scan
        load_plugins()
        row = OPERATORS.get((domain, op))
    return row


def operator_of(node: HasOpType) -> Operator:
    """Return the row of a node's operator; an empty row, without rules and traits, if it is unknown."""
    return OPERATORS.get((node.domain, node.op)) or find(node.domain, node.op) or _NO_ROW


def has_trait(node: HasOpType, trait: Trait, *others: Trait) -> bool:
    """Return whether the operator of a node is known to have `trait` or one of the others."""
    row = OPERATORS.get((node.domain, node.op)) or operator_of(node)
    return trait in row.traits or (bool(others) and not row.traits.isdisjoint(others))


def select_op_types(predicate: Callable[[Operator], object], domain: str = "") -> tuple[str, ...]:
    """Return the op types of a domain whose rows satisfy `predicate`, sorted."""
    return tuple(sorted(row.op_type for row in list(OPERATORS.values()) if row.domain == domain and predicate(row)))


def register_operator(operator: Operator) -> None:
    """Add an operator of a custom domain: its nodes are inferred and counted like those of ONNX.

    Register before the card is made; worker processes have the same operators. A second registration of the same
    operator replaces the first. Built-in operators cannot be replaced.
    """
    _add_operator(operator)
    _REGISTERED[operator.domain, operator.op_type] = operator


def custom_operators() -> tuple[Operator, ...]:
    """Return what was registered with `register_operator`, for another process."""
    return tuple(_REGISTERED.values())


def _add_operator(operator: Operator) -> None:
    key = operator.domain, operator.op_type
    if not all(key):
        raise ValueError("a custom operator requires a domain and an op_type")
    if key in _BUILT_IN:
        raise ValueError(f"{operator.domain}.{operator.op_type} is a built-in operator")
    value = operator.value and _guard(operator.value, operator)
    cost = operator.cost and _guard(operator.cost, operator)
    OPERATORS[key] = replace(operator, infer=_guard(operator.infer, operator), value=value, cost=cost)


def _guard(rule: Callable[_Arguments, _Result], operator: Operator) -> Callable[_Arguments, _Result]:
    """Turn whatever a custom rule raises into the gap of one node."""

    @wraps(rule)
    def guarded(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return rule(*args, **kwargs)
        except InferenceError:
            raise
        except Exception as error:
            name = quote_name(f"{operator.domain}.{operator.op_type}")
            raise InferenceError(f"the custom rule for {name} failed: {_one_line(error)}") from None

    return guarded


@cache
def load_plugins() -> tuple[str, ...]:
    """Register the operators of installed packages, once; return one line for each plugin that failed."""
    from importlib.metadata import entry_points  # slow, and rarely needed

    failures = []
    for point in entry_points(group=ENTRY_POINT_GROUP):
        try:
            rows: Operator | Iterable[Operator] = point.load()
            for row in (rows,) if isinstance(rows, Operator) else rows:
                _add_operator(row)
        except Exception as error:
            failures.append(f"the plugin {quote_name(point.name)} could not be loaded: {_one_line(error)}")
            _log.warning(failures[-1])
    return tuple(failures)


def _one_line(error: Exception) -> str:
    return quote_name(f"{type(error).__name__}: {error}", _MAX_ERROR_CHARS)
