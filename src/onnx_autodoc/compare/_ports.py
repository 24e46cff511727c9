"""Which input of one model is which of the other, and whether both cards speak of the same sizes."""

from collections.abc import Iterator

from msgspec import Struct

from onnx_autodoc.card import Card, Port


class Pairs(Struct, frozen=True):
    """`both` in the order of the first model; `moved`: they come in another order in the second."""

    both: tuple[tuple[Port, Port], ...]
    gone: tuple[Port, ...]
    added: tuple[Port, ...]
    moved: bool


def paired(was: tuple[Port, ...], now: tuple[Port, ...]) -> Pairs:
    """By name; then, of what is left, one that takes the place of another of its type was renamed."""
    names = {port.name: at for at, port in enumerate(now)}
    found = {at: names[port.name] for at, port in enumerate(was) if port.name in names}
    kept = list(found.items())
    found |= dict(_renamed(was, now, found))
    taken = set(found.values())
    return Pairs(
        both=tuple((was[at], now[found[at]]) for at in sorted(found)),
        gone=tuple(port for at, port in enumerate(was) if at not in found),
        added=tuple(port for at, port in enumerate(now) if at not in taken),
        moved=[there for _, there in kept] != sorted(there for _, there in kept),
    )


def _renamed(was: tuple[Port, ...], now: tuple[Port, ...], found: dict[int, int]) -> Iterator[tuple[int, int]]:
    left = [at for at in range(len(was)) if at not in found]
    taken = set(found.values())
    free = [at for at in range(len(now)) if at not in taken]
    places = zip(left, free) if len(left) == len(free) else ((at, at) for at in left if at in free)
    yield from ((old, new) for old, new in places if _alike(was[old], now[new]))


def _alike(old: Port, new: Port) -> bool:
    """Of one type and rank, with no size that both fix otherwise."""
    if (old.kind, old.dtype) != (new.kind, new.dtype) or (old.shape is None) != (new.shape is None):
        return False
    if len(old.shape or ()) != len(new.shape or ()):
        return False
    both = zip(old.shape or (), new.shape or ())
    return all(one == other for one, other in both if isinstance(one, int) and isinstance(other, int))


def same_sizes(was: Card, now: Card) -> bool:
    """Whether costs of the two are those of like runs.

    Sizes that both files fix are the models' own; what either leaves open was assumed and must be the same in both.
    """
    if any(now.assumptions.values.get(name, value) != value for name, value in was.assumptions.values.items()):
        return False
    if not same_inputs(was, now):
        return False
    return not unlike(was, now)


def unlike(was: Card, now: Card) -> list[tuple[Port, Port]]:
    """Inputs of both that were given other sizes."""
    return [pair for pair in paired(was.interface.inputs, now.interface.inputs).both if not _same(*pair)]


def same_inputs(was: Card, now: Card) -> bool:
    """Whether there is an input that both take."""
    old, new = was.interface.inputs, now.interface.inputs
    return bool(paired(old, new).both) or not (old or new)


def _same(old: Port, new: Port) -> bool:
    if old.bound == new.bound:
        return True
    if old.bound is None or new.bound is None or len(old.bound) != len(new.bound):
        return False
    both = zip(old.bound, new.bound, old.shape or (), new.shape or ())
    return all(one == other or (isinstance(a, int) and isinstance(b, int)) for one, other, a, b in both)
