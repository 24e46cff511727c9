"""docs/rules.md, written from the rules' own files: `python -m scripts.rules_page > docs/rules.md`."""

import sys

from onnx_autodoc.lint import RULES

HEAD = """# Rules

Written from the rules' own files by `make docs`; a test holds it. `onnx-autodoc rules` lists them, and
`onnx-autodoc explain RULE` prints the page of one.

A finding has a severity, which says how bad it is if it is true (`info`: good to know; `note`: worth a change;
`warning`: will cost or surprise; `error`: will not work), and a confidence, which says how sure that is (`high`: read
off the file). Its evidence names places in the file, and its recommendation can be followed. A rule says nothing where
it does not know.
"""


def page() -> str:
    rows = [f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | {rule.title} |" for rule in RULES.values()]
    parts = [HEAD, "| rule | severity | what was found |\n|---|---|---|\n" + "\n".join(rows) + "\n"]
    for rule in RULES.values():
        asked = ", needs `--weights`" if rule.weights else ""
        parts.append(f"## {rule.id}\n\n*{rule.severity}, confidence {rule.confidence}{asked}*\n\n{rule.page}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
