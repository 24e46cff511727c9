"""Rules on nodes that do nothing, or that another node undoes or repeats."""

import math
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from onnx_autodoc.ir import BITS, is_float, is_integer
from onnx_autodoc.lint.context import LintContext, NodeRef
from onnx_autodoc.lint.rule import Severity, Violation, count_operators, rule
from onnx_autodoc.ops import Identity, Trait, ValueInfo, has_trait, operator_of
from onnx_autodoc.text import pluralize

_SMALL_ELEMENTS: Final = 1024  # sizes, masks of one row, scalars
_OPEN_END: Final = (1 << 31) - 1  # written by exporters for the end of an axis


@rule(
    Severity.NOTE,
    """Nodes pass their input on unchanged.

Why it matters: a runtime that does not remove them copies the tensor, and optimizers do not recognize a pattern with
such a node in the middle.

What to do: run onnxsim, then save the file that onnxruntime's basic optimization produces
(SessionOptions.optimized_model_filepath): each removes some that the other keeps. Remove the rest by hand: connect the
readers of the node's output to its input.

Only nodes that certainly have no effect, at any size that the file allows, are listed. An Identity that names an
output, or passes on a weight or a value of an outer graph, is harmless and not reported; neither are shape arithmetic
and nodes inside functions, where types differ from call to call. The severity is note if a node passes on more than
1,024 elements, otherwise info.
""",
)
def no_op_node(context: LintContext) -> Iterator[Violation]:
    candidates = context.outside_functions(context.nodes_where(lambda row: row.identity))
    nodes = [ref for ref in candidates if _is_no_op(ref, context)]
    if nodes:
        message = f"{pluralize(len(nodes), 'node passes', 'nodes pass')} data on unchanged: {count_operators(nodes)}"
        sizes = [output.concrete if (output := ref.output()) is not None else None for ref in nodes]
        are_small = all(dims is not None and math.prod(dims) <= _SMALL_ELEMENTS for dims in sizes)
        yield Violation(message, nodes, severity=Severity.INFO if are_small else Severity.NOTE)


def _is_no_op(ref: NodeRef, context: LintContext) -> bool:
    node, output, identity = ref.node, ref.output(), operator_of(ref.node).identity
    if not node.inputs or not node.outputs or identity is None:
        return False
    if not _IDENTITY_TESTS[identity](ref, context.is_static):
        return False
    if not ref.scope.is_executed or not context.overridable.isdisjoint(node.inputs):
        return False
    if output is None or output.value is not None:  # shape arithmetic: its elements are known before any run
        return False
    sources = node.inputs if identity is Identity.NEUTRAL_OPERAND else node.inputs[:1]
    if all(ref.scope.is_constant(name) for name in sources if name):
        return False
    if node.outputs[0] not in ref.scope.graph.index.outputs:
        return True
    # A node that gives an output its name is needed, unless its input can take that name instead
    producers = (ref.producer(at) for at in range(len(node.inputs)))
    source = next((producer for producer in producers if producer is not None), None)
    return not node.is_op("Identity") and source is not None and source.only_consumer() is ref


def _integers(ref: NodeRef, at: int, attribute: str = "") -> tuple[int, ...] | None:
    """Return integers from an attribute or a constant input: () where there is neither, None where they are unknown."""
    items = ref.node.attributes.get(attribute)
    if isinstance(items, tuple):
        return tuple(item for item in items if isinstance(item, int))
    if at >= len(ref.node.inputs) or not ref.node.inputs[at]:
        return ()
    elements = ref.elements(at)
    return tuple(map(int, elements.reshape(-1).tolist())) if elements is not None and ref.has_constant(at) else None


def _rank(ref: NodeRef) -> int | None:
    known = ref.input(0)
    return len(known.shape) if known is not None and known.shape is not None else None


def _keeps_shape(before: ValueInfo | None, after: ValueInfo | None) -> bool:
    dims = before.concrete if before is not None and after is not None else None
    return after is not None and dims is not None and dims == after.concrete


def _is_inactive_dropout(ref: NodeRef, static: bool) -> bool:
    """Whether the training mode of a Dropout is not set or false, and nothing reads its mask."""
    node = ref.node
    if len(node.outputs) > 1 and (ref.scope.consumers(node.outputs[1]) or node.outputs[1] in ref.scope.escaping):
        return False
    training = _integers(ref, 2)
    return (ref.step.version or 0) >= 7 and training is not None and not any(training)


# Tests of the ways in which an operator can be an identity. `static`: the sizes on the card are those of every run.


def _keeps_axes(ref: NodeRef, static: bool) -> bool:
    perm = ref.node.attributes.get("perm")
    return perm == tuple(range(len(perm))) if isinstance(perm, tuple) else _rank(ref) in (0, 1)


def _reshapes_to_itself(ref: NodeRef, static: bool) -> bool:
    """Whether the target copies all dims, or all but one that is inferred."""
    if static and _keeps_shape(ref.input(0), ref.output()):
        return True
    target = _integers(ref, 1, "shape")
    if not target or ref.node.attributes.get("allowzero") or len(target) != _rank(ref):
        return False
    return target.count(0) >= len(target) - 1 and set(target) <= {0, -1}


def _slices_all(ref: NodeRef, static: bool) -> bool:
    starts, ends, steps = _integers(ref, 1, "starts"), _integers(ref, 2, "ends"), _integers(ref, 4)
    if not starts or not ends or steps is None or any(step != 1 for step in steps):
        return False
    takes_all = not any(starts) and all(end >= _OPEN_END for end in ends)
    return takes_all or (static and _keeps_shape(ref.input(0), ref.output()))


def _pads_nothing(ref: NodeRef, static: bool) -> bool:
    pads = _integers(ref, 1, "pads") or _integers(ref, 1, "paddings")
    return bool(pads) and not any(pads or ())


def _repeats_once(ref: NodeRef, static: bool) -> bool:
    if static and _keeps_shape(ref.input(0), ref.output()):
        return True
    repeats, rank = _integers(ref, 1), _rank(ref)
    if not repeats or rank is None or len(repeats) > rank or len(ref.node.inputs) != 2:
        return False
    return set(repeats) == {1}


def _has_neutral_operand(ref: NodeRef, static: bool) -> bool:
    """Whether an operand is a constant of ones that does not broadcast the other one to a larger shape."""
    neutral = operator_of(ref.node).neutral
    for at in neutral.inputs if neutral is not None else ():
        elements, ones, data = ref.elements(at), ref.input(at), ref.input(1 - at)
        if elements is None or not elements.size or not ref.has_constant(at) or not np.all(elements == 1):
            continue
        if ones is None or data is None or ones.shape is None or data.shape is None:
            continue
        is_scalar = all(type(dim) is int and dim == 1 for dim in ones.shape) and len(ones.shape) <= len(data.shape)
        if is_scalar or (static and _keeps_shape(data, ref.output())):
            return True
    return False


_IDENTITY_TESTS: Final[dict[Identity, Callable[[NodeRef, bool], bool]]] = {
    Identity.ALWAYS: lambda _ref, _static: True,
    Identity.INFERENCE: _is_inactive_dropout,
    Identity.SAME_SHAPE: _reshapes_to_itself,
    Identity.MATRIX: lambda ref, _static: _rank(ref) == 2 and ref.node.attributes.get("axis", 1) in (1, -1),
    Identity.NO_PADDING: _pads_nothing,
    Identity.SAME_ORDER: _keeps_axes,
    Identity.WHOLE: _slices_all,
    Identity.SAME_TYPE: lambda ref, _static: ref.dtypes[0] is not None and ref.dtypes[0] == ref.dtypes[1],
    Identity.ONE_INPUT: lambda ref, _static: len(ref.node.inputs) == 1,
    Identity.ONE_OUTPUT: lambda ref, _static: len(ref.node.outputs) == 1,
    Identity.NEUTRAL_OPERAND: _has_neutral_operand,
    Identity.REPEATED_ONCE: _repeats_once,
}


_INTEGER_BITS: Final = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}  # integers that a float holds


@rule(
    Severity.NOTE,
    """Two consecutive casts could be one or none.

Why it matters: each cast reads and writes the whole tensor. If the first cast is lossless, the second one could read
its input; if the second one casts back, both have no effect.

What to do: remove the first of the two, or both: onnxruntime's basic optimization does so
(SessionOptions.optimized_model_filepath saves the result), and a model that is entirely in one precision is exported
without them.

A cast to a type that cannot represent every value of the type before (float32 to float16 and back) rounds, and is not
reported.
""",
)
def redundant_cast(context: LintContext) -> Iterator[Violation]:
    back, onward = list[NodeRef](), list[NodeRef]()
    for ref in context.outside_functions(context.nodes_of("Cast")):
        first = ref.producer()
        if first is None or not first.node.is_op("Cast") or ref.has_constant(0):
            continue
        start, (between, end) = first.dtypes[0], ref.dtypes
        if start is None or start == between or not _can_hold(between, start):
            continue
        if start == end:
            back.append(ref)
        elif end not in (None, between) and first.only_consumer() is ref:
            # Values out of range are truncated in one way by integer casts and in another by float casts
            is_exact = end == "bool" or is_float(end) or _can_hold(end, start)
            if is_exact or (is_integer(between) and is_integer(end)):
                onward.append(ref)
    parts = [f"{pluralize(len(back), 'cast only reverses', 'casts only reverse')} an earlier one"] if back else []
    if onward:
        parts.append(f"{pluralize(len(onward), 'cast')} could read the input of the previous cast")
    if parts:
        yield Violation(", ".join(parts), back + onward)


def _can_hold(wide: str | None, narrow: str) -> bool:
    """Whether a type holds every number of another one."""
    if wide is None or wide == narrow or "string" in (wide, narrow):
        return wide == narrow
    if narrow == "bool":
        return is_integer(wide) or wide in _INTEGER_BITS
    if narrow in _INTEGER_BITS:
        return wide == "float64" or (wide == "float32" and narrow != "float64")
    return is_integer(narrow) and _magnitude_bits(wide, narrow) >= _magnitude_bits(narrow, narrow)


def _magnitude_bits(dtype: str, source: str) -> int:
    """Bits for the magnitude of integers; -1 where an unsigned type would have to hold signed ones."""
    if dtype in _INTEGER_BITS:
        return _INTEGER_BITS[dtype]
    if not is_integer(dtype) or (dtype.startswith("u") and not source.startswith("u")):
        return -1
    return BITS[dtype] - (not dtype.startswith("u"))


@rule(
    Severity.INFO,
    """The result of a reshape is read only by another reshape.

Why it matters: the elements keep their order, so only the last shape matters. Most runtimes pay little for it, but the
pair hides patterns from optimizers and makes the graph harder to read.

What to do: connect the second reshape to the input of the first, with the final shape as its target; onnxsim merges
such pairs, and onnxscript.rewriter.rewrite merges those of two Reshape nodes.

Shape arithmetic, and masks and positions of up to 1,024 integers, are not reported. Reported only if the merge is
certainly valid: the second is a Reshape with a target that copies no size from its input, or all sizes of the model are
fixed.
""",
)
def redundant_reshape(context: LintContext) -> Iterator[Violation]:
    reshapes = context.outside_functions(context.nodes_with_trait(Trait.RESHAPES))
    nodes = [ref for ref in reshapes if _is_redundant_reshape(ref, context.is_static)]
    if nodes:
        are = pluralize(len(nodes), "reshape is", "reshapes are")
        yield Violation(f"{are} redundant before another reshape", nodes)


def _is_redundant_reshape(ref: NodeRef, static: bool) -> bool:
    reader = ref.only_consumer()
    if reader is None or reader.node.domain or not has_trait(reader.node, Trait.RESHAPES):
        return False
    if ref.node.outputs[:1] != reader.node.inputs[:1] or not ref.node.inputs or ref.has_constant(0):
        return False
    output = reader.output()
    if output is None or output.value is not None or output.concrete is None:
        return False
    if not is_float(output.dtype) and math.prod(output.concrete) <= _SMALL_ELEMENTS:
        return False
    target = reader.elements(1) if reader.node.is_op("Reshape") else None
    return static or (target is not None and bool(np.all(target != 0)))  # zeros copy sizes of the input


@rule(
    Severity.NOTE,
    """A transpose reverses an earlier one, or could be merged with it.

Why it matters: each transpose reads and writes the whole tensor to reorder the same elements. Between two that cancel
each other, no node needs that order. Converters between channels-first and channels-last leave them behind.

What to do: save the file that onnxruntime's offline optimization produces (SessionOptions.optimized_model_filepath; its
transpose optimizer cancels them), run onnxsim for those that follow each other directly, or export in one layout
(tf2onnx: --inputs-as-nchw for image inputs).

Elementwise nodes with one reader each may be between the two. Only the permutations are compared: a transpose that
merely moves axes of size 1 is not reported for this.
""",
)
def redundant_transpose(context: LintContext) -> Iterator[Violation]:
    undone, joined = list[NodeRef](), list[NodeRef]()
    for ref in context.outside_functions(context.nodes_of("Transpose")):
        first = _preceding_transpose(ref)
        if first is None:
            continue
        before, after = _permutation(first), _permutation(ref)
        if any(axes is not None and sorted(axes) != list(range(len(axes))) for axes in (before, after)):
            continue  # not a permutation: contradictory-shape reports the node
        if before is not None and after is not None and _is_inverse(before, after):
            undone.append(ref)
        elif first.only_consumer() is ref:
            joined.append(ref)
    parts = [f"{pluralize(len(undone), 'transpose reverses', 'transposes reverse')} an earlier one"] if undone else []
    if joined:
        parts.append(f"{pluralize(len(joined), 'transpose')} could be merged with the previous transpose")
    if parts:
        yield Violation(", ".join(parts), undone + joined)


def _is_inverse(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    return len(before) == len(after) and all(before[axis] == at for at, axis in enumerate(after))


def _preceding_transpose(ref: NodeRef) -> NodeRef | None:
    """The transpose that this one follows, directly or through elementwise nodes."""
    if not ref.node.inputs or ref.has_constant(0):
        return None
    source, reader = ref.producer(), ref
    while source is not None and source.only_consumer() is reader and (name := _elementwise_input(source)):
        reader = source
        source = reader.scope.producer(name)
    if source is None or not source.node.is_op("Transpose"):
        return None
    return source if reader is ref or source.only_consumer() is reader else None


def _elementwise_input(ref: NodeRef) -> str:
    """The input that a node processes elementwise, whatever the order of axes; "" without one."""
    if ref.node.domain or not ref.node.inputs:
        return ""
    if has_trait(ref.node, Trait.UNARY):
        return ref.node.inputs[0]
    if not has_trait(ref.node, Trait.UNARY_WITH_SCALARS):
        return ""
    inputs = zip(ref.node.inputs, ref.step.inputs)
    names = [name for name, info in inputs if name and (info is None or info.shape != ())]
    return names[0] if len(names) == 1 else ""


def _permutation(ref: NodeRef) -> tuple[int, ...] | None:
    """The input axis of each output axis; reversed if the node declares none."""
    perm, known = ref.node.attributes.get("perm"), ref.input(0)
    if isinstance(perm, tuple):
        return tuple(axis for axis in perm if isinstance(axis, int))
    return tuple(reversed(range(len(known.shape)))) if known is not None and known.shape is not None else None
