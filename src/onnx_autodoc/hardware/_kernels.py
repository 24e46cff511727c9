"""The work of a run as a processor gets it: kernels, each a node with all that a compiler puts into it.

A light node (elementwise, a norm, a softmax, a reduction) goes into the kernel that made its input, so that what is
between them never leaves the processor; a product right after a softmax goes with its scores, as fused attention does.
What hangs on no data is done before, and a new shape of the same data is nothing to do. So this is less traffic than a
runtime may cause, and hardly more than the best of them does.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from msgspec import Struct

from onnx_autodoc.analysis import Facts, Place, Row, Share
from onnx_autodoc.architecture import most_rows
from onnx_autodoc.ir import is_float, needed_names
from onnx_autodoc.ops import LIGHT, Dim, Known, WorkClass, nbytes, work_class

Names = tuple[str, ...]


class Amount(Struct, frozen=True):
    """Numbers in floating point, whose width a target precision decides, and bytes of anything else."""

    floats: int = 0
    others: int = 0

    def __add__(self, more: "Amount") -> "Amount":
        return Amount(self.floats + more.floats, self.others + more.others)

    def times(self, count: int) -> "Amount":
        return Amount(self.floats * count, self.others * count)

    def share(self, part: int, whole: int) -> "Amount":
        return Amount(self.floats * part // whole, self.others * part // whole)

    def nbytes(self, width: int = 4) -> int:
        return self.floats * width + self.others


class Kernel(Struct, frozen=True, eq=False):
    """What is launched at once, over the whole run. `rows` are the nodes in it, the one that names it first."""

    rows: tuple[int, ...]
    kind: WorkClass
    op: str
    macs: int
    other: int
    weights: dict[Names, int]  # numbers of constants that it reads, by the names that it reads them by
    read: Amount  # data that come from outside of it
    written: Amount  # and that are read outside of it
    times: int


class _Made(Struct):
    """A kernel while it is being made."""

    rows: list[int]
    first: int  # the row that it began with
    scores: bool  # a softmax is in it


def kernels(facts: Facts) -> list[Kernel]:
    """In the order of the file, those of bodies after those of the graph around them.

    None where functions that call functions make very many nodes: then only totals are known.
    """
    most = most_rows(facts)
    rows = list(enumerate(islice(facts.costs.rows(), most + 1)))
    if len(rows) > most:
        return []
    weights = dict(facts.parameters.nodes)
    leaving = {value.name for value in facts.model.graph.outputs}
    return [
        kernel
        for scope, level in _levels(rows)
        for kernel in _Level(level, set() if scope else leaving, weights).kernels()
    ]


def _levels(rows: Sequence[tuple[int, Row]]) -> Iterator[tuple[str, list[tuple[int, Row]]]]:
    """The nodes of each graph by themselves: a body's rows stand between those of the graph around it."""
    ordered = sorted(rows, key=lambda item: item[1].scope)  # stable: file order within a scope
    for scope, level in groupby(ordered, key=lambda item: item[1].scope):
        yield scope, list(level)


class _Level:
    """One graph in one place: who makes and who reads each of its values, and its kernels."""

    def __init__(self, rows: list[tuple[int, Row]], leaving: set[str], weights: dict[Place, Share]) -> None:
        self._rows, self._weights = dict(rows), weights
        self._same: dict[str, str] = {}  # a value that is another one under a new shape
        self._home: dict[str, _Made] = {}  # the kernel that makes a value
        self._readers: dict[str, set[int]] = {}
        for at, row in rows:
            self._note(at, row)
        self._leaving = set(map(self._origin, leaving))

    def _note(self, at: int, row: Row) -> None:
        node = row.step.node
        if work_class(node.op) is WorkClass.VIEW and node.inputs and not row.bookkeeping:
            self._same.update(dict.fromkeys(node.outputs[:1], self._origin(node.inputs[0])))
            return
        for name in filter(None, needed_names(node)):
            self._readers.setdefault(self._origin(name), set()).add(at)

    def _origin(self, name: str) -> str:
        return self._same.get(name, name)

    def kernels(self) -> list[Kernel]:
        made: dict[int, _Made] = {}
        for at, row in self._rows.items():
            if not _is_work(row):
                continue
            kernel = self._joined(row)
            if kernel is None:
                kernel = made[at] = _Made([], at, False)
            kernel.rows.append(at)
            kernel.scores |= work_class(row.step.node.op) is WorkClass.SOFTMAX
            self._home.update(dict.fromkeys(filter(None, row.step.node.outputs), kernel))
        return [self._finished([(at, self._rows[at]) for at in each.rows]) for each in made.values()]

    def _joined(self, row: Row) -> _Made | None:
        """The kernel that a light node goes into: the last of those that make its data, if the others are done."""
        homes = {id(home): home for name in self._data(row) if (home := self._home.get(name)) is not None}
        if not homes:
            return None
        last = max(homes.values(), key=lambda home: home.first)
        kind = work_class(row.step.node.op)
        fits = kind in LIGHT or (kind is WorkClass.PRODUCT and last.scores)
        done = all(home.rows[-1] < last.first for home in homes.values() if home is not last)
        return last if fits and done and self._rows[last.first].times == row.times else None

    def _data(self, row: Row) -> list[str]:
        """The inputs that hang on data, each once."""
        assert row.flow is not None
        names = dict.fromkeys(name for name in row.step.node.inputs if name and row.flow.varies(name))
        return list(dict.fromkeys(map(self._origin, names)))

    def _finished(self, rows: list[tuple[int, Row]]) -> Kernel:
        at, main = max(rows, key=lambda item: (*_worked(item[1]), -item[0]))
        return Kernel(
            (at, *(other for other, _ in rows if other != at)),
            work_class(main.step.node.op),
            main.step.node.op,
            sum(_worked(row)[0] for _, row in rows),
            sum(_worked(row)[1] for _, row in rows),
            dict(pair for _, row in rows for pair in self._constants(row).items()),
            self._read(rows).times(main.times),
            self._written(rows).times(main.times),
            main.times,
        )

    def _constants(self, row: Row) -> dict[Names, int]:
        """Numbers by the names that they are read by: those that the file gives to the node, or else to another one."""
        assert row.flow is not None
        inputs = zip(row.step.node.inputs, row.step.inputs)
        fixed = {name: known for name, known in inputs if name and known is not None and not row.flow.varies(name)}
        names = tuple(fixed)
        share = self._weights.pop((row.owner, row.step.at), None)
        if share is not None and share.nbytes:
            picked = row.cost.read if row.cost else None
            part = min(picked, share.nbytes) if isinstance(picked, int) and picked else share.nbytes
            return {names: share.elements * part // share.nbytes}
        held = {name: amount(known).floats for name, known in fixed.items() if not row.flow.is_sized(name)}
        return {names: sum(held.values())} if any(held.values()) else {}

    def _read(self, rows: list[tuple[int, Row]]) -> Amount:
        """Each value from outside once; where a node reads only a part of it, that part."""
        inside = {name for _, row in rows for name in row.step.node.outputs}
        amounts: dict[str, Amount] = {}
        for _, row in rows:
            known = {self._origin(name): value for name, value in zip(row.step.node.inputs, row.step.inputs)}
            names = [name for name in self._data(row) if name not in inside]
            whole = {name: amount(value) for name in names if (value := known.get(name)) is not None}
            for name, part in _part(whole, row).items():
                amounts[name] = max(amounts.get(name, Amount()), part, key=Amount.nbytes)
        return sum(amounts.values(), start=Amount())

    def _written(self, rows: list[tuple[int, Row]]) -> Amount:
        own = {at for at, _ in rows}
        made = (pair for _, row in rows for pair in zip(row.step.node.outputs, row.step.outputs))
        return sum((amount(known) for name, known in made if name and self._leaves(name, own)), start=Amount())

    def _leaves(self, name: str, own: set[int]) -> bool:
        """Whether it is read by a node of another kernel, or by whoever gets the outputs."""
        readers = self._readers.get(name, set())
        return name in self._leaving or not readers or not readers <= own


def _is_work(row: Row) -> bool:
    idle = row.cost is None or row.step.bodies or row.bookkeeping
    return not idle and work_class(row.step.node.op) is not WorkClass.VIEW


def _worked(row: Row) -> tuple[int, int]:
    """Multiply-adds and other operations, as far as they are known."""
    assert row.cost is not None
    return _known(row.cost.macs), _known(row.cost.other)


def _part(whole: dict[str, Amount], row: Row) -> dict[str, Amount]:
    """What a node reads of its data: all, or where its price says less, that share of each."""
    read = row.cost.read if row.cost else None
    total = sum(map(Amount.nbytes, whole.values())) * row.times
    if not isinstance(read, int) or read >= total:
        return whole
    return {name: each.share(read, total) for name, each in whole.items()}


def amount(known: Known) -> Amount:
    if known.dtype and is_float(known.dtype) and known.concrete is not None:
        return Amount(floats=math.prod(known.concrete))
    return Amount(others=_known(nbytes(known)))


def _known(number: Dim | None) -> int:
    """What is surely there: nothing of what is not known, which the card's coverage says."""
    return number if type(number) is int else 0
