"""Small models in the notation of patterns, and their nets.

`y = Mul(Sigmoid(MatMul(x, W)), 0.5)`: calls are nested, lower-case names are inputs or results of earlier lines,
capitals are weights, numbers and lists of numbers are constants (with a point: float, without: int64). Attributes
are written as in the notation of ONNX: `Transpose<perm = [0, 2, 1]>(x)`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
import onnx
from msgspec.structs import replace
from onnx import numpy_helper

from onnx_autodoc import patterns as patterns_package
from onnx_autodoc.patterns import Net, Op, convolutions, feed_forward, find_blocks
from onnx_autodoc.patterns.flatten import flatten
from onnx_autodoc.patterns.rules import RewriteRule, apply_rules
from onnx_autodoc.shapes import bind, infer_shapes, parse_request
from tests._text import proto, save_and_read

Value = tuple[int, ...] | str | np.ndarray
_TOKEN = re.compile(
    r"""\s*([A-Za-z_][\w.]*|-?\d[\d.]*(?:e-?\d+)?|<(?:"[^"]*"|[^>"])*>|\[[^\]]*\]|[(),=])""",
)


def build_net(
    body: str,
    *,
    opset: int = 18,
    outputs: str = "y",
    invalid: bool = False,
    flat: bool = False,
    **values: Value,
) -> Net:
    """Return the net of a body. Lower-case values are inputs: the shape of a float tensor, or a type (`"int64[1,8]"`);
    values in capitals are weights: a shape, or an array.

    `invalid`: shape contradictions are allowed; `flat`: no blocks are matched.
    """
    declared = {name: value for name, value in values.items() if name[0].islower()}
    inputs = ", ".join(f"{_typed(value)} {name}" for name, value in declared.items())
    weights = {name: value for name, value in values.items() if name not in declared}
    return build_graph_net(
        f"g ({inputs}) => ({outputs}) {{ {to_onnx_text(body)} }}",
        opset=opset,
        invalid=invalid,
        flat=flat,
        **weights,
    )


def build_graph_net(
    graph: str,
    *,
    opset: int = 18,
    functions: str = "",
    invalid: bool = False,
    flat: bool = False,
    bound_values: tuple[str, ...] = (),
    runs: Sequence[bool] | None = None,
    **weights: Value,
) -> Net:
    """Return the net of a graph in the notation of ONNX, for graphs with branches or loops."""
    model_proto = proto(graph, opset, functions)
    for name, value in weights.items():
        array = np.full(value, 0.37, np.float32) if isinstance(value, tuple) else value
        model_proto.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return build_proto_net(model_proto, invalid, flat, bound_values, runs)


def build_proto_net(
    model_proto: onnx.ModelProto,
    invalid: bool = False,
    flat: bool = False,
    bound_values: tuple[str, ...] = (),
    runs: Sequence[bool] | None = None,
) -> Net:
    model = save_and_read(model_proto)
    shapes = infer_shapes(model, bind(model, parse_request(values=bound_values)))
    assert invalid or not (shapes.contradictions or shapes.misdeclared), (
        shapes.contradictions,
        shapes.misdeclared,
    )
    find = flatten if flat else find_blocks
    return find(model, shapes, runs or [True] * sum(1 for _ in shapes.rows()))


def _typed(value: Value) -> str:
    return value if isinstance(value, str) else f"float[{','.join(map(str, value))}]"


def to_onnx_text(body: str) -> str:
    """Return the body in the notation of ONNX: one call after another, constants as nodes."""
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
        """Return a call whose inputs are names."""
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
                yield ""  # an omitted input
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


# Queries


def count_blocks(net: Net, kind: str) -> int:
    """Return the number of blocks of a kind, nested ones included."""
    return sum(op.kind == kind for op in net.walk())


def find_only(net: Net, kind: str) -> Op:
    (op,) = [op for op in net.walk() if op.kind == kind]
    return op


def list_kinds(net: Net) -> list[str]:
    """Return the kinds of the ops of the net, in order, without those inside blocks."""
    return [op.kind for op in net]


def list_residual_kinds(net: Net) -> list[str]:
    return [op.residual_kind for op in net if op.residual is not None]


# Coverage of rules


def find_unused_patterns(
    rules: Sequence[RewriteRule], examples: Sequence[tuple[str, dict[str, Value]]]
) -> set[tuple[str, str]]:
    """Return the patterns of rules (their kind and text) that match no example."""
    left = {(rule.kind, text) for rule in rules for text in rule.patterns}

    def apply_and_record(net: Net, tried_rules: Sequence[RewriteRule]) -> None:
        for rule in tried_rules:
            for text in rule.patterns:
                before = set(net.ops.values())
                apply_rules(net, (replace(rule, patterns=(text,)),))
                if before != set(net.ops.values()):
                    left.discard((rule.kind, text))

    with ExitStack() as stack:
        for module in (patterns_package, feed_forward, convolutions):
            stack.enter_context(patch.object(module, "apply_rules", apply_and_record))
        for body, values in examples:
            build_net(body, **values)
    return left
