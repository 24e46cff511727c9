"""Rules on operators that not every runtime supports."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from onnx_autodoc.lint.context import LintContext, NodeRef, OperatorUse
from onnx_autodoc.lint.messages import list_names
from onnx_autodoc.lint.rule import Confidence, Severity, Violation, rule
from onnx_autodoc.lint.runtimes import Runtime, onnxruntime_supports, runtimes, unsupported_nodes
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
    operators = context.paths_by_operator(lambda domain: domain.startswith(CONTRIB_DOMAINS) and is_bundled(domain))
    if operators:
        rows = sorted(operators.items(), key=lambda row: -len(row[1]))
        counts = [f"{display_name(op, 40)} ({pluralize(len(paths), 'node')})" for (_, op), paths in rows]
        domains = " and ".join(sorted({display_name(domain, 40) for domain, _ in operators}))
        are = "is" if len(rows) == 1 else "are"
        listed = list_names(counts, _MAX_OPERATORS, show=str)
        yield Violation(
            f"{pluralize(len(rows), 'operator')} of {domains} {are} not part of ONNX: {listed}",
            tuple(path for _, paths in rows for path in paths),
        )


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
    operators = context.paths_by_operator(lambda domain: not is_bundled(domain))
    if operators:
        paths = tuple(path for paths in operators.values() for path in paths)
        need = pluralize(len(paths), "node needs a library", "nodes need a library")
        listed = list_names([f"{domain}.{op}" for domain, op in operators], _MAX_OPERATORS)
        yield Violation(f"{need} that does not come with onnxruntime: {listed}", paths)


def is_bundled(domain: str) -> bool:
    """Whether operators of this domain come with ONNX or with onnxruntime."""
    if domain in _BUNDLED_DOMAINS:
        return True
    return domain.startswith(_BUNDLED_PREFIXES) and not domain.startswith(_EXTENSIONS)


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
        is_refused = onnxruntime_supports(use) is False
        what = f"{display_name(use.op)} ({pluralize(len(use.refs), 'node')}) is deprecated at opset {use.opset}"
        where = ", and onnxruntime refuses it there" if is_refused else ""
        yield Violation(
            f"{what}{where}: {successor}{',' if ',' in successor else ''} takes its place",
            use.paths,
            severity=Severity.WARNING if is_refused else None,
            about=sanitize(use.op),
        )


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
        paths = tuple(path for use in uses for path in use.paths)
        unsupported = [use for use in uses if not onnxruntime_supports(use)]
        which = "them" if len(unsupported) == len(uses) else "all of them"
        nodes = pluralize(len(paths), "node is", "nodes are")
        listed = list_names([use.qualified_op for use in uses], _MAX_OPERATORS)
        yield Violation(
            f"{nodes} of operators that were never released: {listed}"
            f"{f'; onnxruntime does not load {which}' if unsupported else ''}",
            paths,
            severity=Severity.WARNING if unsupported else None,
        )


def is_experimental(use: OperatorUse) -> bool:
    listed = has_trait(use, Trait.EXPERIMENTAL) or (use.domain, use.op) == ("", "ATen")
    return listed or use.domain.startswith("ai.onnx.preview")


_REFUSED: Final = "does not load it"


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
        if _is_unknown(use):
            loads = _onnxruntime_loads(use)
            nodes = pluralize(len(use.refs), "node")
            yield Violation(
                f"{display_name(use.op, 40)} ({nodes}) {_reason(use)}; onnxruntime {loads}",
                use.paths,
                severity=Severity.WARNING if loads == _REFUSED else None,
                about=sanitize(use.op, 40),
            )


def _is_unknown(use: OperatorUse) -> bool:
    if use.opset is None or use.is_local or use.domain not in SPECIFIED_DOMAINS or is_experimental(use):
        return False
    first = first_opset(use.domain, use.op)
    return use.opset <= newest_opset(use.domain) if first is None else use.opset < first


def _reason(use: OperatorUse) -> str:
    first = first_opset(use.domain, use.op)
    domain = use.domain or "ai.onnx"
    if first is None:
        return f"is no operator of {domain}"
    return f"came into {domain} with opset {first}, and the file is of opset {use.opset}"


def _onnxruntime_loads(use: OperatorUse) -> str:
    if onnxruntime_supports(use):
        return "loads it nevertheless"
    return "loads it with its TensorRT provider alone" if use.op.endswith("_TRT") else _REFUSED


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
    path_of = cache(lambda ref: ref.path)  # several runtimes do not support the same nodes
    for runtime in runtimes().values():
        nodes = unsupported_nodes(runtime, context.operator_uses)
        if nodes:
            is_default = runtime.id == _DEFAULT_RUNTIME
            yield Violation(
                _describe_unsupported(runtime, nodes, uses),
                tuple(path_of(ref) for refs in nodes.values() for ref in refs),
                recommendation=_DEFAULT_RUNTIME_RECOMMENDATION if is_default else "",
                severity=Severity.WARNING if is_default else None,
                confidence=Confidence.HIGH if runtime.basis == "run" else Confidence.MEDIUM,
                about=runtime.id,
            )


def _describe_unsupported(
    runtime: Runtime, nodes: dict[tuple[str, str], list[NodeRef]], uses: dict[tuple[str, str], OperatorUse]
) -> str:
    rows = sorted(nodes.items(), key=lambda row: -len(row[1]))
    operators = [f"{_show_operator(runtime, uses[key])} ({pluralize(len(refs), 'node')})" for key, refs in rows]
    functions = sum(uses[key].is_local for key in nodes)
    counts = ((functions, "local function"), (len(rows) - functions, "operator"))
    count = " and ".join(pluralize(number, word) for number, word in counts if number)
    listed = list_names(operators, _MAX_OPERATORS, show=str)
    return f"{runtime.name} does not take {count} of this model: {listed}; {runtime.fallback}"


def _show_operator(runtime: Runtime, use: OperatorUse) -> str:
    """The name of an operator, with its opset where the runtime supports it at others."""
    name = sanitize(quote_name(use.qualified_op, 60))
    return f"{name} of opset {use.opset}" if use.op in runtime.operators.get(use.domain, {}) else name
