"""Generate docs/rules.md from the lint rules: `python -m scripts.rules_page > docs/rules.md`."""

import sys

from onnx_autodoc.lint import RULES

HEAD = """# Rules

Generated from the lint rules by `make docs`. `onnx-autodoc rules` lists the rules, and `onnx-autodoc explain RULE`
prints the documentation of one.

A finding has a severity, its impact if it is true (`info`: for information; `note`: worth changing; `warning`: costs
performance or gives unexpected results; `error`: does not work), and a confidence, the certainty that it is true
(`high`: read directly from the file). Its evidence lists locations in the file, and its recommendation states what to
do. A rule reports nothing if its result is unknown.
"""


def page() -> str:
    rows = [f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | {rule.title} |" for rule in RULES.values()]
    parts = [HEAD, "| Rule | Severity | Finding |\n|---|---|---|\n" + "\n".join(rows) + "\n"]
    for rule in RULES.values():
        option = ", requires `--weights`" if rule.needs_weights else ""
        parts.append(f"## {rule.id}\n\n*{rule.severity}, confidence {rule.confidence}{option}*\n\n{rule.page}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
