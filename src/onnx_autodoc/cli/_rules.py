"""`onnx-autodoc rules` and `explain`: what the tool looks for, and the page of each rule, runtime or device."""

import argparse
from textwrap import fill
from typing import Any

from onnx_autodoc.cli._places import put
from onnx_autodoc.errors import BadInput


def add(commands: Any) -> None:
    rules = commands.add_parser("rules", help="the rules that findings come from")
    rules.set_defaults(run=run_rules)
    explain = commands.add_parser("explain", help="the page of a rule, runtime or device")
    explain.add_argument("id", metavar="ID", help="a rule as `onnx-autodoc rules` lists it, a runtime, or a device")
    explain.set_defaults(run=run_explain)


def run_rules(options: argparse.Namespace) -> int:
    from onnx_autodoc.lint import RULES

    width = max(map(len, RULES))
    put("".join(f"{rule.id:<{width}}  {rule.severity:<7}  {rule.title}\n" for rule in RULES.values()))
    return 0


def run_explain(options: argparse.Namespace) -> int:
    """The page of a rule, or what is known of a runtime that a rule speaks of, or of a device."""
    from difflib import get_close_matches

    from onnx_autodoc.cli._devices import device_page
    from onnx_autodoc.hardware.devices import HERE, find, names, near, this_machine
    from onnx_autodoc.lint import RULES, RUNTIMES

    if options.id in RULES:
        rule = RULES[options.id]
        put(f"{rule.id} ({rule.severity}, confidence {rule.confidence})\n\n{rule.page}\n")
    elif options.id in RUNTIMES:
        put(_runtime(options.id))
    elif options.id == HERE:
        put(device_page(this_machine().found))
    elif options.id in names():
        put(device_page(find(options.id)))
    else:
        close = get_close_matches(options.id, [*RULES, *RUNTIMES], 3) or near(options.id)
        hint = f"near it: {', '.join(close)}" if close else "`onnx-autodoc rules` and `devices` list them"
        raise BadInput(f"there is no rule, runtime or device {options.id!r}; {hint}")
    return 0


def _runtime(name: str) -> str:
    from onnx_autodoc.lint import runtimes

    table = runtimes()[name]
    lines = [f"{table.name}: the operators it takes, as of {table.date}", "", f"Source: {table.source} ({table.basis})"]
    lines.append(f"Outside of it: {table.fallback}")
    for domain, operators in table.operators.items():
        named = ", ".join(f"{op} {_opsets(span)}" for op, span in sorted(operators.items()))
        lines += ["", f"{domain or 'ai.onnx'}, {len(operators)} operators with their opsets:", fill(named, 80)]
    return "\n".join(lines) + "\n"


def _opsets(span: tuple[int, ...]) -> str:
    return f"{span[0]}+" if len(span) == 1 else f"{span[0]}–{span[1]}"
