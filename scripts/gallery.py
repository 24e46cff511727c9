"""Generate docs/gallery, the cards of eight corpus models as Markdown, HTML and screenshots: `make gallery`."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from onnx_autodoc.api import make_card
from onnx_autodoc.render import FORMATS, ChartLinks, Report, chart_files
from onnx_autodoc.shapes import Request
from tests._corpus import graph
from tests.browser._browser import photograph

FOLDER: Final = Path(__file__).parent.parent / "docs" / "gallery"
BUILD_EPOCH: Final = "1700000000"  # a fixed time, for reproducible bytes
MODELS: Final = {
    "all-minilm-l6-v2-ts-op14": "a sentence encoder",
    "resnet50-qdq-int8": "an image classifier, quantized to int8",
    "sd-vae-decoder": "the decoder of a diffusion model",
    "silero-vad": "a voice activity detector, with branches and a recurrent cell",
    "smollm2-135m-genai-int4": "a language model with 4-bit weights and a KV cache",
    "vit-tiny-dynamo": "a vision transformer",
    "whisper-tiny-decoder": "the decoder of a speech recognizer",
    "yolov8l-nc1": "an object detector",
}

_HEAD: Final = """# Gallery

Cards of real models, built from graphs without weights; the cards report the missing weight files. To view an HTML
page, download it and open it in a browser; it needs no network.

"""


def render_documents(name: str) -> dict[str, str]:
    """Return the files of one model, by path in its folder."""
    report = make_card(graph(name), Request())
    linked = Report(report.card, report.nodes, ChartLinks("pictures", ".svg"))
    texts = {entry.file: entry.render(linked) for key, entry in FORMATS.items() if key in ("markdown", "html")}
    texts |= {f"pictures/{file}": data for file, data in chart_files(report, ".svg").items()}
    return {str(file): str(text) for file, text in texts.items()}


def render_index() -> str:
    rows = [
        f"| [{name}]({name}/card.md) | {description} | [card.html]({name}/card.html) |"
        for name, description in MODELS.items()
    ]
    shots = [f"## {name}\n\n[![The top of the page]({name}/card.png)]({name}/card.md)" for name in MODELS]
    return (
        _HEAD
        + "| card | model | page |\n|---|---|---|\n"
        + "\n".join([*rows, "", *"\n\n".join(shots).splitlines(), ""])
    )


def main() -> int:
    os.environ["SOURCE_DATE_EPOCH"] = BUILD_EPOCH
    for name in MODELS:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        for file, text in render_documents(name).items():
            (FOLDER / name / file).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / name / file).write_text(text, encoding="utf-8", newline="")
    (FOLDER / "README.md").write_text(render_index(), encoding="utf-8")
    photograph({str(FOLDER / name / "card.html"): str(FOLDER / name / "card.png") for name in MODELS})
    return 0


if __name__ == "__main__":
    sys.exit(main())
