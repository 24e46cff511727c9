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
_MOST: Final = 20_000  # values, with what an alias stands for counted wherever it stands


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Only its own resolvers: those of its parent are PyYAML's."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != f"{_TAG}merge":
                if key.value in seen:
                    raise ValueError(f"the key {key.value[:80]!r} stands twice (line {key.start_mark.line + 1})")
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
        return _parsed(_Loader(text))
    # An AttributeError is what becomes of `!!timestamp 99`, a LookupError of `!!bool x`.
    except (yaml.YAMLError, LookupError, AttributeError, TypeError) as error:
        raise ValueError(str(error) or type(error).__name__) from None


def _parsed(loader: Any) -> Any:
    node = loader.get_single_node()
    if node is None:
        return None
    if _size(node) > _MOST:
        raise ValueError(f"with its aliases written out it has over {_MOST:,} values")
    return loader.construct_document(node)


def _size(root: Any) -> int:
    """How many values there are. Each node is counted once and added wherever an alias names it: a few lines of
    aliases of aliases stand for more than any machine can hold."""
    sizes: dict[int, int | None] = {}  # None: being counted
    waiting = [root]
    while waiting:
        node = waiting[-1]
        inner = _inner(node)
        left = [each for each in inner if id(each) not in sizes]
        if id(node) not in sizes and left:
            sizes[id(node)] = None
            waiting += left
            continue
        waiting.pop()
        found = [sizes.get(id(each)) for each in inner]
        if None in found:
            raise ValueError("an alias names what it stands in")
        sizes[id(node)] = min(1 + sum(size or 0 for size in found), _MOST + 1)
    return sizes[id(root)] or 0


def _inner(node: Any) -> list[Any]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
