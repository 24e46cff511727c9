"""One graph in one place while it is lowered to kernels: who makes and who reads each value, and what was joined."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from onnx_autodoc.analysis import Row
from onnx_autodoc.ops import Dim, Known, WorkClass, kinds, nbytes, paces, work_class

Amounts = dict[str, float]  # how much there is of each thing that takes time
Priced = tuple[str, Amounts]  # the pace of a kernel, and its amounts
NEAR: Final = float(16 << 20)  # bytes around which a kernel's data stop staying in a cache
_SINGLE: Final = 1
_OFTEN: Final = 3
_TURNED_FOR: Final = (WorkClass.PRODUCT, WorkClass.NORMALIZATION)
_TO_CHANNELS: Final = (0, 3, 1, 2)
_FROM_CHANNELS: Final = (0, 2, 3, 1)


class Level:
    """Nodes by row number. `joined` has what went into each kernel, `word` the blocks that became one."""

    def __init__(
        self, rows: Sequence[tuple[int, Row]], leaving: Iterable[str], is_open: bool, given: Mapping[str, str]
    ) -> None:
        self.rows = dict(rows)
        self.given = given  # constants that come from outside under a name of their own, and their name there
        self.gone: set[int] = set()  # not there at run time, or a part of another kernel
        self.home: dict[int, int] = {}  # a part: the kernel that it is in
        self.joined: dict[int, list[int]] = defaultdict(list)
        self.word: dict[int, str] = {}
        self.end: dict[int, str] = {}  # what a kernel makes, where that is what its last part makes
        self.maker: dict[str, int] = {}
        self.readers: dict[str, list[int]] = defaultdict(list)
        self.blocked: set[str] = set()  # values in blocks of channels
        self._same: dict[str, str] = {}
        self._first: dict[tuple[object, ...], int] = {}  # the first of the nodes that make the same
        self._undone = _undone_turns(rows)
        for at, row in rows:
            self._drop(at, row, is_open)
        for at in self.kernels():
            self._note(at)
        self.leaving = set(map(self.origin, leaving))

    def _drop(self, at: int, row: Row, is_open: bool) -> None:
        """What is not there at run time: constants, what changes nothing, sizes that were worked out before."""
        node = row.step.node
        if row.cost is None or row.flow is None or is_folded(row, is_open):
            self.gone.add(at)
        elif (at in self._undone or _changes_nothing(row)) and node.inputs and node.outputs:
            self.gone.add(at)
            self._same[node.outputs[0]] = self.origin(node.inputs[0])
        elif row.bookkeeping and not row.step.bodies:
            first = self._first.setdefault(self._told(row), at)
            if first != at:
                self.gone.add(at)
                self._same.update(zip(node.outputs, self.rows[first].step.node.outputs))

    def _told(self, row: Row) -> tuple[object, ...]:
        """What two nodes that make the same have in common: small constants count by their value."""
        step, attributes = row.step, row.step.node.attributes
        inputs = [self._input(row, name, known) for name, known in zip(step.node.inputs, step.inputs)]
        return (
            step.node.domain,
            step.node.op,
            *inputs,
            *map(repr, sorted(attributes.items(), key=lambda item: item[0])),
        )

    def _input(self, row: Row, name: str, known: Known | None) -> object:
        sized = row.flow is not None and row.flow.is_sized(name)
        if known is None or known.value is None or sized:
            return self.origin(name)
        return (known.dtype, known.concrete, repr(known.value.tolist()))

    def _note(self, at: int) -> None:
        node = self.rows[at].step.node
        self.maker.update(dict.fromkeys(filter(None, node.outputs), at))
        for name in dict.fromkeys(filter(None, node.inputs)):
            self.readers[self.origin(name)].append(at)

    def origin(self, name: str) -> str:
        return self._same.get(name, name)

    def kernels(self) -> list[int]:
        return [at for at in self.rows if at not in self.gone]

    # -- asking

    def op(self, at: int) -> str:
        return self.rows[at].step.node.op

    def inputs(self, at: int) -> list[str]:
        return [self.origin(name) for name in self.rows[at].step.node.inputs]

    def pairs(self, at: int) -> list[tuple[str, Known]]:
        """The inputs that are there, by name."""
        return [(name, known) for name, known in zip(self.inputs(at), self.rows[at].step.inputs) if known is not None]

    def made(self, at: int) -> str:
        outputs = self.rows[at].step.node.outputs
        return self.end.get(at) or (outputs[0] if outputs else "")

    def parts(self, at: int) -> tuple[int, ...]:
        return (at, *self.joined.get(at, ()))

    def kernel_of(self, name: str) -> int | None:
        """The kernel that makes a value."""
        at = self.maker.get(name)
        while at in self.home:
            at = self.home[at]
        return at

    def fixed(self, at: int, name: str) -> bool:
        """Whether it is a constant when the node runs."""
        flow = self.rows[at].flow
        held = name in self.given or (flow is not None and not flow.varies(name))
        return bool(name) and held and name not in self.maker

    def only_reader(self, name: str) -> int | None:
        readers = self.readers.get(name, [])
        alone = len(readers) == _SINGLE and name not in self.leaving and readers[0] not in self.gone
        return readers[0] if alone else None

    def next(self, at: int) -> int | None:
        """The only node that reads what a kernel makes, if it is free to be joined to it."""
        reader = self.only_reader(self.made(at))
        return None if reader in self.word else reader

    def adds_constant(self, at: int, data: str) -> bool:
        return any(self.fixed(at, name) for name in self.inputs(at) if name != data)

    def by_scalar(self, at: int) -> bool:
        return any(self.fixed(at, name) and elements(known) == _SINGLE for name, known in self.pairs(at))

    def known(self, at: int, name: str) -> Known | None:
        step = self.rows[at].step
        names, values = (*step.node.outputs, *step.node.inputs), (*step.outputs, *step.inputs)
        return next((known for each, known in zip(names, values) if self.origin(each) == name), None)

    # -- joining

    def join(self, part: int, kernel: int) -> None:
        self.gone.add(part)
        self.home[part] = kernel
        self.joined[kernel].append(part)

    def append(self, part: int, kernel: int) -> None:
        """Join what comes after it: from here on the kernel makes what that makes."""
        self.join(part, kernel)
        self.end[kernel] = self.rows[part].step.node.outputs[0]


def is_folded(row: Row, is_open: bool) -> bool:
    """Whether it is done once, before the first run: what hangs on constants, and on sizes where all are fixed.

    Weights are dequantized in every run all the same, unless what reads them takes them as they are.
    """
    node = row.step.node
    if node.op == kinds.CONSTANT:
        return True
    if not row.bookkeeping or row.step.bodies or node.op == paces.DEQUANTIZE or row.flow is None:
        return False
    return not is_open or not any(map(row.flow.is_sized, filter(None, (*node.outputs, *node.inputs))))


def _undone_turns(rows: Sequence[tuple[int, Row]]) -> set[int]:
    """Turns of pictures there and back again, as converters write them around each node: moved until they cancel.

    Not where products and norms work on the turned pictures: they need them so.
    """
    makers = {name for _, row in rows for name in row.step.node.outputs}
    found: dict[object, list[int]] = defaultdict(list)
    for at, row in rows:
        node = row.step.node
        if node.op == paces.TURN and node.inputs and node.inputs[0] in makers:
            found[node.attributes.get("perm")].append(at)
    there, back = (found.get(perm, []) for perm in (_TO_CHANNELS, _FROM_CHANNELS))
    needing = sum(work_class(row.step.node.op) in _TURNED_FOR for _, row in rows)
    return {*there, *back} if min(len(there), len(back)) >= max(_OFTEN, needing) else set()


def _changes_nothing(row: Row) -> bool:
    """A cast to the same type, a factor of one, a term of zero."""
    step, op = row.step, row.step.node.op
    if op in paces.DROPPED:
        return True
    if not step.inputs or step.inputs[0] is None or not step.outputs:
        return False
    if op == paces.CAST:
        return step.inputs[0].dtype == step.outputs[0].dtype
    if op not in paces.FACTORS and op not in paces.TERMS:
        return False
    second = step.inputs[1] if len(step.inputs) > 1 else None
    value = second.value if second is not None and not row.bookkeeping else None
    neutral = 1 if op in paces.FACTORS else 0
    alike = dims_of(step.inputs[0]) == dims_of(step.outputs[0])
    return alike and value is not None and value.size == _SINGLE and value.reshape(-1)[0] == neutral


def elements(known: Known | None) -> int:
    dims = known.concrete if known is not None else None
    return math.prod(dims) if dims is not None else 0


def dims_of(known: Known | None) -> tuple[int, ...] | None:
    return known.concrete if known is not None else None


def bytes_of(known: Known | None) -> int:
    """In memory as onnxruntime computes: half precision is widened."""
    if known is None:
        return 0
    return certain(nbytes(known)) * (2 if known.dtype == "float16" else 1)


def certain(number: Dim | None) -> int:
    """What is surely there."""
    return number if type(number) is int else 0


def moved(nbytes: float) -> Amounts:
    """Bytes by where they are: near in caches, or far in memory."""
    far = 1 / (1 + (NEAR / nbytes) ** 2) if nbytes else 0.0
    return {"near": nbytes * (1 - far), "far": nbytes * far}
