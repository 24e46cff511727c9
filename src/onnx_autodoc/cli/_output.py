"""Where a report goes, and as what: standard output, a file, or a folder of files."""

import os
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.cli._answer import Document
from onnx_autodoc.cli._places import checked, file_at, has_color, is_terminal
from onnx_autodoc.errors import BadInput
from onnx_autodoc.render import FORMATS, Beside, Format, Report, pictures, render_terminal
from onnx_autodoc.sandbox import allow

_PICTURES = "pictures"
_DRAWN = 30  # seconds that a library may take to draw them


class Target(Struct, frozen=True):
    """A checked destination: known to be sensible before any work is done."""

    format: str | None  # None: a folder, which gets the formats for people
    path: Path | None  # None: standard output
    suffix: str = ".svg"  # of pictures

    @property
    def hashed(self) -> bool:
        """Whether what is written asks for the model's hash."""
        return self.format is not None and FORMATS[self.format].hashed

    @property
    def estimated(self) -> bool:
        """Whether what is written says what a run takes."""
        return self.format is None or FORMATS[self.format].estimated

    @classmethod
    def of(cls, output: str | None, format_name: str | None, kind: str | None = None) -> "Target":
        target = cls._of(output, format_name)
        if kind is None:
            return target
        if target.path is None or (target.format is not None and not FORMATS[target.format].illustrated):
            raise BadInput(f"--pictures {kind}: only Markdown written with -o has pictures as files")
        return replace(target, suffix=f".{kind}")

    @classmethod
    def _of(cls, output: str | None, format_name: str | None) -> "Target":
        if output is None or output == "-":
            return cls(format_name or "terminal", None)
        path = checked(output)
        if _is_folder(output, path):
            if format_name:
                raise BadInput(f"-o {output}: a folder gets several formats; leave out --format, or name a file")
            return cls(None, path)
        path = file_at(output)
        return cls(format_name or _format_of(output, path), path)


def _is_folder(output: str, path: Path) -> bool:
    return output.endswith(os.sep) or path.is_dir() or (path.suffix in ("", ".card") and not path.exists())


def _format_of(output: str, path: Path) -> str:
    """By the longest suffix that fits: `x.cdx.json` is no card."""
    fitting = [name for name, entry in FORMATS.items() if path.name.lower().endswith(entry.suffix)]
    if fitting:
        return max(fitting, key=lambda name: len(FORMATS[name].suffix))
    known = " ".join(dict.fromkeys(entry.suffix for entry in FORMATS.values()))
    raise BadInput(f"-o {output}: the suffix {path.suffix} is no known format; use one of {known}, or --format")


def documents(report: Report, target: Target) -> tuple[Document, ...]:
    if target.path is None:
        return (Document.of(_printed(report, target.format or "terminal")),)
    if target.format is not None:
        return _file(report, FORMATS[target.format], target.path, target.suffix)
    return _folder(report, target.path, target.suffix)


def _printed(report: Report, format_name: str) -> str | bytes:
    if format_name == "terminal":
        return render_terminal(report, has_color())
    made = _rendered(FORMATS[format_name], report)
    if isinstance(made, bytes) and is_terminal():
        raise BadInput(f"--format {format_name}: a terminal cannot show it; write it to a file with -o")
    return made


def _file(report: Report, entry: Format, path: Path, suffix: str) -> tuple[Document, ...]:
    """One document, and its pictures in a folder of its name."""
    if not entry.illustrated:
        return (Document.of(_merged(entry, path, _rendered(entry, report)), path),)
    folder = path.with_suffix(f".{_PICTURES}")
    made = _merged(entry, path, entry.render(replace(report, beside=Beside(folder.name, suffix))))
    return (*_illustrated(report, folder, suffix), Document.of(made, path))


def _rendered(entry: Format, report: Report) -> str | bytes:
    allow(entry.seconds)
    return entry.render(report)


def _merged(entry: Format, path: Path, made: str | bytes) -> str | bytes:
    """Some documents share their file with what people write."""
    if entry.merged is None or not isinstance(made, str) or not path.exists():
        return made
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return entry.merged(file.read(), made)
    except (OSError, UnicodeDecodeError):
        raise BadInput(f"{path}: cannot be read as text; move it away, or write elsewhere") from None
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None


def _folder(report: Report, folder: Path, suffix: str) -> tuple[Document, ...]:
    shown = replace(report, beside=Beside(_PICTURES, suffix))
    made = [(entry.file, entry.render(shown)) for entry in FORMATS.values() if entry.file is not None]
    pages = (Document.of(data, folder / name, below=folder) for name, data in made)
    return (*_illustrated(report, folder / _PICTURES, suffix), *pages)


def _illustrated(report: Report, folder: Path, suffix: str) -> tuple[Document, ...]:
    allow(_DRAWN if suffix != ".svg" else 0)
    made = pictures(report, suffix).items()
    return tuple(Document.of(data, folder / name, below=folder.parent) for name, data in made)
