"""Every known operator, with every attribute at its extremes and invalid inputs.

Many nodes stand in one file: they share inputs and nothing else, so that one that stops does not hide the others.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Final

from msgspec import Struct

from fuzz.wire import attr, call, chunk, floats, integer, ints, model, opset, raw, tensor, value
from onnx_autodoc import ops

_BIG: Final = 1 << 62
_AT_ONCE: Final = 120  # nodes in one file
_MOST: Final = 6  # inputs and outputs that a node is given where the operator takes any number
_NUMBERS: Final = {"0": 0, "-1": -1, "2^31": 1 << 31, "2^62": _BIG, "-2^63": -(1 << 63)}


class Known(Struct, frozen=True):
    """An operator with the types of its attributes and its numbers of inputs and outputs."""

    domain: str
    op: str
    attributes: tuple[tuple[str, str], ...]
    inputs: int
    outputs: int


@cache
def operators() -> tuple[Known, ...]:
    """Return the operators of onnx and onnxruntime, with their attributes, and those of this tool."""
    import onnx.defs
    import onnxruntime.capi.onnxruntime_pybind11_state as runtime

    found: dict[tuple[str, str], Known] = {}
    for schema in (*onnx.defs.get_all_schemas_with_history(), *runtime.get_all_operator_schema()):
        attributes = {name: str(one.type).rsplit(".", 1)[-1] for name, one in schema.attributes.items()}
        before = found.get((schema.domain, schema.name))
        merged = {**(dict(before.attributes) if before else {}), **attributes}
        most = min(len(schema.inputs) or 1, _MOST), min(len(schema.outputs) or 1, _MOST)
        found[schema.domain, schema.name] = Known(schema.domain, schema.name, tuple(sorted(merged.items())), *most)
    for domain, op in ops.OPERATORS:
        found.setdefault((domain, op), Known(domain, op, (("axis", "INT"), ("to", "INT")), 2, 1))
    return tuple(found[key] for key in sorted(found))


def _extreme(kind: str, number: int) -> Callable[[str, str], bytes]:
    """Encode an attribute of its declared type in which every number is the extreme one."""

    def encoded(name: str, declared: str) -> bytes:
        if declared in ("INTS", "FLOATS"):
            return attr(name, [number] * 4 if declared == "INTS" else [float(number)] * 4)
        if declared in ("STRING", "STRINGS"):
            return attr(name, kind if declared == "STRING" else [kind] * 4)
        if declared == "FLOAT":
            return attr(name, float(number))
        if declared == "TENSOR":
            return attr(name, tensor("", [number], 7, chunk(9, bytes(8))))
        if declared == "GRAPH":
            return chunk(1, name) + chunk(6, chunk(2, "empty")) + integer(20, 5)
        return attr(name, number)

    return encoded


def _packed_list(length: int) -> Callable[[str, str], bytes]:
    """Encode lists packed; unpacked ones would dominate the time to build a file."""

    def encoded(name: str, declared: str) -> bytes:
        if declared in ("FLOATS", "FLOAT"):
            return chunk(1, name) + chunk(7, bytes(4 * length)) + integer(20, 6)
        if declared in ("STRINGS", "STRING"):
            return chunk(1, name) + chunk(9, b"s") * min(length, 300) + integer(20, 8)
        return chunk(1, name) + chunk(8, b"\1" * length) + integer(20, 7)

    return encoded


def _wrong(name: str, declared: str) -> bytes:
    """Encode an attribute of a wrong type: text for a number, a number for text or a graph."""
    return attr(name, 7) if declared in ("STRING", "GRAPH", "TENSOR", "STRINGS") else attr(name, "seven")


def _not_a_number(name: str, declared: str) -> bytes:
    return attr(name, [float("nan"), float("inf"), -float("inf")] if declared.endswith("S") else float("nan"))


def _untouched(name: str, declared: str) -> bytes:
    return chunk(1, name)  # an attribute that has a name and no value


_ATTRIBUTES: Final[dict[str, Callable[[str, str], bytes]]] = {
    **{f"attributes of {kind}": _extreme(kind, number) for kind, number in _NUMBERS.items()},
    "attributes of NaN": _not_a_number,
    "attributes of nothing": _untouched,
    "attributes of empty lists": _packed_list(0),
    "attributes of 5,000 numbers": _packed_list(5_000),
    "attributes of the wrong type": _wrong,
}

# kind of input -> what declares the value `x`
_INPUTS: Final[dict[str, bytes]] = {
    "of rank 0": value(11, "x", ()),
    "of rank 1": value(11, "x", (7,)),
    "of rank 3": value(11, "x", (2, 3, 4)),
    "of rank 4": value(11, "x", (1, 4, 8, 8)),
    "of rank 64": value(11, "x", (2,) * 64),
    "of 2^62": value(11, "x", (_BIG, _BIG, _BIG)),
    "of no elements": value(11, "x", (0, 0, 0)),
    "of negative dims": value(11, "x", (-1, -3)),
    "of open dims": value(11, "x", ("a", "b", "c", "d")),
    "of strings": value(11, "x", (2, 3), 8),
    "of an unknown type": value(11, "x", (2, 3), 99),
    "without a type": chunk(11, chunk(1, "x")),
    "that are sequences": chunk(11, chunk(1, "x") + chunk(2, chunk(4, chunk(1, chunk(1, integer(1, 1)))))),
    "that are small constants": ints("x", [1, 2, 3, 4]),
    "that are one number of 2^62": ints("x", [_BIG], []),
    "that are extreme constants": ints("x", [0, -1, _BIG, -(1 << 63)]),
    "that are NaN": floats("x", [float("nan"), float("inf"), -float("inf"), 1e38]),
    "that are no numbers": ints("x", []),
    "that are strings in the file": chunk(5, tensor("x", [2], 8, chunk(6, "1"), chunk(6, "\x1b"))),
    "that are too short": raw("x", [4, 4], 7, bytes(9)),
}


Choose = Callable[[Known], tuple[bytes, ...]]


def _file(at: int, declared: bytes, version: int, choose: Choose, inputs: int | None = None) -> bytes:
    """Yield a model of some operators from index `at` on."""
    nodes = b"".join(
        _node(place, known, choose(known), known.inputs if inputs is None else inputs)
        for place, known in enumerate(operators()[at : at + _AT_ONCE])
    )
    domains = sorted({known.domain for known in operators()} - {""})
    sets = b"".join(opset(1, domain) for domain in domains)
    return model(declared + nodes + value(12, "o0a", ("n",)), opset=version, extra=sets)


def _node(place: int, known: Known, attributes: tuple[bytes, ...], inputs: int) -> bytes:
    encoded = " ".join(f"o{place}{chr(97 + at)}" for at in range(known.outputs))
    return call(known.op, "x " * inputs, encoded, known.domain, 1, attributes)


def _none(known: Known) -> tuple[bytes, ...]:
    return ()


def _all(extreme: Callable[[str, str], bytes]) -> Choose:
    return lambda known: tuple(extreme(name, kind) for name, kind in known.attributes)


def make_files() -> dict[str, Callable[[], bytes]]:
    """Return builders of the files; importing the two libraries takes a moment."""
    kinds: list[tuple[str, bytes, int, Choose, int | None]] = []
    for name, extreme in _ATTRIBUTES.items():
        shelf = ("of rank 3", "of rank 4", "that are small constants")
        kinds += [(f"{name}, inputs {kind}", _INPUTS[kind], 21, _all(extreme), None) for kind in shelf]
    for name, declared_as in _INPUTS.items():
        kinds += [(f"inputs {name}, opset {version}", declared_as, version, _none, None) for version in (9, 23)]
    kinds += [(f"{count} inputs", _INPUTS["of rank 4"], 21, _none, count) for count in (0, 1, 40)]
    starts = range(0, len(operators()), _AT_ONCE)
    return {
        f"{name}, from operator {at}": partial(_file, at, declared_as, version, choose, inputs)
        for name, declared_as, version, choose, inputs in kinds
        for at in starts
    }
