"""Comparing from Python, and for the command line."""

from collections.abc import Sequence

from onnx_autodoc.api import Source, called, carded, generated, is_card
from onnx_autodoc.card import Card as Document
from onnx_autodoc.compare import Comparison as Compared
from onnx_autodoc.compare import Figures
from onnx_autodoc.compare import compare as differences
from onnx_autodoc.render.comparison import COMPARISONS
from onnx_autodoc.shapes import Request


class Comparison(Compared, frozen=True):
    """What differs between models. `print(comparison)` is the table for the terminal."""

    def render(self, format_name: str) -> str:
        """In any of the formats that `onnx-autodoc compare` knows."""
        if format_name not in COMPARISONS:
            raise ValueError(f"there is no format {format_name!r}; there are {', '.join(COMPARISONS)}")
        return COMPARISONS[format_name].render(self)

    def __str__(self) -> str:
        return self.render("terminal")


def compare(*models: Source, weights: bool = False, figures: Figures | None = None) -> Comparison:
    """What differs between model files, JSON cards or cards; the first is what the others are compared with.

    `figures` are accuracies, latencies and the like: by model, then by what they are called.
    """
    made = compared(models, carded_all(models, Request(), weights), weights, figures)
    return Comparison(*(getattr(made, name) for name in Compared.__struct_fields__))


def carded_all(models: Sequence[Source], request: Request, weights: bool) -> list[Document]:
    """Sizes are for models: a card among them keeps its own, and the comparison says so where they differ."""
    kept = [isinstance(model, Document) or is_card(model) for model in models]
    asked = [Request() if card and not all(kept) else request for card in kept]
    return [carded(model, request, weights) for model, request in zip(models, asked)]


def compared(models: Sequence[Source], cards: Sequence[Document], weights: bool, figures: Figures | None) -> Compared:
    return differences(cards, list(map(called, models)), figures, generated=generated(), weights=weights)
