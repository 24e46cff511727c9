"""The command lines to run on each file: every format in turn, comparisons, policies, weights, files and folders."""

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
_PDF_INTERVAL: Final = 50  # runs per PDF, which is slow


class Plan(Struct, frozen=True):
    """A command line, the format that it prints or writes, and the path that it writes to."""

    argv: tuple[str, ...]
    format: str
    output: str = ""
    codes: tuple[int, ...] = (0,)  # with which a document is expected


def _card(*options: str, format_name: str, output: str = "") -> Plan:
    target = ("--format", format_name) if not output else ("-o", output)
    return Plan(("card", MODEL, *target, *options), format_name, output)


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
_PDF_PLAN: Final = _card(format_name="pdf", output="out.pdf")


def plan_for(number: int) -> Plan:
    """Return the plan of a run by its number."""
    return _PDF_PLAN if number % _PDF_INTERVAL == _PDF_INTERVAL - 1 else PLANS[number % len(PLANS)]
