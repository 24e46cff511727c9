"""`onnx-autodoc rules` and `explain`: what the tool looks for, and the page of each rule."""

import argparse
import sys
from typing import Any

from onnx_autodoc.errors import BadInput


def add(commands: Any) -> None:
    rules = commands.add_parser("rules", help="the rules that findings come from")
    rules.set_defaults(run=run_rules)
    explain = commands.add_parser("explain", help="the page of a rule: why it matters, what to do")
    explain.add_argument("id", metavar="ID", help="a rule, as `onnx-autodoc rules` lists it")
    explain.set_defaults(run=run_explain)


def run_rules(options: argparse.Namespace) -> int:
    from onnx_autodoc.rules import RULES

    width = max(map(len, RULES))
    for rule in RULES.values():
        sys.stdout.write(f"{rule.id:<{width}}  {rule.severity:<7}  {rule.title}\n")
    return 0


def run_explain(options: argparse.Namespace) -> int:
    from difflib import get_close_matches

    from onnx_autodoc.rules import RULES

    rule = RULES.get(options.id)
    if rule is None:
        near = get_close_matches(options.id, RULES, 3)
        hint = f"near it: {', '.join(near)}" if near else "`onnx-autodoc rules` lists them"
        raise BadInput(f"there is no rule {options.id!r}; {hint}")
    sys.stdout.write(f"{rule.id} ({rule.severity}, confidence {rule.confidence})\n\n{rule.page}\n")
    return 0
