"""Parse YAML 1.2 with PyYAML, which implements 1.1, where `5e9` is a string, `no` a flag and `010` eight.

Duplicate keys are errors, as in TOML, and aliases may not expand to more values than a policy can have.
"""

import re
from typing import Any, Final

import yaml

_TAG: Final = "tag:yaml.org,2002:"
_SCALARS: Final = (
    ("null", r"^(?:~|null|Null|NULL|)$"),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$"),
    ("int", r"^[-+]?[0-9]+$"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"),
    ("float", r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"),
)
_MAX_VALUES: Final = 20_000  # with aliases expanded


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Loader with the resolvers of YAML 1.2 alone."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != f"{_TAG}merge":
                if key.value in seen:
                    raise ValueError(f"duplicate key {key.value[:80]!r} (line {key.start_mark.line + 1})")
                seen.add(key.value)
        return dict(super().construct_mapping(node, deep))


for _name, _pattern in _SCALARS:
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(_pattern), None)
_Loader.add_constructor(f"{_TAG}int", lambda _loader, node: int(node.value, 10))
_Loader.add_constructor(
    f"{_TAG}float", lambda _loader, node: float(node.value.lower().replace(".inf", "inf").replace(".nan", "nan"))
)


def parse_yaml(text: str) -> Any:
    """Return the data of one document; raises `ValueError`."""
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        if _count_values(node) > _MAX_VALUES:
            raise ValueError(f"more than {_MAX_VALUES:,} values with its aliases expanded")
        return loader.construct_document(node)
    # PyYAML raises AttributeError for `!!timestamp 99` and LookupError for `!!bool x`.
    except (yaml.YAMLError, LookupError, AttributeError, TypeError) as error:
        raise ValueError(str(error) or type(error).__name__) from None


def _count_values(root: Any) -> int:
    """Count the values with aliases expanded, visiting each node once: nested aliases grow exponentially."""
    counts: dict[int, int | None] = {}  # None: being counted
    pending = [root]
    while pending:
        node = pending[-1]
        inner: list[Any] = []
        if isinstance(node, yaml.MappingNode):
            inner = [item for pair in node.value for item in pair]
        elif isinstance(node, yaml.SequenceNode):
            inner = node.value
        uncounted = [item for item in inner if id(item) not in counts]
        if id(node) not in counts and uncounted:
            counts[id(node)] = None
            pending += uncounted
            continue
        pending.pop()
        sizes = [counts.get(id(item)) for item in inner]
        if None in sizes:
            raise ValueError("an alias refers to a node that contains it")
        counts[id(node)] = min(1 + sum(size or 0 for size in sizes), _MAX_VALUES + 1)
    return counts[id(root)] or 0
