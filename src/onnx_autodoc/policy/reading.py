"""Read a policy file: TOML, YAML or JSON by its suffix. Duplicate keys are rejected in all three."""

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Final

import msgspec

from onnx_autodoc.errors import BadInput
from onnx_autodoc.policy.types import Policy
from onnx_autodoc.policy.validation import InvalidPolicy, parse_policy
from onnx_autodoc.storage import parse_toml, read_config_text
from onnx_autodoc.text import sanitize

_MAX_ERROR_CHARS: Final = 1_000
_MAX_PARSER_ERROR_CHARS: Final = 300


def read_policy(path: str | PathLike[str]) -> Policy:
    """Return the policy in a file. Every key, path, rule and runtime must exist."""
    file = Path(path)
    try:
        data = _load(file)
        policy = parse_policy(data)
        if not any(data.values()):  # perhaps a truncated file
            raise InvalidPolicy('it has no requirement; to check only the rules, set fail_on = "error" under [rules]')
        msgspec.json.encode(policy)
    except InvalidPolicy as error:
        text, half = str(error), _MAX_ERROR_CHARS // 2
        if len(text) > _MAX_ERROR_CHARS:  # the location is at its start, the advice at its end
            text = f"{text[:half]} … {text[-half:]}"
        raise BadInput(f"{file}: {text}") from None
    except UnicodeEncodeError:  # JSON and YAML can write one, and no report could show it
        raise BadInput(f"{file}: a text contains an unpaired surrogate, which is not a valid character") from None
    return policy


def _load(path: Path) -> dict[str, Any]:
    suffix = path.suffix.lower()
    if suffix not in _PARSERS:
        raise BadInput(f"{path}: unknown suffix; a policy file ends in {', '.join(_PARSERS)}")
    max_bytes, parse = _PARSERS[suffix]
    text = read_config_text(path, "a policy", max_bytes)
    try:
        data = parse(text)
    except ValueError as error:
        message = " ".join(str(error)[:_MAX_PARSER_ERROR_CHARS].split()).replace(' in "<unicode string>"', "")
        raise BadInput(f"{path}: invalid {suffix[1:].upper()}: {sanitize(message, _MAX_PARSER_ERROR_CHARS)}") from None
    except ImportError:
        raise BadInput(f"{path}: YAML needs PyYAML: pip install 'onnx-autodoc[yaml]', or write TOML") from None
    except RecursionError:
        raise BadInput(f"{path}: nested too deeply") from None
    if not isinstance(data, dict):
        raise BadInput(f"{path}: a policy must be a table with limits, changes, rules or runtimes")
    return data


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"duplicate key {key[:80]!r}")
        table[key] = value
    return table


def _parse_yaml(text: str) -> Any:
    data = import_module("onnx_autodoc.policy.yaml_loader").parse_yaml(text)  # PyYAML is optional
    return {} if data is None else data


# By suffix: the size that is parsed in about a second, and the parser.
_PARSERS: Final[dict[str, tuple[int, Callable[[str], Any]]]] = {
    ".toml": (1 << 20, parse_toml),
    ".yaml": (1 << 17, _parse_yaml),
    ".yml": (1 << 17, _parse_yaml),
    ".json": (1 << 22, partial(json.loads, object_pairs_hook=_reject_duplicates)),
}
