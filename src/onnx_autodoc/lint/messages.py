"""Parts of messages that several rules share."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from onnx_autodoc.lint.context import LintContext, NodeRef
from onnx_autodoc.text import display_name, quote_name, sanitize

MAX_NAME_CHARS: Final = 100
MAX_SENTENCE_CHARS: Final = 200
_MAX_OPERATORS: Final = 5
_MAX_SIZES: Final = 6


def count_operators(refs: Iterable[NodeRef]) -> str:
    """Return "3 Cast, 2 Mul": the operators of some nodes with their counts, most frequent first."""
    counts = Counter(sanitize(quote_name(ref.node.op, 40)) for ref in refs)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return list_names([f"{count:,} {op}" for op, count in rows], _MAX_OPERATORS, show=str)


def list_names(
    names: Sequence[str], limit: int, show: Callable[[str], str] = lambda name: display_name(name, 40)
) -> str:
    """Return the first `limit` names, each by `show`, and " …" where there are more."""
    return ", ".join(map(show, names[:limit])) + (" …" if len(names) > limit else "")


def describe_sizes(context: LintContext) -> str:
    """Return " at batch = 1, seq = 128": the dynamic sizes that a number holds for, "" where there are none."""
    sizes = [f"{display_name(key, 40)} = {size}" for key, size in context.facts.binding.chosen.items()]
    return f" at {list_names(sizes, _MAX_SIZES, show=str)}" if sizes else ""


def first_problem(problems: Iterable[str], one: str, many: str) -> str:
    """Return "a node is wrong: …" or "3 nodes are wrong, first: …"."""
    texts = list(problems)
    head = one if len(texts) == 1 else f"{len(texts):,} {many}, first"
    return f"{head}: {sanitize(texts[0], MAX_SENTENCE_CHARS)}"
