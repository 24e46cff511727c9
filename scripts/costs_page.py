"""Generate docs/costs.md from the operator table: `python -m scripts.costs_page > docs/costs.md`."""

import sys

from onnx_autodoc.ops import OPERATORS

HEAD = """# Operator costs

Generated from the operator table by `make docs`.

One multiply-add is one MAC and two FLOPs. **MACs** are the multiply-adds of matrix products, convolutions, recurrent
cells and attention, as the operator defines them: padding is multiplied, masked scores are computed, and a bias
addition does not count. MACs are comparable with fvcore, and 2 · MACs with PyTorch's FlopCounterMode. **FLOPs** are 2
· MACs plus all other arithmetic: one per element for each addition, multiplication, division, comparison, rounding
and elementary function (exp, log, sqrt, tanh, erf, sigmoid …), as listed in the tables below. A fused operator costs
the sum of its parts in decomposed form.

- Moving, selecting, casting and reshaping data is not arithmetic.
- Values that do not depend on input data (shape arithmetic, positions and masks computed from sizes, transposed or
  dequantized constants) can be computed once and do not count. Their matrix products do count.
- A loop body counts once per iteration. If the number of iterations depends on data, the guaranteed iterations count,
  and the loop is a gap. For an If with an unknown condition, the most expensive branch counts; `compute.cheapest` has
  the cost of the least expensive branch.
- **Bytes**: a node reads each of its inputs and writes each of its outputs once, unless the table states otherwise.
  Operators that only change the shape move nothing.
- An operator that is not in the tables, or has an unknown size, is a gap: `compute.coverage.gaps` lists it, and FLOPs
  are a lower bound ("at least"). MACs are also a lower bound unless the operator cannot contain any.
"""


def page() -> str:
    parts = [HEAD]
    for domain in dict.fromkeys(domain for domain, _ in OPERATORS):
        lines: dict[str, list[str]] = {}
        for row in OPERATORS.values():
            if row.domain == domain and row.cost is not None:
                lines.setdefault(" ".join((row.cost.__doc__ or "").split()), []).append(row.op_type)
        rows = sorted((", ".join(sorted(names)), text) for text, names in lines.items())
        body = "\n".join(f"| {names} | {text} |" for names, text in rows)
        parts.append(f"## {domain or 'ai.onnx'}\n\n| Operators | Arithmetic |\n|---|---|\n{body}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
