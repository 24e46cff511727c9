"""`card()` and the `Card` that it returns; cards stored as JSON."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple

from onnx_autodoc.api.hardware_options import HardwareOptions
from onnx_autodoc.api.isolation import call_isolated
from onnx_autodoc.api.pipeline import make_card
from onnx_autodoc.card import Card as CardData
from onnx_autodoc.card import NodeRow, load
from onnx_autodoc.errors import BadInput
from onnx_autodoc.limits import current_limits, within
from onnx_autodoc.render import FORMATS, Report
from onnx_autodoc.shapes import Request
from onnx_autodoc.storage import FileSource, read_config_bytes

_HEAD_BYTES: Final = 512
_NODE_LIST_FORMATS: Final = ("nodes", "csv")

CardSource = str | PathLike[str] | CardData  # a model file, a JSON card, or a card


class Card(CardData, frozen=True, dict=True):
    """The card of a model: its sections as typed values, rendered in every format.

    `print(card)` prints the terminal card; a notebook displays a card that is the last value of a cell. A card can be
    pickled and copied; formats that list nodes are then not available.
    """

    def render(self, format_name: str) -> str | bytes:
        """Render the card in one of the command line's formats."""
        if format_name not in FORMATS:
            raise ValueError(f"unknown format {format_name!r}; use one of {', '.join(FORMATS)}")
        report = self.__dict__.get("report") or Report(self, _no_nodes)
        check_can_render(report, format_name)
        return FORMATS[format_name].render(report)

    def to_markdown(self) -> str:
        """Return GitHub-flavoured Markdown without pictures, which would be separate files."""
        return self._render_text("markdown")

    def to_html(self) -> str:
        """Return one self-contained page."""
        return self._render_text("html")

    def to_json(self) -> str:
        """Return JSON that follows the published schema."""
        return self._render_text("json")

    def to_mermaid(self) -> str:
        """Return the architecture diagram as Mermaid source."""
        return self._render_text("mermaid")

    def __str__(self) -> str:
        return self._render_text("terminal")

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook displays: summary, main figures, inputs and outputs."""
        from onnx_autodoc.render.html.page import render_fragment

        return render_fragment(self)

    def _render_text(self, format_name: str) -> str:
        text = self.render(format_name)
        assert isinstance(text, str)
        return text


def card(
    path: str | PathLike[str],
    *,
    dims: dict[str, int] | None = None,
    batch: int | None = None,
    seq: int | None = None,
    size: tuple[int, int] | None = None,
    values: dict[str, int] | None = None,
    weights: bool = False,
    sha256: bool = False,
    devices: Sequence[str] = (),
    precision: str | None = None,
    devices_file: str | PathLike[str] | None = None,
    target_latency: float | None = None,
    target_throughput: float | None = None,
    prices: str | PathLike[str] | None = None,
    runtime: str | None = None,
    profile: str | PathLike[str] | None = None,
    verify: bool = False,
    isolated: bool = False,
) -> Card:
    """Return the card of a model file, or the card stored in a JSON file.

    `dims` to `values` bind dynamic dimensions like the command line's options of these names. `weights` reads all
    numbers in the weights, for the section `weights` and its rules; `sha256` hashes the files; `verify` runs the model.
    `devices` to `profile` are --device, --precision, --devices, --target-latency (in seconds), --target-throughput,
    --prices, --runtime and --profile.

    `isolated` does the work in a worker process with the limits on memory and time that the command line has
    (`with within(Limits(...))` changes them), for untrusted files. It is safe in every thread.
    """
    request = Request(dims or {}, batch, seq, size, values or {})
    hardware = HardwareOptions(
        tuple(devices), precision, devices_file, target_latency, target_throughput, prices, runtime, profile
    )
    make = partial(
        _load_or_make_report, os.fspath(path), request, hardware, sha256=sha256, weights=weights, verify=verify
    )
    report = _make_isolated(make, os.fspath(path), request) if isolated else make()
    card = Card(*(getattr(report.card, name) for name in CardData.__struct_fields__))
    card.__dict__["report"] = report  # no field: the fields are those of the schema
    return card


def _load_or_make_report(
    path: str, request: Request, hardware: HardwareOptions, *, sha256: bool, weights: bool, verify: bool
) -> Report:
    build = load_report if is_json_card(path, strict=True) else make_card
    return build(path, request, hardware, sha256=sha256, weights=weights, verify=verify)


def _make_isolated(make: Callable[[], Report], path: str, request: Request) -> Report:
    """Create a card in a worker process; another one lists its nodes if a format requires them."""
    limits, absolute = current_limits(), Path(path).absolute()  # the program may change its folder

    def list_nodes() -> Iterator[NodeRow]:
        with within(limits):
            return iter(call_isolated(list[NodeRow], partial(_list_nodes, absolute, request), path))

    data, has_nodes = call_isolated(tuple[CardData, bool], partial(_make_data, make), path)
    return Report(data, list_nodes if has_nodes else _no_nodes)


def _make_data(make: Callable[[], Report]) -> tuple[CardData, bool]:
    report = make()
    return report.card, report.nodes is not _no_nodes


def _list_nodes(path: Path, request: Request) -> list[NodeRow]:
    return list(make_card(path, request).nodes())


def _no_nodes() -> Iterator[NodeRow]:
    """Stand for the list of nodes in the report of a stored card, which has none."""
    return iter(())


def can_render(report: Report, format_name: str) -> bool:
    """Return whether a report has the nodes that a format lists: a stored card has none."""
    return report.nodes is not _no_nodes or format_name not in _NODE_LIST_FORMATS


def check_can_render(report: Report, format_name: str) -> None:
    if not can_render(report, format_name):
        name = report.card.model.name
        raise BadInput(f"{name}: a stored card has no list of nodes; --format {format_name} requires the model file")


def is_json_card(path: str | PathLike[str], *, strict: bool = False) -> bool:
    """Return whether a file starts like JSON; `strict`: like JSON that this tool writes."""
    with FileSource.open(os.fspath(path)) as source:
        head = source.read(0, _HEAD_BYTES)
    return head.lstrip().startswith(b"{") and (not strict or b'"schema_version"' in head)


def load_report(
    path: str | PathLike[str],
    request: Request,
    hardware: HardwareOptions | None = None,
    *,
    sha256: bool = False,
    weights: bool = False,
    verify: bool = False,
) -> Report:
    """Load a JSON card for rendering; everything that requires the model is refused."""
    data = _load_card(path, request, hardware or HardwareOptions(), weights)
    if verify:
        raise BadInput(f"{path}: a stored card cannot be run; --verify requires the model file")
    if sha256 and data.model.file.sha256 is None:
        raise BadInput(f"{path}: the card was written without --sha256; use the model file, or write the card again")
    return Report(data, _no_nodes)


def load_or_make_card(
    path: str | PathLike[str], request: Request, weights: bool = False, hardware: HardwareOptions | None = None
) -> CardData:
    """Return the card of a model file, or the card in a JSON file; the content decides."""
    if is_json_card(path):
        return _load_card(path, request, hardware or HardwareOptions(), weights)
    return make_card(path, request, hardware, weights=weights).card


def _load_card(path: str | PathLike[str], request: Request, hardware: HardwareOptions, weights: bool) -> CardData:
    if hardware != HardwareOptions():
        raise BadInput(f"{path}: the devices of a stored card are fixed; hardware options require the model file")
    if request != Request():
        raise BadInput(f"{path}: the sizes of a stored card are fixed; options such as --dim require the model file")
    data = load(read_config_bytes(path, "a JSON card"), os.fspath(path))
    if weights and data.weights is None:
        raise BadInput(f"{path}: the card was written without --weights; use the model file, or write the card again")
    return data


def source_name(source: CardSource) -> str:
    """Return the path of a file, or the model name of a card."""
    return source.model.name if isinstance(source, CardData) else os.fspath(source)


class ExternalPath(NamedTuple):
    """A file that a model names. One that was `inspected` is below the model's folder; another is an absolute path."""

    path: str
    inspected: bool


def external_paths(path: str, card: CardData) -> Iterator[ExternalPath]:
    """Yield every external file that the model at `path` names, whether or not it exists."""
    folder = Path(path).parent
    for file in card.model.file.external:
        if file.path and file.present:
            yield ExternalPath(str(folder / file.path), True)
        elif file.path:
            yield ExternalPath(os.path.normpath(Path(os.path.realpath(folder), file.path)), False)
