"""Rules on the IR version and the opsets that a file declares."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.ir import Node, iter_subgraphs
from onnx_autodoc.lint.context import LintContext
from onnx_autodoc.lint.rule import MAX_SENTENCE_CHARS, Severity, Violation, list_names, rule
from onnx_autodoc.lint.runtimes import runtimes
from onnx_autodoc.ops import newest_opset
from onnx_autodoc.text import display_name, pluralize, sanitize


@rule(
    Severity.WARNING,
    """The opset of the model is newer than current tools support.

Why it matters: onnxruntime rejects opsets that were not released when it was built. In an opset that this tool does not
know, operators may have changed, so the card assumes the newest known opset.

What to do: use the newest release of this tool and of the runtime, or export at an opset that both support
(opset_version=17 of torch.onnx.export).
""",
)
def future_opset(context: LintContext) -> Iterator[Violation]:
    runtime = runtimes()["onnxruntime-cpu"]
    for domain, newest in runtime.newest.items():
        version = context.model.opsets.get(domain, 0)
        if version > newest:
            name, known = domain or "ai.onnx", newest_opset(domain)
            here = f", this tool up to {known}" if version > known else ""
            text = f"the file declares opset {version} of {name}; {runtime.name} supports it up to {newest}{here}"
            yield Violation(text, about=domain or None)


VERSION_DEFECT: Final = "the version of"  # the start of the reader's sentence on two versions of one domain
_NEWEST_IR: Final = 14  # as of onnx 1.23


@rule(
    Severity.WARNING,
    """A version that the file declares does not exist.

Why it matters: the opset determines what operators compute, and the IR version how the file is read. If a version never
existed, or two are declared at once, the intended one is unknown: checkers reject the file, and each runtime assumes a
different version.

What to do: export again. If only the number was lost, set the one that the exporter uses: model.ir_version = 8,
model.opset_import[0].version = 17.

The severity is error if no runtime accepts the file. Opsets newer than the known ones are reported by future-opset.
""",
)
def impossible_version(context: LintContext) -> Iterator[Violation]:
    model = context.model
    yield from _check_ir_version(model.ir_version)
    used = {node.domain for node in model.graph.nodes}
    for domain, opset in model.opsets.items():
        if opset < 1:
            name = display_name(domain or "ai.onnx", 40)
            text = f"the file declares opset {opset} of {name}, but opsets start at 1"
            severity = Severity.ERROR if domain in used else None
            yield Violation(text, severity=severity, about=sanitize(domain, 40) or "ai.onnx")
    opset = model.opsets.get("com.microsoft", 1)
    if opset > 1:
        text = f"the file declares opset {opset} of com.microsoft, which has only opset 1"
        yield Violation(text, severity=Severity.ERROR, about="com.microsoft")
    for defect in model.defects:
        if defect.startswith(VERSION_DEFECT):
            text = f"{sanitize(defect, MAX_SENTENCE_CHARS)}; which one applies is unknown"
            yield Violation(text, about="opsets")
    in_functions = [(function.name, defect) for function in model.functions for defect in function.defects]
    for name, defect in in_functions:
        if defect.startswith(VERSION_DEFECT):
            text = f"in the function {display_name(name, 40)} {sanitize(defect, MAX_SENTENCE_CHARS)}"
            yield Violation(text, about=sanitize(name, 40))


def _check_ir_version(version: int | None) -> Iterator[Violation]:
    if version is None:
        yield Violation("the file declares no IR version", severity=Severity.ERROR, about="IR version")
    elif version < 1:
        yield Violation(f"the file declares IR version {version}, but IR versions start at 1", about="IR version")
    elif version > _NEWEST_IR:
        text = f"the file declares IR version {version}; this tool knows versions up to {_NEWEST_IR}"
        yield Violation(text, about="IR version")


_MAX_DOMAINS: Final = 4


@rule(
    Severity.WARNING,
    """Nodes belong to a domain for which the file declares no opset.

Why it matters: the opset determines which version of an operator a node uses. ONNX's checker rejects such a file. For
its own domains, onnxruntime assumes the newest opset that it knows, which may compute something else; it rejects the
file for other domains, and for functions that declare no opset.

What to do: export again, or add the opset that the nodes were written for:
model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1)), in a function function.opset_import.append(…).

The severity is error only where no runtime accepts the file: inside a function, and for the domain of the file's own
functions. It is note if only com.microsoft is affected: this domain has one version, so onnxruntime cannot assume a
wrong one. Files older than opsets (IR versions 1 and 2) need not declare any.
""",
)
def missing_opset(context: LintContext) -> Iterator[Violation]:
    model = context.model
    if not model.functions and {domain for domain, _, _ in context.facts.operators} <= model.opsets.keys():
        return
    in_functions = sum((_count_missing(entry.nodes, entry.opsets) for entry in model.functions), Counter[str]())
    in_graph = _count_missing(model.graph.nodes, model.opsets) if model.opsets else Counter[str]()
    counts = in_graph + in_functions
    if counts:
        nodes = pluralize(counts.total(), "node")
        domains = list_names([domain or "ai.onnx" for domain in sorted(counts)], _MAX_DOMAINS)
        refs = [ref for ref in context.all_nodes() if ref.node.domain in counts and ref.step.version is None]
        severity = Severity.NOTE if in_graph.keys() == {"com.microsoft"} else Severity.WARNING
        if in_functions or any(function.domain in in_graph for function in model.functions):
            severity = Severity.ERROR
        text = f"the file declares no opset for {domains}, the domain{'s' if len(counts) > 1 else ''} of {nodes}"
        yield Violation(text, refs, severity=severity)


def _count_missing(nodes: tuple[Node, ...], opsets: Mapping[str, int]) -> Counter[str]:
    """Count the nodes of each domain without a version, those of subgraphs too."""
    counts = Counter(node.domain for node in nodes)
    counts.update(node.domain for graph in iter_subgraphs(nodes) for node in graph.nodes)
    return Counter({domain: count for domain, count in counts.items() if domain not in opsets})


_GUARANTEED_OPSET: Final = 7  # the oldest that onnxruntime promises to run
_QUANTIZER_OPSET: Final = 11  # the oldest that its quantizer supports


@rule(
    Severity.INFO,
    """The file uses an old opset.

Why it matters: onnxruntime guarantees opsets from 7 on and runs older ones only where it still supports them. Tools
require newer ones: quantized operators were added in opset 10, and onnxruntime's quantizer requires 11.

What to do: export again at a newer opset (opset_version=17 of torch.onnx.export, --opset 17 of tf2onnx), or convert the
file: python -m onnxruntime.tools.update_onnx_opset --opset 17 old.onnx new.onnx, then compare the outputs of both.

The severity is warning below 7, and info from 7 to 10. Models that use only other domains (ai.onnx.ml) are not
reported.
""",
)
def old_opset(context: LintContext) -> Iterator[Violation]:
    version = context.model.opsets.get("") if context.model.opsets else 1
    is_used = any(not domain for domain, _, _ in context.facts.operators)
    if version is None or version >= _QUANTIZER_OPSET or not is_used:
        return
    if version < _GUARANTEED_OPSET:
        requirement, severity = f"onnxruntime guarantees {_GUARANTEED_OPSET} and newer", Severity.WARNING
    else:
        requirement, severity = f"onnxruntime's quantizer requires {_QUANTIZER_OPSET} or newer", Severity.INFO
    yield Violation(f"the file uses opset {version} of ai.onnx; {requirement}", severity=severity)
