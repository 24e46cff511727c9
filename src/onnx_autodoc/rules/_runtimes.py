"""What each runtime takes, as tables (data/runtimes), and which nodes of a model are not in one.

A table is of one release and says how it was come by: `run` is the runtime's own answer, `document` its word. What it
does not name is held against a model only in the domains of which it is `complete`.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from onnx_autodoc.graph import needed_names
from onnx_autodoc.ops import judged, kinds, specified
from onnx_autodoc.rules._case import Case, Scope, Spot

# One file each. The order is that in which they are reported.
RUNTIMES: Final = (
    "onnxruntime-cpu",
    "onnxruntime-cuda",
    "tensorrt",
    "openvino",
    "coreml",
    "qnn",
    "onnxruntime-mobile",
    "onnxruntime-web",
)
_FOLDER: Final = Path(__file__).parents[1] / "data" / "runtimes"

Key = tuple[str, str]  # domain, operator


class Runtime(Struct, frozen=True, forbid_unknown_fields=True):
    """`operators`: domain, operator -> the first opset at which it is taken, and the last one if there is one.

    `whole`: the runtime reads the file itself, so that it must know even what is only done to constants and sizes,
    which onnxruntime does before it asks a provider. `functions`: it opens the file's own functions.
    """

    id: str
    title: str
    version: str
    source: str
    date: str
    basis: str
    complete: tuple[str, ...]
    fallback: str  # what becomes of a node outside it, as the end of a sentence
    operators: dict[str, dict[str, tuple[int, ...]]]
    notes: dict[str, dict[str, str]] = {}
    newest: dict[str, int] = {}  # domain -> the highest opset that it opens
    whole: bool = False
    functions: bool = True

    @property
    def name(self) -> str:
        return f"{self.title} {self.version}"

    def takes(self, domain: str, op: str, opset: int | None) -> bool | None:
        """None where the table has no word on it."""
        span = self.operators.get(domain, {}).get(op)
        if span is None:
            named = domain not in specified.SPECIFIED_DOMAINS or (domain, op) in specified.first_opsets()
            return False if domain in self.complete and named else None
        return None if opset is None else span[0] <= opset <= (span[1] if len(span) > 1 else opset)


@cache
def runtimes() -> dict[str, Runtime]:
    """All tables, read when they are first asked for."""
    decoder = msgspec.json.Decoder(Runtime)
    return {name: decoder.decode((_FOLDER / f"{name}.json").read_bytes()) for name in RUNTIMES}


class Used(Struct, frozen=True):
    """The nodes of a model that call one operator, at the opset that is said where they stand."""

    key: Key
    opset: int | None
    spots: list[Spot]  # those that work on data
    aside: list[Spot]  # those that work on constants and sizes alone
    local: bool  # a call to a function of the file


_USED: Final[WeakKeyDictionary[Case, list[Used]]] = WeakKeyDictionary()


def used(case: Case) -> list[Used]:
    """The operators of a model, in the order of their first node; looked for once, since several rules ask."""
    if case not in _USED:
        _USED[case] = _used(case)
    return _USED[case]


def _used(case: Case) -> list[Used]:
    local = {(function.domain, function.name) for function in case.model.functions}
    found: dict[tuple[Key, int | None], Used] = {}
    for scope, opsets in opsets_of(case):
        sized = _sized(scope)
        for spot in scope.spots:
            key = (spot.node.domain, spot.node.op)
            at = (key, opsets.get(key[0]))
            entry = found.get(at) or found.setdefault(at, Used(*at, [], [], key in local))
            (entry.aside if spot.step.at in sized else entry.spots).append(spot)
    return list(found.values())


def opsets_of(case: Case) -> Iterator[tuple[Scope, Mapping[str, int]]]:
    """Every graph with the opsets that hold in it: the file's, or those of the function that it stands in."""
    functions = {function.name: function.opsets for function in case.model.functions}
    found: dict[int, Mapping[str, int]] = {}
    for scope in case.scopes:
        if scope.outer is not None:
            opsets = found[id(scope.outer)]
        else:
            own = functions.get(scope.graph.name, {}) if scope.path else {}
            opsets = {**case.model.opsets, **own}
        found[id(scope)] = opsets
        yield scope, opsets


def _sized(scope: Scope) -> set[int]:
    """The places of a graph's nodes that work on constants and sizes alone."""
    found: set[int] = set()
    names: set[str] = {""}
    for spot in scope.spots:
        node = spot.node
        plain = node.op in kinds.OF_SIZES and not node.domain
        drawn = node.op in kinds.DRAWN and not node.domain
        if plain or (not drawn and all(name in names or scope.is_fixed(name) for name in needed_names(node))):
            found.add(spot.step.at)
            names.update(node.outputs)
    return found


def lacking(runtime: Runtime, uses: list[Used]) -> dict[Key, list[Spot]]:
    """The operators that a runtime does not take, with their nodes."""
    found: dict[Key, list[Spot]] = {}
    for use in uses:
        spots = [*use.spots, *use.aside] if runtime.whole else use.spots
        if spots and _is_lacking(runtime, use):
            found.setdefault(use.key, []).extend(spots)
    return found


def _is_lacking(runtime: Runtime, use: Used) -> bool:
    domain, op = use.key
    if use.local:
        return not runtime.functions
    if not domain and op in judged.DROPPED_EARLY and not runtime.whole:
        return False
    return runtime.takes(domain, op, use.opset) is False


def unsupported(runtime: Runtime, case: Case) -> dict[Key, list[Spot]]:
    """What of a model a runtime does not take."""
    return lacking(runtime, used(case))
