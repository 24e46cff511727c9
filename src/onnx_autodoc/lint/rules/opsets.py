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
    """The file is written in a newer version of the ONNX operators than tools know.

Why it matters: onnxruntime refuses versions that were not released when it was built. Of a version that is unknown
here, what an operator does may have changed, so that this card holds for the newest version known.

What to do: use the newest release of this tool and of the runtime, or export with a version that both know
(opset_version=17 of torch.onnx.export).
""",
)
def future_opset(context: LintContext) -> Iterator[Violation]:
    runtime = runtimes()["onnxruntime-cpu"]
    for domain, newest in runtime.newest.items():
        version = context.model.opsets.get(domain, 0)
        if version > newest:
            name, known = domain or "ai.onnx", newest_opset(domain)
            here = f", the newest known here is {known}" if version > known else ""
            text = f"the file is written in opset {version} of {name}; {runtime.name} opens it up to {newest}{here}"
            yield Violation(text, about=domain or None)


VERSION_DEFECT: Final = "the version of"  # the start of the reader's sentence on two versions of one domain
_NEWEST_IR: Final = 14  # as of onnx 1.23


@rule(
    Severity.WARNING,
    """A version that the file says of itself does not exist.

Why it matters: the version of an operator set decides what its operators do, that of the format how the file is read.
With one that was never there, or with two at once, nobody can tell what was meant: checkers refuse the file, and each
runtime takes something else.

What to do: export again. If only the number was lost, write in what the exporter uses: model.ir_version = 8,
model.opset_import[0].version = 17.

An error where no runtime takes it. Versions that are newer than what is known are future-opset's.
""",
)
def impossible_version(context: LintContext) -> Iterator[Violation]:
    model = context.model
    yield from _check_ir_version(model.ir_version)
    used = {node.domain for node in model.graph.nodes}
    for domain, opset in model.opsets.items():
        if opset < 1:
            text = (
                f"the file is written in opset {opset} of {display_name(domain or 'ai.onnx', 40)}; the first one is 1"
            )
            severity = Severity.ERROR if domain in used else None
            yield Violation(text, severity=severity, about=sanitize(domain, 40) or "ai.onnx")
    opset = model.opsets.get("com.microsoft", 1)
    if opset > 1:
        text = f"the file is written in opset {opset} of com.microsoft; there is only 1"
        yield Violation(text, severity=Severity.ERROR, about="com.microsoft")
    for defect in model.defects:
        if defect.startswith(VERSION_DEFECT):
            text = f"{sanitize(defect, MAX_SENTENCE_CHARS)}; which one holds cannot be told"
            yield Violation(text, about="opsets")
    in_functions = [(function.name, defect) for function in model.functions for defect in function.defects]
    for name, defect in in_functions:
        if defect.startswith(VERSION_DEFECT):
            text = f"in the function {display_name(name, 40)} {sanitize(defect, MAX_SENTENCE_CHARS)}"
            yield Violation(text, about=sanitize(name, 40))


def _check_ir_version(version: int | None) -> Iterator[Violation]:
    if version is None:
        yield Violation("the file does not say its IR version", severity=Severity.ERROR, about="IR version")
    elif version < 1:
        yield Violation(f"the file is of IR version {version}; the first one is 1", about="IR version")
    elif version > _NEWEST_IR:
        text = f"the file is of IR version {version}, the newest known here is {_NEWEST_IR}"
        yield Violation(text, about="IR version")


_MAX_DOMAINS: Final = 4


@rule(
    Severity.WARNING,
    """Nodes are of a domain whose version the file does not say.

Why it matters: the version of an operator set is what tells one Softmax from another. The ONNX checker refuses such a
file; onnxruntime takes the newest version that it knows for the domains it has itself, which may compute something
else, and refuses the file for others, and for functions that do not say what they are written in.

What to do: export again, or add the version that the nodes were written for:
model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1)), in a function function.opset_import.append(…).

An error only where no runtime takes it: inside a function, and for the domain of the file's own functions. A note of
com.microsoft alone: there is one version of it, so onnxruntime cannot take a wrong one. Files older than operator sets
(IR version 1 and 2) need to say nothing.
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
        nodes = pluralize(counts.total(), "node is", "nodes are")
        domains = list_names([domain or "ai.onnx" for domain in sorted(counts)], _MAX_DOMAINS)
        refs = [ref for ref in context.all_nodes() if ref.node.domain in counts and ref.step.version is None]
        severity = Severity.NOTE if in_graph.keys() == {"com.microsoft"} else Severity.WARNING
        if in_functions or any(function.domain in in_graph for function in model.functions):
            severity = Severity.ERROR
        yield Violation(f"{nodes} of {domains}, of which the file says no version", refs, severity=severity)


def _count_missing(nodes: tuple[Node, ...], opsets: Mapping[str, int]) -> Counter[str]:
    """Count the nodes of each domain without a version, those of subgraphs too."""
    counts = Counter(node.domain for node in nodes)
    counts.update(node.domain for graph in iter_subgraphs(nodes) for node in graph.nodes)
    return Counter({domain: count for domain, count in counts.items() if domain not in opsets})


_GUARANTEED_OPSET: Final = 7  # the oldest that onnxruntime promises to run
_QUANTIZER_OPSET: Final = 11  # the oldest that its quantizer supports


@rule(
    Severity.INFO,
    """The file is written in an old version of the ONNX operators.

Why it matters: onnxruntime guarantees versions from 7 on and runs older ones where it still happens to have them. Tools
want newer ones still: quantized operators came with version 10, and onnxruntime's quantizer asks for 11.

What to do: export again with a newer version (opset_version=17 of torch.onnx.export, --opset 17 of tf2onnx), or convert
the file: python -m onnxruntime.tools.update_onnx_opset --opset 17 old.onnx new.onnx, then compare the outputs of both.

Below 7 it is a warning, from 7 to 10 it is only good to know. Models of other domains alone (ai.onnx.ml) are not meant.
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
        requirement, severity = f"onnxruntime's quantizer asks for {_QUANTIZER_OPSET} or newer", Severity.INFO
    yield Violation(f"the file is written in opset {version} of ai.onnx; {requirement}", severity=severity)
