"""What is asked of each file: every format in turn, comparisons, the gate, weights, files and folders to write."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from onnx_autodoc.render import FORMATS

MODEL: Final = "model.onnx"
POLICY: Final = """[limits]
"compute.macs" = { max = 5e9 }
"parameters.total" = { min = 1, allow_gaps = true }
[rules]
fail_on = "warning"
"""
_DEMO: Final = Path(__file__).parent.parent / "src" / "onnx_autodoc" / "data" / "demo.onnx"
_RARE: Final = 50  # of so many runs one is laid out on paper: a library does it, slowly


class Plan(Struct, frozen=True):
    """A command line; the format that it prints or writes, and what it writes to, if it does."""

    argv: tuple[str, ...]
    format: str
    output: str = ""
    codes: tuple[int, ...] = (0,)  # that mean a document


def _card(*options: str, format_name: str, output: str = "") -> Plan:
    told = ("--format", format_name) if not output else ("-o", output)
    return Plan(("card", MODEL, *told, *options), format_name, output)


def _compare(format_name: str, *models: str) -> Plan:
    return Plan(("compare", *models, "--format", format_name), format_name)


def _check(format_name: str) -> Plan:
    return Plan(("check", MODEL, "--policy", "policy.toml", "--format", format_name), format_name, codes=(0, 1))


PLANS: Final[Sequence[Plan]] = (
    *(_card(format_name=name) for name in FORMATS if name != "pdf"),
    _card("--weights", format_name="json"),
    _check("json"),
    _compare("json", MODEL, str(_DEMO)),
    _card(format_name="json", output="out.json"),
    _check("github"),
    _compare("terminal", str(_DEMO), MODEL),
    _card("--weights", "--sha256", format_name="terminal"),
    _card(format_name="folder", output="out.card"),
    _check("sarif"),
    _compare("html", MODEL, MODEL),
    _card("--dim", "batch=3", "--batch", "2", "--seq", "7", format_name="json"),
    _check("junit"),
    _compare("markdown", MODEL, str(_DEMO), MODEL),
    _check("text"),
)
_PAPER: Final = _card(format_name="pdf", output="out.pdf")


def plan(number: int) -> Plan:
    """Of the `number`th run."""
    return _PAPER if number % _RARE == _RARE - 1 else PLANS[number % len(PLANS)]
