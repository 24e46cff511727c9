"""Generate docs/rules.md from the lint rules: `python -m scripts.rules_page > docs/rules.md`."""

import sys

from onnx_autodoc.lint import RULES

HEAD = """# Rules

Generated from the lint rules by `make docs`. `onnx-autodoc rules` lists the rules, and `onnx-autodoc explain RULE`
prints the documentation of one.

A finding has a severity, which is its impact if it is true (`info`: good to know; `note`: worth changing; `warning`:
will cost or surprise; `error`: will not work), and a confidence, which is the certainty that it is true (`high`: read
directly from the file). Its evidence lists locations in the file, and its recommendation is actionable. A rule
reports nothing if the answer is unknown.
"""


def page() -> str:
    rows = [f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | {rule.title} |" for rule in RULES.values()]
    parts = [HEAD, "| rule | severity | what was found |\n|---|---|---|\n" + "\n".join(rows) + "\n"]
    for rule in RULES.values():
        asked = ", needs `--weights`" if rule.needs_weights else ""
        parts.append(f"## {rule.id}\n\n*{rule.severity}, confidence {rule.confidence}{asked}*\n\n{rule.page}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
