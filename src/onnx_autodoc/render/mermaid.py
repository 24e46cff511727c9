"""The block diagram as a mermaid flowchart, which GitHub, GitLab and most wikis draw.

Text of a model file is never parsed as mermaid syntax: ids are generated, and labels encode every character with a
meaning as an entity. No line with a label has a colon: mermaid reads `style…:…#…;` anywhere as a style.
"""

import textwrap
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Box, Edge
from onnx_autodoc.render.content import Report
from onnx_autodoc.render.diagram import box_label, merge_boxes
from onnx_autodoc.render.palette import COLORS, TEXT_COLOR, block_category
from onnx_autodoc.text import format_count, format_percent, format_short, pluralize, sanitize

MAX_BOXES: Final = 30  # per level
MAX_EDGES: Final = 200  # per level: mermaid refuses more than 500 in all
MAX_TEXT_LENGTH: Final = 50_000  # characters: mermaid refuses more
_MAX_HORIZONTAL_BOXES: Final = 3  # that fit side by side into a page
_LINE_LENGTH: Final = 28  # characters: mermaid would break lines within words
_MAX_LINES: Final = 2
_MAX_DIMS: Final = 8
_INERT: Final = frozenset(" ,/×→·…")  # besides letters and digits
_ENTITY_MARKS: Final = frozenset("ﬂß")  # mermaid marks its own entities with these letters
# Some versions of mermaid decode entities before they look for Markdown, formulas, icons, addresses and `\n`. These
# characters start or end such a thing unless white space is next to them; a backtick does even then.
_ACTIVE: Final = frozenset("*_~$\\:@]°¶")
_HAIR_SPACE: Final = "\u200a"
_LOOKALIKES: Final = {"`": "ˋ"}
_SETTINGS: Final = (
    '%%{init: {"layout": "dagre", "flowchart": {"wrappingWidth": 280, "rankSpacing": 36, "nodeSpacing": 36, '
    '"subGraphTitleMargin": {"top": 4, "bottom": 12}}}}%%'
)
_LAYER_ID: Final = "layer"
_LAYER_COLOR: Final = "#7b80e8"  # visible on white and on black


class _Level(Struct, frozen=True):
    """Boxes by the ids they are drawn with, and the edges between them. `layer` is the box that contains them."""

    boxes: dict[str, Box]
    edges: tuple[Edge, ...]
    omitted_edges: int
    layer: Box | None


def render_mermaid(report: Report) -> str:
    tree = report.card.structure.tree
    return draw_mermaid(tree) if tree is not None else "flowchart TB\n"


def draw_mermaid(tree: Box) -> str:
    """Draw the model, and next to it the main repeated layer."""
    layer = main_layer(tree)
    both = "" if layer is None else _document(_make_level(tree, "n"), _make_level(layer, "m", layer))
    return both if 0 < len(both) <= MAX_TEXT_LENGTH else draw_model(tree)


def draw_model(tree: Box) -> str:
    """Draw the boxes of the model only."""
    return _document(_make_level(tree, "n"))


def draw_layer(tree: Box) -> str | None:
    """Draw the inside of the main layer; None where no layer is repeated."""
    layer = main_layer(tree)
    return None if layer is None else _document(_make_level(layer, "m", layer))


def main_layer(tree: Box) -> Box | None:
    """Return the repeated box with the largest share of the MACs, or of the parameters where that is unknown."""
    boxes = [(box, times) for box, times in _walk(tree, 1) if box.count > 1 and box.repeats and len(box.children) > 1]
    ranks = [((box.share or 0) * times, box.params * times) for box, times in boxes]
    return boxes[ranks.index(max(ranks))][0] if boxes else None


def _walk(box: Box, times: int) -> Iterator[tuple[Box, int]]:
    """Yield every box below with the number of its occurrences in the model."""
    inner = times * (box.count if box.repeats else 1)
    for child in box.children:
        yield child, inner
        yield from _walk(child, inner)


def _make_level(tree: Box, prefix: str, layer: Box | None = None) -> _Level:
    """Select boxes up to the limit of a diagram; merge the others into one box, with all their edges."""
    shown = tree.children or (tree,)
    rest = shown[MAX_BOXES - 1 :] if len(shown) > MAX_BOXES else ()
    boxes = [*shown[: len(shown) - len(rest)], *([merge_boxes(rest, "")] if rest else [])]
    ids = {box.id: f"{prefix}{min(index, MAX_BOXES - 1)}" for index, box in enumerate(shown)}
    edges: dict[tuple[str | None, str | None, str], Edge] = {}
    for edge in tree.edges:
        source, target = ids.get(edge.source), ids.get(edge.target)
        if source is not None and target is not None and source != target:
            edges.setdefault((source, target, edge.kind), replace(edge, source=source, target=target))
    drawn = {f"{prefix}{index}": box for index, box in enumerate(boxes)}
    return _Level(drawn, tuple(edges.values())[:MAX_EDGES], max(0, len(edges) - MAX_EDGES), layer)


def _document(*levels: _Level) -> str:
    edges = [edge for level in levels for edge in level.edges]
    is_small = len(levels) == 1 and len(levels[0].boxes) <= _MAX_HORIZONTAL_BOXES
    lines = [_SETTINGS, f"flowchart {'LR' if is_small else 'TB'}"]
    for level in levels:
        lines += _level_lines(level) if level.layer is None else _framed_lines(level, level.layer)
    lines += _opened_lines(len(edges), *levels) if len(levels) > 1 else ()
    skips = [str(index) for index, edge in enumerate(edges) if edge.kind == "skip"]
    lines += [f"    linkStyle {','.join(skips)} stroke-width:2px"] if skips else []
    lines += _color_lines({name: box for level in levels for name, box in level.boxes.items()})
    return "\n".join(lines) + "\n"


def _framed_lines(level: _Level, layer: Box) -> Iterator[str]:
    title = _encode(sanitize(f"one of {format_count(layer.count)} × {layer.label.strip() or layer.kind}", 48))
    yield f'    subgraph {_LAYER_ID}["{title}"]'
    yield "    direction TB"
    yield from _level_lines(level)
    yield "    end"
    yield f"    style {_LAYER_ID} fill:none,stroke:{_LAYER_COLOR},stroke-width:1px,stroke-dasharray:6 4"


def _opened_lines(edge_index: int, model: _Level, inside: _Level) -> Iterator[str]:
    """Link the box to the frame that shows its inside, which also places the frame beside it."""
    for name, box in model.boxes.items():
        if box is inside.layer or any(inner is inside.layer for inner, _ in _walk(box, 1)):
            yield f"    {name} -.- {_LAYER_ID}"
            yield f"    linkStyle {edge_index} stroke:{_LAYER_COLOR},stroke-width:2px"
            return


def _level_lines(level: _Level) -> Iterator[str]:
    for name, box in level.boxes.items():
        label = "<br/>".join(_box_lines(box, level.layer))
        is_port = block_category(box.kind) == "port"
        shape = '(["{}"])' if is_port else '[["{}"]]' if box.count > 1 else '["{}"]'
        yield f"    {name}{shape.format(label)}"
    for edge in level.edges:
        arrow = "-.->" if edge.kind == "skip" else "-->"
        label = _encode(" ".join(_tensor_type(edge)))
        yield f"    {edge.source} {arrow}" + (f'|"{label}"|' if label else "") + f" {edge.target}"
    if level.omitted_edges:
        yield f'    {next(iter(level.boxes))}x["{pluralize(level.omitted_edges, "more connection")} not shown"]'


def _box_lines(box: Box, layer: Box | None) -> Iterator[str]:
    yield from (f"<b>{line}</b>" for line in _wrap(box_label(box)))
    yield from _wrap(box.detail or "")
    costs = [f"{format_short(box.params)} params"] if box.params else []
    share = box.share if layer is None else _share_of_layer(box, layer)
    costs += [f"{format_percent(share)} of {'MACs' if layer is None else 'its MACs'}"] if share else []
    if costs:
        yield _encode(" · ".join(costs))


def _share_of_layer(box: Box, layer: Box) -> float | None:
    """Return the share of one layer's MACs, since shares of the model's would all be tiny."""
    known = [child.macs for child in layer.children if child.macs is not None]
    return box.macs / sum(known) if box.macs and len(known) == len(layer.children) else None


def _wrap(text: str) -> list[str]:
    lines = textwrap.wrap(sanitize(text, 120), _LINE_LENGTH)
    if len(lines) > _MAX_LINES:
        lines[_MAX_LINES - 1 :] = [lines[_MAX_LINES - 1][: _LINE_LENGTH - 1] + "…"]
    return [_encode(line) for line in lines]


def _tensor_type(edge: Edge) -> Iterator[str]:
    """Yield the shape, and the dtype unless it is float32."""
    if edge.shape is not None:
        more = "×…" if len(edge.shape) > _MAX_DIMS else ""
        yield "×".join(map(str, edge.shape[:_MAX_DIMS])) + more if edge.shape else "scalar"
    if edge.dtype is not None and edge.dtype.isidentifier() and edge.dtype != "float32":
        yield sanitize(edge.dtype, 16)


def _color_lines(boxes: dict[str, Box]) -> Iterator[str]:
    names_by_category: dict[str, list[str]] = {}
    for name, box in boxes.items():
        names_by_category.setdefault(block_category(box.kind), []).append(name)
    for category, names in names_by_category.items():
        color = COLORS[category]
        yield f"    classDef {category} fill:{color.fill},stroke:{color.border},stroke-width:1px,color:{TEXT_COLOR}"
        yield f"    class {','.join(names)} {category}"


def _encode(text: str) -> str:
    """Write each character as itself, as an entity, or as an entity between hair spaces."""
    encoded = []
    for index, original in enumerate(text):
        char = _LOOKALIKES.get(original, original)
        if _is_inert(char, text[index - 1 : index], text[index + 1 : index + 2]):
            encoded.append(char)
        elif char in _ACTIVE or (char == "." and text[:index].lower().endswith("www")):
            encoded.append(f"{_HAIR_SPACE}#{ord(char)};{_HAIR_SPACE}")
        else:
            encoded.append(f"#{ord(char)};")
    return "".join(encoded)


def _is_inert(char: str, before: str, after: str) -> bool:
    """Whether a character is text only: letters, and punctuation inside a name or a number."""
    if char in "_-":
        return before.isalnum() and after.isalnum()
    if char == ".":
        return before.isdecimal() and after.isdecimal()
    return char in _INERT or (char.isalnum() and char not in _ENTITY_MARKS)
