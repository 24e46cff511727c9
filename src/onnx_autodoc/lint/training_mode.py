"""The graph is in training mode, or trains.

Why it matters: a dropout in training mode throws numbers away at random, and a batch normalization in training mode
takes its statistics from the batch at hand, so that the answer to one input hangs on the others beside it. Engines
for inference refuse them or ignore the flag.

What to do: export for inference: model.eval() before torch.onnx.export, or training=False at the call of a Keras
model. Of onnxruntime's training artifacts, ship what export_model_for_inferencing writes. A batch normalization that
was trained without statistics (track_running_stats=False) is exported so even then: run it with whole batches.

A dropout whose mode is an input of the model is not reported. Gradients and optimizers are a note: such a file is
meant to train.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._words import by_operator
from onnx_autodoc.ops import judged
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.WARNING
_FLAGGED: Final = 14  # the operator set from which on an attribute says it; before, the number of outputs did


def check(case: Case) -> Iterator[Found]:
    learning = [spot for spot in case.spots() if _learns(spot)]
    if learning or case.model.training:
        yield _trains(learning)
        return
    found = [spot for spot in case.of(judged.BATCH_NORM) if norm_trains(spot)]
    found += [spot for spot in case.of(judged.DROPOUT) if _drops(spot)]
    found = [spot for spot in found if spot.scope.runs]
    if found:
        are = "is" if len(found) == 1 else "are"
        message = f"{plural(len(found), 'node')} {are} in training mode: {by_operator(found)}"
        yield Found(message, tuple(spot.path for spot in found))


def _trains(learning: list[Spot]) -> Found:
    if not learning:
        return Found("the file holds a graph for training beside the model", severity=Severity.NOTE)
    nodes = f"{plural(len(learning), 'node')} {'computes' if len(learning) == 1 else 'compute'}"
    message = f"{nodes} gradients or updates of weights: {by_operator(learning)}"
    return Found(message, tuple(spot.path for spot in learning), severity=Severity.NOTE)


def _learns(spot: Spot) -> bool:
    node = spot.node
    if node.domain == judged.TRAINING_DOMAIN:
        return True
    return node.domain == judged.MICROSOFT and (node.op.endswith(judged.GRADIENT) or node.op in judged.UPDATES)


def norm_trains(spot: Spot) -> bool:
    """Before the flag, a second output asked for new statistics."""
    if (spot.step.version or 0) >= _FLAGGED:
        return spot.node.attributes.get("training_mode", 0) == 1
    return sum(map(bool, spot.node.outputs)) > 1


def _drops(spot: Spot) -> bool:
    """Told to train by a constant, and to drop some."""
    node = spot.node
    if len(node.inputs) < 3 or not node.inputs[2] or not spot.scope.is_fixed(node.inputs[2]):
        return False
    trains, ratio = spot.input(2), spot.input(1)
    none = ratio is not None and ratio.value is not None and ratio.value.dtype != object and not np.any(ratio.value)
    return trains is not None and trains.value is not None and bool(np.all(trains.value == 1)) and not none
