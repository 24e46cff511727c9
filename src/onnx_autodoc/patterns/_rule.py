"""A rule says what a block looks like; applying rules makes one term of each place that is like it."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from onnx_autodoc.patterns._net import Fact, Net, Term
from onnx_autodoc.patterns._pattern import Match, compiled, is_possible, match

Check = Callable[[Net, Match], "dict[str, Fact] | None"]


class Rule(Struct, frozen=True):
    """`check` may refuse a match (None) or note facts of it."""

    kind: str
    patterns: tuple[str, ...]
    check: Check | None = None
    whole: bool = False  # nothing inside is read from outside


def apply(net: Net, rules: Sequence[Rule]) -> None:
    """Small before large: each rule everywhere, then the next one, in the words that the ones before made."""
    for rule in rules:
        for text in rule.patterns:
            pattern = compiled(text)
            for term in net.of(*pattern.ops) if is_possible(net, text) else ():
                if net.terms.get(term.at) is term and (found := match(net, pattern, term)) is not None:
                    _claim(net, rule, found, term)


def _claim(net: Net, rule: Rule, found: Match, term: Term) -> None:
    if rule.whole and not net.is_closed(found.terms, term):
        return
    facts = rule.check(net, found) if rule.check is not None else {}
    if facts is not None:
        net.merge(rule.kind, found.terms, term.outputs[:1], **facts)
