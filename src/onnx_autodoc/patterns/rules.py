"""Rewrite rules: patterns as text, matched against the canonical net, each match replaced by one block.

    s = Sigmoid(x)
    y = Mul(x, s)

Lower-case names are values, the same name the same value. A capital is a constant (a weight), a number a constant of
that value. `A|B(x)` is either operator. The last line is the output of the block. Operands of commutative operators
match in any order; inputs that a pattern does not mention must be constant.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from onnx_autodoc.patterns.attributes import BlockAttributes
from onnx_autodoc.patterns.net import Net, Op

_COMMUTATIVE: Final = frozenset(("Add", "Mul", "Max", "Min"))
_RELATIVE_TOLERANCE: Final = 2e-3  # fp16 rounds constants
_TOKEN: Final = re.compile(r"\s*([A-Za-z_][\w|-]*|-?[0-9.]+(?:e-?[0-9]+)?|[(),=])")
_NUMBER: Final = re.compile(r"-?[0-9.]+(e-?[0-9]+)?")


class PatternOp(Struct, frozen=True):
    kinds: tuple[str, ...]
    inputs: "tuple[Operand, ...]"
    name: str


class PatternValue(Struct, frozen=True):
    name: str
    constant: bool


class PatternNumber(Struct, frozen=True):
    number: float


Operand = PatternOp | PatternValue | PatternNumber


class Match(Struct, frozen=True):
    """Values by their name in the pattern, and the matched ops, the one that computes the output first."""

    values: Mapping[str, int]
    ops: tuple[Op, ...]

    def __getitem__(self, name: str) -> int:
        return self.values[name]


class RewriteRule(Struct, frozen=True):
    """`condition` may reject a match. Without `attributes` a block inherits those of a member of the same kind."""

    kind: str
    patterns: tuple[str, ...]
    condition: Callable[[Net, Match], bool] | None = None
    attributes: Callable[[Net, Match], BlockAttributes] | None = None
    closed: bool = False  # reject matches whose inner values are read elsewhere


def apply_rules(net: Net, rules: Sequence[RewriteRule]) -> None:
    """Apply each rule to the whole net before the next one, which may use its blocks."""
    for rule in rules:
        for text in rule.patterns:
            pattern = parse_pattern(text)
            can_match = all(any(net.has(kind) for kind in kinds) for kinds in _required_kinds(text))
            for op in net.of(*pattern.kinds) if can_match else ():
                match = match_pattern(net, pattern, op) if op in net else None
                if match is None or (rule.closed and not net.is_closed(match.ops, op)):
                    continue
                if rule.condition is None or rule.condition(net, match):
                    attributes = rule.attributes(net, match) if rule.attributes is not None else None
                    net.merge(rule.kind, match.ops, op.outputs[:1], attributes)


# Parsing


@cache
def parse_pattern(text: str) -> PatternOp:
    """Return the last line of a pattern, with names of earlier lines replaced by their definition."""
    named: dict[str, Operand] = {}
    last: Operand | None = None
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, body = line.partition("=")
        last, _ = _parse_operand(iter([*_TOKEN.findall(body), ""]), named, name.strip())
        named[name.strip()] = last
    if not isinstance(last, PatternOp):
        raise ValueError(f"a pattern must end with an operator: {text}")
    return last


def _parse_operand(tokens: Iterator[str], named: dict[str, Operand], name: str) -> tuple[Operand, str]:
    """Return an operand and the token after it."""
    word, after = next(tokens), next(tokens)
    if after != "(":
        if _NUMBER.fullmatch(word):
            return PatternNumber(float(word)), after
        return named.get(word) or PatternValue(word, word[0].isupper()), after
    inputs: list[Operand] = []
    while after != ")":
        item, after = _parse_operand(tokens, named, "")
        inputs.append(item)
    return PatternOp(tuple(word.split("|")), tuple(inputs), name), next(tokens)


@cache
def _required_kinds(text: str) -> tuple[tuple[str, ...], ...]:
    """Return sets of kinds of which a net must have at least one each for the pattern to match anywhere."""
    waiting: list[Operand] = [parse_pattern(text)]
    kinds: dict[tuple[str, ...], None] = {}
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, PatternOp):
            kinds[operand.kinds] = None
            waiting.extend(operand.inputs)
    return tuple(kinds)


# Matching


class _Bindings(Struct, frozen=True):
    values: dict[str, int]
    ops: dict[int, Op]  # by the identity of the pattern's op


def match_pattern(net: Net, pattern: PatternOp, op: Op) -> Match | None:
    """Match `pattern` with `op` as the op that computes its output."""
    operand_kinds = {producer.kind for value in op.inputs if (producer := net.producers[value]) is not None}
    if any(isinstance(item, PatternOp) and operand_kinds.isdisjoint(item.kinds) for item in pattern.inputs):
        return None
    bound = next(_match_op(net, pattern, op, _Bindings({}, {})), None)
    return Match(bound.values, tuple(dict.fromkeys(bound.ops.values()))) if bound is not None else None


def _match_op(net: Net, pattern: PatternOp, op: Op, bound: _Bindings) -> Iterator[_Bindings]:
    if op.kind not in pattern.kinds:
        return
    operands, inputs = pattern.inputs, op.inputs
    if len(inputs) < len(operands) or not all(net.constant[value] for value in inputs[len(operands) :]):
        return
    bound = _Bindings(bound.values, {**bound.ops, id(pattern): op})
    yield from _match_inputs(net, operands, inputs, bound)
    if len(operands) == 2 and op.kind in _COMMUTATIVE:
        yield from _match_inputs(net, operands, (inputs[1], inputs[0]), bound)


def _match_inputs(
    net: Net, operands: tuple[Operand, ...], inputs: tuple[int, ...], bound: _Bindings
) -> Iterator[_Bindings]:
    if not operands:
        yield bound
        return
    for extended in _match_value(net, operands[0], inputs[0], bound):
        yield from _match_inputs(net, operands[1:], inputs[1:], extended)


def _match_value(net: Net, operand: Operand, value: int, bound: _Bindings) -> Iterator[_Bindings]:
    if isinstance(operand, PatternNumber):
        number = net.scalar(value)
        tolerance = _RELATIVE_TOLERANCE * max(abs(operand.number), 1e-6)
        if number is not None and abs(number - operand.number) <= tolerance:
            yield bound
        return
    op = net.producers[value]
    is_excluded = operand.constant and not net.constant[value] if isinstance(operand, PatternValue) else op is None
    if is_excluded:
        return
    if operand.name:
        if operand.name in bound.values:
            if bound.values[operand.name] == value:
                yield bound
            return
        bound = _Bindings({**bound.values, operand.name: value}, bound.ops)
    if isinstance(operand, PatternValue):
        yield bound
    elif op is not None and op in net and op.outputs[0] == value:
        yield from _match_op(net, operand, op, bound)
