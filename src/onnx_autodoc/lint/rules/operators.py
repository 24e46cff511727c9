"""Rules on operators that not every runtime supports."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint.context import LintContext, OperatorUse
from onnx_autodoc.lint.rule import Confidence, Severity, Violation, list_names, rule
from onnx_autodoc.lint.runtimes import runtimes, unsupported_nodes
from onnx_autodoc.ops import SPECIFIED_DOMAINS, Trait, first_opset, has_trait, newest_opset, operator_of
from onnx_autodoc.text import display_name, pluralize, quote_name, sanitize

_MAX_OPERATORS: Final = 4


@rule(
    Severity.INFO,
    """Nodes are of onnxruntime's own domain, which is not part of ONNX.

Why it matters: onnxruntime and what builds on it take them, other runtimes and tools mostly do not, and onnxruntime
does not promise to keep them from release to release. Usually they came from its optimizer, which also chose them for
one kind of device.

What to do: keep the model as it was before onnxruntime's optimizer (or quantizer) and give that file to other
runtimes; for onnxruntime itself there is nothing to do.
""",
)
def contrib_operator(context: LintContext) -> Iterator[Violation]:
    operators = context.nodes_by_operator(lambda domain: domain.startswith(CONTRIB_DOMAINS) and is_bundled(domain))
    if operators:
        rows = sorted(operators.items(), key=lambda row: -len(row[1]))
        counts = [f"{display_name(op, 40)} ({pluralize(len(refs), 'node')})" for (_, op), refs in rows]
        domains = " and ".join(sorted({display_name(domain, 40) for domain, _ in operators}))
        are = "is" if len(rows) == 1 else "are"
        listed = list_names(counts, _MAX_OPERATORS, show=str)
        message = f"{pluralize(len(rows), 'operator')} of {domains} {are} not part of ONNX: {listed}"
        yield Violation(message, [ref for _, refs in rows for ref in refs])


CONTRIB_DOMAINS: Final = ("com.microsoft", "com.ms.")  # prefixes
_BUNDLED_DOMAINS: Final = frozenset(("", "ai.onnx", "ai.onnx.ml", "ai.onnx.training"))
_BUNDLED_PREFIXES: Final = ("ai.onnx.preview", *CONTRIB_DOMAINS)
_EXTENSIONS: Final = "com.microsoft.extensions"  # in a package separate from onnxruntime


@rule(
    Severity.WARNING,
    """Nodes belong to a domain that is neither ONNX's nor onnxruntime's.

Why it matters: the file alone does not run in onnxruntime. Whoever loads it needs the library that defines these
operators, in a version that fits the runtime, and engines that compile ahead of time need a plugin for each. Operators
of one engine (TensorRT's plugins, org.openvinotoolkit) run in that one alone.

What to do: ship the library with the model and register it (SessionOptions.register_custom_ops_library in
onnxruntime; those of ai.onnx.contrib and com.microsoft.extensions are in the package onnxruntime-extensions), or export
with the operation written in operators of ONNX, or as a function in the file.
""",
)
def custom_domain(context: LintContext) -> Iterator[Violation]:
    operators = context.nodes_by_operator(lambda domain: not is_bundled(domain))
    if operators:
        nodes = [ref for refs in operators.values() for ref in refs]
        need = pluralize(len(nodes), "node needs a library", "nodes need a library")
        listed = list_names([f"{domain}.{op}" for domain, op in operators], _MAX_OPERATORS)
        yield Violation(f"{need} that does not come with onnxruntime: {listed}", nodes)


def is_bundled(domain: str) -> bool:
    """Whether operators of this domain come with ONNX or with onnxruntime."""
    is_extension = domain.startswith(_EXTENSIONS)
    return domain in _BUNDLED_DOMAINS or (domain.startswith(_BUNDLED_PREFIXES) and not is_extension)


@rule(
    Severity.NOTE,
    """An operator is deprecated at the opset of this model.

Why it matters: the specification took the operator back at that opset. Checkers and strict runtimes refuse the file:
onnxruntime does not load an Upsample from opset 10 on, nor a Scatter from opset 11 on.

What to do: export again with a current exporter, which writes the operator that replaced it (at this opset, of
GroupNormalization at 21 or newer); or set the
file's opset back to the last that has it, if no other node needs a newer one, and let
onnx.version_converter.convert_version bring it up.
""",
)
def deprecated_operator(context: LintContext) -> Iterator[Violation]:
    for use in context.operator_uses:
        deprecated = operator_of(use).deprecated
        if use.is_local or deprecated is None or not deprecated.applies(use.opset):
            continue
        successor = deprecated.replacement
        is_refused = _onnxruntime_supports(use) is False
        what = f"{display_name(use.op)} ({pluralize(len(use.refs), 'node')}) is deprecated at opset {use.opset}"
        where = ", and onnxruntime refuses it there" if is_refused else ""
        yield Violation(
            f"{what}{where}: {successor}{',' if ',' in successor else ''} takes its place",
            use.refs,
            severity=Severity.WARNING if is_refused else None,
            about=sanitize(use.op),
        )


def _onnxruntime_supports(use: OperatorUse) -> bool | None:
    """Whether the CPU provider of onnxruntime, which any build has, supports an operator."""
    return runtimes()["onnxruntime-cpu"].supports(use.domain, use.op, use.opset)


@rule(
    Severity.NOTE,
    """An operator was never released: it is an experiment of ONNX, or a leftover of its first days.

Why it matters: the specification does not define it, so that each runtime that takes it may mean something else by
it, and none has to keep it. onnxruntime knows a few of the old ones up to opset 9 and none of the previews.

What to do: export again with a current exporter, which writes released operators; for an operator that PyTorch's old
exporter wrote as ATen, use torch.onnx.export with dynamo=True.
""",
)
def experimental_operator(context: LintContext) -> Iterator[Violation]:
    uses = [use for use in context.operator_uses if not use.is_local and is_experimental(use)]
    if uses:
        refs = [ref for use in uses for ref in use.refs]
        unsupported = [use for use in uses if not _onnxruntime_supports(use)]
        which = "them" if len(unsupported) == len(uses) else "all of them"
        loads = f"; onnxruntime does not load {which}" if unsupported else ""
        listed = list_names([use.qualified_op for use in uses], _MAX_OPERATORS)
        message = (
            f"{pluralize(len(refs), 'node is', 'nodes are')} of operators that were never released: {listed}{loads}"
        )
        yield Violation(message, refs, severity=Severity.WARNING if unsupported else None)


def is_experimental(use: OperatorUse) -> bool:
    listed = has_trait(use, Trait.EXPERIMENTAL) or (use.domain, use.op) == ("", "ATen")
    return listed or use.domain.startswith("ai.onnx.preview")


@rule(
    Severity.NOTE,
    """An operator does not exist at the opset that the file says it is written in.

Why it matters: the file contradicts itself. Checkers and strict runtimes refuse it, and a runtime that knows an
operator of the same name from elsewhere may run something else than what was meant.

What to do: export again at an opset that has the operator; if it stands in the wrong domain (fused operators of
onnxruntime belong to com.microsoft), set the node's domain right with onnx.helper or onnx-graphsurgeon.

SimplifiedLayerNormalization in ai.onnx is onnxruntime's own: its optimizer writes it there, and it loads it, but
nobody else has to know it.
""",
)
def unknown_operator(context: LintContext) -> Iterator[Violation]:
    for use in context.operator_uses:
        if use.opset is None or use.is_local or use.domain not in SPECIFIED_DOMAINS or is_experimental(use):
            continue
        first, domain = first_opset(use.domain, use.op), use.domain or "ai.onnx"
        if use.opset >= first if first is not None else use.opset > newest_opset(use.domain):
            continue
        reason = f"is no operator of {domain}"
        if first is not None:
            reason = f"came into {domain} with opset {first}, and the file is of opset {use.opset}"
        loads, severity = "does not load it", Severity.WARNING
        if _onnxruntime_supports(use):
            loads, severity = "loads it nevertheless", Severity.NOTE
        elif use.op.endswith("_TRT"):
            loads, severity = "loads it with its TensorRT provider alone", Severity.NOTE
        message = f"{display_name(use.op, 40)} ({pluralize(len(use.refs), 'node')}) {reason}; onnxruntime {loads}"
        yield Violation(message, use.refs, severity=severity, about=sanitize(use.op, 40))


_DEFAULT_RUNTIME: Final = "onnxruntime-cpu"  # a model that it does not support does not run for most users
_DEFAULT_RUNTIME_RECOMMENDATION: Final = (
    "Where onnxruntime has the operator at another opset, bring the file there (onnx.version_converter.convert_version "
    "or a new export). A file that was optimized for another provider opens with that one. What no provider has must "
    "be written with other operators, or come with a library (SessionOptions.register_custom_ops_library)."
)


@rule(
    Severity.INFO,
    """A runtime does not take an operator of this model.

Why it matters: a runtime without a kernel or a conversion for an operator refuses the model, or leaves such nodes to
the CPU. Each of those is a seam: data cross between devices, and what could have been one fused graph falls into
pieces.

What to do: if you deploy there, run the model once on that runtime with verbose logging (log_severity_level = 0 in
onnxruntime's SessionOptions) to see which nodes are left out, then export at another opset, or write the operation
with others; if you do not deploy there, nothing.

The tables (data/runtimes) are of one release each: what onnxruntime, its CUDA provider and OpenVINO take was asked of
the packages themselves; what TensorRT, CoreML and NNAPI take is what their documents say, and of QNN and WebGPU it is
both together (confidence medium). A node that is in a table can still be refused for its types, attributes or shapes.
Nodes on constants and sizes alone are not held against a provider of onnxruntime, which computes them itself.
""",
)
def unsupported_operator(context: LintContext) -> Iterator[Violation]:
    uses = {(use.domain, use.op): use for use in context.operator_uses}
    for runtime in runtimes().values():
        nodes = unsupported_nodes(runtime, context.operator_uses)
        if not nodes:
            continue
        operators = []
        for key, refs in sorted(nodes.items(), key=lambda row: -len(row[1])):
            name = sanitize(quote_name(uses[key].qualified_op, 60))
            is_listed = key[1] in runtime.operators.get(key[0], {})  # supported at other opsets
            opset = f" of opset {uses[key].opset}" if is_listed else ""
            operators.append(f"{name}{opset} ({pluralize(len(refs), 'node')})")
        functions = sum(uses[key].is_local for key in nodes)
        counts = ((functions, "local function"), (len(nodes) - functions, "operator"))
        count = " and ".join(pluralize(number, word) for number, word in counts if number)
        listed = list_names(operators, _MAX_OPERATORS, show=str)
        is_default = runtime.id == _DEFAULT_RUNTIME
        yield Violation(
            f"{runtime.name} does not take {count} of this model: {listed}; {runtime.fallback}",
            [ref for refs in nodes.values() for ref in refs],
            recommendation=_DEFAULT_RUNTIME_RECOMMENDATION if is_default else "",
            severity=Severity.WARNING if is_default else None,
            confidence=Confidence.HIGH if runtime.basis == "run" else Confidence.MEDIUM,
            about=runtime.id,
        )
