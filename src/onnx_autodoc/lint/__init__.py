"""What a reader of a model should know, one rule a file: the file's docstring is the rule's page.

A rule is a file here with a docstring (title, "Why it matters: …", "What to do: …"), `SEVERITY`, `check(case)`, and if
need be `CONFIDENCE` (else high) and `NEEDS_WEIGHTS`; a line in `_SHELF`; and a test with a model that fires it and a
look-alike that does not. Rules judge; they measure nothing that `facts` could.
"""

import re
from importlib import import_module
from typing import Final

from onnx_autodoc.analysis import Gap
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Confidence, Finding, Rule, Severity
from onnx_autodoc.lint._runtimes import RUNTIMES, runtimes

__all__ = ["RULES", "RUNTIMES", "Case", "Confidence", "Finding", "Judged", "Rule", "Severity", "judge", "runtimes"]

_SHELF: Final = (
    "constant_weight",
    "contradictory_declaration",
    "contradictory_shape",
    "contrib_operator",
    "control_flow",
    "custom_domain",
    "cycle",
    "data_dependent_shape",
    "dead_node",
    "deprecated_operator",
    "duplicate_definition",
    "duplicate_name",
    "duplicate_weight",
    "dynamic_input",
    "escaping_external_data",
    "experimental_operator",
    "fixed_batch",
    "float64",
    "foldable_constant",
    "future_opset",
    "impossible_version",
    "inline_weights",
    "int64_data",
    "large_activations",
    "large_embedding",
    "long_loop",
    "low_intensity",
    "malformed_function",
    "malformed_node",
    "malformed_tensor",
    "metadata_contradiction",
    "missing_external_data",
    "missing_metadata",
    "missing_opset",
    "no_op_node",
    "non_finite_weight",
    "old_opset",
    "overridable_weight",
    "per_tensor_depthwise",
    "precision_seam",
    "random_operator",
    "redundant_cast",
    "redundant_reshape",
    "redundant_transpose",
    "training_mode",
    "undefined_value",
    "unfused_batch_norm",
    "unfused_block",
    "unfused_quantization",
    "unknown_operator",
    "unnamed_dimension",
    "unsorted_nodes",
    "unsupported_operator",
    "unused_weight",
)


def _rule(name: str) -> Rule:
    module = import_module(f"onnx_autodoc.lint.{name}")
    page = (module.__doc__ or "").strip()
    do = re.search(r"^What to do: (.+?)(?:\n\n|\Z)", page, re.M | re.S)
    assert do is not None, name
    return Rule(
        id=name.replace("_", "-"),
        title=page.partition("\n")[0].rstrip("."),
        page=page,
        do=" ".join(f"{do[1][0].upper()}{do[1][1:]}".split()),
        severity=module.SEVERITY,
        confidence=getattr(module, "CONFIDENCE", Confidence.HIGH),
        check=module.check,
        weights=getattr(module, "NEEDS_WEIGHTS", False),
    )


RULES: Final = {rule.id: rule for rule in map(_rule, _SHELF)}


Judged = tuple[tuple[Finding, ...], tuple[Gap, ...]]  # what was found, and what could not be looked for


def judge(case: Case) -> Judged:
    """What all rules find, the worst first, and the rules that could not be checked."""
    found: list[Finding] = []
    gaps: list[Gap] = []
    for rule in RULES.values():
        if rule.weights and case.weights is None:
            continue
        try:
            found += map(rule.finding, rule.check(case))
        except (AutodocError, MemoryError):
            raise
        except Exception as slip:  # a file that no rule expected costs that rule, not the card
            gaps.append(Gap("findings", f"the rule {rule.id} could not be checked: {slip!r:.200}"))
    return tuple(sorted(found, key=lambda finding: -finding.severity.rank)), tuple(gaps)
