"""The graphs that calibration runs: each is a question to the machine, and most ask one thing at several sizes."""

from typing import Final

from onnx_autodoc.runtime.calibration.graphs import convolutions, moves, networks, pointwise, products, quantized
from onnx_autodoc.runtime.calibration.graphs._builder import Make

__all__ = ["NETWORKS", "SHELF", "graphs"]

SHELF: Final = (convolutions, moves, networks, pointwise, products, quantized)
NETWORKS: Final = tuple(networks.GRAPHS)  # those that stand for whole models


def graphs() -> dict[str, Make]:
    return {name: make for family in SHELF for name, make in family.GRAPHS.items()}
