"""The boxes of a model as a still picture (SVG): for a page before its scripts run, and for paper.

Rows from the inputs down, each box below all that it reads; what is long goes on in a second column. Lines that pass
rows by run beside the boxes. It looks right without a style; a page's style may colour its lines.
"""

from collections.abc import Iterator
from html import escape
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Box, Edge
from onnx_autodoc.render._palette import COLOURS, TEXT, family
from onnx_autodoc.text import clean, count, percent, plural, short

MOST_BOXES: Final = 30
_WIDE: Final = 208  # a box
_HIGH: Final = 62
_ROW: Final = _HIGH + 34
_BESIDE: Final = 24  # between boxes of a row
_GUTTER: Final = 72  # between columns
_RATIO: Final = 1.25  # width to height that a page has room for
_LETTERS: Final = (27, 34)  # of a title, of finer print
_TELLING: Final = 0.3  # of the multiply-adds: a layer that shows what the model is made of
_LANE: Final = 7  # between lines that run beside each other
_INK: Final = "#4b5563"  # of lines
_FONT: Final = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
_TYPE: Final = {"head": 'font-size="13" font-weight="600"', "fine": 'font-size="11"'}


class _Place(Struct, frozen=True):
    box: Box
    column: int
    row: int
    x: float  # of its middle
    y: float  # of its upper edge


class _Plan(Struct, frozen=True):
    places: dict[str, _Place]
    rights: tuple[float, ...]  # where the boxes of each column end
    width: float
    height: float


class Inside(Struct, frozen=True):
    """A layer of the drawing, opened."""

    title: str
    svg: str


def inside(tree: Box) -> Inside | None:
    """The repeated layer that does most of the work, where there is one: a page opens it at first sight."""
    found = [box for box in tree.children if box.repeats and box.children and (box.share or 0) >= _TELLING]
    layer = max(found, key=lambda box: box.share or 0, default=None)
    if layer is None:
        return None
    title = clean(f"One of {count(layer.count)} × {layer.label.strip() or layer.kind}", 80)
    return Inside(title, drawing(layer, title))


def drawing(tree: Box, title: str = "") -> str:
    """The first level, as an element of its own for a page."""
    boxes = _few(tree.children or (tree,))
    edges = tuple(_between(tree.edges, {box.id for box in boxes}))
    plan = _plan(boxes, edges)
    wide, high = f"{plan.width + 48:.0f}", f"{plan.height + 44:.0f}"
    size = f'width="{wide}" height="{high}" viewBox="-24 -30 {wide} {high}" font-family="{_FONT}"'
    title = escape(title or f"The model in {plural(len(boxes), 'box', 'boxes')}")
    lines = [path for at, edge in enumerate(edges) for path in _line(plan, edge, at)]
    drawn = [piece for place in plan.places.values() for piece in _box(place)]
    head = f'<svg class="drawing" role="img" {size}><title>{title}</title>'
    return "\n".join((head, *lines, *drawn, "</svg>"))


def _few(boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    if len(boxes) <= MOST_BOXES:
        return boxes
    rest = boxes[MOST_BOXES - 1 :]
    label = plural(len(rest), "more block")
    more = Box("rest", "rest", label, None, 1, sum(box.params for box in rest), None, None, 0, False, (), ())
    return (*boxes[: MOST_BOXES - 1], more)


def _between(edges: tuple[Edge, ...], known: set[str]) -> Iterator[Edge]:
    seen = set()
    for edge in edges:
        pair = (edge.source, edge.target)
        if known >= set(pair) and edge.source != edge.target and pair not in seen:
            seen.add(pair)
            yield edge


def _plan(boxes: tuple[Box, ...], edges: tuple[Edge, ...]) -> _Plan:
    rows = _rows(boxes, edges)
    widest = max(map(len, rows)) * (_WIDE + _BESIDE) - _BESIDE
    columns = max(1, round((len(rows) * _ROW * _RATIO / (widest + _GUTTER)) ** 0.5)) if len(rows) > 5 else 1
    high = -(-len(rows) // columns)
    places: dict[str, _Place] = {}
    rights, left = [], 0.0
    for column in range(-(-len(rows) // high)):
        part = rows[column * high : (column + 1) * high]
        wide = max(map(len, part)) * (_WIDE + _BESIDE) - _BESIDE
        for row, line in enumerate(part):
            start = left + (wide - len(line) * (_WIDE + _BESIDE) + _BESIDE + _WIDE) / 2
            for at, box in enumerate(line):
                places[box.id] = _Place(box, column, row, start + at * (_WIDE + _BESIDE), row * _ROW)
        rights.append(left + wide)
        left += wide + _GUTTER
    return _Plan(places, tuple(rights), left - _GUTTER, high * _ROW - _ROW + _HIGH)


def _rows(boxes: tuple[Box, ...], edges: tuple[Edge, ...]) -> list[list[Box]]:
    """Each box below what it reads; an input right above its first reader."""
    known = {box.id: box for box in boxes}
    rank = dict.fromkeys(known, 0)
    for _ in boxes:
        for edge in edges:
            rank[edge.target] = min(max(rank[edge.target], rank[edge.source] + 1), len(boxes))
    read = {edge.target for edge in edges}
    for name in known:
        readers = [rank[edge.target] for edge in edges if edge.source == name]
        if name not in read and readers:
            rank[name] = min(readers) - 1
    found: dict[int, list[Box]] = {}
    for name, at in rank.items():
        found.setdefault(at, []).append(known[name])
    return [_ordered(found[at], edges) for at in sorted(found)]


def _ordered(row: list[Box], edges: tuple[Edge, ...]) -> list[Box]:
    """What goes on along the straight way stands before what leaves it."""
    return sorted(row, key=lambda box: (family(box.kind) == "port", -(box.share or 0)))


def _box(place: _Place) -> Iterator[str]:
    box, colour = place.box, COLOURS[family(place.box.kind)]
    left, port = place.x - _WIDE / 2, family(place.box.kind) == "port"
    radius = _HIGH / 2 if port else 7
    paint = f'width="{_WIDE}" height="{_HIGH}" rx="{radius:.0f}" fill="{colour.fill}" stroke="{colour.border}"'
    for off in (4, 0) if box.count > 1 else (0,):  # several alike: one behind the other
        yield f'<rect x="{left + off:.0f}" y="{place.y + off:.0f}" {paint}/>'
    words = list(_words(box))
    top = place.y + _HIGH / 2 + 4.5 - 8 * (len(words) - 1)
    for at, text in enumerate(words):
        where = f'x="{place.x:.0f}" y="{top + 16 * at:.1f}" text-anchor="middle"'
        yield f'<text {where} {_TYPE["fine" if at else "head"]} fill="{TEXT}">{escape(text)}</text>'


def _words(box: Box) -> Iterator[str]:
    times = f"{count(box.count)} × " if box.count > 1 else ""
    yield clean(times + (box.label.strip() or box.kind), _LETTERS[0])
    if box.detail:
        yield clean(box.detail, _LETTERS[1])
    costs = [f"{short(box.params)} params"] if box.params else []
    costs += [f"{percent(box.share)} of MACs"] if box.share else []
    if costs:
        yield " · ".join(costs)


def _line(plan: _Plan, edge: Edge, lane: int) -> Iterator[str]:
    source, target = plan.places[edge.source], plan.places[edge.target]
    dashes = ' stroke-dasharray="5 4"' if edge.kind == "skip" else ""
    paint = f'class="line" fill="none" stroke="{_INK}" stroke-width="1.3"{dashes}'
    yield f'<path {paint} d="{_way(plan, source, target, (lane % 4) * _LANE)}"/>'
    yield f'<path class="arrow" fill="{_INK}" d="M{target.x:.0f} {target.y:.0f}l-4 -8h8z"/>'


def _way(plan: _Plan, source: _Place, target: _Place, off: float) -> str:
    """Straight down to the next row; around the boxes' right side beyond it; through the gutter to another column."""
    sx, sy, tx, ty = source.x, source.y + _HIGH, target.x, target.y - 6
    if source.column == target.column:
        if target.row == source.row + 1:
            mid = (sy + ty) / 2
            return f"M{sx:.0f} {sy:.0f}C{sx:.0f} {mid:.0f} {tx:.0f} {mid:.0f} {tx:.0f} {ty:.0f}"
        beside = plan.rights[source.column] + 12 + off
        return f"M{sx:.0f} {sy:.0f}v10H{beside:.0f}V{ty - 14:.0f}H{tx:.0f}V{ty:.0f}"
    near = plan.rights[source.column] + _GUTTER / 2 + off
    if target.column == source.column + 1:
        return f"M{sx:.0f} {sy:.0f}v12H{near:.0f}V{ty - 10:.0f}H{tx:.0f}V{ty:.0f}"
    far = plan.rights[target.column - 1] + _GUTTER / 2 + off if target.column else -12 - off
    return f"M{sx:.0f} {sy:.0f}v12H{near:.0f}V{-20 + off / 2:.0f}H{far:.0f}V{ty - 10:.0f}H{tx:.0f}V{ty:.0f}"
