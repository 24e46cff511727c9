"""Small models in the notation of patterns, and the nets that are made of them.

`y = Mul(Sigmoid(MatMul(x, W)), 0.5)`: calls stand in each other, small letters are inputs or what lines before made,
capitals are weights, numbers and lists of numbers are constants (with a point: float, without: int64). Attributes
stand where ONNX's own notation has them: `Transpose<perm = [0, 2, 1]>(x)`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
import onnx
from msgspec.structs import replace
from onnx import numpy_helper

from onnx_autodoc import patterns as room
from onnx_autodoc.patterns import Net, Op, convolutions, feed_forward, find_blocks
from onnx_autodoc.patterns.flatten import flatten
from onnx_autodoc.patterns.rules import RewriteRule, apply_rules
from onnx_autodoc.shapes import bind, infer_shapes, parse_request
from tests._text import loaded, proto

Value = tuple[int, ...] | str | np.ndarray
_TOKEN = re.compile(
    r"""\s*([A-Za-z_][\w.]*|-?\d[\d.]*(?:e-?\d+)?|<(?:"[^"]*"|[^>"])*>|\[[^\]]*\]|[(),=])""",
)


def net(
    body: str, *, opset: int = 18, leaving: str = "y", odd: bool = False, flat: bool = False, **values: Value
) -> Net:
    """Inputs (small letters) are sizes of floats or a type, `"int64[1,8]"`; weights (capitals) are sizes or numbers.

    `odd` says that the model need not be able to run, `flat` that no blocks are sought.
    """
    declared = {name: value for name, value in values.items() if name[0].islower()}
    inputs = ", ".join(f"{_typed(value)} {name}" for name, value in declared.items())
    weights = {name: value for name, value in values.items() if name not in declared}
    return whole(f"g ({inputs}) => ({leaving}) {{ {written(body)} }}", opset=opset, odd=odd, flat=flat, **weights)


def whole(
    graph: str,
    *,
    opset: int = 18,
    functions: str = "",
    odd: bool = False,
    flat: bool = False,
    given: tuple[str, ...] = (),
    runs: Sequence[bool] | None = None,
    **weights: Value,
) -> Net:
    """A graph in ONNX's own notation, where it has branches or loops."""
    made = proto(graph, opset, functions)
    for name, value in weights.items():
        array = np.full(value, 0.37, np.float32) if isinstance(value, tuple) else value
        made.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return of(made, odd, flat, given, runs)


def of(
    made: onnx.ModelProto,
    odd: bool = False,
    flat: bool = False,
    given: tuple[str, ...] = (),
    runs: Sequence[bool] | None = None,
) -> Net:
    model = loaded(made)
    shapes = infer_shapes(model, bind(model, parse_request(values=given)))
    assert odd or not (shapes.contradictions or shapes.misdeclared), (shapes.contradictions, shapes.misdeclared)
    find = flatten if flat else find_blocks
    return find(model, shapes, runs or [True] * sum(1 for _ in shapes.rows()))


def _typed(value: Value) -> str:
    return value if isinstance(value, str) else f"float[{','.join(map(str, value))}]"


def written(body: str) -> str:
    """The same in ONNX's own notation: one call after another, constants as nodes."""
    return " ".join(_Writer(_TOKEN.findall(body)).lines())


class _Writer:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._at = self._made = 0
        self._lines: list[str] = []

    def lines(self) -> list[str]:
        while self._tokens[self._at]:
            names = [self._next()]
            while self._next() == ",":
                names.append(self._next())
            self._lines.append(f"{', '.join(names)} = {self._call()}")
        return self._lines

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _call(self) -> str:
        """A call whose inputs are names."""
        head = self._next()
        if self._tokens[self._at][:1] == "<":
            head += self._next()
        assert self._next() == "(", f"{head} is no call"
        return f"{head}({', '.join(self._inputs())})"

    def _inputs(self) -> Iterator[str]:
        while (token := self._tokens[self._at]) != ")":
            if token == ",":
                self._next()
                if self._tokens[self._at] not in (",", ")"):
                    continue
                yield ""  # left out
            elif self._tokens[self._at + 1][:1] in ("(", "<"):
                yield self._named(self._call())
            elif token[0].isalpha():
                yield self._next()
            else:
                yield self._named(f"Constant<value = {_constant(self._next())}>()")
        self._next()

    def _named(self, call: str) -> str:
        self._made += 1
        self._lines.append(f"made{self._made} = {call}")
        return f"made{self._made}"


def _constant(token: str) -> str:
    kind = "float" if "." in token else "int64"
    if token[0] != "[":
        return f"{kind} {{{token}}}"
    items = token[1:-1].split(",") if token != "[]" else []
    return f"{kind}[{len(items)}] {{{', '.join(items)}}}"


# -- asking


def count(found: Net, kind: str) -> int:
    """Blocks of a kind, inside others too."""
    return sum(term.kind == kind for term in found.walk())


def only(found: Net, kind: str) -> Op:
    (term,) = [term for term in found.walk() if term.kind == kind]
    return term


def kinds(found: Net) -> list[str]:
    """What the net is made of, in order, what is inside blocks left out."""
    return [term.kind for term in found]


def skips(found: Net) -> list[str]:
    return [term.residual_kind for term in found if term.residual is not None]


# -- complete shelves


def unused(rules: Sequence[RewriteRule], examples: Sequence[tuple[str, dict[str, Value]]]) -> set[tuple[str, str]]:
    """The patterns of rules (their kind and text) that no example is claimed by."""
    left = {(rule.kind, text) for rule in rules for text in rule.patterns}

    def watched(found: Net, tried: Sequence[RewriteRule]) -> None:
        for rule in tried:
            for text in rule.patterns:
                before = set(found.ops.values())
                apply_rules(found, (replace(rule, patterns=(text,)),))
                if before != set(found.ops.values()):
                    left.discard((rule.kind, text))

    with ExitStack() as stack:
        for module in (room, feed_forward, convolutions):
            stack.enter_context(patch.object(module, "apply_rules", watched))
        for body, values in examples:
            net(body, **values)
    return left
