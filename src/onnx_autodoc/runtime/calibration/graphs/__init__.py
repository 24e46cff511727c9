"""The graphs that calibration times: most have one kind of kernel at several sizes."""

from typing import Final

from onnx_autodoc.runtime.calibration.graphs import networks, operators, products, quantized
from onnx_autodoc.runtime.calibration.graphs.builder import GraphMaker

__all__ = ["DYNAMIC_SIZES", "FAMILIES", "NETWORKS", "all_graphs"]

FAMILIES: Final = (products, operators, networks, quantized)
NETWORKS: Final = tuple(networks.GRAPHS)  # that stand for whole models
DYNAMIC_SIZES: Final = {"encoder 768": 128, "tiny encoder": 16}  # of graphs with a dynamic dimension; 4 for others


def all_graphs() -> dict[str, GraphMaker]:
    return {name: make for family in FAMILIES for name, make in family.GRAPHS.items()}
