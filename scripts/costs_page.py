"""docs/costs.md, written from the operators' own entries: `python -m scripts.costs_page > docs/costs.md`."""

import sys

from onnx_autodoc.ops import TABLES

HEAD = """# What each operator costs

Written from the operators' entries by `make docs`; a test holds it.

One multiply-add is one MAC and two FLOPs. **MACs** are the multiply-adds of matrix products, convolutions, recurrent
cells and attention, as the operator defines them: padding is multiplied, masked scores are computed, and adding a bias
is none. So MACs compare with fvcore, and 2 · MACs with PyTorch's FlopCounterMode. **FLOPs** are 2 · MACs and all other
arithmetic: one for each addition, multiplication, division, comparison, rounding and elementary function (exp, log,
sqrt, tanh, erf, sigmoid …) of one element, by the tables below. A fused operator costs what its parts cost where an
exporter writes them out.

- Moving, picking, casting and shaping data is no arithmetic.
- Bookkeeping is no arithmetic of the model's: what hangs on no input's data (shape arithmetic, positions and masks made
  from sizes, constants turned or dequantized) could be done once. Its matrix products do count, as the file has them.
- A loop's body counts as often as it runs. Where only the data decide that, it counts as often as it surely runs, and
  the loop is a gap. Of an If whose condition is not known, the dearest branch counts; `compute.cheapest` has the other
  end.
- **Bytes**: a node reads each of its inputs and writes each of its outputs once, except where the table says otherwise.
  What only changes the shape moves nothing.
- An operator that is not in the tables, or of which a size is not known, is a gap: it is listed under
  `compute.coverage.gaps`, and FLOPs are "at least"; MACs are too, unless the operator surely holds none.
"""


def page() -> str:
    parts = [HEAD]
    for domain, tables in TABLES.items():
        lines: dict[str, list[str]] = {}
        for table in tables:
            for name, entry in table.items():
                text = " ".join(((entry.cost and entry.cost.__doc__) or "").split())
                lines.setdefault(text, []).append(name)
        rows = sorted((", ".join(sorted(names)), text) for text, names in lines.items())
        body = "\n".join(f"| {names} | {text} |" for names, text in rows)
        parts.append(f"## {domain or 'ai.onnx'}\n\n| operators | arithmetic |\n|---|---|\n{body}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
