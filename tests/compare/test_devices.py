"""Times on devices are compared only within one grade."""

from msgspec.structs import replace

from onnx_autodoc.card import Card
from onnx_autodoc.compare import Comparison, compare
from onnx_autodoc.render import COMPARISON_FORMATS
from tests.compare._cards import of_corpus

FLOAT, QUANTIZED = "resnet50-ts-op17", "resnet50-qdq-int8"
T4 = "hardware.devices.t4.seconds.expected"


def read_times(comparison: Comparison) -> dict[str, tuple[object, object]]:
    """Return the changed times of devices by path."""
    changes = comparison.diffs[0].numbers
    return {change.path: (change.was, change.now) for change in changes if change.path.startswith("hardware.")}


def with_first_device(card: Card, **changes: object) -> Card:
    """Return the card with changes of its first device."""
    assert card.hardware is not None
    first, *rest = card.hardware.devices
    return replace(card, hardware=replace(card.hardware, devices=(replace(first, **changes), *rest)))


def test_quantized_model_is_compared_on_each_device() -> None:
    cards = [of_corpus(FLOAT), of_corpus(QUANTIZED)]
    times_by_path = read_times(compare(cards, ["was", "now"]))
    sections = [card.hardware for card in cards]
    assert sections[0] is not None and sections[1] is not None
    assert times_by_path[T4] == tuple(
        section.devices[0].seconds.expected for section in sections if section is not None
    )
    assert len(times_by_path) == len(sections[0].devices) == 3


def test_device_times_are_key_figures_in_every_format() -> None:
    comparison = compare([of_corpus(FLOAT), of_corpus(QUANTIZED)], ["was", "now"])
    for name in ("terminal", "markdown", "html"):
        text = COMPARISON_FORMATS[name].render(comparison)
        assert "Typical on t4" in text and " ms" in text, name


def test_times_of_other_grades_or_devices_are_not_compared() -> None:
    was, now = of_corpus(FLOAT), of_corpus(QUANTIZED)
    assert T4 not in read_times(compare([was, with_first_device(now, basis="calibrated")], ["was", "now"]))
    elsewhere = compare([was, with_first_device(now, device="far_away")], ["was", "now"])
    assert T4 not in read_times(elsewhere) and "far_away" not in COMPARISON_FORMATS["terminal"].render(elsewhere)
    assert "on t4" not in COMPARISON_FORMATS["terminal"].render(elsewhere)


def test_card_without_hardware_is_compared_without_it() -> None:
    bare = replace(of_corpus(QUANTIZED), hardware=None)
    assert not read_times(compare([of_corpus(FLOAT), bare], ["was", "now"]))
