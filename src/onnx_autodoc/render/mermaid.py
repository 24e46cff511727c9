"""The architecture as a mermaid flowchart, which GitHub, GitLab and most wikis draw.

Text from a model never meets mermaid's grammar: ids are our own, and in labels every character that could mean
something is written as an entity code. No colon stands on a line with a label: mermaid takes `style…:…#…;` anywhere
for a style.
"""

import textwrap
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Box, Edge
from onnx_autodoc.render._palette import COLOURS, TEXT, family
from onnx_autodoc.render._report import Report
from onnx_autodoc.text import clean, count, percent, plural, short

MOST_BOXES: Final = 30  # of one level
MOST_EDGES: Final = 200  # of one level: mermaid refuses to draw more than 500 in all
MOST_TEXT: Final = 50_000  # letters: mermaid refuses to read more
_FEW: Final = 3  # boxes that fit side by side into the column of a page
_WIDTH: Final = 28  # letters on a line: we break lines between words, mermaid would anywhere
_MOST_LINES: Final = 2
_PLAIN: Final = frozenset(" ,/×→·…")  # with letters and digits: what means nothing to anyone
_MARKS: Final = frozenset("ﬂß")  # letters by which mermaid knows its own entity codes
# Some versions of mermaid undo the codes before they look for Markdown, formulas, icons, addresses and `\n`. These
# characters begin or end such a thing, unless white space is beside them; a backtick does even then.
_ACTIVE: Final = frozenset("*_~$\\:@]°¶")
_THIN: Final = "\u200a"
_LOOKALIKES: Final = {"`": "ˋ"}
_MOST_DIMS: Final = 8
# Room for a line of ours in a box and for the title of a frame, and less of it between boxes: long chains are long.
_SETTINGS: Final = (
    '%%{init: {"layout": "dagre", "flowchart": {"wrappingWidth": 280, "rankSpacing": 36, "nodeSpacing": 36, '
    '"subGraphTitleMargin": {"top": 4, "bottom": 12}}}}%%'
)
_FRAME: Final = "layer"  # the id of the frame around a layer
_OPENED: Final = "#7b80e8"  # its border, on white and on black


class _Level(Struct, frozen=True):
    """The boxes of one diagram under the ids they are drawn by, and the edges between those."""

    boxes: dict[str, Box]
    edges: tuple[Edge, ...]
    missing: int  # edges there is no room for
    whole: Box | None  # what the boxes are the inside of, where that is a layer and not the model


def mermaid(tree: Box) -> str:
    """The model's boxes, from its inputs to its outputs."""
    return _document(_level(tree, "n"))


def layer(tree: Box) -> str | None:
    """One of the repeated layer that matters most, from within; None where no layer is repeated."""
    box = main_layer(tree)
    return None if box is None else _document(_inside(box))


def diagrams(tree: Box) -> str:
    """Both in one flowchart: the model, and beside it one of the layers that it is mostly made of."""
    box = main_layer(tree)
    both = "" if box is None else _document(_level(tree, "n"), _inside(box))
    return both if 0 < len(both) <= MOST_TEXT else mermaid(tree)


def main_layer(tree: Box) -> Box | None:
    """The repeated box with the largest part of the work; where that is not known, of the parameters."""
    found = [(box, times) for box, times in _walk(tree, 1) if box.count > 1 and box.repeats and len(box.children) > 1]
    weights = [((box.share or 0) * times, box.params * times) for box, times in found]
    return found[weights.index(max(weights))][0] if found else None


def _walk(box: Box, times: int) -> Iterator[tuple[Box, int]]:
    """Every box below, with how many of it the model has in all."""
    inner = times * (box.count if box.repeats else 1)
    for child in box.children:
        yield child, inner
        yield from _walk(child, inner)


def _inside(box: Box) -> _Level:
    return replace(_level(box, "m"), whole=box)


def _level(tree: Box, prefix: str) -> _Level:
    """What a picture has room for. What it has no room for is one box that says so, with the edges of all it holds."""
    shown = tree.children or (tree,)
    rest = shown[MOST_BOXES - 1 :] if len(shown) > MOST_BOXES else ()
    boxes = [*shown[: len(shown) - len(rest)], *([_rest(rest)] if rest else [])]
    ids = {box.id: f"{prefix}{min(at, MOST_BOXES - 1)}" for at, box in enumerate(shown)}
    edges = tuple(_between(tree.edges, ids))
    drawn = {f"{prefix}{at}": box for at, box in enumerate(boxes)}
    return _Level(drawn, edges[:MOST_EDGES], max(0, len(edges) - MOST_EDGES), None)


def _rest(boxes: tuple[Box, ...]) -> Box:
    params = sum(box.params for box in boxes)
    return Box("", "rest", plural(len(boxes), "more block"), None, 1, params, None, None, 0, False, boxes, ())


def _between(edges: tuple[Edge, ...], ids: dict[str, str]) -> Iterator[Edge]:
    """Each pair of boxes once for each kind of edge."""
    seen = set()
    for edge in edges:
        source, target = ids.get(edge.source), ids.get(edge.target)
        pair = (source, target, edge.kind)
        if source is not None and target is not None and source != target and pair not in seen:
            seen.add(pair)
            yield replace(edge, source=source, target=target)


def _document(*levels: _Level) -> str:
    edges = [edge for level in levels for edge in level.edges]
    lines = [_SETTINGS, f"flowchart {_direction(levels)}"]
    for level in levels:
        lines += _lines(level) if level.whole is None else _framed(level, level.whole)
    lines += _opened(len(edges), *levels) if len(levels) > 1 else ()
    lines += _skips([at for at, edge in enumerate(edges) if edge.kind == "skip"])
    lines += _colours({name: box for level in levels for name, box in level.boxes.items()})
    return "\n".join(lines) + "\n"


def _direction(levels: tuple[_Level, ...]) -> str:
    """Down the page: the column of a page is narrow and long. Across it only what surely fits."""
    return "LR" if len(levels) == 1 and len(levels[0].boxes) <= _FEW else "TB"


def _framed(level: _Level, box: Box) -> Iterator[str]:
    title = _safe(clean(f"one of {count(box.count)} × {box.label.strip() or box.kind}", 48))
    yield f'    subgraph {_FRAME}["{title}"]'
    yield "    direction TB"
    yield from _lines(level)
    yield "    end"
    yield f"    style {_FRAME} fill:none,stroke:{_OPENED},stroke-width:1px,stroke-dasharray:6 4"


def _opened(at: int, model: _Level, inside: _Level) -> Iterator[str]:
    """From the box to the frame that shows its inside; it puts the frame where the eye looks for it, too."""
    for name, box in model.boxes.items():
        if box is inside.whole or any(inner is inside.whole for inner, _ in _walk(box, 1)):
            yield f"    {name} -.- {_FRAME}"
            yield f"    linkStyle {at} stroke:{_OPENED},stroke-width:2px"
            return


def _skips(places: list[int]) -> Iterator[str]:
    if places:
        yield f"    linkStyle {','.join(map(str, places))} stroke-width:2px"


def _lines(level: _Level) -> Iterator[str]:
    for name, box in level.boxes.items():
        yield f"    {name}{_shaped(box, '<br/>'.join(_words(box, level.whole)))}"
    for edge in level.edges:
        arrow = "-.->" if edge.kind == "skip" else "-->"
        label = _safe(" ".join(_type(edge)))
        yield f"    {edge.source} {arrow}" + (f'|"{label}"|' if label else "") + f" {edge.target}"
    if level.missing:
        yield f'    {next(iter(level.boxes))}x["{plural(level.missing, "more connection")}, not drawn"]'


def _shaped(box: Box, words: str) -> str:
    """Ports are round; what stands for several has double sides."""
    if family(box.kind) == "port":
        return f'(["{words}"])'
    return f'[["{words}"]]' if box.count > 1 else f'["{words}"]'


def _words(box: Box, whole: Box | None) -> Iterator[str]:
    times = f"{count(box.count)} × " if box.count > 1 else ""
    yield from (f"<b>{line}</b>" for line in _wrapped(times + (box.label.strip() or box.kind)))
    yield from _wrapped(box.detail or "")
    costs = [f"{short(box.params)} params"] if box.params else []
    share = box.share if whole is None else _share(box, whole)
    costs += [f"{percent(share)} of {'MACs' if whole is None else 'its MACs'}"] if share else []
    if costs:
        yield _safe(" · ".join(costs))


def _share(box: Box, whole: Box) -> float | None:
    """Of one layer's MACs: of the model's, the parts of one of many layers are all next to nothing."""
    known = [child.macs for child in whole.children if child.macs is not None]
    return box.macs / sum(known) if box.macs and len(known) == len(whole.children) else None


def _wrapped(text: str) -> list[str]:
    lines = textwrap.wrap(clean(text, 120), _WIDTH)
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES - 1 :] = [lines[_MOST_LINES - 1][: _WIDTH - 1] + "…"]
    return [_safe(line) for line in lines]


def _type(edge: Edge) -> Iterator[str]:
    """The shape, and the element type where it is not the usual one."""
    if edge.shape is not None:
        more = "×…" if len(edge.shape) > _MOST_DIMS else ""
        yield "×".join(map(str, edge.shape[:_MOST_DIMS])) + more if edge.shape else "scalar"
    if edge.dtype is not None and edge.dtype.isidentifier() and edge.dtype != "float32":
        yield clean(edge.dtype, 16)


def _colours(boxes: dict[str, Box]) -> Iterator[str]:
    used: dict[str, list[str]] = {}
    for name, box in boxes.items():
        used.setdefault(family(box.kind), []).append(name)
    for kin, names in used.items():
        colour = COLOURS[kin]
        yield f"    classDef {kin} fill:{colour.fill},stroke:{colour.border},stroke-width:1px,color:{TEXT}"
        yield f"    class {','.join(names)} {kin}"


def _safe(text: str) -> str:
    return "".join(_written(text, at) for at in range(len(text)))


def _written(text: str, at: int) -> str:
    """A character as itself, as an entity code, or as one between spaces too thin to see."""
    char = _LOOKALIKES.get(text[at], text[at])
    if _inert(char, text[at - 1 : at], text[at + 1 : at + 2]):
        return char
    active = char in _ACTIVE or (char == "." and text[:at].lower().endswith("www"))
    return f"{_THIN}#{ord(char)};{_THIN}" if active else f"#{ord(char)};"


def _inert(char: str, before: str, after: str) -> bool:
    """Whether it is text and nothing else: letters, and the punctuation inside of a name or a number."""
    if char in "_-":
        return before.isalnum() and after.isalnum()
    if char == ".":
        return before.isdecimal() and after.isdecimal()
    return char in _PLAIN or (char.isalnum() and char not in _MARKS)


def render_mermaid(report: Report) -> str:
    tree = report.card.structure.tree
    return diagrams(tree) if tree is not None else "flowchart TB\n"
