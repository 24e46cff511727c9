"""Names that a policy may use besides paths and rules."""

from functools import cache
from typing import Final

from onnx_autodoc.rules import RULES

UNSUPPORTED: Final = "unsupported-operator"  # the rule that says what a runtime does not know; `about` is the runtime


RULE_IDS: Final = tuple(RULES)


@cache
def runtimes() -> tuple[str, ...]:
    """The runtimes whose operators are known: one file of data each."""
    from importlib.resources import files

    folder = files("onnx_autodoc") / "data" / "runtimes"
    return tuple(sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json")))
