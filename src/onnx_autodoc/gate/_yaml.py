"""YAML as its version 1.2 has it, where PyYAML follows 1.1: there 5e9 is a text, `no` a flag and 010 is eight.

A key that stands twice is an error here, as it is in TOML: the second one would quietly take the first one's place.
"""

import re
from typing import Any, Final

import yaml

_NULL: Final = re.compile(r"^(?:~|null|Null|NULL|)$")
_FLAG: Final = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_WHOLE: Final = re.compile(r"^[-+]?[0-9]+$")
_DECIMAL: Final = re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$")
_ENDLESS: Final = re.compile(r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$")
_TAG: Final = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Only its own resolvers: those of its parent are PyYAML's."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != f"{_TAG}merge":
                if key.value in seen:
                    raise ValueError(f"the key {key.value!r} stands twice (line {key.start_mark.line + 1})")
                seen.add(key.value)
        return dict(super().construct_mapping(node, deep))


def _whole(loader: Any, node: Any) -> int:
    return int(node.value, 10)


def _decimal(loader: Any, node: Any) -> float:
    word = node.value.lower().replace(".inf", "inf").replace(".nan", "nan")
    return float(word)


for _name, _form in (("null", _NULL), ("bool", _FLAG), ("int", _WHOLE), ("float", _DECIMAL), ("float", _ENDLESS)):
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", _form, None)
_Loader.add_constructor(f"{_TAG}int", _whole)
_Loader.add_constructor(f"{_TAG}float", _decimal)


def parse(text: str) -> Any:
    try:
        return yaml.load(text, _Loader)  # noqa: S506 (a SafeLoader: it makes plain data alone)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
