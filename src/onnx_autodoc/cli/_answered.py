"""A command whose work touches strangers' files: it is done apart, within the limits that the options give."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from onnx_autodoc.apart import guarded
from onnx_autodoc.cli._limits import limits_of
from onnx_autodoc.limits import within

if TYPE_CHECKING:
    from onnx_autodoc.cli._answer import Answer


def answered(work: "Callable[[argparse.Namespace], Answer]", about: str = "") -> Callable[[argparse.Namespace], int]:
    """`about` is what messages begin with where the user named no model."""

    def run(options: argparse.Namespace) -> int:
        from onnx_autodoc.cli._answer import Answer, deliver

        with within(limits_of(options)):
            answer = guarded(Answer, lambda: work(options), _about(options) or about)
        deliver(answer)
        return answer.status

    return run


def _about(options: argparse.Namespace) -> str:
    return str(getattr(options, "model", None) or ", ".join(getattr(options, "models", ())))
