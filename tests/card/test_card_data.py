"""A card is plain data: it can be pickled, copied, written as JSON, loaded and rendered again."""

import copy
import pickle
from collections.abc import Callable

import pytest

from onnx_autodoc.card import Card, load
from onnx_autodoc.render import FORMATS, Report
from tests._corpus import load_report
from tests.compare._cards import of_text

DATA_DEPENDENT = "g (float[6] x) => (float[n,1] y) { i = NonZero(x) z = Transpose(i) y = Cast <to = 1> (z) }"
CARDS: dict[str, Callable[[], Card]] = {
    "resnet": lambda: load_report("resnet50-ts-op17").card,
    "with gaps": lambda: of_text(DATA_DEPENDENT),
}


def _to_json(card: Card) -> str:
    text = FORMATS["json"].render(Report(card, tuple))
    assert isinstance(text, str)
    return text


@pytest.fixture(params=CARDS)
def card(request: pytest.FixtureRequest) -> Card:
    return CARDS[request.param]()


def test_pickled_card_is_equal(card: Card) -> None:
    assert pickle.loads(pickle.dumps(card)) == card


def test_copied_card_is_equal(card: Card) -> None:
    assert copy.copy(card) == card
    assert copy.deepcopy(card) == card


def test_loaded_card_is_equal_and_writes_the_same_json(card: Card) -> None:
    loaded = load(_to_json(card).encode(), "card.json")
    assert loaded == card
    assert _to_json(loaded) == _to_json(card)


@pytest.mark.parametrize("name", ["markdown", "html", "terminal", "mermaid", "huggingface"])
def test_loaded_card_renders_the_same_document(card: Card, name: str) -> None:
    loaded = load(_to_json(card).encode(), "card.json")
    assert FORMATS[name].render(Report(loaded, tuple)) == FORMATS[name].render(Report(card, tuple))
