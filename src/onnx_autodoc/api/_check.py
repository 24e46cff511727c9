"""The gate from Python."""

import os
from os import PathLike

from onnx_autodoc import __version__
from onnx_autodoc.api import Source, called, carded
from onnx_autodoc.errors import BadInput
from onnx_autodoc.gate import Verdict, gate, read_policy
from onnx_autodoc.resolve import Request


def check(
    model: Source, policy: str | PathLike[str], *, baseline: Source | None = None, weights: bool = False
) -> Verdict:
    """Whether a model file, a JSON card or a card passes a policy file: `check(…).passed`."""
    rules, was = read_policy(os.fspath(policy)), carded(baseline, Request(), weights) if baseline is not None else None
    if rules.needs_baseline and was is None:
        raise BadInput(f"{policy}: its [changes] are measured against a card; give one as baseline")
    return gate(carded(model, Request(), weights), rules, was, called(model), __version__)
