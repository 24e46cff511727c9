"""Changes of inputs and outputs, alike ones in one row."""

from msgspec import Struct

from onnx_autodoc.compare import Diff, PortChange
from onnx_autodoc.render._blocks import Name, Text
from onnx_autodoc.text import clean, count, named, plural

_FEW = 3


class PortRow(Struct, frozen=True):
    """Changes of several ports that differ in nothing but the port."""

    first: PortChange
    ports: tuple[str, ...]

    @property
    def verdict(self) -> str:
        return "breaking" if self.first.breaking else "not breaking"


def port_rows(diff: Diff) -> list[PortRow]:
    """Breaking ones first."""
    found: dict[tuple[object, ...], list[PortChange]] = {}
    for change in sorted(diff.interface, key=lambda change: not change.breaking):
        single = change.port if change.what in ("added", "removed", "renamed") else None
        key = (change.kind, change.what, change.breaking, change.was, change.now, change.reason, single)
        found.setdefault(key, []).append(change)
    return [PortRow(changes[0], tuple(change.port for change in changes)) for changes in found.values()]


def port_names(row: PortRow) -> Text:
    """ "input `ids`", "60 inputs: `a`, `b`, `c` …"."""
    if not row.ports[0]:
        return (f"{row.first.kind}s",)
    if len(row.ports) == 1:
        return (f"{row.first.kind} ", Name(row.ports[0]))
    shown = [part for name in row.ports[:_FEW] for part in (", ", Name(name))][1:]
    return (f"{plural(len(row.ports), row.first.kind)}: ", *shown, " …" if len(row.ports) > _FEW else "")


def change_words(row: PortRow) -> str:
    """ "size 224 → 256", "renamed to pixels"."""
    change = row.first
    was, now = (None if side is None else clean(side, 120) for side in (change.was, change.now))
    if change.what == "renamed":
        return f"renamed to {named(change.now or '', 120)}"
    if change.what == "order":
        return "another order"
    if change.what in ("added", "removed"):
        return f"{change.what}: {now or was}"
    return f"{change.what} {was or 'not declared'} → {now or 'not declared'}"


def verdicts(diff: Diff) -> str:
    """ "2 breaking, 60 not"."""
    breaking = sum(change.breaking for change in diff.interface)
    rest = len(diff.interface) - breaking
    parts = [f"{count(breaking)} breaking"] if breaking else []
    parts += [f"{count(rest)} not breaking"] if rest else []
    return ", ".join(parts) or "the same inputs and outputs"
