"""What a file says is data in an ML-BOM: a licence is an id only if it is one, and no word makes it invalid."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclonedx.spdx import is_supported_id
from msgspec.structs import replace

from onnx_autodoc.api import make_card
from onnx_autodoc.card import Card, Task
from onnx_autodoc.render.cyclonedx import declared_licenses, render_cyclonedx
from onnx_autodoc.render.hub_metadata import SPDX_IDS
from onnx_autodoc.shapes import Request
from tests._hostile_names import NAMES, hostile
from tests.render._boms import RELU, make_bom, save_external_model, validate_bom

SURROGATE = "a\udcffb"  # how Python hands on a file name that is no UTF-8


# Licences


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("MIT", "MIT"),
        ("apache-2.0", "Apache-2.0"),
        ("Apache License, Version 2.0", "Apache-2.0"),
        ("AGPL-3.0 License (https://ultralytics.com/license)", "AGPL-3.0"),
        ("agpl-3.0-or-later", "AGPL-3.0-or-later"),
        ("GPL-2.0-only", "GPL-2.0-only"),
    ],
)
def test_known_license_is_spdx_id(said: str, known: str, tmp_path: Path) -> None:
    stated = make_bom(tmp_path, RELU, license=said)["metadata"]["component"]["licenses"]
    assert stated == [{"license": {"acknowledgement": "declared", "id": known}}]


@pytest.mark.parametrize("said", ("llama3", "openrail", "ours", "MIT or so", "GPL-3.0+", "see LICENSE"))
def test_other_license_is_quoted(said: str, tmp_path: Path) -> None:
    stated = make_bom(tmp_path, RELU, license=said)["metadata"]["component"]["licenses"]
    assert stated == [{"license": {"acknowledgement": "declared", "name": said}}]


def test_every_license_id_is_in_the_specification() -> None:
    assert len(SPDX_IDS) > 40
    assert all(is_supported_id(name) for name in SPDX_IDS.values())
    assert all(declared_licenses(name)[0]["license"]["id"] == name for name in SPDX_IDS.values())
    assert declared_licenses(" ") == []


# Strings of the file are data


def test_hostile_model_gives_valid_document(tmp_path: Path) -> None:
    result = make_card(hostile(tmp_path), Request(), sha256=True)
    made = validate_bom(result)
    texts = list(_texts(made))
    assert max(map(len, texts)) <= 2100
    assert all(text.isprintable() for text in texts)
    names = [each["name"] for each in made["metadata"]["component"]["properties"]]
    assert all(name.isascii() and name.startswith("onnx-autodoc:") for name in names)


def _texts(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _texts(each)


@pytest.mark.parametrize("text", (*NAMES, SURROGATE, "", "urn:cdx:x/1#y"))
def test_hostile_strings_give_valid_document(text: str, tmp_path: Path) -> None:
    result = make_card(save_external_model(tmp_path), Request(), sha256=True)
    assert render_cyclonedx(replace(result, card=_saying(result.card, text))) != render_cyclonedx(result)
    made = validate_bom(replace(result, card=_saying(result.card, text)))
    assert all(each.isprintable() for each in _texts(made))
    assert not made["metadata"]["component"]["bom-ref"].startswith("urn:cdx:")


def _saying(card: Card, text: str) -> Card:
    """A card in which every string that can come from elsewhere is this one."""
    beside = tuple(replace(file, path=text, sha256=text) for file in card.model.file.external)
    file = replace(card.model.file, sha256=text, external=beside)
    model = replace(
        card.model,
        name=text,
        domain=text,
        file=file,
        opsets={text: 1},
        producer=replace(card.model.producer, name=text),
    )
    ports = tuple(replace(port, name=text, shape=(text, None, 1), role=text) for port in card.interface.inputs)
    message = replace(card.dataset.said, extras={"license": text, "author": text})
    return replace(
        card,
        model=model,
        interface=replace(card.interface, inputs=ports, outputs=ports),
        dataset=replace(card.dataset, said=message),
        summary=replace(card.summary, what=text, tldr=text),
        structure=replace(card.structure, family=text),
        task=Task(text, 1.0, None, ()),
    )
