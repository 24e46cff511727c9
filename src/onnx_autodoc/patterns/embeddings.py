"""Tables that are looked up by number, positions that are added, and pictures cut into patches.

token      Gather(W[rows, width], ids)             the table with the most rows, or with as many as there are answers
type       the same, with a handful of rows
position   Gather(W, positions), or Add(x, W[places, width]) where the exporter did the looking up
"""

import re
from typing import Final

from onnx_autodoc.ir import is_float
from onnx_autodoc.ops import kinds
from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._output_trace import tails
from onnx_autodoc.patterns._tracing import behind

_QUANTIZED: Final = frozenset(("int8", "uint8", "int4", "uint4"))
_FEW_TYPES: Final = 4
_PLACE: Final = r"position|(^|_)pos(_|$)"
_NARROWEST: Final = 8  # features of an embedding
_BEFORE_POSITIONS: Final = frozenset(
    ("embedding", "patch-embedding", "Add", "Mul", "linear", "conv", "Concat", "layer-norm", "Transpose")
)
_TO_TOKENS: Final = frozenset(("Reshape", "Transpose", "Flatten"))
_ON_PICTURES: Final = frozenset(("Sub", "Div", "Mul", "Add", "Transpose", "Resize", "Pad", "Concat", "Slice", "Gather"))


def find(net: Net) -> None:
    for term in net.of("Gather", "GatherBlockQuantized"):
        _looked_up(net, term)
    for term in net.of("linear"):
        if net.terms.get(term.at) is term and (chosen := net.maker(term.inputs[0], "Equal", "OneHot")) is not None:
            net.merge("embedding", (chosen, term), term.outputs, rows=term.facts["from"], width=term.facts["to"])
    _patches(net)
    _roles(net)
    first = min((term.at for term in net.of("attention")), default=0)
    for term in net.of("Add"):
        if term.at < first:
            _placed(net, term)


def _looked_up(net: Net, term: Term) -> None:
    table = net.knowns[term.inputs[0]] if term.inputs else None
    made = net.shape(term.outputs[0])
    axis = term.node.attributes.get("axis", 0) if term.node is not None else 0
    if table is None or not net.fixed[term.inputs[0]] or axis not in (0, None) or len(term.inputs) < 2:
        return
    dims = table.concrete
    held = is_float(table.dtype) or table.dtype in _QUANTIZED
    if not dims or len(dims) < 2 or dims[0] < 2 or not held or not made or made[-1] < _NARROWEST:
        return
    kind = "embedding" if len(dims) == 2 or term.op != "Gather" else "expert-weights"
    net.rename(term, kind, rows=dims[0], width=made[-1])
    term.inputs = (term.inputs[1], term.inputs[0], *term.inputs[2:])  # data first


def _roles(net: Net) -> None:
    """What was counted is a position. Of the rest, tokens have the table that the last map makes numbers for."""
    found = [term for term in net.of("embedding") if "role" not in term.facts]
    free = [term for term in found if not _is_counted(net, term)]
    vocabulary = _vocabulary(net, free)
    for term in found:
        term.facts["role"] = _role(net, term, vocabulary) if term in free else "position"


def _is_counted(net: Net, term: Term) -> bool:
    return any(each.op in ("CumSum", "Range") for each in behind(net, term.inputs[0], _is_far, 60))


def _is_far(term: Term) -> bool:
    return term.op in ("linear", "conv", "attention", "embedding")


def _role(net: Net, term: Term, vocabulary: int) -> str:
    """A second table is one of positions if it is added to the first; else another language, or another alphabet."""
    rows = term.facts["rows"] or 0
    if rows <= _FEW_TYPES < vocabulary:
        return "type"
    added = any(reader.op == "Add" for reader in net.readers[term.outputs[0]])
    return "position" if rows != vocabulary and added else "token"


def _vocabulary(net: Net, tables: list[Term]) -> int:
    """The rows of the token table: as many as there are answers for each place, or the most. A name breaks the tie."""
    rows = {term.facts["rows"] or 0 for term in tables}
    rivals = {count for count in rows if count > _FEW_TYPES}
    if len(rivals) < 2:
        return max(rows, default=0)
    named = {value: name for name, value in net.inputs.items()}
    places = {term.facts["rows"] for term in tables if re.search(_PLACE, named.get(term.inputs[0], ""), re.I)}
    return max(rivals & _answers(net) or rivals - places or rivals)


def _answers(net: Net) -> set[int]:
    """How many numbers there are for each place, where maps make them."""
    dims = [net.shape(tail.value) or () for tail in tails(net) if any(term.op == "linear" for term in tail.sources)]
    return {each[-1] for each in dims if len(each) == 3}


def _placed(net: Net, term: Term) -> None:
    """A table of positions added to tokens: [places, width], or rows of one that the sizes pick."""
    fixed, data = [value for value in term.inputs if net.fixed[value]], net.varying(term)
    if len(fixed) != 1 or len(data) != 1:
        return
    dims, made = net.shape(fixed[0]), net.maker(data[0])
    if not dims or dims[-1] < _NARROWEST or made is None or made.op not in _BEFORE_POSITIONS:
        return
    rows = _table_rows(net, fixed[0])
    if rows is None and (len(dims) < 2 or dims[-2] < 2 or any(dim != 1 for dim in dims[:-2])):
        return
    if made.op in ("Add", "Mul") and not _is_of_tables(net, made):
        return
    few = rows is not None and rows <= _FEW_TYPES
    net.rename(term, "embedding", rows=rows or dims[-2], width=dims[-1], role="type" if few else "position")
    term.inputs = (data[0], fixed[0])


def _is_of_tables(net: Net, term: Term) -> bool:
    made = [net.makers[value] for value in net.varying(term)]
    return any(each is not None and each.op == "embedding" for each in made)


def _table_rows(net: Net, value: int) -> int | None:
    """The length of the table that positions were taken from."""
    for term in behind(net, value, lambda term: term.op in kinds.OF_SIZES, 40):
        if term.op in ("Gather", "Slice") and term.inputs and net.maker(term.inputs[0]) is None:
            dims, known = net.shape(term.inputs[0]), net.knowns[term.inputs[0]]
            if dims and len(dims) >= 2 and known is not None and _is_learned(known.dtype):
                return dims[-2]
    return None


def _is_learned(dtype: str | None) -> bool:
    """Of numbers, or of what they were quantized to; not of indices."""
    return is_float(dtype) or (dtype or "").removeprefix("u") in ("int8", "int4")


def _patches(net: Net) -> None:
    """A picture cut into patches: a convolution whose step is its kernel, made into tokens."""
    if not net.of("attention"):
        return
    for conv in net.of("conv"):
        kernel, strides = conv.facts["kernel"], conv.facts["strides"]
        if len(kernel) < 2 or kernel != strides or max(kernel) < 2 or not _sees_the_picture(net, conv):
            continue
        members, value = [conv], conv.outputs[0]
        while (reader := net.reader(value)) is not None and reader.op in _TO_TOKENS:
            members.append(reader)
            value = reader.outputs[0]
        if len(members) > 1:
            net.merge("patch-embedding", members, (value,), patch=kernel, width=conv.facts["to"])


def _sees_the_picture(net: Net, conv: Term) -> bool:
    """Nothing but scaling between the input and it."""
    trail = behind(net, conv.inputs[0], lambda _: False, 30)
    return all(term.op in _ON_PICTURES for term in trail if net.terms.get(term.at) is term)
