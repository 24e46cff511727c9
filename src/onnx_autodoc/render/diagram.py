"""The block diagram as a still SVG, for a page before its scripts run and for paper.

Rows run from the inputs down, each box below all that it reads; long diagrams continue in a second column. Edges that
skip rows run beside the boxes. The SVG is complete without a style; a page's style may recolor its lines.
"""

from collections.abc import Iterator
from html import escape
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Box, Edge
from onnx_autodoc.render.palette import COLORS, TEXT_COLOR, block_category
from onnx_autodoc.text import format_count, format_percent, format_short, pluralize, sanitize

MAX_BOXES: Final = 30
_BOX_WIDTH: Final = 208
_BOX_HEIGHT: Final = 62
_ROW_HEIGHT: Final = _BOX_HEIGHT + 34
_BOX_GAP: Final = 24
_BOX_PITCH: Final = _BOX_WIDTH + _BOX_GAP
_COLUMN_GAP: Final = 72
_MAX_SINGLE_COLUMN_ROWS: Final = 5
_ASPECT_RATIO: Final = 1.25  # width to height that a page has room for
_MAX_TITLE_LENGTH: Final = 27
_MAX_DETAIL_LENGTH: Final = 34
_MIN_MAIN_LAYER_SHARE: Final = 0.3  # of the MACs
_LANE_WIDTH: Final = 7  # between parallel edges
_LINE_COLOR: Final = "#4b5563"
_FONT: Final = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
_TITLE_STYLE: Final = 'font-size="13" font-weight="600"'
_DETAIL_STYLE: Final = 'font-size="11"'


class _PlacedBox(Struct, frozen=True):
    box: Box
    column: int
    row: int
    x: float  # of its center
    y: float  # of its upper edge


class _Layout(Struct, frozen=True):
    boxes: dict[str, _PlacedBox]
    column_ends: tuple[float, ...]
    width: float
    height: float


class LayerDiagram(Struct, frozen=True):
    title: str
    svg: str


def box_label(box: Box) -> str:
    """Return the label of a box with its count: "12 × Layer"."""
    return (f"{format_count(box.count)} × " if box.count > 1 else "") + (box.label.strip() or box.kind)


def merge_boxes(boxes: tuple[Box, ...], box_id: str) -> Box:
    """Merge the boxes that exceed the limit of a diagram into one."""
    params = sum(box.params for box in boxes)
    label = pluralize(len(boxes), "more block")
    return Box(box_id, "rest", label, None, 1, params, None, None, 0, False, boxes, ())


def draw_main_layer(tree: Box) -> LayerDiagram | None:
    """Draw the repeated layer with the largest share of the MACs; None where none has a large one."""
    layers = [
        box for box in tree.children if box.repeats and box.children and (box.share or 0) >= _MIN_MAIN_LAYER_SHARE
    ]
    layer = max(layers, key=lambda box: box.share or 0, default=None)
    if layer is None:
        return None
    title = sanitize(f"One of {format_count(layer.count)} × {layer.label.strip() or layer.kind}", 80)
    return LayerDiagram(title, draw_diagram(layer, title))


def draw_diagram(tree: Box, title: str = "") -> str:
    """Draw the first level of boxes."""
    boxes = tree.children or (tree,)
    if len(boxes) > MAX_BOXES:
        boxes = (*boxes[: MAX_BOXES - 1], merge_boxes(boxes[MAX_BOXES - 1 :], "rest"))
    ids = {box.id for box in boxes}
    unique: dict[tuple[str, str], Edge] = {}
    for edge in tree.edges:
        if ids >= {edge.source, edge.target} and edge.source != edge.target:
            unique.setdefault((edge.source, edge.target), edge)
    edges = tuple(unique.values())
    layout = _place_boxes(boxes, edges)
    width, height = f"{layout.width + 48:.0f}", f"{layout.height + 44:.0f}"
    size = f'width="{width}" height="{height}" viewBox="-24 -30 {width} {height}" font-family="{_FONT}"'
    title = escape(title or f"Architecture diagram, {pluralize(len(boxes), 'box', 'boxes')}")
    lines = [path for index, edge in enumerate(edges) for path in _draw_edge(layout, edge, index)]
    drawn = [element for placed in layout.boxes.values() for element in _draw_box(placed)]
    head = f'<svg class="diagram" role="img" {size}><title>{title}</title>'
    return "\n".join((head, *lines, *drawn, "</svg>"))


def _place_boxes(boxes: tuple[Box, ...], edges: tuple[Edge, ...]) -> _Layout:
    rows = _rank_boxes(boxes, edges)
    widest = max(map(len, rows)) * _BOX_PITCH - _BOX_GAP
    columns = 1
    if len(rows) > _MAX_SINGLE_COLUMN_ROWS:
        columns = max(1, round((len(rows) * _ROW_HEIGHT * _ASPECT_RATIO / (widest + _COLUMN_GAP)) ** 0.5))
    rows_per_column = -(-len(rows) // columns)
    placed: dict[str, _PlacedBox] = {}
    column_ends, left = [], 0.0
    for column in range(-(-len(rows) // rows_per_column)):
        part = rows[column * rows_per_column : (column + 1) * rows_per_column]
        width = max(map(len, part)) * _BOX_PITCH - _BOX_GAP
        for row, line in enumerate(part):
            start = left + (width - len(line) * _BOX_PITCH + _BOX_GAP + _BOX_WIDTH) / 2
            for index, box in enumerate(line):
                placed[box.id] = _PlacedBox(box, column, row, start + index * _BOX_PITCH, row * _ROW_HEIGHT)
        column_ends.append(left + width)
        left += width + _COLUMN_GAP
    height = rows_per_column * _ROW_HEIGHT - _ROW_HEIGHT + _BOX_HEIGHT
    return _Layout(placed, tuple(column_ends), left - _COLUMN_GAP, height)


def _rank_boxes(boxes: tuple[Box, ...], edges: tuple[Edge, ...]) -> list[list[Box]]:
    """Assign boxes to rows: each below what it reads, inputs directly above their first reader."""
    by_id = {box.id: box for box in boxes}
    rank = dict.fromkeys(by_id, 0)
    for _ in boxes:
        for edge in edges:
            rank[edge.target] = min(max(rank[edge.target], rank[edge.source] + 1), len(boxes))
    targets = {edge.target for edge in edges}
    for name in by_id:
        readers = [rank[edge.target] for edge in edges if edge.source == name]
        if name not in targets and readers:
            rank[name] = min(readers) - 1
    rows: dict[int, list[Box]] = {}
    for name, row in rank.items():
        rows.setdefault(row, []).append(by_id[name])
    return [sorted(rows[row], key=lambda box: (_is_port(box), -(box.share or 0))) for row in sorted(rows)]


def _is_port(box: Box) -> bool:
    return block_category(box.kind) == "port"


def _draw_box(placed: _PlacedBox) -> Iterator[str]:
    box, color = placed.box, COLORS[block_category(placed.box.kind)]
    left, radius = placed.x - _BOX_WIDTH / 2, _BOX_HEIGHT / 2 if _is_port(placed.box) else 7
    size = f'width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="{radius:.0f}"'
    for offset in (4, 0) if box.count > 1 else (0,):  # repeated blocks look like a stack
        corner = f'x="{left + offset:.0f}" y="{placed.y + offset:.0f}"'
        yield f'<rect {corner} {size} fill="{color.fill}" stroke="{color.border}"/>'
    lines = list(_box_lines(box))
    top = placed.y + _BOX_HEIGHT / 2 + 4.5 - 8 * (len(lines) - 1)
    for index, text in enumerate(lines):
        where = f'x="{placed.x:.0f}" y="{top + 16 * index:.1f}" text-anchor="middle"'
        yield f'<text {where} {_DETAIL_STYLE if index else _TITLE_STYLE} fill="{TEXT_COLOR}">{escape(text)}</text>'


def _box_lines(box: Box) -> Iterator[str]:
    yield sanitize(box_label(box), _MAX_TITLE_LENGTH)
    if box.detail:
        yield sanitize(box.detail, _MAX_DETAIL_LENGTH)
    costs = [f"{format_short(box.params)} params"] if box.params else []
    costs += [f"{format_percent(box.share)} of MACs"] if box.share else []
    if costs:
        yield " · ".join(costs)


def _draw_edge(layout: _Layout, edge: Edge, index: int) -> Iterator[str]:
    source, target = layout.boxes[edge.source], layout.boxes[edge.target]
    dashes = ' stroke-dasharray="5 4"' if edge.kind == "skip" else ""
    style = f'class="line" fill="none" stroke="{_LINE_COLOR}" stroke-width="1.3"{dashes}'
    yield f'<path {style} d="{_edge_path(layout, source, target, (index % 4) * _LANE_WIDTH)}"/>'
    yield f'<path class="arrow" fill="{_LINE_COLOR}" d="M{target.x:.0f} {target.y:.0f}l-4 -8h8z"/>'


def _edge_path(layout: _Layout, source: _PlacedBox, target: _PlacedBox, offset: float) -> str:
    """Route straight to the next row, around the right side of a column, or through the gap to another column."""
    sx, sy, tx, ty = source.x, source.y + _BOX_HEIGHT, target.x, target.y - 6
    if source.column == target.column:
        if target.row == source.row + 1:
            mid = (sy + ty) / 2
            return f"M{sx:.0f} {sy:.0f}C{sx:.0f} {mid:.0f} {tx:.0f} {mid:.0f} {tx:.0f} {ty:.0f}"
        beside = layout.column_ends[source.column] + 12 + offset
        return f"M{sx:.0f} {sy:.0f}v10H{beside:.0f}V{ty - 14:.0f}H{tx:.0f}V{ty:.0f}"
    near = layout.column_ends[source.column] + _COLUMN_GAP / 2 + offset
    if target.column == source.column + 1:
        return f"M{sx:.0f} {sy:.0f}v12H{near:.0f}V{ty - 10:.0f}H{tx:.0f}V{ty:.0f}"
    before = target.column - 1
    far = layout.column_ends[before] + _COLUMN_GAP / 2 + offset if target.column else -12 - offset
    return f"M{sx:.0f} {sy:.0f}v12H{near:.0f}V{-20 + offset / 2:.0f}H{far:.0f}V{ty - 10:.0f}H{tx:.0f}V{ty:.0f}"
