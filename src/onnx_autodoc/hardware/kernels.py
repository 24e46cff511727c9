"""Kernels of an ideal compiler: each is a node with all nodes that are fused into it.

A light node (elementwise, normalization, softmax, reduction) is fused into the kernel that produces its input, so that
the value between them never leaves the processor; a product after a softmax is fused with its scores, as in fused
attention. Constant nodes are folded, and reshaping takes no time. So this is less memory traffic than a runtime may
cause, and hardly more than the best one does.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from onnx_autodoc.analysis import Facts, Place, Row, Share
from onnx_autodoc.architecture import max_rows
from onnx_autodoc.ir import is_float
from onnx_autodoc.ops import FUSIBLE_CLASSES, Dim, ValueInfo, WorkClass, nbytes, operator_of

Names = tuple[str, ...]


class DataVolume(Struct, frozen=True):
    """Floating-point numbers, whose width depends on the precision, and bytes of other types."""

    floats: int = 0
    other_bytes: int = 0

    def __add__(self, more: "DataVolume") -> "DataVolume":
        return DataVolume(self.floats + more.floats, self.other_bytes + more.other_bytes)

    def times(self, count: int) -> "DataVolume":
        return DataVolume(self.floats * count, self.other_bytes * count)

    def share(self, part: int, whole: int) -> "DataVolume":
        return DataVolume(self.floats * part // whole, self.other_bytes * part // whole)

    def nbytes(self, float_bytes: int = 4) -> int:
        return self.floats * float_bytes + self.other_bytes


class Kernel(Struct, frozen=True, eq=False):
    """One launch, summed over the whole run. `rows` are its nodes, the one that names it first."""

    rows: tuple[int, ...]
    kind: WorkClass
    op: str
    macs: int
    other: int
    weights: dict[Names, int]  # elements of constants, by the names that they are read by
    read: DataVolume  # from other kernels
    written: DataVolume  # for other kernels
    times: int


class _KernelDraft(Struct):
    rows: list[int]
    has_softmax: bool = False


def fuse_kernels(facts: Facts) -> list[Kernel]:
    """Return the kernels in file order, those of subgraphs after those of the graph that contains them.

    Empty if nested function calls expand to very many nodes: then only totals are known.
    """
    most = max_rows(facts)
    rows = list(enumerate(islice(facts.costs.rows(), most + 1)))
    if len(rows) > most:
        return []
    scopes: dict[str, list[tuple[int, Row]]] = defaultdict(list)
    for at, row in rows:
        scopes[row.scope].append((at, row))
    weights, outputs = dict(facts.parameters.nodes), {value.name for value in facts.model.graph.outputs}
    kernels: list[Kernel] = []
    for scope in sorted(scopes):
        kernels += _ScopeFusion(scopes[scope], set() if scope else outputs, weights).kernels()
    return kernels


class _ScopeFusion:
    """The kernels of one graph or subgraph."""

    def __init__(self, rows: Sequence[tuple[int, Row]], outputs: set[str], weights: dict[Place, Share]) -> None:
        self._rows, self._weights = dict(rows), weights
        self._alias: dict[str, str] = {}  # a value that is another one in a new shape
        self._producer: dict[str, _KernelDraft] = {}
        self._consumers: dict[str, set[int]] = {}
        alias = self._alias.get
        for at, row in rows:
            node = row.step.node
            if operator_of(node).work is WorkClass.VIEW and node.inputs and not row.bookkeeping:
                self._alias.update(dict.fromkeys(node.outputs[:1], self._resolve(node.inputs[0])))
            else:
                for name in filter(None, node.all_inputs):
                    self._consumers.setdefault(alias(name, name), set()).add(at)
        self._outputs = set(map(self._resolve, outputs))

    def _resolve(self, name: str) -> str:
        return self._alias.get(name, name)

    def kernels(self) -> list[Kernel]:
        drafts: list[_KernelDraft] = []
        for at, row in self._rows.items():
            work = operator_of(row.step.node).work
            if row.cost is None or row.step.bodies or row.bookkeeping or work is WorkClass.VIEW:
                continue
            draft = self._find_fusion(row)
            if draft is None:
                drafts.append(draft := _KernelDraft([]))
            draft.rows.append(at)
            draft.has_softmax |= work is WorkClass.SOFTMAX
            self._producer.update(dict.fromkeys(filter(None, row.step.node.outputs), draft))
        return [self._make_kernel([(at, self._rows[at]) for at in draft.rows]) for draft in drafts]

    def _find_fusion(self, row: Row) -> _KernelDraft | None:
        """Return the kernel to fuse a node into: the last producer of its data, if the others are complete."""
        producers = [self._producer[name] for name in self._data_inputs(row) if name in self._producer]
        if not producers:
            return None
        last = max(producers, key=lambda draft: draft.rows[0])
        kind = operator_of(row.step.node).work
        is_fusible = kind in FUSIBLE_CLASSES or (kind is WorkClass.PRODUCT and last.has_softmax)
        complete = all(draft.rows[-1] < last.rows[0] for draft in producers if draft is not last)
        return last if is_fusible and complete and self._rows[last.rows[0]].times == row.times else None

    def _data_inputs(self, row: Row) -> list[str]:
        """Return the inputs that depend on data, each once."""
        assert row.flow is not None
        names = dict.fromkeys(name for name in row.step.node.inputs if name and row.flow.varies(name))
        return list(dict.fromkeys(map(self._resolve, names)))

    def _make_kernel(self, rows: list[tuple[int, Row]]) -> Kernel:
        at, main = max(rows, key=lambda item: (*_count_operations(item[1]), -item[0]))
        counts = [_count_operations(row) for _, row in rows]
        return Kernel(
            (at, *(row for row, _ in rows if row != at)),
            operator_of(main.step.node).work,
            main.step.node.op,
            sum(macs for macs, _ in counts),
            sum(other_operations for _, other_operations in counts),
            dict(pair for _, row in rows for pair in self._constants(row).items()),
            self._read_volume(rows).times(main.times),
            self._written_volume(rows).times(main.times),
            main.times,
        )

    def _constants(self, row: Row) -> dict[Names, int]:
        """Return the elements of constants by their names: the node's share of the parameters, or the constants."""
        assert row.flow is not None
        inputs = zip(row.step.node.inputs, row.step.inputs)
        fixed = {name: known for name, known in inputs if name and known is not None and not row.flow.varies(name)}
        names = tuple(fixed)
        share = self._weights.pop((row.owner, row.step.at), None)
        if share is not None and share.nbytes:
            read = row.cost.read if row.cost else None
            part = min(read, share.nbytes) if isinstance(read, int) and read else share.nbytes
            return {names: share.elements * part // share.nbytes}
        elements = sum(data_volume(known).floats for name, known in fixed.items() if not row.flow.is_sized(name))
        return {names: elements} if elements else {}

    def _read_volume(self, rows: list[tuple[int, Row]]) -> DataVolume:
        """Count each value from other kernels once: all of it, or the share that the node's cost counts."""
        inside = {name for _, row in rows for name in row.step.node.outputs}
        volumes: dict[str, DataVolume] = {}
        for _, row in rows:
            known = {self._resolve(name): value for name, value in zip(row.step.node.inputs, row.step.inputs)}
            names = [name for name in self._data_inputs(row) if name not in inside]
            whole = {name: data_volume(value) for name in names if (value := known.get(name)) is not None}
            read, total = row.cost.read if row.cost else None, sum(map(DataVolume.nbytes, whole.values())) * row.times
            for name, volume in whole.items():
                part = volume.share(read, total) if isinstance(read, int) and read < total else volume
                volumes[name] = max(volumes.get(name, DataVolume()), part, key=DataVolume.nbytes)
        return sum(volumes.values(), start=DataVolume())

    def _written_volume(self, rows: list[tuple[int, Row]]) -> DataVolume:
        """Count the values that other kernels or the caller read, and those that nothing reads."""
        own = {at for at, _ in rows}
        volume = DataVolume()
        for _, row in rows:
            for name, known in zip(row.step.node.outputs, row.step.outputs):
                consumers = self._consumers.get(name, set())
                if name and (name in self._outputs or not consumers or not consumers <= own):
                    volume += data_volume(known)
        return volume


def _count_operations(row: Row) -> tuple[int, int]:
    """Return the multiply-adds and other operations, as far as they are known."""
    assert row.cost is not None
    return _known_or_zero(row.cost.macs), _known_or_zero(row.cost.other)


def data_volume(known: ValueInfo) -> DataVolume:
    if known.dtype and is_float(known.dtype) and known.concrete is not None:
        return DataVolume(floats=math.prod(known.concrete))
    return DataVolume(other_bytes=_known_or_zero(nbytes(known)))


def _known_or_zero(number: Dim | None) -> int:
    return number if type(number) is int else 0
