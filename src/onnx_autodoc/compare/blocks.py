"""Differences between two architecture diagrams: "Encoder layer 7, Attention: 12 heads × 32 → 11 heads × 32"."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from onnx_autodoc.card import Box
from onnx_autodoc.compare.alignment import (
    ChangedRun,
    Pair,
    Unit,
    align,
    changed_runs,
    connections,
    has_same_children,
    is_equal,
    label_of,
    leaf_units,
    signature_of,
    unfold,
    without_ports,
)
from onnx_autodoc.compare.types import BlockChange
from onnx_autodoc.text import format_count, pluralize, sanitize

_MAX_CHANGES: Final = 200
_MAX_DEPTH: Final = 8
_MAX_LEAVES: Final = 1_000
_MAX_LISTED: Final = 4
_MAX_DETAIL_CHARS: Final = 120
_EMBEDDING: Final = "embedding"  # a block whose detail names one of several tables


def block_changes(was: Box | None, now: Box | None) -> tuple[BlockChange, ...]:
    """Return the changes in the order of the diagram, those inside a box under the name of the box."""
    if was is None or now is None:
        return () if was is now else (BlockChange("changed", "", None, None, "Only one of the models has a diagram"),)
    pairs = align(unfold(was.children), unfold(now.children))
    changes = [*_join_moves(list(_compare_children("", was, now, 0))), *_parameter_change(pairs)]
    cut = len(changes) - _MAX_CHANGES
    if cut > 0:
        more = BlockChange("more", "", None, None, pluralize(cut, "more block difference"))
        changes = [*changes[:_MAX_CHANGES], more]
    return tuple(changes)


def box_marks(was: Box | None, now: Box | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return which boxes of the first level are changed, gone or added, by their ids in each diagram."""
    if was is None or now is None:
        return {}, {}
    pairs = align(unfold(was.children), unfold(now.children))
    return _mark_boxes(pairs, 0, "gone"), _mark_boxes(pairs, 1, "added")


def _mark_boxes(pairs: list[Pair], side: int, alone: str) -> dict[str, str]:
    """Return the state of each changed box; one of several layers is changed if a layer or their number is."""
    unpaired = {unit.signature for pair in pairs if None in pair for unit in pair if unit is not None}
    states: dict[str, set[str]] = {}
    for pair in pairs:
        unit = pair[side]
        if unit is not None:
            equal = is_equal(pair) and unit.signature not in unpaired
            state = alone if pair[1 - side] is None else "same" if equal else "changed"
            states.setdefault(unit.box.id, set()).add(state)
    return {name: alone if seen == {alone} else "changed" for name, seen in states.items() if seen != {"same"}}


def _compare_children(prefix: str, was: Box, now: Box, depth: int) -> Iterator[BlockChange]:
    pairs = align(unfold(was.children, prefix), unfold(now.children, prefix))
    changes = list(dict.fromkeys(change for run in changed_runs(pairs) for change in _compare_run(run, pairs, depth)))
    if changes and has_same_children(was, now):
        changes = [_parent_change("moved", prefix, None, None, "same blocks in a different order")]
    yield from changes
    old_skips, new_skips = (format_count(sum(edge.kind == "skip" for edge in box.edges)) for box in (was, now))
    top = not depth
    if old_skips != new_skips:
        text = f"skip connections {old_skips} → {new_skips}"
        yield _parent_change("skips", prefix, old_skips, new_skips, text)
    elif not changes and connections(was, top) != connections(now, top):
        yield _parent_change("wiring", prefix, None, None, "same blocks, different connections")


def _compare_run(run: ChangedRun, pairs: list[Pair], depth: int) -> list[BlockChange]:
    """Return the changes unit by unit, or leaf by leaf where that makes fewer of them.

    One changed leaf can make the diagram group its neighbours into other blocks.
    """
    by_unit = list(_compare_units(run.pairs, pairs, run.last, depth))
    if not run.was or not run.now or all(old and new and old.box.kind == new.box.kind for old, new in run.pairs):
        return by_unit
    old, new = leaf_units(run.was), leaf_units(run.now)
    longest = max(len(old), len(new))
    if longest > _MAX_LEAVES or (old == run.was and new == run.now):
        return by_unit
    leaves = align(old, new)
    if sum(map(is_equal, leaves)) * 3 < longest:
        return by_unit
    runs = changed_runs(leaves, run.last)
    by_leaf = [change for inner in runs for change in _compare_units(inner.pairs, [], inner.last, _MAX_DEPTH)]
    return by_unit if len(by_leaf) > len(by_unit) else by_leaf


def _signatures(pair: Pair) -> tuple[object, object]:
    old, new = pair
    return old and old.signature, new and new.signature


def _compare_units(run: list[Pair], pairs: list[Pair], last: Unit | None, depth: int) -> Iterator[BlockChange]:
    """Yield the changes of a run; an unpaired unit that other `pairs` have is a change of its number."""
    paired = [_signatures(pair) for pair in pairs if None not in pair]
    counted: set[object] = set()
    unpaired: list[Pair] = []
    for signatures, group in groupby(run, key=_signatures):
        equal_pairs = list(group)
        old, new = equal_pairs[0]
        if old is None or new is None:
            side = 1 if old is None else 0
            signature = signatures[side]
            if not any(pair[side] == signature for pair in paired):
                unpaired += equal_pairs
            elif signature not in counted:
                yield _count_change(signature, pairs)
            counted.add(signature)
            continue
        yield from _unpaired_change(unpaired, last)
        unpaired, last = [], equal_pairs[-1][0]
        yield from _compare_boxes(
            _name_units([pair[0] for pair in equal_pairs if pair[0]], new), old.box, new.box, depth
        )
    yield from _unpaired_change(unpaired, last)


def _name_units(units: list[Unit], first_new: Unit) -> str:
    """Return the name of changed units in a row: "Encoder layers 2–6", "Encoder layer 7 (now 6)"."""
    first, last = units[0], units[-1]
    if len(units) > 1 and first.box.label == last.box.label and first.prefix == last.prefix:
        return f"{first.name.removesuffix(f' {first.number}')}s {first.number}–{last.number}"
    same_name = (first.box.label, first.prefix) == (first_new.box.label, first_new.prefix)
    renumbered = first.numbered and first.number != first_new.number
    return f"{first.name} (now {first_new.number})" if renumbered and same_name else first.name


def _compare_boxes(path: str, was: Box, now: Box, depth: int) -> Iterator[BlockChange]:
    """Yield the changes inside the box, or that of the box itself where nothing inside differs."""
    opened = depth < _MAX_DEPTH and without_ports(was.children) and without_ports(now.children)
    inner = list(_compare_children(f"{path}, ", was, now, depth + 1)) if opened else []
    light = _is_light(was, now)
    if (was.params, was.macs) != (now.params, now.macs):
        kind = "changed"
    elif was.kind == now.kind:
        kind = "spelling" if was.kind == _EMBEDDING else "changed"
    else:
        kind = "relabeled"
    if was.label != now.label:
        yield _arrow_change("changed", path, _describe(was), _describe(now), light)
    elif inner:
        pass
    elif was.detail != now.detail and kind == "spelling":
        text = f"{path}: same parameter count, labeled by another of its tables ({was.detail}, now {now.detail})"
        yield BlockChange("spelling", path, was.detail, now.detail, sanitize(text, 200), light)
    elif was.detail != now.detail:
        yield _arrow_change(kind, path, was.detail, now.detail, light)
    elif signature_of(was) == signature_of(now):  # folded
        text = f"{path}: count {format_count(was.count)} → {format_count(now.count)}"
        yield BlockChange("count", path, str(was.count), str(now.count), text, light)
    else:
        kind = "spelling" if was.kind != now.kind else "changed"
        yield _arrow_change(kind, path, _list_contents(was), _list_contents(now), light)
    yield from inner


def _is_light(*boxes: Box) -> bool:
    return not any(box.params or box.macs for box in boxes)


def _parent_change(kind: str, prefix: str, was: str | None, now: str | None, text: str) -> BlockChange:
    path = prefix.removesuffix(", ")
    return BlockChange(kind, path, was, now, f"{path or 'Top level'}: {text}")


def _arrow_change(kind: str, path: str, was: str | None, now: str | None, light: bool) -> BlockChange:
    """Write "old → new", or quote both where they contain arrows."""
    kind = kind if was and now else "undescribed"
    old, new = (sanitize(words, _MAX_DETAIL_CHARS) if words else "no details" for words in (was, now))
    text = f"{path}: “{old}” changed to “{new}”" if "→" in old + new else f"{path}: {old} → {new}"
    return BlockChange(kind, path, was, now, text, light)


def _count_change(signature: object, pairs: list[Pair]) -> BlockChange:
    """Compare how many units have `signature`, counting units that were changed into it."""
    same = [pair for pair in pairs if any(unit is not None and unit.signature == signature for unit in pair)]
    unit = next(unit for pair in same for unit in pair if unit is not None and unit.signature == signature)
    was, now = (sum(unit.times for unit in side if unit is not None) for side in zip(*same))
    name = unit.prefix + label_of(unit.box)
    if was == now:
        return BlockChange("moved", name, None, None, f"{name}: moved, same count")
    text = f"{name}: count {format_count(was)} → {format_count(now)}"
    return BlockChange("count", name, str(was), str(now), text, _is_light(unit.box))


def _unpaired_change(pairs: list[Pair], last: Unit | None) -> Iterator[BlockChange]:
    """Yield what was added, removed or replaced after `last`, a unit that both have."""
    if not pairs:
        return
    gone, new = ([unit for unit in side if unit is not None] for side in zip(*pairs))
    place = f"after {last.name}" if last is not None else "at the start"
    first = (gone or new)[0]
    old_text, new_text = _list_units(gone), _list_units(new)
    kind = "replaced" if gone and new else "gone" if gone else "added"
    if gone and new:
        verb = f"{old_text} replaced by {new_text}"
    else:
        verb = f"{old_text} removed" if gone else f"{new_text} added"
    parent = first.prefix.removesuffix(", ")
    siblings = not parent or (last is not None and last.prefix == first.prefix)
    text = f"{verb} {place}" if siblings else f"{parent}: {verb} {place}"
    light = _is_light(*(unit.box for unit in (*gone, *new)))
    yield BlockChange(kind, first.name, old_text or None, new_text or None, text, light)


def _join_moves(changes: list[BlockChange]) -> list[BlockChange]:
    """Replace a removal and an equal addition by one move: parallel branches have no order."""
    added = {change.now: i for i, change in reversed(list(enumerate(changes))) if change.kind == "added"}
    moves = {added[change.was]: i for i, change in enumerate(changes) if change.kind == "gone" and change.was in added}
    joined = {*moves, *moves.values()}
    moved = [
        BlockChange("moved", gone.path, None, None, f"{gone.was} moved", gone.light)
        for gone in (changes[i] for i in moves.values())
    ]
    return [*(change for i, change in enumerate(changes) if i not in joined), *moved]


def _list_units(units: list[Unit]) -> str:
    """Return a list with equal units counted: "2 × Inception (128 channels at 55×55), MaxPool"."""
    listed = []
    for _, group in groupby(units, key=lambda unit: unit.signature):
        equal_units = list(group)
        listed.append(_times(sum(unit.times for unit in equal_units)) + _describe(equal_units[0].box))
    more = [f"{format_count(len(listed) - _MAX_LISTED)} more"] if len(listed) > _MAX_LISTED + 1 else []
    return ", ".join([*listed[: _MAX_LISTED if more else _MAX_LISTED + 1], *more])


def _describe(box: Box) -> str:
    return f"{label_of(box)} ({sanitize(box.detail, _MAX_DETAIL_CHARS)})" if box.detail else label_of(box)


def _list_contents(box: Box) -> str:
    counts = Counter[str]()
    for child in without_ports(box.children):
        counts[label_of(child)] += child.count
    shown = [f"{times} × {name}" if times > 1 else name for name, times in counts.most_common(_MAX_LISTED)]
    kind = sanitize(box.kind, 60)
    return f"{kind} of {', '.join(shown)}" if shown else kind


def _parameter_change(pairs: Sequence[Pair]) -> Iterator[BlockChange]:
    """Yield one change for equal boxes with different numbers of parameters, which the diagram does not show."""
    boxes = {(old.box.id, new.box.id): (old.box, new.box) for old, new in pairs if old and new and is_equal((old, new))}
    differing = [(old, new) for old, new in boxes.values() if old.count == new.count and old.params != new.params]
    if not differing:
        return
    shown = []
    for old, new in differing[:_MAX_LISTED]:
        before, after = (format_count(box.params) for box in (old, new))
        shown.append(f"{_times(old.count)}{label_of(old)} {before} → {after}")
    more = f" and {format_count(len(differing) - _MAX_LISTED)} more" if len(differing) > _MAX_LISTED else ""
    was, now = (str(sum(box.params for box in side)) for side in zip(*differing))
    boxes_text = pluralize(len(differing), "otherwise identical box", "otherwise identical boxes")
    text = f"Parameters differ in {boxes_text}: {', '.join(shown)}{more}"
    yield BlockChange("parameters", "", was, now, text)


def _times(count: int) -> str:
    return f"{format_count(count)} × " if count > 1 else ""
