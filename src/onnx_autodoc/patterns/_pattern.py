"""Patterns as text, in the notation of a model, and whether a place in a net is like one.

    s = Sigmoid(x)
    y = Mul(x, s)

Small letters are values, the same letter the same value. A capital is a value that does not hang on data (a weight),
a number is a constant of that value. `A|B(x)` is either operator. The last line is what is looked for. Operands of Add
and Mul may stand in any order; inputs that a pattern does not mention must be fixed.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from onnx_autodoc.patterns._net import Net, Term

_COMMUTING: Final = frozenset(("Add", "Mul", "Max", "Min"))
_TOLERANCE: Final = 2e-3  # fp16 rounds constants
_TOKEN: Final = re.compile(r"\s*([A-Za-z_][\w|-]*|-?[0-9.]+(?:e-?[0-9]+)?|[(),=])")


class Call(Struct, frozen=True):
    ops: tuple[str, ...]
    inputs: "tuple[Operand, ...]"
    name: str


class Any(Struct, frozen=True):
    """A value: any, or one that is fixed."""

    name: str
    fixed: bool


class Number(Struct, frozen=True):
    number: float


Operand = Call | Any | Number


class Match(Struct, frozen=True):
    values: Mapping[str, int]
    terms: tuple[Term, ...]

    def __getitem__(self, name: str) -> int:
        return self.values[name]


@cache
def compiled(text: str) -> Call:
    """The last line of a pattern, with the lines before it in place of their names."""
    named: dict[str, Operand] = {}
    found: Operand | None = None
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, body = line.partition("=")
        tokens = _TOKEN.findall(body)
        found = named[name.strip()] = _operand(iter([*tokens, ""]), named, name.strip())
    if not isinstance(found, Call):
        raise ValueError(f"a pattern ends with an operator: {text}")
    return found


def _operand(tokens: Iterator[str], named: dict[str, Operand], name: str) -> Operand:
    return _parsed(tokens, named, name)[0]


def _parsed(tokens: Iterator[str], named: dict[str, Operand], name: str) -> tuple[Operand, str]:
    """An operand and the token after it."""
    word, after = next(tokens), next(tokens)
    if after != "(":
        return _plain(word, named), after
    inputs: list[Operand] = []
    while after != ")":
        item, after = _parsed(tokens, named, "")
        inputs.append(item)
    return Call(tuple(word.split("|")), tuple(inputs), name), next(tokens)


def _plain(word: str, named: dict[str, Operand]) -> Operand:
    if re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?", word):
        return Number(float(word))
    return named.get(word) or Any(word, word[0].isupper())


@cache
def _calls(text: str) -> tuple[tuple[str, ...], ...]:
    """The operators that a pattern needs: one of each of these."""
    waiting: list[Operand] = [compiled(text)]
    found: list[tuple[str, ...]] = []
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, Call):
            found.append(operand.ops)
            waiting.extend(operand.inputs)
    return tuple(dict.fromkeys(found))


def is_possible(net: Net, text: str) -> bool:
    """Whether a net has all that a pattern needs: most have not, and then no place needs to be looked at."""
    return all(any(net.has(op) for op in ops) for ops in _calls(text))


def match(net: Net, pattern: Call, term: Term) -> Match | None:
    """Whether a term ends a pattern."""
    made = {maker.op for value in term.inputs if (maker := net.makers[value]) is not None}
    if any(isinstance(wanted, Call) and made.isdisjoint(wanted.ops) for wanted in pattern.inputs):
        return None
    for found in _terms(net, pattern, term, _State({}, {})):
        return Match(found.values, tuple(dict.fromkeys(found.terms.values())))
    return None


class _State(Struct, frozen=True):
    """What is bound so far; a step further is another one."""

    values: dict[str, int]
    terms: dict[int, Term]  # by the pattern's part

    def bind(self, name: str, value: int) -> "_State":
        return _State({**self.values, name: value}, self.terms)

    def take(self, part: int, term: Term) -> "_State":
        return _State(self.values, {**self.terms, part: term})


def _terms(net: Net, pattern: Call, term: Term, state: _State) -> Iterator[_State]:
    if term.op not in pattern.ops:
        return
    wanted, given = pattern.inputs, term.inputs
    if len(given) < len(wanted) or not all(net.fixed[value] for value in given[len(wanted) :]):
        return
    state = state.take(id(pattern), term)
    yield from _all(net, wanted, given, state)
    if len(wanted) == 2 and term.op in _COMMUTING:
        yield from _all(net, wanted, (given[1], given[0]), state)


def _all(net: Net, wanted: tuple[Operand, ...], given: tuple[int, ...], state: _State) -> Iterator[_State]:
    if not wanted:
        yield state
        return
    for found in _value(net, wanted[0], given[0], state):
        yield from _all(net, wanted[1:], given[1:], found)


def _value(net: Net, wanted: Operand, value: int, state: _State) -> Iterator[_State]:
    if isinstance(wanted, Number):
        number = net.number(value)
        if number is not None and abs(number - wanted.number) <= _TOLERANCE * max(abs(wanted.number), 1e-6):
            yield state
        return
    if wanted.name and (bound := state.values.get(wanted.name)) is not None:
        if bound == value:
            yield state
        return
    if isinstance(wanted, Any):
        if not wanted.fixed or net.fixed[value]:
            yield state.bind(wanted.name, value)
        return
    term = net.makers[value]
    if term is not None and net.terms.get(term.at) is term and term.outputs[0] == value:
        yield from _terms(net, wanted, term, state.bind(wanted.name, value) if wanted.name else state)
