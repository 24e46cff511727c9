"""A fused operator costs what its parts cost where an exporter writes them out: the parts, and their sum."""

from collections.abc import Mapping
from typing import Final

from onnx_autodoc.ir import Attribute, Node
from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._cost import NOTHING, Cost, Price
from onnx_autodoc.ops._known import Known, NotKnown, tensor
from onnx_autodoc.ops._operator import Operator
from onnx_autodoc.ops.elementwise import OPERATORS as ELEMENTWISE
from onnx_autodoc.ops.normalization import OPERATORS as NORMALIZATION
from onnx_autodoc.text import told

Table = Mapping[str, Operator]

_VERSION: Final = 22  # of ONNX, which the parts are taken from
_SCALAR: Final = tensor("float32", ())
PLAIN: Final[Table] = {**ELEMENTWISE, **NORMALIZATION}
_NONE: Final = ("", "none", "identity")
_BY_NAME: Final = {**{name.lower(): name for name in PLAIN}, "silu": "Swish"}


def total(*costs: Cost) -> Cost:
    """Of parts that hand their results to each other without writing them."""
    return Cost(sum((cost.macs for cost in costs), start=0), sum((cost.other for cost in costs), start=0))


def result(call: Call, at: int = 0) -> Known:
    """An output whose dims are known; stops with the reason where they are not."""
    call.output(at)
    return call.outputs[at]


def part(table: Table, op: str, to: Known, *inputs: Known | None, named: Mapping[str, Attribute] | None = None) -> Cost:
    """What a plain operator costs that makes such a value from these, or from its like; `named` are its attributes."""
    price = table[op].cost
    if price is None:
        raise NotKnown(f"{op} has no price")
    return price(Call(Node(op, attributes=named or {}), inputs or (to,), _VERSION, (to,)))


def chain(*names: str) -> Price:
    """Operators that work element by element, one after the other, each on the whole output."""

    def price(call: Call) -> Cost:
        y, named = result(call), call.node.attributes
        return total(*(part(PLAIN, name, y, y, *_bounds(name), named=named) for name in names))

    price.__doc__ = f"as {' and '.join(names)}"
    return price


def _bounds(name: str) -> tuple[Known, ...]:
    return (_SCALAR, _SCALAR) if name == "Clip" else ()


def activation(call: Call, name: str, of: Known) -> Cost:
    """The activation that a node names, on such a value."""
    plain = name.lower()
    if plain in _NONE:
        return NOTHING
    if plain not in _BY_NAME:
        raise NotKnown(f"{call.node.op}'s activation {told(name, 40)} is not one that the tool knows")
    return part(PLAIN, _BY_NAME[plain], of, of, *_bounds(_BY_NAME[plain]))


def activated(price: Price) -> Price:
    """The same, and the activation that the node's attribute names."""

    def with_activation(call: Call) -> Cost:
        return total(price(call), activation(call, call.attr_text("activation", ""), result(call)))

    with_activation.__doc__ = f"{price.__doc__}; the activation as the operator of its name"
    return with_activation


def as_plain(table: Table, op: str) -> Price:
    """The price of another operator, by this one's first input, first output and attributes."""

    def price(call: Call) -> Cost:
        return part(table, op, result(call), call.known(0), named=call.node.attributes)

    price.__doc__ = f"as {op}"
    return price
