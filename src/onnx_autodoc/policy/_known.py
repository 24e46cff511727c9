"""Names that a policy may use besides paths and rules."""

from functools import cache
from typing import Final

from msgspec import Struct

from onnx_autodoc.architecture import BLOCK_KINDS
from onnx_autodoc.ir import BITS
from onnx_autodoc.lint import RULES
from onnx_autodoc.ops import TABLES, judged

UNSUPPORTED: Final = "unsupported-operator"  # the rule that says what a runtime does not know; `about` is the runtime
STRANGE: Final = "custom-domain"  # and the one on what none of them knows

RESIDUALS: Final = ("add", "concat", "gate", "subtract")

_PLAIN: Final = "ai.onnx"  # what cards call the domain without a name

RULE_IDS: Final = tuple(RULES)


class Names(Struct, frozen=True):
    """What may stand in a table of the card. Where it is not all there can be, others have a domain before them."""

    what: str
    names: tuple[str, ...]
    closed: bool


@cache
def vocabularies() -> dict[str, Names]:
    """By the table: what is not in a card counts as none of it, so a slip of the pen would pass every limit."""
    operators = {f"{domain or _PLAIN}.{op}" for domain, tables in TABLES.items() for ops in tables for op in ops}
    plain = {op for tables in TABLES.values() for ops in tables for op in ops}
    named = Names("operator", tuple(sorted(operators | plain | set(judged.CONTROL))), closed=False)
    types = Names("element type", (*BITS, "unknown"), closed=True)
    return {
        **dict.fromkeys(("graph.operators", "memory.by_op"), named),
        **dict.fromkeys(("parameters.by_dtype", "model.precision.weights"), types),
        "structure.blocks": Names("kind of block", BLOCK_KINDS, closed=True),
        "structure.residuals": Names("kind of skip", RESIDUALS, closed=True),
    }
