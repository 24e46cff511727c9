"""`onnx-autodoc rules` and `explain`: what the tool looks for, and the page of each rule."""

import argparse
from textwrap import fill
from typing import Any

from onnx_autodoc.cli._places import put
from onnx_autodoc.errors import BadInput


def add(commands: Any) -> None:
    rules = commands.add_parser("rules", help="the rules that findings come from")
    rules.set_defaults(run=run_rules)
    explain = commands.add_parser("explain", help="the page of a rule or runtime: why it matters, what to do")
    explain.add_argument("id", metavar="ID", help="a rule as `onnx-autodoc rules` lists it, or a runtime")
    explain.set_defaults(run=run_explain)


def run_rules(options: argparse.Namespace) -> int:
    from onnx_autodoc.rules import RULES

    width = max(map(len, RULES))
    put("".join(f"{rule.id:<{width}}  {rule.severity:<7}  {rule.title}\n" for rule in RULES.values()))
    return 0


def run_explain(options: argparse.Namespace) -> int:
    """The page of a rule, or what is known of a runtime that a rule speaks of."""
    from difflib import get_close_matches

    from onnx_autodoc.rules import RULES, RUNTIMES

    if options.id in RULES:
        rule = RULES[options.id]
        put(f"{rule.id} ({rule.severity}, confidence {rule.confidence})\n\n{rule.page}\n")
    elif options.id in RUNTIMES:
        put(_runtime(options.id))
    else:
        near = get_close_matches(options.id, [*RULES, *RUNTIMES], 3)
        hint = f"near it: {', '.join(near)}" if near else "`onnx-autodoc rules` lists them"
        raise BadInput(f"there is no rule {options.id!r}; {hint}")
    return 0


def _runtime(name: str) -> str:
    from onnx_autodoc.rules import runtimes

    table = runtimes()[name]
    lines = [f"{table.name}: the operators it takes, as of {table.date}", "", f"Source: {table.source} ({table.basis})"]
    lines.append(f"Outside of it: {table.fallback}")
    for domain, operators in table.operators.items():
        named = ", ".join(f"{op} {_opsets(span)}" for op, span in sorted(operators.items()))
        lines += ["", f"{domain or 'ai.onnx'}, {len(operators)} operators with their opsets:", fill(named, 80)]
    return "\n".join(lines) + "\n"


def _opsets(span: tuple[int, ...]) -> str:
    return f"{span[0]}+" if len(span) == 1 else f"{span[0]}–{span[1]}"
