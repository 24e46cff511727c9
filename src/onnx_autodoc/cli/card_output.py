"""The documents of a card: for standard output, a file, or a folder of files."""

import logging
import os
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.api import can_render, check_can_render
from onnx_autodoc.cli.paths import check_file, check_path
from onnx_autodoc.cli.result import OutputDocument
from onnx_autodoc.cli.stdout import has_color, is_terminal
from onnx_autodoc.errors import BadInput
from onnx_autodoc.render import FORMATS, ChartLinks, Report, chart_files, render_terminal
from onnx_autodoc.sandbox import extend_deadline

_LOGGER: Final = logging.getLogger(__name__)
_PICTURES_FOLDER: Final = "pictures"
_PNG_SECONDS: Final = 30  # that the library may take


class Target(Struct, frozen=True):
    """A destination that was checked before any work is done."""

    format: str | None  # None: a folder, which gets several formats
    path: Path | None  # None: standard output
    picture_suffix: str = ".svg"

    @property
    def needs_hash(self) -> bool:
        return self.format is not None and FORMATS[self.format].needs_hash

    @property
    def has_estimates(self) -> bool:
        return self.format is None or FORMATS[self.format].needs_hardware

    @classmethod
    def of(cls, output: str | None, format_name: str | None, picture_kind: str | None = None) -> "Target":
        target = cls._without_pictures(output, format_name)
        if picture_kind is None:
            return target
        if target.path is None or (target.format is not None and not FORMATS[target.format].has_charts):
            raise BadInput(f"--pictures {picture_kind}: requires Markdown output with -o")
        return replace(target, picture_suffix=f".{picture_kind}")

    @classmethod
    def _without_pictures(cls, output: str | None, format_name: str | None) -> "Target":
        if output is None or output == "-":
            return cls(format_name or "terminal", None)
        path = check_path(output)
        is_new_folder = path.suffix in ("", ".card") and not path.exists()
        if output.endswith(os.sep) or path.is_dir() or is_new_folder:
            if format_name:
                raise BadInput(f"-o {output}: is a folder, which gets several formats; remove --format or name a file")
            return cls(None, path)
        path = check_file(output)
        return cls(format_name or _format_by_suffix(output, path), path)


def _format_by_suffix(output: str, path: Path) -> str:
    """Return the format with the longest matching suffix: `x.cdx.json` is no card."""
    matching = [name for name, entry in FORMATS.items() if path.name.lower().endswith(entry.suffix)]
    if matching:
        return max(matching, key=lambda name: len(FORMATS[name].suffix))
    known = " ".join(dict.fromkeys(entry.suffix for entry in FORMATS.values()))
    raise BadInput(f"-o {output}: unknown suffix {path.suffix!r}; use one of {known}, or --format")


def render_documents(report: Report, target: Target) -> tuple[OutputDocument, ...]:
    if target.path is None:
        return (OutputDocument.of(_render_for_stdout(report, target.format or "terminal")),)
    if target.format is None:
        return _render_folder(report, target.path, target.picture_suffix)
    entry, path = FORMATS[target.format], target.path
    if not entry.has_charts:
        return (OutputDocument.of(_merge(target.format, path, _render(target.format, report)), path),)
    folder = path.with_suffix(f".{_PICTURES_FOLDER}")
    text = _render(target.format, replace(report, charts=ChartLinks(folder.name, target.picture_suffix)))
    document = OutputDocument.of(_merge(target.format, path, text), path)
    return (*_render_pictures(report, folder, target.picture_suffix), document)


def _render(format_name: str, report: Report) -> str | bytes:
    _LOGGER.info("rendering %s", format_name)
    check_can_render(report, format_name)
    extend_deadline(FORMATS[format_name].extra_seconds)
    return FORMATS[format_name].render(report)


def _render_for_stdout(report: Report, format_name: str) -> str | bytes:
    if format_name == "terminal":
        return render_terminal(report, has_color())
    content = _render(format_name, report)
    if isinstance(content, bytes) and is_terminal():
        raise BadInput(f"--format {format_name}: cannot be displayed by a terminal; write it to a file with -o")
    return content


def _merge(format_name: str, path: Path, content: str | bytes) -> str | bytes:
    """Merge formats that share their file with people's text into the existing file."""
    merge = FORMATS[format_name].merge
    if merge is None or not isinstance(content, str) or not path.exists():
        return content
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return merge(file.read(), content)
    except (OSError, UnicodeDecodeError):
        raise BadInput(f"{path}: cannot be read as text; move the file or write to another one") from None
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None


def _render_folder(report: Report, folder: Path, picture_suffix: str) -> tuple[OutputDocument, ...]:
    """Render every format that belongs to a folder; a stored card has no list of nodes."""
    linked = replace(report, charts=ChartLinks(_PICTURES_FOLDER, picture_suffix))
    documents = [
        OutputDocument.of(_render(name, linked), folder / entry.file, root=folder)
        for name, entry in FORMATS.items()
        if entry.file is not None and can_render(report, name)
    ]
    return (*_render_pictures(report, folder / _PICTURES_FOLDER, picture_suffix), *documents)


def _render_pictures(report: Report, folder: Path, suffix: str) -> tuple[OutputDocument, ...]:
    extend_deadline(_PNG_SECONDS if suffix != ".svg" else 0)
    return tuple(
        OutputDocument.of(data, folder / name, root=folder.parent) for name, data in chart_files(report, suffix).items()
    )
