"""How fast this machine runs models: benchmarks make a profile, and a profile predicts from a graph alone.

A model is lowered to the kernels that onnxruntime makes of it on a CPU (`tasks`); each runs at a pace, and takes so
long for each multiply-add, element and byte. Benchmarks tell how long that is here.
"""

from onnx_autodoc.runtime.calibration._bench import Answers, answers, count, lowered, lowered_facts
from onnx_autodoc.runtime.calibration._calibrate import profile
from onnx_autodoc.runtime.calibration._fit import Run, left_out, seconds, totals
from onnx_autodoc.runtime.calibration._fit import fit as fitted
from onnx_autodoc.runtime.calibration._predict import Prediction, predict
from onnx_autodoc.runtime.calibration._profile import Pace, Profile, Spread, check_place, encoded, is_there, load, place
from onnx_autodoc.runtime.calibration._tasks import Task, tasks

__all__ = [
    "Answers",
    "Pace",
    "Prediction",
    "Profile",
    "Run",
    "Spread",
    "Task",
    "answers",
    "check_place",
    "count",
    "encoded",
    "fitted",
    "is_there",
    "left_out",
    "load",
    "lowered",
    "lowered_facts",
    "place",
    "predict",
    "profile",
    "seconds",
    "tasks",
    "totals",
]
