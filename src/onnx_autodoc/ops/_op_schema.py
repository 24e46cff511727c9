"""What the specification lets a node be: how many inputs and outputs, of which types, with which attributes.

`data/operators.json` is written off `onnx.defs` by scripts/operators_data.py; a test holds it to the version that is
installed. What a node breaks of this, the checker of ONNX and onnxruntime refuse it for.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from onnx_autodoc.ir import Attribute, Graph, Long, Node, Reference, Tensor, Type
from onnx_autodoc.ops._known import Known
from onnx_autodoc.ops._specified import newest
from onnx_autodoc.text import quoted, told

_FILE: Final = Path(__file__).parents[1] / "data" / "operators.json"
_KINDS: Final = {
    "f": "a number",
    "i": "a whole number",
    "s": "a text",
    "t": "a tensor",
    "g": "a graph",
    "p": "a sparse tensor",
    "y": "a type",
}
_OPEN: Final = frozenset(("LayerNormalization",))  # that may have any attributes beside their own
_INTERNAL: Final = "__"  # how attributes begin that tools leave for themselves
_OTHER: Final = "other"  # no tensor
_WRAPPED: Final = frozenset(("sequence", "optional", "map"))  # kinds that are none
_LETTERS: Final = {Reference: "", float: "f", int: "i", str: "s", Tensor: "t", Graph: "g", Type: "y"}
_KEPT: Final = 4096  # nodes that are unlike each other
Ends = tuple[bool, ...]  # of inputs or outputs, which are there
Kinds = tuple[tuple[str, str], ...]  # names of attributes, with letters for what they are
Types = tuple[str | None, ...]  # of inputs; None where it is not known


class Form(Struct, frozen=True, array_like=True):
    """One version of an operator. A slot is its type or a letter for it, with ? if optional, * if of any number."""

    since: int
    counts: tuple[int, int | None]  # of inputs: at least, at most
    results: tuple[int, int | None]  # of outputs
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    letters: Mapping[str, int]  # -> which set of types
    attributes: Mapping[str, str]  # -> a letter for what it is, + for a list, ! if it must be there


class _Book(Struct, frozen=True):
    source: str
    types: tuple[str, ...]
    operators: Mapping[str, Mapping[str, tuple[Form, ...]]]


@cache
def _book() -> _Book:
    return msgspec.json.decode(_FILE.read_bytes(), type=_Book)


@lru_cache(maxsize=_KEPT)
def form_of(domain: str, op: str, version: int | None) -> Form | None:
    """The operator as it stands at a version; None where the specification has no word on it."""
    forms = _book().operators.get(domain, {}).get(op, ())
    if version is None or not forms or version > newest(domain):
        return None
    return next((form for form in reversed(forms) if form.since <= version), None)


def misfits(node: Node, version: int | None, inputs: Sequence[Known | None] = ()) -> tuple[str, ...]:
    """What of a node is not as its operator is specified, in words."""
    given = tuple((name, _kind(item)) for name, item in node.attributes.items()) if node.attributes else ()
    types = tuple(map(_type, inputs))
    ends = tuple(map(bool, node.inputs)), tuple(map(bool, node.outputs))
    return _misfits(node.domain, node.op, version, *ends, given, types)


@lru_cache(maxsize=_KEPT)
def _misfits(
    domain: str, op: str, version: int | None, inputs: Ends, outputs: Ends, given: Kinds, types: Types
) -> tuple[str, ...]:
    """Most nodes of a model are alike: what is said of one is said of all."""
    form = form_of(domain, op, version)
    if form is None:
        return ()
    counted = (
        *_miscounted("input", inputs, form.counts, form.inputs),
        *_miscounted("output", outputs, form.results, form.outputs),
    )
    return *counted, *_misnamed(form, given, op in _OPEN), *_mistyped(form, types)


def _misnamed(form: Form, given: Kinds, others: bool) -> Iterator[str]:
    """Attributes that are of another kind, that the operator has not, and that are not there."""
    for name, kind in given:
        wanted = form.attributes.get(name)
        if wanted is not None and not _fits(kind, wanted.rstrip("!")):
            yield f"its attribute {told(name)} is {_said(kind)}, not {_said(wanted)}"
        elif wanted is None and not others and not name.startswith(_INTERNAL):
            yield f"it has no attribute {quoted(name)}"
    names = {name for name, _ in given}
    needed = (name for name, wanted in form.attributes.items() if wanted.endswith("!"))
    yield from (f"it lacks its attribute {name}" for name in needed if name not in names)


def _miscounted(what: str, names: Ends, span: tuple[int, int | None], slots: Sequence[str]) -> Iterator[str]:
    least, most = span
    if len(names) < least or (most is not None and len(names) > most):
        wanted = str(least) if least == most else f"{least} or more" if most is None else f"{least} to {most}"
        yield f"it has {len(names)} {what}{'s' * (len(names) != 1)}, not {wanted}"
        return
    for at, (name, slot) in enumerate(zip(names, slots)):
        if not name and not slot.endswith(("?", "*")):
            yield f"its {what} {at} is left out, and must be there"


def _kind(item: Attribute) -> str:
    """The letter for an attribute, as the table has it; empty where it is a call that decides."""
    items = item.first if isinstance(item, Long) else item
    if not isinstance(items, tuple):
        return _LETTERS.get(type(items), "?")
    return "".join(dict.fromkeys(_LETTERS.get(type(one), "?") for one in items)) + "+"


def _fits(kind: str, wanted: str) -> bool:
    return kind in ("", wanted, wanted.replace("p", "t")) or (kind == "+" and wanted.endswith("+"))


def _said(kind: str) -> str:
    return ("a list, each " if "+" in kind else "") + _KINDS.get(kind.rstrip("!+"), "something else")


def _type(known: Known | None) -> str | None:
    return None if known is None else known.dtype if known.kind == "tensor" else known.kind


def _mistyped(form: Form, types: Types) -> Iterator[str]:
    """Inputs of types that the operator does not take, or that must be of one type and are not."""
    bound = dict[str, str]()
    for at, given in enumerate(types if form.inputs else ()):
        slot = form.inputs[min(at, len(form.inputs) - 1)]
        letter = slot.rstrip("?*")
        allowed = _types(form.letters[letter])
        if given is None or (given in _WRAPPED and _OTHER in allowed):
            continue
        if given not in allowed:
            yield f"it takes no {given}{' tensor' * (allowed == {_OTHER})} as input {at}"
        elif bound.setdefault(letter, given) != given and not slot.endswith("**"):
            yield f"its inputs of {bound[letter]} and {given} must be of one type"


@cache
def _types(at: int) -> frozenset[str]:
    return frozenset(_book().types[at].split())
