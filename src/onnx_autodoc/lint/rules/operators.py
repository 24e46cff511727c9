"""Rules on operators that not every runtime supports."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint.context import LintContext, OperatorUse
from onnx_autodoc.lint.rule import Confidence, Severity, Violation, list_names, rule
from onnx_autodoc.lint.runtimes import runtimes, unsupported_nodes
from onnx_autodoc.ops import SPECIFIED_DOMAINS, Trait, find, first_opset, has_trait, newest_opset, operator_of
from onnx_autodoc.text import display_name, pluralize, quote_name, sanitize

_MAX_OPERATORS: Final = 4


@rule(
    Severity.INFO,
    """The model uses operators of onnxruntime's own domains, which are not part of ONNX.

Why it matters: onnxruntime and products built on it support them, most other runtimes and tools do not, and onnxruntime
does not guarantee to keep them from release to release. Usually its optimizer wrote them, and chose them for one kind
of device.

What to do: keep the model from before onnxruntime's optimizer (or quantizer) and use that file in other runtimes; for
onnxruntime, no change is needed.
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
    """Nodes belong to a domain of neither ONNX nor onnxruntime.

Why it matters: the file does not run in onnxruntime without the library that defines these operators, in a version that
is compatible with the runtime, and engines that compile ahead of time need a plugin for each operator. Operators of one
engine (TensorRT's plugins, org.openvinotoolkit) run only in that engine.

What to do: ship the library with the model and register it (SessionOptions.register_custom_ops_library in onnxruntime;
the operators of ai.onnx.contrib and com.microsoft.extensions are in the package onnxruntime-extensions), or export the
operation as operators of ONNX, or as a local function.
""",
)
def custom_domain(context: LintContext) -> Iterator[Violation]:
    operators = context.nodes_by_operator(lambda domain: not is_bundled(domain))
    if operators:
        nodes = [ref for refs in operators.values() for ref in refs]
        require = pluralize(len(nodes), "node requires a library", "nodes require a library")
        listed = list_names([f"{domain}.{op}" for domain, op in operators], _MAX_OPERATORS)
        yield Violation(f"{require} that is not part of onnxruntime: {listed}", nodes)


@rule(
    Severity.ERROR,
    """A local function has the name of a built-in operator.

Why it matters: ONNX leaves it to the runtime which of the two runs. onnxruntime runs its own operator; this card
describes the function. If they differ, a check of this file says nothing about a run.

What to do: rename the function, or put it into a domain of your own. Inlining also removes the ambiguity:
onnx.inliner.inline_local_functions(model).

Only functions that nodes call are reported. A function may have the name of an operator that a later opset introduces.
""",
)
def shadowed_operator(context: LintContext) -> Iterator[Violation]:
    shadowed = [use for use in context.operator_uses if use.is_local and _is_built_in(use)]
    if shadowed:
        listed = list_names([f"{use.domain or 'ai.onnx'}.{use.op}" for use in shadowed], _MAX_OPERATORS)
        have = pluralize(
            len(shadowed),
            "local function has the name of a built-in operator",
            "local functions have names of built-in operators",
        )
        yield Violation(f"{have}: {listed}", [ref for use in shadowed for ref in use.refs])


def _is_built_in(use: OperatorUse) -> bool:
    since = first_opset(use.domain, use.op)
    if since is not None:
        return use.opset is not None and since <= use.opset
    return is_bundled(use.domain) and find(use.domain, use.op) is not None


def is_bundled(domain: str) -> bool:
    """Whether operators of this domain come with ONNX or with onnxruntime."""
    is_extension = domain.startswith(_EXTENSIONS)
    return domain in _BUNDLED_DOMAINS or (domain.startswith(_BUNDLED_PREFIXES) and not is_extension)


@rule(
    Severity.NOTE,
    """An operator is deprecated at the opset of the model.

Why it matters: the specification withdrew the operator at that opset. Checkers and strict runtimes reject the file:
onnxruntime does not load an Upsample from opset 10, nor a Scatter from opset 11.

What to do: export again with a current exporter, which writes the replacement (for GroupNormalization, at opset 21 or
newer). Or set the file's opset to the last one that has the operator, if no other node requires a newer one, and
convert the file with onnx.version_converter.convert_version.
""",
)
def deprecated_operator(context: LintContext) -> Iterator[Violation]:
    for use in context.operator_uses:
        deprecated = operator_of(use).deprecated
        if use.is_local or deprecated is None or not deprecated.applies(use.opset):
            continue
        is_refused = _onnxruntime_supports(use) is False
        what = f"{display_name(use.op)} ({pluralize(len(use.refs), 'node')}) is deprecated at opset {use.opset}"
        where = " and rejected by onnxruntime" if is_refused else ""
        yield Violation(
            f"{what}{where}; replaced by {deprecated.replacement}",
            use.refs,
            severity=Severity.WARNING if is_refused else None,
            about=sanitize(use.op),
        )


def _onnxruntime_supports(use: OperatorUse) -> bool | None:
    """Whether the CPU provider of onnxruntime, which any build has, supports an operator."""
    return runtimes()["onnxruntime-cpu"].supports(use.domain, use.op, use.opset)


@rule(
    Severity.NOTE,
    """An operator was never released: it is a preview or an early experiment of ONNX.

Why it matters: the specification does not define it, so each runtime that supports it may interpret it differently, and
none is required to keep it. onnxruntime supports a few of the old ones up to opset 9 and none of the previews.

What to do: export again with a current exporter, which writes released operators. For an operator that PyTorch's old
exporter wrote as ATen, use torch.onnx.export with dynamo=True.
""",
)
def experimental_operator(context: LintContext) -> Iterator[Violation]:
    uses = [use for use in context.operator_uses if not use.is_local and is_experimental(use)]
    if uses:
        refs = [ref for use in uses for ref in use.refs]
        unsupported = [use for use in uses if not _onnxruntime_supports(use)]
        which = "some of them" if len(unsupported) < len(uses) else "it" if len(refs) == 1 else "them"
        loads = f"; onnxruntime does not load {which}" if unsupported else ""
        listed = list_names([use.qualified_op for use in uses], _MAX_OPERATORS)
        one, many = "node uses an operator that was never released", "nodes use operators that were never released"
        message = f"{pluralize(len(refs), one, many)}: {listed}{loads}"
        yield Violation(message, refs, severity=Severity.WARNING if unsupported else None)


def is_experimental(use: OperatorUse) -> bool:
    listed = has_trait(use, Trait.EXPERIMENTAL) or (use.domain, use.op) == ("", "ATen")
    return listed or use.domain.startswith("ai.onnx.preview")


@rule(
    Severity.NOTE,
    """An operator does not exist at the opset that the file declares.

Why it matters: the file is inconsistent. Checkers and strict runtimes reject it, and a runtime that has another
operator of the same name may run a different operation than intended.

What to do: export again at an opset that has the operator. If its domain is wrong (fused operators of onnxruntime
belong to com.microsoft), correct the node's domain with onnx.helper or onnx-graphsurgeon.

SimplifiedLayerNormalization in ai.onnx is specific to onnxruntime: its optimizer writes it in this domain, and
onnxruntime loads it, but no other runtime is required to support it.
""",
)
def unknown_operator(context: LintContext) -> Iterator[Violation]:
    for use in context.operator_uses:
        if use.opset is None or use.is_local or use.domain not in SPECIFIED_DOMAINS or is_experimental(use):
            continue
        first, domain = first_opset(use.domain, use.op), use.domain or "ai.onnx"
        if use.opset >= first if first is not None else use.opset > newest_opset(use.domain):
            continue
        reason = f"is not an operator of {domain}"
        if first is not None:
            reason = f"was added to {domain} in opset {first}, but the file declares opset {use.opset}"
        loads, severity = "does not load it", Severity.WARNING
        if _onnxruntime_supports(use):
            loads, severity = "loads it anyway", Severity.NOTE
        elif use.op.endswith("_TRT"):
            loads, severity = "loads it only with its TensorRT provider", Severity.NOTE
        message = f"{display_name(use.op, 40)} ({pluralize(len(use.refs), 'node')}) {reason}; onnxruntime {loads}"
        yield Violation(message, use.refs, severity=severity, about=sanitize(use.op, 40))


_DEFAULT_RUNTIME: Final = "onnxruntime-cpu"  # a model that it does not support does not run for most users
_DEFAULT_RUNTIME_RECOMMENDATION: Final = (
    "If onnxruntime supports the operator at another opset, convert the file (onnx.version_converter.convert_version) "
    "or export it again. A file that was optimized for another provider loads with that provider. Replace an operator "
    "that no provider supports by others, or ship a library for it (SessionOptions.register_custom_ops_library)."
)


@rule(
    Severity.INFO,
    """A runtime does not support an operator of the model.

Why it matters: a runtime without a kernel or a conversion for an operator rejects the model, or leaves such nodes to
the CPU. Each of these nodes splits the graph: data are copied between devices, and a graph that could be fused is cut
into parts.

What to do: if you deploy to this runtime, run the model once with verbose logging (log_severity_level = 0 in
onnxruntime's SessionOptions) to see which nodes it leaves out, then export at another opset, or express the operation
with other operators. Otherwise no change is needed.

The tables (data/runtimes) cover one release each. Those of onnxruntime, its CUDA provider and OpenVINO come from
queries to the packages, those of TensorRT, CoreML and NNAPI from their documentation, and those of QNN and WebGPU from
both; the latter five have confidence medium. A node of an operator in a table can still be rejected because of its
types, attributes or shapes. Nodes that depend only on constants and sizes are not reported for a provider of
onnxruntime, because onnxruntime computes them itself.
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
            opset = f" at opset {uses[key].opset}" if is_listed else ""
            operators.append(f"{name}{opset} ({pluralize(len(refs), 'node')})")
        functions = sum(uses[key].is_local for key in nodes)
        counts = ((functions, "local function"), (len(nodes) - functions, "operator"))
        count = " and ".join(pluralize(number, word) for number, word in counts if number)
        listed = list_names(operators, _MAX_OPERATORS, show=str)
        is_default = runtime.id == _DEFAULT_RUNTIME
        yield Violation(
            f"{runtime.name} does not support {count} of this model: {listed}; {runtime.fallback}",
            [ref for refs in nodes.values() for ref in refs],
            recommendation=_DEFAULT_RUNTIME_RECOMMENDATION if is_default else "",
            severity=Severity.WARNING if is_default else None,
            confidence=Confidence.HIGH if runtime.basis == "run" else Confidence.MEDIUM,
            about=runtime.id,
        )
