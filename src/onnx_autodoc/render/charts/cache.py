"""How the cache of keys and values grows with the tokens of one sequence, against the weights, which do not grow.

No chart where there is no cache, or fewer than two sizes of it.
"""

from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._bars import Bar, Panel, drawn, height_of
from onnx_autodoc.render.charts._chart import Chart, framed
from onnx_autodoc.text import memory, plural

_LEAST: Final = 2


def cache(card: Card) -> Chart | None:
    kept, weights = card.memory.kv_cache, card.memory.weights_bytes
    if kept is None or len(kept.at) < _LEAST:
        return None
    sizes = [_bar(name := plural(size.tokens, "token"), name, size.bytes) for size in kept.at]
    sizes += [_bar("Weights, for comparison", "Weights", weights, "rest")] if weights else []
    each, last = plural(kept.bytes_per_token, "byte") + " per token", kept.at[-1]
    panels = (Panel("KV cache", f"of one sequence in {kept.dtype}, {each}", tuple(sizes)),)
    beside = f", beside {memory(weights)} of weights" if weights else ""
    alt = f"{each}: {memory(last.bytes)} at {plural(last.tokens, 'token')}{beside}."
    return framed("cache", "KV cache by tokens", alt, height_of(panels), drawn(panels))


def _bar(name: str, what: str, nbytes: int, kind: str = "bar") -> Bar:
    return Bar(name, nbytes, memory(nbytes), f"{what}: {plural(nbytes, 'byte')}", kind)
