"""Where a report goes: standard output, a file that appears whole or not at all, or a folder of files."""

import os
import sys
import tempfile
from pathlib import Path

from msgspec import Struct

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.render import FORMATS, Report, render_terminal


class Target(Struct, frozen=True):
    """A checked destination: known to be sensible before any work is done."""

    format: str | None  # None: a folder, which gets every format
    path: Path | None  # None: standard output

    @classmethod
    def of(cls, output: str | None, format_name: str | None) -> "Target":
        if output is None or output == "-":
            return cls(format_name or "terminal", None)
        path = Path(output)
        if _is_folder(output, path):
            if format_name:
                raise BadInput(f"-o {output}: a folder gets every format; leave out --format, or name a file")
            return cls(None, path)
        if not path.parent.is_dir():
            raise BadInput(f"-o {output}: there is no folder {path.parent}")
        return cls(format_name or _format_of(output, path.suffix), path)


def _is_folder(output: str, path: Path) -> bool:
    return output.endswith(os.sep) or path.is_dir() or path.suffix in ("", ".card")


def _format_of(output: str, suffix: str) -> str:
    for name, entry in FORMATS.items():
        if entry.suffix == suffix.lower():
            return name
    known = " ".join(entry.suffix for entry in FORMATS.values())
    raise BadInput(f"-o {output}: the suffix {suffix} is no known format; use one of {known}, or --format")


def emit(report: Report, target: Target) -> None:
    if target.path is None:
        _print(report, target.format or "terminal")
    elif target.format is not None:
        write(target.path, FORMATS[target.format].render(report))
        _said([target.path])
    else:
        _folder(report, target.path)


def _print(report: Report, format_name: str) -> None:
    if format_name == "terminal":
        color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        sys.stdout.write(render_terminal(report, color))
    else:
        sys.stdout.write(FORMATS[format_name].render(report))


def _folder(report: Report, folder: Path) -> None:
    texts = {folder / entry.file: entry.render(report) for entry in FORMATS.values()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be made: {error.strerror}") from None
    for path, text in texts.items():
        write(path, text)
    _said(list(texts))


def _said(paths: list[Path]) -> None:
    """Tell a person, not a script, what was written."""
    if sys.stderr.isatty():
        sys.stderr.write("written: " + ", ".join(map(str, paths)) + "\n")


def write(path: Path, text: str) -> None:
    """Write beside the target, then rename: whoever looks sees the old file or the new one, never a part."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
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
