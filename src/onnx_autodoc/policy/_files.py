"""A policy's file as plain data: TOML, YAML or JSON by its suffix. A key that stands twice is refused in all three."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from onnx_autodoc.errors import BadInput
from onnx_autodoc.readers._config_files import parse_toml, side_text
from onnx_autodoc.text import clean

# suffix -> bytes that are parsed in about a second
_LONGEST: Final = 300  # letters of what a parser says
_LARGEST: Final = {".toml": 1 << 20, ".yaml": 1 << 17, ".yml": 1 << 17, ".json": 1 << 22}


def data_of(path: Path) -> dict[str, Any]:
    suffix = path.suffix.lower()
    parse = _PARSERS.get(suffix)
    if parse is None:
        raise BadInput(f"{path}: a policy is a file that ends in {' '.join(_PARSERS)}")
    text = side_text(path, "a policy", _LARGEST[suffix])
    try:
        found = parse(text)
    except ValueError as error:  # what each of the parsers raises
        said = " ".join(str(error)[:_LONGEST].split()).replace(' in "<unicode string>"', "")
        raise BadInput(f"{path}: not {suffix[1:].upper()}: {clean(said, _LONGEST)}") from None
    except ImportError:
        raise BadInput(f"{path}: YAML needs PyYAML: pip install 'onnx-autodoc[yaml]', or write TOML") from None
    except RecursionError:
        raise BadInput(f"{path}: nested too deeply for a policy") from None
    if not isinstance(found, dict):
        raise BadInput(f"{path}: a policy is a table with limits, changes, rules or runtimes")
    return found


# Each parser is only loaded for its own files.
def _json(text: str) -> Any:
    import json

    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:80]!r} stands twice")
        found[key] = value
    return found


def _yaml(text: str) -> Any:
    """With the plain words of YAML 1.2: 5e9 is a number, `no` a text."""
    found = import_module("onnx_autodoc.policy._yaml").parse(text)
    return {} if found is None else found


_PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    ".toml": parse_toml,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".json": _json,
}
