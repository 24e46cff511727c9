"""Rules on nodes that do nothing, or that another node undoes or repeats."""

import math
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from onnx_autodoc.ir import BITS, is_float, is_integer
from onnx_autodoc.lint.context import LintContext, NodeRef
from onnx_autodoc.lint.messages import count_operators
from onnx_autodoc.lint.rule import Severity, Violation, rule
from onnx_autodoc.ops import Identity, Trait, ValueInfo, has_trait, operator_of
from onnx_autodoc.text import pluralize

_SMALL_ELEMENTS: Final = 1024  # sizes, masks of one row, scalars
_OPEN_END: Final = (1 << 31) - 1  # what exporters write for the end of an axis


@rule(
    Severity.NOTE,
    """Nodes hand on what they read, unchanged.

Why it matters: a runtime that does not remove them copies the tensor, and optimizers that look for patterns miss
those with such a node in the middle.

What to do: run onnxsim, then save what onnxruntime's basic optimization makes of the file
(SessionOptions.optimized_model_filepath): each removes some that the other leaves. What both leave, take out by hand:
let the readers of the node's output read its input.

Only what surely does nothing, at any size that the file allows, is listed. An identity that names an output, or hands
on a weight or a value from around its graph, is harmless and is left out; so are shape arithmetic, and what stands
inside functions, where types differ from call to call. It is a note where more than 1,024 numbers are handed on.
""",
)
def no_op_node(context: LintContext) -> Iterator[Violation]:
    candidates = context.outside_functions(context.nodes_where(lambda row: row.identity))
    nodes = [ref for ref in candidates if _is_no_op(ref, context)]
    if nodes:
        message = f"{pluralize(len(nodes), 'node hands', 'nodes hand')} data on unchanged: {count_operators(nodes)}"
        severity = Severity.INFO if all(map(_is_small, nodes)) else Severity.NOTE
        yield Violation(message, tuple(ref.path for ref in nodes), severity=severity)


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
    is_constant = all(ref.scope.is_constant(name) for name in sources if name)
    return not is_constant and not _names_output(ref)


def _names_output(ref: NodeRef) -> bool:
    """Whether the node gives an output its name, and its input cannot take that name instead."""
    if ref.node.outputs[0] not in ref.scope.graph.index.outputs:
        return False
    producers = (ref.producer(at) for at in range(len(ref.node.inputs)))
    source = next((producer for producer in producers if producer is not None), None)
    return ref.node.is_op("Identity") or source is None or source.only_consumer() is not ref


def _is_small(ref: NodeRef) -> bool:
    known = ref.output()
    return known is not None and known.concrete is not None and math.prod(known.concrete) <= _SMALL_ELEMENTS


def _integers(ref: NodeRef, at: int, attribute: str = "") -> tuple[int, ...] | None:
    """Integers from an attribute or a constant input: () where there is neither, None where they are unknown."""
    items = ref.node.attributes.get(attribute)
    if isinstance(items, tuple):
        return tuple(item for item in items if isinstance(item, int))
    if at >= len(ref.node.inputs) or not ref.node.inputs[at]:
        return ()
    known = ref.input(at)
    if known is None or known.value is None or known.value.dtype == object:
        return None
    if not ref.scope.is_constant(ref.node.inputs[at]):
        return None
    return tuple(int(item) for item in known.value.reshape(-1).tolist())


def _rank(ref: NodeRef) -> int | None:
    known = ref.input(0)
    return len(known.shape) if known is not None and known.shape is not None else None


def _keeps_shape(before: ValueInfo | None, after: ValueInfo | None) -> bool:
    return (
        before is not None and after is not None and before.concrete is not None and before.concrete == after.concrete
    )


# Tests of the ways in which an operator can be an identity. `static`: the sizes on the card are those of every run.


def _is_inference_dropout(ref: NodeRef, static: bool) -> bool:
    """Dropout whose training mode is not set or false, and whose mask nothing reads."""
    node = ref.node
    if len(node.outputs) > 1 and (ref.scope.consumers(node.outputs[1]) or node.outputs[1] in ref.scope.escaping):
        return False
    training = _integers(ref, 2)
    return (ref.step.version or 0) >= 7 and training is not None and not any(training)


def _keeps_dtype(ref: NodeRef, static: bool) -> bool:
    before, after = ref.dtypes
    return before is not None and before == after


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


def _flattens_matrix(ref: NodeRef, static: bool) -> bool:
    return _rank(ref) == 2 and ref.node.attributes.get("axis", 1) in (1, -1)


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
    return all(repeat == 1 for repeat in repeats)


def _has_neutral_operand(ref: NodeRef, static: bool) -> bool:
    neutral = operator_of(ref.node).neutral
    return neutral is not None and any(_is_ones(ref, at) and _fits_other(ref, at, static) for at in neutral.inputs)


def _is_ones(ref: NodeRef, at: int) -> bool:
    known = ref.input(at)
    if known is None or known.value is None or known.value.dtype == object or not known.value.size:
        return False
    return ref.scope.is_constant(ref.node.inputs[at]) and bool(np.all(known.value == 1))


def _fits_other(ref: NodeRef, at: int, static: bool) -> bool:
    """Whether the ones do not broadcast the other input to a larger shape."""
    ones, other = ref.input(at), ref.input(1 - at)
    if ones is None or other is None or ones.shape is None or other.shape is None:
        return False
    is_scalar = all(type(dim) is int and dim == 1 for dim in ones.shape) and len(ones.shape) <= len(other.shape)
    return is_scalar or (static and _keeps_shape(other, ref.output()))


_IDENTITY_TESTS: Final[dict[Identity, Callable[[NodeRef, bool], bool]]] = {
    Identity.ALWAYS: lambda _ref, _static: True,
    Identity.INFERENCE: _is_inference_dropout,
    Identity.SAME_SHAPE: _reshapes_to_itself,
    Identity.MATRIX: _flattens_matrix,
    Identity.NO_PADDING: _pads_nothing,
    Identity.SAME_ORDER: _keeps_axes,
    Identity.WHOLE: _slices_all,
    Identity.SAME_TYPE: _keeps_dtype,
    Identity.ONE_INPUT: lambda ref, _static: len(ref.node.inputs) == 1,
    Identity.ONE_OUTPUT: lambda ref, _static: len(ref.node.outputs) == 1,
    Identity.NEUTRAL_OPERAND: _has_neutral_operand,
    Identity.REPEATED_ONCE: _repeats_once,
}


_INTEGER_BITS: Final = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}  # integers that a float holds


@rule(
    Severity.NOTE,
    """A cast follows another one, and the two could be one or none.

Why it matters: each cast reads and writes the whole tensor. Where the first loses nothing, the second could read what
the first one reads; and where it casts back, nothing happens at all.

What to do: take out the first of the two, or both: onnxruntime's basic optimization does so
(SessionOptions.optimized_model_filepath saves what it makes), and a model that is wholly in one precision is exported
without them.

A cast to a type that cannot hold every number of the one before (float32 to float16 and back) rounds, so it is none
of these.
""",
)
def redundant_cast(context: LintContext) -> Iterator[Violation]:
    casts = [ref for ref in context.outside_functions(context.nodes_of("Cast")) if _follows_cast(ref)]
    back = [ref for ref in casts if _is_back(ref)]
    onward = [ref for ref in casts if _is_onward(ref)]
    parts = [f"{pluralize(len(back), 'cast only turns', 'casts only turn')} an earlier one back"] if back else []
    if onward:
        parts.append(f"{pluralize(len(onward), 'cast')} could read what the cast before reads")
    if parts:
        yield Violation(", ".join(parts), tuple(ref.path for ref in back + onward))


def _follows_cast(ref: NodeRef) -> bool:
    """Whether it reads data that another cast produced."""
    first = ref.producer()
    return first is not None and first.node.is_op("Cast") and not ref.scope.is_constant(ref.node.inputs[0])


def _is_back(ref: NodeRef) -> bool:
    start, between, end = _dtypes(ref)
    return start is not None and start == end and start != between and _can_hold(between, start)


def _is_onward(ref: NodeRef) -> bool:
    """From one type over a second, which only this cast reads, to a third."""
    start, between, end = _dtypes(ref)
    if start is None or between is None or end is None or start == between or end in (start, between):
        return False
    first = ref.producer()
    if first is None or first.only_consumer() is not ref or not _can_hold(between, start):
        return False
    # values out of range are truncated in one way by integer casts and in another by float casts
    return end == "bool" or is_float(end) or _can_hold(end, start) or (is_integer(between) and is_integer(end))


def _dtypes(ref: NodeRef) -> tuple[str | None, str | None, str | None]:
    """Before the cast that this one follows, between the two, and after."""
    first = ref.producer()
    return first.dtypes[0] if first is not None else None, *ref.dtypes


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
    """A reshaping follows right after another one, whose shape nobody else reads.

Why it matters: the numbers stay in their order, so only the last shape counts. Most runtimes pay little for it, but
the pair hides patterns from optimizers and stands in the way of a reader.

What to do: let the second one read what the first one reads, with the final shape as its target; onnxsim joins such
pairs, and onnxscript.rewriter.rewrite those of two Reshape nodes.

Shape arithmetic, and masks and positions of up to 1,024 whole numbers, are left out. Reported where it surely works:
the second is a reshape to a target that copies no size from its input, or all sizes of the model are fixed.
""",
)
def redundant_reshape(context: LintContext) -> Iterator[Violation]:
    reshapes = context.outside_functions(context.nodes_with_trait(Trait.RESHAPES))
    paths = tuple(ref.path for ref in reshapes if _is_redundant(ref, context.is_static))
    if paths:
        are = pluralize(len(paths), "reshaping is", "reshapings are")
        yield Violation(f"{are} not needed before another one", paths)


def _is_redundant(ref: NodeRef, static: bool) -> bool:
    reader = ref.only_consumer()
    if reader is None or reader.node.domain or not has_trait(reader.node, Trait.RESHAPES):
        return False
    if ref.node.outputs[:1] != reader.node.inputs[:1] or not ref.node.inputs:
        return False
    if ref.scope.is_constant(ref.node.inputs[0]):
        return False
    known = reader.output()
    if known is None or known.value is not None or known.concrete is None:
        return False
    if not is_float(known.dtype) and math.prod(known.concrete) <= _SMALL_ELEMENTS:
        return False
    return static or _has_absolute_target(reader)


def _has_absolute_target(ref: NodeRef) -> bool:
    """Whether the target of a Reshape has no zeros, which copy sizes of its input."""
    target = ref.input(1) if ref.node.is_op("Reshape") else None
    if target is None or target.value is None or target.value.dtype == object:
        return False
    return bool(np.all(target.value != 0))


@rule(
    Severity.NOTE,
    """A transpose is undone by the next one, or could be one with it.

Why it matters: each one reads and writes the whole tensor to put the same numbers in another order. Between two that
undo each other there is nothing that needs that order. Converters between channels-first and channels-last leave them
behind.

What to do: save what onnxruntime's offline optimization makes of the file (SessionOptions.optimized_model_filepath;
its transpose optimizer cancels them), run onnxsim for those that follow right after each other, or export in one
layout (tf2onnx: --inputs-as-nchw for picture inputs).

Between the two may stand nodes that take each number by itself, with one reader each. Axes of size 1 that merely look
turned are not judged.
""",
)
def redundant_transpose(context: LintContext) -> Iterator[Violation]:
    transposes = context.outside_functions(context.nodes_of("Transpose"))
    pairs = [(first, ref) for ref in transposes if (first := _preceding_transpose(ref)) is not None]
    undone = [ref for first, ref in pairs if _are_inverse(first, ref)]
    joined = [ref for first, ref in pairs if not _are_inverse(first, ref) and first.only_consumer() is ref]
    parts = [f"{pluralize(len(undone), 'transpose undoes', 'transposes undo')} an earlier one"] if undone else []
    if joined:
        parts.append(f"{pluralize(len(joined), 'transpose')} could be one with the transpose before")
    if parts:
        yield Violation(", ".join(parts), tuple(ref.path for ref in undone + joined))


def _preceding_transpose(ref: NodeRef) -> NodeRef | None:
    """The transpose that this one follows, directly or through elementwise nodes."""
    if not ref.node.inputs or ref.scope.is_constant(ref.node.inputs[0]):
        return None
    source, reader = ref.producer(), ref
    while source is not None and _is_elementwise(source) and source.only_consumer() is reader:
        reader = source
        source = _data_producer(reader)
    if source is None or not source.node.is_op("Transpose"):
        return None
    return source if reader is ref or source.only_consumer() is reader else None


def _is_elementwise(ref: NodeRef) -> bool:
    """Whether it treats each element of one input alone, whatever the order of axes."""
    if ref.node.domain or not ref.node.inputs:
        return False
    if has_trait(ref.node, Trait.UNARY):
        return True
    return has_trait(ref.node, Trait.UNARY_WITH_SCALARS) and len(_non_scalars(ref)) == 1


def _non_scalars(ref: NodeRef) -> list[str]:
    pairs = zip(ref.node.inputs, ref.step.inputs)
    return [name for name, known in pairs if name and not (known is not None and known.shape == ())]


def _data_producer(ref: NodeRef) -> NodeRef | None:
    name = ref.node.inputs[0] if has_trait(ref.node, Trait.UNARY) else _non_scalars(ref)[0]
    return ref.scope.producer(name)


def _permutation(ref: NodeRef) -> tuple[int, ...] | None:
    """The input axis of each output axis; reversed if the node declares none."""
    perm, known = ref.node.attributes.get("perm"), ref.input(0)
    if isinstance(perm, tuple):
        return tuple(axis for axis in perm if isinstance(axis, int))
    return tuple(reversed(range(len(known.shape)))) if known is not None and known.shape is not None else None


def _are_inverse(first: NodeRef, second: NodeRef) -> bool:
    one, other = _permutation(first), _permutation(second)
    if one is None or other is None or len(one) != len(other) or sorted(one) != sorted(other):
        return False
    return all(one[axis] == at for at, axis in enumerate(other))
