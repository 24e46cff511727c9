"""docs/pictures/NAME.png, the diagrams of ten models of the corpus: `make pictures`, or some of them by name."""

import sys
from pathlib import Path
from typing import Any, Final

from onnx_autodoc import card
from onnx_autodoc.card import Box
from onnx_autodoc.render.mermaid import draw_mermaid
from tests._corpus import graph
from tests.browser._browser import draw

FOLDER: Final = Path(__file__).parent.parent / "docs" / "pictures"
MODELS: Final = (
    "all-minilm-l6-v2-ts-op14",
    "bert-base-qa-ortfused",
    "bilstm-gru-tagger",
    "onnx-light-squeezenet",
    "resnet50-ts-op17",
    "sd-vae-decoder",
    "smollm2-135m-kv-op17",
    "vit-tiny-dynamo",
    "whisper-tiny-decoder",
    "yolov8l-nc1",
)


def main(names: tuple[str, ...]) -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = {name: draw_mermaid(_tree(name)) for name in names}
    drawings: dict[str, dict[str, Any]] = draw(texts, FOLDER, scale=1.5)["seen"]
    for name, drawing in drawings.items():
        size = drawing["error"] or f"{len(drawing['boxes'])} boxes, {drawing['width']} × {drawing['height']}"
        sys.stdout.write(f"{name}: {size}\n")
    return int(any(drawing["error"] for drawing in drawings.values()))


def _tree(name: str) -> Box:
    tree = card(graph(name)).structure.tree
    assert tree is not None
    return tree


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:]) or MODELS))
