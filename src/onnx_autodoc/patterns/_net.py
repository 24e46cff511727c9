"""A model as one flat graph of data: what blocks are found in.

Functions, branches and loop bodies are opened, casts and other steps that change nothing are gone, and what does not
hang on data (weights, shape arithmetic, masks and positions made from sizes) is off the net: it can be asked for by the
terms that read it. Finding a block replaces its terms by one, so that larger blocks are written in smaller ones.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from onnx_autodoc.ir import Node
from onnx_autodoc.ops import Known

Fact = Any  # a number, a word or a flag that a block's finder noted


class Term:
    """One operation, or a block that was made of several. `rows` are the file's nodes in it, by their row number."""

    __slots__ = ("at", "facts", "inputs", "loop", "node", "op", "outputs", "parts", "row", "rows", "version")

    def __init__(self, op: str, inputs: Sequence[int], outputs: Sequence[int], at: int, rows: tuple[int, ...]) -> None:
        self.op = op
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.at = at  # its place in an order that works
        self.rows = rows
        self.row = rows[0] if rows else -1  # of its node, which may be another term's as well
        self.node: Node | None = None  # of the file, where it is a single one
        self.version: int | None = None
        self.loop = 0  # the loop body that it is in, 0 if in none
        self.parts: tuple[Term, ...] = ()  # what a block was made of
        self.facts: dict[str, Fact] = {}

    def __repr__(self) -> str:
        return f"{self.op}{self.inputs}->{self.outputs}"

    def within(self) -> "Iterator[Term]":
        """Itself and all that is in it, outer before inner."""
        stack = [self]
        while stack:
            term = stack.pop()
            yield term
            stack.extend(reversed(term.parts))


NO_VALUE: Final = 0  # an input that is left out


class Net:
    """Values by number; `terms` in an order that works. Values that do not hang on data are `fixed`."""

    def __init__(self) -> None:
        self.knowns: list[Known | None] = [None]
        self.fixed: list[bool] = [True]
        self.makers: list[Term | None] = [None]
        self.readers: list[dict[Term, None]] = [{}]  # in order; one of very many is taken out at once
        self.names: list[str] = [""]
        self.terms: dict[int, Term] = {}  # by place
        self._kinds: dict[str, dict[Term, None]] = {}
        self.inputs: dict[str, int] = {}
        self.outputs: dict[str, int] = {}
        self.leaving: set[int] = set()  # values that are outputs
        self.carried: dict[int, int] = {}  # what a loop's body hands on to its next pass: the value it began with
        self.aside: dict[int, int] = {}  # rows that are no terms: the value that they pass on
        self.weights: dict[int, str] = {}  # constants of the file by value
        self.skips: dict[Term, list[Term]] = {}  # what each skip goes around, by the sum or join at its end
        self._restored: dict[int, float | None] = {}  # numbers that were quantized: asked for often
        self.notes: dict[str, Fact] = {}  # what was asked of the whole net, once its blocks were found
        self.cut = ""  # why it is not whole

    # -- making it

    def value(self, name: str, known: Known | None, fixed: bool, maker: Term | None = None) -> int:
        self.knowns.append(known)
        self.fixed.append(fixed)
        self.makers.append(maker)
        self.readers.append({})
        self.names.append(name)
        return len(self.knowns) - 1

    def add(self, term: Term) -> Term:
        """Put a term on the net."""
        self.terms[term.at] = term
        self._kinds.setdefault(term.op, {})[term] = None
        for value in term.outputs:
            self.makers[value] = term
        for value in dict.fromkeys(term.inputs):
            self.readers[value][term] = None
        return term

    def drop(self, term: Term) -> None:
        del self.terms[term.at]
        del self._kinds[term.op][term]
        for value in dict.fromkeys(term.inputs):
            del self.readers[value][term]

    def rename(self, term: Term, op: str, **facts: Fact) -> None:
        """A term that turned out to be a block all by itself."""
        del self._kinds[term.op][term]
        term.op = op
        term.facts |= facts
        self._kinds.setdefault(op, {})[term] = None

    def merge(self, op: str, members: Iterable[Term], outputs: Sequence[int], **facts: Fact) -> Term:
        """Make one term of several. Those that others read as well stay where they are.

        Its inputs are what the members read from outside, its outputs what is read outside, `outputs` first.
        """
        wanted = dict.fromkeys(outputs)
        kept = self._own(sorted(set(members), key=_place), wanted)
        made = {value for term in kept for value in term.outputs}
        wanted = dict.fromkeys(value for value in outputs if value in made)
        read = dict.fromkeys(value for term in kept for value in term.inputs if value not in made)
        inputs = sorted(read, key=self.fixed.__getitem__)  # data first
        wanted |= dict.fromkeys(value for value in made if self._is_read_outside(value, kept))
        last = max(kept, key=_place)
        for term in kept:
            self.drop(term)
        block = Term(op, inputs, tuple(wanted), last.at, tuple(row for term in kept for row in term.rows))
        block.facts = {key: fact for term in kept if term.op == op for key, fact in term.facts.items()} | facts
        block.parts, block.loop = tuple(part for term in kept for part in _spliced(term, op)), last.loop
        return self.add(block)

    def _own(self, members: list[Term], wanted: dict[int, None]) -> dict[Term, None]:
        """Without those whose values leave in the middle (another block may need them), or before the block is done."""
        kept, main = dict.fromkeys(members), next(iter(wanted), None)
        for term in reversed(members):
            inner = wanted.keys().isdisjoint(term.outputs)
            early = main not in term.outputs and self._is_read_early(term, kept, members[-1].at)
            if early or (inner and any(self._is_read_outside(value, kept) for value in term.outputs)):
                del kept[term]
        return kept

    def _is_read_early(self, term: Term, kept: dict[Term, None], end: int) -> bool:
        readers = (reader for value in term.outputs for reader in self.readers[value])
        return any(reader.at < end and reader not in kept for reader in readers)

    def _is_read_outside(self, value: int, members: Iterable[Term]) -> bool:
        return value in self.leaving or any(reader not in members for reader in self.readers[value])

    def is_closed(self, members: Sequence[Term], last: Term) -> bool:
        """Whether nothing but the last of some terms is read outside."""
        inner = [value for term in members if term is not last for value in term.outputs]
        return not any(self._is_read_outside(value, members) for value in inner)

    # -- asking it

    def maker(self, value: int, *ops: str) -> Term | None:
        """The term that makes a value, if it is one of these."""
        term = self.makers[value]
        return term if term is not None and (not ops or term.op in ops) else None

    def reader(self, value: int) -> Term | None:
        """The term that reads a value, if it is the only one."""
        readers = self.readers[value]
        return next(iter(readers)) if len(readers) == 1 else None

    def shape(self, value: int) -> tuple[int, ...] | None:
        known = self.knowns[value]
        return known.concrete if known is not None else None

    def rank(self, value: int) -> int | None:
        known = self.knowns[value]
        return None if known is None or known.shape is None else len(known.shape)

    def number(self, value: int) -> float | None:
        """The one number that a fixed value is, where it is one and is known."""
        waiting = [value] if self._quantized(value) else []
        while waiting:
            parts = self._quantized(waiting[-1])
            fresh = [part for part in parts if part not in self._restored and self._quantized(part)]
            if not fresh:
                self._restored[waiting.pop()] = _restored([self._told(part) for part in parts])
            waiting += fresh
        return self._told(value)

    def _quantized(self, value: int) -> list[int]:
        """What a fixed value is dequantized from, where it is and its number is not known by itself."""
        known, made = self.knowns[value], self.makers[value]
        if not self.fixed[value] or made is None or made.op != "DequantizeLinear" or known is None:
            return []
        return [part for part in made.inputs if part] if known.value is None else []

    def _told(self, value: int) -> float | None:
        return self._restored[value] if value in self._restored else self._written(value)

    def _written(self, value: int) -> float | None:
        """The one number that the file has for a fixed value, or that shapes were found with."""
        known = self.knowns[value]
        if not self.fixed[value] or known is None or known.value is None or known.value.size != 1:
            return None
        item = known.value.reshape(-1)[0]
        return float(item) if isinstance(item, int | float) or getattr(item, "dtype", None) is not None else None

    def varying(self, term: Term) -> list[int]:
        """What a term reads of data."""
        return [value for value in term.inputs if not self.fixed[value]]

    def has(self, op: str) -> bool:
        return bool(self._kinds.get(op))

    def of(self, *ops: str) -> list[Term]:
        """The terms of some kinds, in order."""
        return sorted((term for op in dict.fromkeys(ops) for term in self._kinds.get(op, ())), key=_place)

    def __iter__(self) -> Iterator[Term]:
        return iter(sorted(self.terms.values(), key=_place))

    def everything(self) -> Iterator[Term]:
        """Every term and every block inside one."""
        for term in self:
            yield from term.within()


def _place(term: Term) -> int:
    return term.at


def _restored(numbers: list[float | None]) -> float | None:
    """A constant that was quantized with the rest of the model: (x - zero) · scale."""
    x, scale, zero = (*numbers, 0.0)[:3] if len(numbers) > 1 else (None, None, None)
    return (x - zero) * scale if x is not None and scale is not None and zero is not None else None


def _spliced(term: Term, op: str) -> tuple[Term, ...]:
    """A block that grows is still one block: what it was before is a part without a kind of its own."""
    if term.op != op:
        return (term,)
    if not term.parts and term.node is not None:
        term.op = term.node.op
    return term.parts or (term,)
