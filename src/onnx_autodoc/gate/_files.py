"""A policy's file as plain data: TOML, YAML or JSON by its suffix. A key that stands twice is refused in all three."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from onnx_autodoc.errors import BadInput, LimitReached

_LARGEST: Final = 1 << 22  # bytes


def data_of(path: Path) -> dict[str, Any]:
    parse = _PARSERS.get(path.suffix.lower())
    if parse is None:
        raise BadInput(f"{path}: a policy is a file that ends in {' '.join(_PARSERS)}")
    try:
        found = parse(_text(path))
    except ValueError as error:  # what each of the parsers raises, and what is no UTF-8
        said = " ".join(str(error).split()).replace(' in "<unicode string>"', "")
        raise BadInput(f"{path}: not {path.suffix[1:].upper()}: {said}") from None
    except ImportError:
        raise BadInput(f"{path}: YAML needs PyYAML: pip install 'onnx-autodoc[yaml]', or write TOML") from None
    except RecursionError:
        raise BadInput(f"{path}: nested too deeply for a policy") from None
    if not isinstance(found, dict):
        raise BadInput(f"{path}: a policy is a table with limits, changes, rules or runtimes")
    return found


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > _LARGEST:
        raise LimitReached(f"{path}: a policy of over {_LARGEST:,} bytes is not read")
    return data.decode().removeprefix("\ufeff")  # which some editors put before a text


# Each parser is only loaded for its own files.
def _toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _json(text: str) -> Any:
    import json

    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands twice")
        found[key] = value
    return found


def _yaml(text: str) -> Any:
    """With the plain words of YAML 1.2: 5e9 is a number, `no` a text."""
    found = import_module("onnx_autodoc.gate._yaml").parse(text)
    return {} if found is None else found


_PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    ".toml": _toml,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".json": _json,
}
