"""The pipeline in one call each: a path goes in, a card or a report comes out."""

import os
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from onnx_autodoc import __version__
from onnx_autodoc.api._hardware import NOTHING_ASKED, Asked, wanted_of, with_measured, with_profile
from onnx_autodoc.api._making import Making
from onnx_autodoc.api._making import facts_of as facts_of
from onnx_autodoc.card import Card as Document
from onnx_autodoc.card import Generated, build, load, node_rows, with_times
from onnx_autodoc.errors import BadInput
from onnx_autodoc.readers import FileSource, side_file
from onnx_autodoc.render import FORMATS, Report
from onnx_autodoc.runtime import check_extra
from onnx_autodoc.shapes import Request

_HEAD = 512
_DIGITS = 11  # of seconds since 1970: the year 5138


Source = str | PathLike[str] | Document  # a model file, the JSON of a card, or a card


class Card(Document, frozen=True, dict=True):
    """The card of a model: its sections as typed values, and a door to every format.

    `print(card)` is the terminal card, and a notebook shows a card that is the last value of a cell.
    """

    def render(self, format_name: str) -> str | bytes:
        """The card in any of the formats that the command line knows."""
        if format_name not in FORMATS:
            raise ValueError(f"there is no format {format_name!r}; there are {', '.join(FORMATS)}")
        return FORMATS[format_name].render(self.__dict__["report"])

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown, without pictures, which would be files beside it."""
        return self._text("markdown")

    def to_html(self) -> str:
        """One self-contained page."""
        return self._text("html")

    def to_json(self) -> str:
        """By the published schema."""
        return self._text("json")

    def to_mermaid(self) -> str:
        """The drawing of the model."""
        return self._text("mermaid")

    def __str__(self) -> str:
        return self._text("terminal")

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary, key numbers, inputs and outputs."""
        from onnx_autodoc.render.html import render_fragment

        return render_fragment(self)

    def _text(self, format_name: str) -> str:
        made = self.render(format_name)
        assert isinstance(made, str)
        return made


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
    shelf: str | PathLike[str] | None = None,
    target_latency: float | None = None,
    target_throughput: float | None = None,
    prices: str | PathLike[str] | None = None,
    runtime: str | None = None,
    profile: str | PathLike[str] | None = None,
    verify: bool = False,
) -> Card:
    """The card of a model file, with its open dimensions bound as the command line's options of these names do.

    With `weights` the numbers in the weights are read too, all of them: the section `weights`, and the rules on them.
    With `sha256` the files are hashed; with `verify` the model is run. `devices` to `profile` are --device,
    --precision, --devices, --target-latency (in seconds), --target-throughput, --prices, --runtime and --profile.
    """
    request = Request(_given(dims), batch, seq, size, _given(values))
    asked = Asked(tuple(devices), precision, shelf, target_latency, target_throughput, prices, runtime, profile)
    return _with_doors(report(path, request, sha256, weights, asked, verify))


def _given(numbers: dict[str, int] | None) -> tuple[str, ...]:
    return tuple(f"{name}={number}" for name, number in (numbers or {}).items())


def _with_doors(made: Report) -> Card:
    card = Card(*(getattr(made.card, name) for name in Document.__struct_fields__))
    card.__dict__["report"] = made  # no field: the card's own data stay those of the schema
    return card


def report(
    path: str | PathLike[str],
    request: Request,
    sha256: bool = False,
    weights: bool = False,
    asked: Asked = NOTHING_ASKED,
    verified: bool = False,
) -> Report:
    """The card and the rows of its nodes, for rendering. With `verified` the model is run, too."""
    wanted = wanted_of(asked)
    if verified:
        check_extra()  # before anything that takes time
    making = Making(path, request)
    facts, structure = making.facts, making.structure
    hashes = making.hashes() if sha256 else {}
    numbers = making.weights() if weights else None
    measured = making.measured() if verified else None
    wanted = with_measured(with_profile(wanted, facts, asked), measured)
    machines = making.hardware(wanted)
    structure = with_times(structure, facts, measured)
    judged = making.findings(structure, numbers)
    made = build(facts, structure, generated(), judged, hashes, numbers, machines, measured, making.lost)
    return Report(made, lambda: node_rows(facts, structure.places))


def opened(
    path: str | PathLike[str], request: Request, weights: bool = False, asked: Asked = NOTHING_ASKED
) -> Document:
    """The card of a model file, or the one that a JSON file holds: the content decides."""
    if not is_card(path):
        return report(path, request, weights=weights, asked=asked).card
    if asked != NOTHING_ASKED:
        raise BadInput(
            f"{path}: a card's devices are those it was made for; --device and the like need the model itself"
        )
    if request != Request():
        raise BadInput(f"{path}: a card's sizes are those it was made for; --dim and the like need the model itself")
    found = load(side_file(path, "a JSON card"), os.fspath(path))
    if weights and found.weights is None:
        raise BadInput(f"{path}: the card was made without --weights; give the model itself, or write the card anew")
    return found


def carded(model: Source, request: Request, weights: bool) -> Document:
    return model if isinstance(model, Document) else opened(model, request, weights)


def called(model: Source) -> str:
    return model.model.name if isinstance(model, Document) else os.fspath(model)


class Beside(NamedTuple):
    """A file that a model names, from where the model lies; one that was not looked at is a whole path."""

    path: str
    seen: bool


def beside(path: str, card: Document) -> Iterator[Beside]:
    """There or not, below the model's folder or not."""
    folder = Path(path).parent
    for file in card.model.file.external:
        if file.path and file.present:
            yield Beside(str(folder / file.path), True)
        elif file.path:
            yield Beside(os.path.normpath(Path(os.path.realpath(folder), file.path)), False)


def is_card(path: str | PathLike[str]) -> bool:
    """Whether a file begins as JSON does."""
    with FileSource(os.fspath(path)) as source:
        return source.read(0, _HEAD).lstrip().startswith(b"{")


def generated() -> Generated:
    """When and by what. SOURCE_DATE_EPOCH fixes the time, so that the same model gives the same bytes."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(fixed) if fixed.isdecimal() and len(fixed) <= _DIGITS else int(time.time())
    at = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Generated("onnx-autodoc", __version__, at)
