"""What each runtime takes, as tables (data/runtimes), and which nodes of a model are not in one.

A table is of one release and says how it was come by: `run` is the runtime's own answer, `document` its word. What it
does not name is held against a model only in the domains of which it is `complete`.
"""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from onnx_autodoc.lint._scope import Spot
from onnx_autodoc.lint._uses import Key, Used
from onnx_autodoc.ops import judged, specified

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
