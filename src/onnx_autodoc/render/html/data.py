"""Data for the page's scripts, as JSON: the node table, formulas with their sliders, the boxes of the diagram.

The node table is packed: columns instead of records, each string once, names as suffixes of the last.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Any, Final

from msgspec import Struct

from onnx_autodoc.card import Box, Card, Edge, NodeRow
from onnx_autodoc.render.content import UNKNOWN
from onnx_autodoc.render.json import encode_bounded
from onnx_autodoc.render.palette import COLORS, TEXT_COLOR, block_category
from onnx_autodoc.text import format_count, sanitize, sanitize_json

MAX_ROWS: Final = 20_000  # keeps the page responsive; `--format csv` has all rows
_MAX_OUTPUTS: Final = 100  # of a node
_MAX_NAME_LENGTH: Final = 200
_MAX_LINKED_NAME_LENGTH: Final = 4_096
_NUMERIC_FIELDS: Final = ("params", "macs", "flops", "read_bytes", "written_bytes")
_MAX_BATCH: Final = 128
_MIN_SLIDER_END: Final = 4096
_SLIDER_FACTOR: Final = 4  # how far a slider extends beyond the card's size
# Inside an element these could end it or start a comment; JSON.parse decodes the escapes.
_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


class PackedRows(Struct, frozen=True):
    """`columns` is what nodes.js unpacks; `row_indices` maps unique node names to rows."""

    columns: dict[str, Any]
    row_indices: dict[str, int]
    shown: int
    total: int


def pack_rows(rows: Iterable[NodeRow]) -> PackedRows:
    remaining = iter(rows)
    shown = list(islice(remaining, MAX_ROWS))
    strings: defaultdict[str, int] = defaultdict()  # the index of each string, in the order of first use
    strings.default_factory = strings.__len__
    names = [_display_path(row) for row in shown]
    columns: dict[str, Any] = {
        "names": list(_front_code(names)),
        "ops": [strings[_operator_name(row)] for row in shown],
        "blocks": [strings[sanitize(row.block)] if row.block else None for row in shown],
        "gaps": {str(index): strings[sanitize(row.gap, 400)] for index, row in enumerate(shown) if row.gap},
        "outputs": [list(_pack_outputs(name, row, strings)) for name, row in zip(names, shown)],
    }
    columns |= {field: [to_js_number(getattr(row, field)) for row in shown] for field in _NUMERIC_FIELDS}
    columns["words"] = list(strings)
    return PackedRows(columns, _index_names(shown), len(shown), len(shown) + sum(1 for _ in remaining))


def to_js_number(number: int | None) -> int | str | None:
    """Return numbers beyond 2^53 as text, since JavaScript's are exact only up to there."""
    return number if number is None or abs(number) < 1 << 53 else str(number)


def _display_path(row: NodeRow) -> str:
    name = sanitize(row.name, _MAX_NAME_LENGTH) or f"({sanitize(row.op, 60)})"
    return f"{sanitize(row.scope, _MAX_NAME_LENGTH)} › {name}" if row.scope else name


def _operator_name(row: NodeRow) -> str:
    op = sanitize(row.op, 100)
    return op if row.domain in ("", "ai.onnx") else f"{sanitize(row.domain, 100)}.{op}"


def _front_code(names: list[str]) -> Iterator[int | str]:
    """Yield for each name the length of the prefix that it shares with the last one, and the rest."""
    for last, name in pairwise(["", *names]):
        yield from _split_prefix(last, name)


def _split_prefix(reference: str, text: str) -> tuple[int, str]:
    """Return the length of the common prefix in UTF-16 units, as JavaScript counts, and the rest of `text`."""
    shorter = min(len(reference), len(text))
    common = next((index for index in range(shorter) if reference[index] != text[index]), shorter)
    return len(text[:common].encode("utf-16-le")) // 2, text[common:]


def _pack_outputs(name: str, row: NodeRow, strings: defaultdict[str, int]) -> Iterator[int | str]:
    """Yield four items per output: prefix shared with the node's name, rest, dtype, shape."""
    for output in row.outputs[:_MAX_OUTPUTS]:
        yield from _split_prefix(name, sanitize(output.name, _MAX_NAME_LENGTH))
        shape = UNKNOWN if output.shape is None else "×".join(map(str, output.shape)) or "scalar"
        yield from (strings[output.dtype or UNKNOWN], strings[shape])
    left = len(row.outputs) - _MAX_OUTPUTS
    if left > 0:
        yield from (0, f"… {format_count(left)} more", strings[UNKNOWN], strings[UNKNOWN])


def _index_names(rows: list[NodeRow]) -> dict[str, int]:
    """Map names of single nodes, with their scope, to rows; ambiguous and very long names have no link."""
    indices: dict[str, int] = {}
    ambiguous = set()
    for index, row in enumerate(rows):
        if len(row.scope) + len(row.name) > _MAX_LINKED_NAME_LENGTH:
            continue
        name = f"{row.scope}/{row.name}" if row.scope else row.name
        if row.name and indices.setdefault(name, index) != index:
            ambiguous.add(name)
    return {name: index for name, index in indices.items() if name not in ambiguous}


class Slider(Struct, frozen=True):
    """A formula variable: its value and the values that can be selected, `step` apart. Read by sliders.js."""

    name: str
    dims: tuple[str, ...]
    value: int
    low: int
    high: int
    step: int
    limit: int | None  # the largest size at which the model runs; None if unknown


def to_script_json(data: object) -> str:
    text = sanitize_json(encode_bounded(data).decode())
    for sign, escape in _ESCAPES.items():
        text = text.replace(sign, escape)
    return text


def make_sliders(card: Card) -> tuple[Slider, ...]:
    """Return a slider for each formula variable; none where the size of one is unknown."""
    formula, dims = card.compute.formula, card.assumptions.dims
    sliders = []
    for name in formula.variables:
        value = next((dims[dim] for dim in formula.dims.get(name, ()) if dim in dims), None)
        if value is None:
            return ()
        sliders.append(_make_slider(card, name, value))
    return tuple(sliders) if formula.terms else ()


def _make_slider(card: Card, name: str, value: int) -> Slider:
    formula = card.compute.formula
    dims, step = formula.dims[name], max(1, formula.steps.get(name, 1))
    limit, least = formula.most.get(name), max(1, formula.least.get(name, 1))
    image_inputs = [port for port in card.interface.inputs if port.role is not None and "image" in port.role]
    is_image_size = any(dim in dims for port in image_inputs for dim in port.shape or ())
    scaled = _SLIDER_FACTOR * value
    end = _MAX_BATCH if value == 1 else scaled if is_image_size else max(_MIN_SLIDER_END, scaled)
    low = value - (value - least) // step * step if value >= least else value
    names = tuple(sanitize(dim, 60) for dim in dims)
    return Slider(sanitize(name, 60), names, value, low, end if limit is None else limit, step, limit)


def formula_data(card: Card) -> dict[str, Any]:
    formula = card.compute.formula
    return {
        "sliders": make_sliders(card),
        "terms": {
            name: [[[str(term.factor), term.powers] for term in branch] for branch in branches]
            for name, branches in formula.terms.items()
        },
        "divisors": {name: str(number) for name, number in formula.divisors.items()},
        "weights": str(card.memory.weights_bytes),
    }


def diagram_data(tree: Box) -> dict[str, Any]:
    colors = {name: [color.fill, color.border] for name, color in COLORS.items()}
    return {"tree": _box_data(tree), "colors": colors, "text": TEXT_COLOR}


def _box_data(box: Box) -> dict[str, Any]:
    indices = {child.id: index for index, child in enumerate(box.children)}
    edges = [_edge_data(edge, indices) for edge in box.edges if edge.source in indices and edge.target in indices]
    return {
        "kind": sanitize(box.kind, 60),
        "family": block_category(box.kind),
        "label": sanitize(box.label.strip() or box.kind, 120),
        "detail": sanitize(box.detail or "", 160),
        "count": box.count,
        "params": to_js_number(box.params),
        "bytes": to_js_number(box.weight_bytes),
        "macs": to_js_number(box.macs),
        "time": None if box.seconds is None else to_js_number(round(box.seconds * 1e9)),
        "share": box.share,
        "nodes": box.nodes,
        "repeats": box.repeats,
        "children": [_box_data(child) for child in box.children],
        "edges": [edge for edge in edges if edge[0] != edge[1]],
    }


def _edge_data(edge: Edge, indices: dict[str, int]) -> tuple[int, int, str, bool]:
    """Return source, target, shape with an unusual dtype, and whether it skips boxes."""
    shape = "" if edge.shape is None else "×".join(map(str, edge.shape)) or "scalar"
    dtype = sanitize(edge.dtype, 16) if edge.dtype and edge.dtype != "float32" else ""
    label = " ".join(filter(None, (shape, dtype)))
    return indices[edge.source], indices[edge.target], label, edge.kind == "skip"
