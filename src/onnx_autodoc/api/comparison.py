"""`compare()` for Python and the command line."""

from collections.abc import Sequence
from functools import partial

from onnx_autodoc.api.cards import CardSource, is_json_card, load_or_make_card, source_name
from onnx_autodoc.api.isolation import call_isolated
from onnx_autodoc.api.pipeline import generation_stamp
from onnx_autodoc.card import Card as CardData
from onnx_autodoc.compare import Comparison as ComparisonData
from onnx_autodoc.compare import Figures
from onnx_autodoc.compare import compare as compare_cards
from onnx_autodoc.render import COMPARISON_FORMATS
from onnx_autodoc.shapes import Request


class Comparison(ComparisonData, frozen=True):
    """The differences between models. `print(comparison)` prints the terminal table."""

    def render(self, format_name: str) -> str:
        """Render the comparison in one of the formats of `onnx-autodoc compare`."""
        if format_name not in COMPARISON_FORMATS:
            raise ValueError(f"unknown format {format_name!r}; use one of {', '.join(COMPARISON_FORMATS)}")
        return COMPARISON_FORMATS[format_name].render(self)

    def __str__(self) -> str:
        return self.render("terminal")


def compare(
    *models: CardSource, weights: bool = False, figures: Figures | None = None, isolated: bool = False
) -> Comparison:
    """Compare model files, JSON cards or cards with the first one.

    `figures` are external results such as accuracy and latency: by model, then by name. `isolated` is that of `card`.
    """
    work = partial(_load_and_compare, models, weights, figures)
    subject = ", ".join(map(source_name, models))
    data = call_isolated(ComparisonData, work, subject) if isolated else work()
    return Comparison(*(getattr(data, name) for name in ComparisonData.__struct_fields__))


def _load_and_compare(models: Sequence[CardSource], weights: bool, figures: Figures | None) -> ComparisonData:
    return compare_sources(models, load_cards(models, Request(), weights), weights, figures)


def load_cards(models: Sequence[CardSource], request: Request, weights: bool) -> list[CardData]:
    """Return a card for each source. `request` applies to models; stored cards among them have fixed sizes."""
    stored = [isinstance(model, CardData) or is_json_card(model) for model in models]
    requests = [Request() if is_stored and not all(stored) else request for is_stored in stored]
    return [
        model if isinstance(model, CardData) else load_or_make_card(model, model_request, weights)
        for model, model_request in zip(models, requests)
    ]


def compare_sources(
    models: Sequence[CardSource], cards: Sequence[CardData], weights: bool, figures: Figures | None
) -> ComparisonData:
    """Compare the cards of `models`, which give the names."""
    names = [source_name(model) for model in models]
    return compare_cards(cards, names, figures, generated=generation_stamp(), weights=weights)
