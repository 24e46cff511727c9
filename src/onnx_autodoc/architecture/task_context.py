"""Rules of tasks: rows of tables that one function walks, and the context in which they are evaluated."""

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import islice
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.patterns import Head, Net
from onnx_autodoc.text import quote_name

_BLOCKS_WITH_WEIGHTS: Final = ("attention", "embedding", "lstm", "gru", "rnn")


class TaskContext:
    """The heads of a model's outputs, the roles of its inputs, and its net."""

    def __init__(self, net: Net, heads: tuple[Head, ...], roles: dict[str, str], family: str, has_cache: bool) -> None:
        self.net, self.heads, self.roles, self.family, self.has_cache = net, heads, roles, family, has_cache
        self.selected: list[Head] = []  # the heads of the rule that is being evaluated

    @property
    def head(self) -> Head:
        return self.selected[0]

    @cached_property
    def results(self) -> list[Head]:
        """The heads of all outputs except states and attention weights."""
        return [head for head in self.heads if head.kind not in ("state", "weights")]

    def heads_of(self, *kinds: str) -> list[Head]:
        return [head for head in self.heads if head.kind in kinds]

    def inputs_of(self, *roles: str) -> list[str]:
        """Return the inputs of some roles; the first word of a role suffices (`image` in any layout)."""
        inputs = [name for name in self.net.inputs if name in self.roles]
        return [name for name in inputs if self.roles[name] in roles or self.roles[name].split(" ")[0] in roles]

    def reads(self, *roles: str) -> bool:
        return bool(self.inputs_of(*roles))

    def cite(self, *roles: str) -> str:
        """Return the evidence that an input has one of some roles."""
        name = self.inputs_of(*roles)[0]
        return f"input {quote_name(name)}: {self.roles[name]}"

    def has_block(self, *kinds: str) -> bool:
        return bool(self.net.of(*kinds))

    def dims(self, name: str) -> tuple[int, ...] | None:
        value = self.net.inputs.get(name, self.net.outputs.get(name))
        return self.net.shape(value) if value is not None else None

    @cached_property
    def has_layers(self) -> bool:
        """Whether there are at least two blocks with weights, or trees."""
        parts = (p for p in self.net.walk() if p.linear.weight is not None or p.kind in _BLOCKS_WITH_WEIGHTS)
        return bool(self.heads_of("trees")) or len(list(islice(parts, 2))) == 2

    @cached_property
    def is_gray_image(self) -> bool:
        """Whether the image has one channel: it may be a spectrogram, and its masks look like images."""
        names = self.inputs_of("image")
        dims = self.dims(names[0]) if names else None
        if dims is None or len(dims) != 4:
            return False
        return dims[1 if self.roles[names[0]].endswith("NCHW") else 3] == 1

    @cached_property
    def is_understood(self) -> bool:
        """Whether every output has a head."""
        return {head.output for head in self.heads} == set(self.net.outputs)


Condition = Callable[[TaskContext], bool]


class TaskCandidate(Struct, frozen=True):
    """A task that the graph shows. `also` are tasks of the same graph, which metadata may select instead."""

    name: str
    confidence: float
    evidence: tuple[str, ...]
    classes: int | None = None
    also: tuple[str, ...] = ()


class TaskRule(Struct, frozen=True):
    """A task, its confidence, and when it applies.

    A rule requires a head of one of the kinds `heads` that `head_filter` accepts, an input of one of the roles `cites`,
    and all conditions. Its evidence is that of the first `quoted` heads, the input, and the notes.
    """

    name: str
    score: float | Callable[[TaskContext], float]
    heads: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    when: tuple[Condition, ...] = ()
    notes: tuple[str | Callable[[TaskContext], str], ...] = ()
    also: tuple[str, ...] = ()
    classes: int | None = None
    has_classes: bool = False  # those of its heads
    head_filter: Callable[[TaskContext, Head], bool] | None = None
    prefer: Callable[[Head], bool] | None = None  # heads that come first
    quoted: int = 1


def rules_for(heads: tuple[str, ...], when: tuple[Condition, ...], *rules: TaskRule) -> tuple[TaskRule, ...]:
    """Return rules with the heads and conditions that they have in common."""
    return tuple(replace(rule, heads=rule.heads or heads, when=(*when, *rule.when)) for rule in rules)


def find_candidate(context: TaskContext, rules: Iterable[TaskRule]) -> TaskCandidate | None:
    """Return the task of the first rule that applies."""
    for rule in rules:
        heads = context.heads_of(*rule.heads)
        if rule.head_filter is not None:
            heads = [head for head in heads if rule.head_filter(context, head)]
        if rule.prefer is not None:
            heads.sort(key=rule.prefer, reverse=True)
        context.selected = heads
        if (rule.heads and not heads) or (rule.cites and not context.reads(*rule.cites)):
            continue
        if all(condition(context) for condition in rule.when):
            return _candidate_of(rule, context)
    return None


def _candidate_of(rule: TaskRule, context: TaskContext) -> TaskCandidate:
    evidence = list(dict.fromkeys(head.evidence for head in context.selected[: rule.quoted]))
    evidence += [context.cite(*rule.cites)] if rule.cites else []
    evidence += [note if isinstance(note, str) else note(context) for note in rule.notes]
    classes = next((head.classes for head in context.selected if head.classes), None)
    return TaskCandidate(
        name=rule.name,
        confidence=rule.score(context) if callable(rule.score) else rule.score,
        evidence=tuple(evidence),
        classes=classes if rule.has_classes else rule.classes,
        also=rule.also,
    )


# Conditions


def reads(*roles: str) -> Condition:
    return lambda context: context.reads(*roles)


def reads_none(*roles: str) -> Condition:
    return lambda context: not context.reads(*roles)


def has_blocks(*kinds: str) -> Condition:
    return lambda context: context.has_block(*kinds)


def has_activation(*activations: str) -> Condition:
    return lambda context: context.head.activation in activations


def is_activated(head: Head) -> bool:
    return head.activation is not None
