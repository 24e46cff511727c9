"""Where a report goes: standard output, a file that appears whole or not at all, or a folder of files."""

import os
import sys
import tempfile
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.cli._places import file_at, has_color, is_terminal, put
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.render import FORMATS, Beside, Format, Report, pictures, render_terminal

_PICTURES = "pictures"


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
        path = Path(output)
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


def emit(report: Report, target: Target) -> None:
    if target.path is None:
        _print(report, target.format or "terminal")
    elif target.format is not None:
        _said(_file(report, FORMATS[target.format], target.path, target.suffix))
    else:
        _said(_folder(report, target.path, target.suffix))


def _print(report: Report, format_name: str) -> None:
    if format_name == "terminal":
        put(render_terminal(report, has_color()))
        return
    made = FORMATS[format_name].render(report)
    if isinstance(made, str):
        put(made)
    elif is_terminal():
        raise BadInput(f"--format {format_name}: a terminal cannot show it; write it to a file with -o")
    else:
        put(made)


def _file(report: Report, entry: Format, path: Path, suffix: str) -> list[Path]:
    """One document, and its pictures in a folder of its name."""
    if not entry.illustrated:
        write(path, _merged(entry, path, entry.render(report)))
        return [path]
    folder = path.with_suffix(f".{_PICTURES}")
    made = _merged(entry, path, entry.render(replace(report, beside=Beside(folder.name, suffix))))
    return [*_illustrate(report, folder, suffix), *_written({path: made})]


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


def _folder(report: Report, folder: Path, suffix: str) -> list[Path]:
    shown = replace(report, beside=Beside(_PICTURES, suffix))
    made = {folder / entry.file: entry.render(shown) for entry in FORMATS.values() if entry.file is not None}
    _make(folder)
    return [*_illustrate(report, folder / _PICTURES, suffix), *_written(made)]


def _illustrate(report: Report, folder: Path, suffix: str) -> list[Path]:
    drawn = pictures(report, suffix)
    if not drawn:
        return []
    _make(folder)
    return _written({folder / name: data for name, data in drawn.items()})


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be made: {error.strerror}") from None


def _written(made: dict[Path, str | bytes]) -> list[Path]:
    for path, data in made.items():
        write(path, data)
    return list(made)


def _said(paths: list[Path]) -> None:
    """Tell a person, not a script, what was written."""
    if sys.stderr.isatty():
        sys.stderr.write("written: " + ", ".join(map(str, paths)) + "\n")


def write(path: Path, made: str | bytes) -> None:
    """Write beside the target, then rename: whoever looks sees the old file or the new one, never a part."""
    data = made.encode() if isinstance(made, str) else made
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise LimitReached(f"{path}: could not be written: {error.strerror}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
