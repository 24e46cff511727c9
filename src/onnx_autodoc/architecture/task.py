"""What a model is for, as far as its graph tells: from what goes in (roles) and how it ends (heads).

Confidence is a number with a meaning: 0.9 and more where the graph leaves one reading, about 0.8 where another one
would be odd, 0.7 where the exporter says so and the graph does not, 0.6 and less where only sizes or names hint at it.
No task is better than a false one.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.analysis import Facts
from onnx_autodoc.architecture import _classification_tasks, _text_tasks, _vision_tasks
from onnx_autodoc.architecture._case import Case, Task, Verdict
from onnx_autodoc.architecture.metadata import Dataset
from onnx_autodoc.patterns import Net
from onnx_autodoc.patterns.heads import heads

__all__ = ["Task", "disputed", "task"]

_RULES: Final = (
    *(_text_tasks.spans, _text_tasks.language, _text_tasks.matching),
    *(_vision_tasks.diffusion, _vision_tasks.boxes, _vision_tasks.pictures, _vision_tasks.maps),
    *(
        _classification_tasks.trees,
        _classification_tasks.steps,
        _classification_tasks.classes,
        _classification_tasks.one_number,
        _classification_tasks.features,
    ),
)
# the exporter's own words, and ours
_WORDS: Final = {
    "detect": "object detection",
    "segment": "instance segmentation",
    "pose": "pose estimation",
    "classify": "image classification",
    "obb": "oriented object detection",
    "sentence-similarity": "sentence embedding",
    "automatic-speech-recognition": "speech recognition",
    "text2text-generation": "text-to-text generation",
    "image-feature-extraction": "image embedding",
}
_OURS: Final = frozenset(
    (
        *("question answering", "sentence embedding", "feature extraction", "text classification", "fill mask"),
        *("token classification", "text generation", "image classification", "object detection", "text to speech"),
        *("semantic segmentation", "instance segmentation", "pose estimation", "text detection", "text recognition"),
        *("voice activity detection", "audio classification", "depth estimation", "super resolution"),
        *("tabular classification", "tabular regression", "image embedding", "speech recognition"),
    )
)
SURE: Final = 0.9  # from here on the graph leaves one reading
_WITH_CLASSES: Final = ("classification", "object detection", "segmentation", "pose")


def task(facts: Facts, net: Net, roles: Mapping[str, str], family: str, dataset: Dataset | None) -> Task:
    """The first rule that holds, checked against what the file says of itself."""
    case = Case(heads(net), dict(roles), family, net, facts.cache is not None)
    found = next((verdict for rule in _RULES if (verdict := rule(case)) is not None), None)
    if found is not None and not case.layered and not found.name.startswith("tabular"):
        found = None  # one layer is a part of a model, whatever it looks like
    said = _said(dataset)
    if said is not None and dataset is not None:
        return _agreed(case, found, said, dataset)
    if found is None:
        return Task(None, 0.0, None, ())
    return _finished(found, dataset)


def _said(dataset: Dataset | None) -> str | None:
    word = (dataset.task or "").strip().lower() if dataset is not None else ""
    plain = word.replace("-", " ").replace("_", " ")
    return _WORDS.get(word) or (plain if plain in _OURS else None)


def _agreed(case: Case, found: Verdict | None, said: str, dataset: Dataset) -> Task:
    """Where the exporter's word and the graph agree, it is as sure as it gets; a graph that is sure holds."""
    source = dataset.sources.get("task", "metadata")
    said_so = f"{source} says {dataset.task}"
    if found is None:
        return Task(said, 0.7, _counted(said, None, dataset), (said_so,), claimed=True)
    if found.name == said:
        return _finished(replace(found, confidence=0.97, evidence=(*found.evidence, said_so)), dataset)
    if found.near == said or said in found.also:
        return Task(said, 0.9, _counted(said, found.classes, dataset), (said_so, *found.evidence))
    if found.confidence >= SURE:
        return _finished(replace(found, evidence=(*found.evidence, f"{said_so}, which the graph is not")), dataset)
    looks = f"the graph looks like {found.name}"
    return Task(said, 0.6, _counted(said, None, dataset), (said_so, looks), claimed=True)


def disputed(found: Task, dataset: Dataset) -> Iterator[str]:
    """What the file says of itself and a graph that leaves one reading does not bear out."""
    said = _said(dataset)
    if found.name is None or found.claimed or found.confidence < SURE:
        return
    if said not in (None, found.name):
        yield f"{dataset.sources.get('task', 'metadata')} says {dataset.task}, but the graph is one of {found.name}"
    counts = {count for count in (dataset.classes, dataset.numbered) if count is not None}
    sure = found.classes if "classification" in found.name and said is None else None
    if counts and sure is not None and all(abs(count - sure) > 1 for count in counts):  # a background may be counted
        yield f"{dataset.sources.get('classes', 'metadata')} says {min(counts):,} classes, but the graph has {sure:,}"


def _finished(found: Verdict, dataset: Dataset | None) -> Task:
    """Where the file names as many classes as the graph has, they are classes."""
    named = dataset is not None and dataset.classes is not None and dataset.classes == found.classes
    sure = max(found.confidence, 0.9) if named and "classification" in found.name else found.confidence
    return Task(found.name, sure, _counted(found.name, found.classes, dataset), found.evidence)


def _counted(name: str, classes: int | None, dataset: Dataset | None) -> int | None:
    """Classes of the graph; where it cannot tell (boxes that were chosen, trees), those that the file names."""
    if not any(word in name for word in _WITH_CLASSES):
        return None
    return classes if classes is not None else dataset.classes if dataset is not None else None
