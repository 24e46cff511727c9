"""The task of a model: from its graph, reconciled with the metadata of the file.

Confidence is at least 0.9 if the graph allows one interpretation, about 0.8 if another one would be unusual, 0.7 for a
claim that the graph does not show, 0.6 or less if only sizes or names suggest it. An unknown task is better than a
wrong one.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.architecture.classification_tasks import CLASSIFICATION_TASKS
from onnx_autodoc.architecture.task_context import TaskCandidate, TaskContext, find_candidate
from onnx_autodoc.architecture.text_tasks import TEXT_TASKS
from onnx_autodoc.architecture.vision_tasks import VISION_TASKS
from onnx_autodoc.card import Dataset, Task
from onnx_autodoc.patterns import Head, Net
from onnx_autodoc.text import pluralize

TASK_RULES: Final = (*TEXT_TASKS, *VISION_TASKS, *CLASSIFICATION_TASKS)

# task names of exporters and hubs
_ALIASES: Final = {
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
_CLAIMABLE_TASKS: Final = frozenset(
    (
        *("question answering", "sentence embedding", "feature extraction", "text classification", "fill mask"),
        *("token classification", "text generation", "image classification", "object detection", "text to speech"),
        *("semantic segmentation", "instance segmentation", "pose estimation", "text detection", "text recognition"),
        *("voice activity detection", "audio classification", "depth estimation", "super resolution"),
        *("tabular classification", "tabular regression", "image embedding", "speech recognition"),
    )
)
TASK_NAMES: Final = frozenset(
    (
        *_ALIASES.values(),
        *_CLAIMABLE_TASKS,
        *(name for rule in TASK_RULES for name in (rule.name, *rule.also)),
    )
)
_MIN_UNAMBIGUOUS: Final = 0.9  # at this confidence the graph is unambiguous
_TASKS_WITH_CLASSES: Final = ("classification", "object detection", "segmentation", "pose")


def find_task(
    net: Net, heads: tuple[Head, ...], roles: Mapping[str, str], family: str, has_cache: bool, claims: Dataset | None
) -> Task:
    """Return the task of the first rule that applies, reconciled with the claims of the file."""
    context = TaskContext(net, heads, dict(roles), family, has_cache)
    candidate = find_candidate(context, TASK_RULES)
    if candidate is not None and not context.has_layers and not candidate.name.startswith("tabular"):
        candidate = None  # a single layer is part of a model
    claimed = _claimed_task(claims)
    if claimed is not None and claims is not None:
        return _reconcile(candidate, claimed, claims)
    return Task(None, 0.0, None, ()) if candidate is None else _task_of(candidate, claims)


def _claimed_task(claims: Dataset | None) -> str | None:
    text = (claims.task or "").strip().lower() if claims is not None else ""
    name = text.replace("-", " ").replace("_", " ")
    return _ALIASES.get(text) or (name if name in _CLAIMABLE_TASKS else None)


def _reconcile(candidate: TaskCandidate | None, claimed: str, claims: Dataset) -> Task:
    """Agreement raises the confidence; an unambiguous graph overrules the claim."""
    claim = f"{claims.sources.get('task', 'metadata')} declares {claims.task}"
    if candidate is None:
        return Task(claimed, 0.7, _class_count(claimed, None, claims), (claim,), claimed=True)
    if candidate.name == claimed:
        return _task_of(replace(candidate, confidence=0.97, evidence=(*candidate.evidence, claim)), claims)
    if claimed in candidate.also:
        return Task(claimed, 0.9, _class_count(claimed, candidate.classes, claims), (claim, *candidate.evidence))
    if candidate.confidence >= _MIN_UNAMBIGUOUS:
        evidence = (*candidate.evidence, f"{claim}, which contradicts the graph")
        return _task_of(replace(candidate, evidence=evidence), claims)
    evidence = (claim, f"the graph suggests {candidate.name}")
    return Task(claimed, 0.6, _class_count(claimed, None, claims), evidence, claimed=True)


def _task_of(candidate: TaskCandidate, claims: Dataset | None) -> Task:
    """Return the candidate as a task. As many class names as the graph has classes confirm a classification."""
    has_names = claims is not None and claims.classes is not None and claims.classes == candidate.classes
    is_confirmed = has_names and "classification" in candidate.name
    confidence = max(candidate.confidence, 0.9) if is_confirmed else candidate.confidence
    classes = _class_count(candidate.name, candidate.classes, claims)
    return Task(candidate.name, confidence, classes, candidate.evidence)


def _class_count(name: str, classes: int | None, claims: Dataset | None) -> int | None:
    """Return the classes of the graph or, where it does not show them (selected boxes, trees), of the metadata."""
    if not any(word in name for word in _TASKS_WITH_CLASSES):
        return None
    return classes if classes is not None else claims.classes if claims is not None else None


def find_task_contradictions(task: Task, claims: Dataset) -> Iterator[str]:
    """Yield the claims of the file that contradict an unambiguous graph."""
    claimed = _claimed_task(claims)
    if task.name is None or task.claimed or task.confidence < _MIN_UNAMBIGUOUS:
        return
    if claimed not in (None, task.name):
        yield f"{claims.sources.get('task', 'metadata')} declares {claims.task}, but the graph performs {task.name}"
    counts = {count for count in (claims.classes, claims.numbered) if count is not None}
    classes = task.classes if "classification" in task.name and claimed is None else None
    # a background class may be counted
    if counts and classes is not None and all(abs(count - classes) > 1 for count in counts):
        source = claims.sources.get("classes", "metadata")
        yield f"{source} declares {pluralize(min(counts), 'class', 'classes')}, but the graph has {classes:,}"
