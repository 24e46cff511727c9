"""Roles of inputs and outputs that the graph determines: by the use of a value, not by its name.

A name decides only between two roles that the graph allows: an image of one channel or with an axis of frames may be a
spectrogram, a signal may be audio (`input_roles`), and either end of a span may be the start.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Model
from onnx_autodoc.patterns.head import Head
from onnx_autodoc.patterns.input_roles import InputContext, find_control_roles, find_input_role
from onnx_autodoc.patterns.net import Net

_MAX_INPUTS: Final = 1000
_MAX_VISITS: Final = 1_000_000  # values and ops in the traces of all inputs
_TIME_AXIS_NAME: Final = re.compile(r"frame|time", re.I)
InputRoles = dict[str, str | None]


def find_roles(net: Net, model: Model, heads: tuple[Head, ...]) -> dict[str, str]:
    """Return the role of each input and output that has one."""
    control = find_control_roles(net, model)
    roles: InputRoles = {name: control.get(name) for name in net.inputs}
    visits_left = _MAX_VISITS
    for name, value in islice(net.inputs.items(), _MAX_INPUTS):
        if not roles[name] and visits_left > 0:
            traced = InputContext(net, name, value)
            roles[name] = find_input_role(traced)
            visits_left -= traced.trace.visits
    _find_spectrograms(model, roles)
    _find_latents(net, roles, heads)
    _find_returned_states(net, roles, heads)
    context = _output_context(net, roles, heads)
    for head in heads:
        roles[head.output] = _denoised_role(net, head, roles) or next(
            (row.role for row in OUTPUT_ROLES if row.applies(head, context)), None
        )
    return {name: role for name, role in roles.items() if role}


# Inputs, given the roles of the others


def _find_spectrograms(model: Model, roles: InputRoles) -> None:
    """An image one of whose axes is named after frames or time is a spectrogram."""
    for value in model.graph.inputs:
        dims = value.type.dims or () if value.type is not None else ()
        has_time_axis = any(isinstance(dim, str) and _TIME_AXIS_NAME.search(dim) for dim in dims[1:])
        if has_time_axis and (roles.get(value.name) or "").startswith("image"):
            roles[value.name] = "spectrogram"


def _find_latents(net: Net, roles: InputRoles, heads: tuple[Head, ...]) -> None:
    """Images next to a timestep are noisy; with unusual channels, or if an image is generated, they are latents."""
    maps = [name for name, role in roles.items() if role == "features" and net.rank(net.inputs[name]) == 4]
    images = [name for name, role in roles.items() if name in maps or (role or "").startswith("image")]
    generates_image = any(head.kind == "image" for head in heads)
    image_dims = net.shape(net.inputs[images[0]]) if images else None
    if images and any(net.shape(value) == image_dims for value in net.outputs.values()):
        for name, role in roles.items():
            if role == "category":  # a table with a row per timestep
                roles[name] = "timestep"
    for name in images:
        channel_axis = 3 if (roles[name] or "").endswith("NHWC") else 1
        has_colours = net.dim(net.inputs[name], channel_axis) in (1, 3)
        if ("timestep" in roles.values() or generates_image) and not has_colours:
            roles[name] = "latent"
    if generates_image and not images:
        for name, role in roles.items():
            roles[name] = "latent" if role == "features" else role


def _find_returned_states(net: Net, roles: InputRoles, heads: tuple[Head, ...]) -> None:
    """Features of the shape of a state output are the previous state, if no other input is it."""
    known = Counter(net.shape(net.inputs[name]) for name, role in roles.items() if role in ("state", "past state"))
    states = Counter(net.shape(net.outputs[head.output]) for head in heads if head.kind == "state")
    for dims, count in states.items():
        if dims is None or dims in known:
            continue
        same = [name for name, value in net.inputs.items() if roles[name] == "features" and net.shape(value) == dims]
        if 0 < len(same) <= count:
            roles |= dict.fromkeys(same, "state")


# Outputs


class OutputContext(Struct, frozen=True):
    """`input_roles` are the first words of the input roles; `selected` are the heads that end in an activation."""

    input_roles: frozenset[str]
    text_lengths: frozenset[int]
    spans: tuple[str, ...]
    selected: frozenset[tuple[str, int | None]]


def _output_context(net: Net, roles: InputRoles, heads: tuple[Head, ...]) -> OutputContext:
    texts = [net.shape(value) or (0,) for name, value in net.inputs.items() if roles[name] == "tokens"]
    return OutputContext(
        input_roles=frozenset(role.split(" ")[0] for role in roles.values() if role),
        text_lengths=frozenset(dims[-1] for dims in texts),
        spans=tuple(head.output for head in heads if head.kind == "span"),
        selected=frozenset((head.kind, head.classes) for head in heads if head.activation),
    )


class OutputRole(Struct, frozen=True):
    """The role of heads of some kinds, given their activation (None: any) and a condition."""

    role: str
    kinds: tuple[str, ...]
    activations: tuple[str, ...] | None = None
    condition: Callable[[Head, OutputContext], bool] | None = None

    def applies(self, head: Head, context: OutputContext) -> bool:
        if head.kind not in self.kinds or (self.activations is not None and head.activation not in self.activations):
            return False
        return self.condition is None or self.condition(head, context)


def _denoised_role(net: Net, head: Head, roles: InputRoles) -> str | None:
    """With a timestep input, an output of the size of a noisy input has its role."""
    if "timestep" not in roles.values():
        return None
    dims = net.shape(net.outputs[head.output])
    noisy = [name for name in net.inputs if net.shape(net.inputs[name]) == dims and roles.get(name)]
    return roles[noisy[0]] if noisy and len(dims or ()) > 2 else None


# numbers computed from these inputs are class scores; those computed from a table may be anything
_CLASSIFIED_ROLES: Final = frozenset(("tokens", "image", "audio", "spectrogram", "video", "text"))


def _is_next_to_classes(head: Head, context: OutputContext) -> bool:
    """Whether another output of this kind and another width has an activation, and this one has none."""
    others = any(kind == head.kind and classes != head.classes for kind, classes in context.selected)
    return others and head.activation is None


def _are_class_scores(head: Head, context: OutputContext) -> bool:
    """Whether plain numbers are class scores. Next to classes with an activation they are a box or keypoints."""
    return bool(_CLASSIFIED_ROLES & context.input_roles) and not _is_next_to_classes(head, context)


def _is_span_start(head: Head, context: OutputContext) -> bool:
    """Exporters put the start first, unless a name shows otherwise."""
    first = context.spans[0]
    is_reversed = bool(re.search(r"end", first, re.I)) and not re.search(r"start", first, re.I)
    return (head.output == first) != is_reversed


def _reads_image(head: Head, context: OutputContext) -> bool:
    return "image" in context.input_roles


_CLASS_SCORES: Final = ("classification", "token-classification", "ctc", "trees")
_PIXELS: Final = ("segmentation", "map")
OUTPUT_ROLES: Final = (
    OutputRole("probabilities", _CLASS_SCORES, ("softmax", "sigmoid")),
    OutputRole("labels", (*_CLASS_SCORES, *_PIXELS), ("argmax",)),
    OutputRole("log probabilities", _CLASS_SCORES, ("log-softmax",)),
    OutputRole("tags", ("token-classification",), condition=_are_class_scores),
    OutputRole("logits", ("classification", "ctc", "trees"), condition=_are_class_scores),
    OutputRole("start logits", ("span",), condition=_is_span_start),
    OutputRole("end logits", ("span",)),
    OutputRole(
        "token scores",
        ("score-per-place",),
        condition=lambda head, context: head.positions in context.text_lengths,
    ),
    OutputRole(
        "sentence embedding",
        ("embedding",),
        condition=lambda _, context: "tokens" in context.input_roles and "image" not in context.input_roles,
    ),
    OutputRole("embedding", ("embedding",)),
    OutputRole(
        "masks",
        ("segmentation",),
        condition=lambda head, context: _reads_image(head, context) and not _is_next_to_classes(head, context),
    ),
    OutputRole("masks", ("map",), ("sigmoid",), _reads_image),
    OutputRole("map", ("map",), condition=_reads_image),
    # without an image, cells may be times and pitches
    OutputRole("probabilities", _PIXELS, ("sigmoid", "softmax"), lambda head, context: not _reads_image(head, context)),
    OutputRole("tokens", ("lm",), ("argmax",)),
    OutputRole("token logits", ("lm",)),
    OutputRole("boxes", ("detection",), ("boxes",)),
    OutputRole("class scores", ("detection",), ("scores",)),
    OutputRole("labels", ("detection",), ("argmax",)),
    OutputRole("chosen boxes", ("detection",), ("selected",)),
    OutputRole("detections", ("detection", "pose", "oriented")),
    OutputRole("raw detections", ("raw-detection",)),
    OutputRole("boxes", ("boxes",)),
    OutputRole("class scores", ("scores",)),
    OutputRole("mask prototypes", ("prototypes",)),
    OutputRole("present state", ("state",)),
    OutputRole("attention weights", ("weights",)),
    OutputRole("hidden states", ("hidden",)),
    OutputRole("score", ("score", "trees-regression")),
    OutputRole("probability", ("probability",)),
    OutputRole("probabilities", ("probability-per-place",)),
    OutputRole("feature map", ("features",)),
    OutputRole("image", ("image",)),
    OutputRole("masks", ("text-map",)),
    OutputRole("similarity", ("matching",)),
)
