"""What inputs and outputs are for, as far as the graph proves it: by what is done with them, not by their names.

A name only breaks a tie between two things that the graph allows: a picture of one channel, or with an
axis of frames, may be a spectrogram, a signal may be sound (`_signals`), and of the two ends of a span either may be
the start.
"""

import re
from collections import Counter
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.patterns._control_inputs import aside
from onnx_autodoc.patterns._input_roles import entry_role
from onnx_autodoc.patterns._net import Net
from onnx_autodoc.patterns._output_roles import company, exit_role
from onnx_autodoc.patterns._output_trace import size
from onnx_autodoc.patterns.heads import Head, heads

_MOST: Final = 1000  # inputs that are followed into the graph
_FRAMES: Final = re.compile(r"frame|time", re.I)


def roles(net: Net, model: Model) -> dict[str, str]:
    """The role of each input and output that has one."""
    ends, beside = heads(net), aside(net, model)
    found: dict[str, str | None] = {}
    for at, (name, value) in enumerate(net.inputs.items()):
        found[name] = beside.get(name) or (entry_role(net, name, value) if at < _MOST else None)
    _along_time(model, found)
    _in_company(net, found, ends)
    _handed_back(net, found, ends)
    others = company(net, found, ends)
    for head in ends:
        found[head.output] = _cleaned(net, head, found) or exit_role(head, others)
    return {name: role for name, role in found.items() if role}


# -- what an input is beside others


def _along_time(model: Model, found: dict[str, str | None]) -> None:
    """A name breaks the tie: what has frames for one of its sides is no picture."""
    for value in model.graph.inputs:
        dims = value.type.dims or () if value.type is not None else ()
        timed = any(isinstance(dim, str) and _FRAMES.search(dim) for dim in dims[1:])
        if timed and (found.get(value.name) or "").startswith("image"):
            found[value.name] = "spectrogram"


def _in_company(net: Net, found: dict[str, str | None], ends: tuple[Head, ...]) -> None:
    """A picture beside a time is noise on its way; a small one that a larger one is made of is a latent."""
    pictures = [name for name, role in found.items() if role and _is_picture(net, name, role)]
    timed = "timestep" in found.values()
    for name, role in found.items():
        if role == "category" and pictures and _same_size(net, pictures[0]):
            found[name] = "timestep"  # a table with a row for each step
            timed = True
    for name in pictures:
        if (timed or any(head.kind == "picture" for head in ends)) and _channels(net, name, found[name] or "") not in (
            1,
            3,
        ):
            found[name] = "latent"
    if any(head.kind == "picture" for head in ends) and not pictures:
        for name, role in found.items():
            found[name] = "latent" if role == "features" else role


def _handed_back(net: Net, found: dict[str, str | None], ends: tuple[Head, ...]) -> None:
    """Numbers as large as a state that is handed on are the one of the run before, where no other input is it."""
    known = Counter(net.shape(net.inputs[name]) for name, role in found.items() if role in ("state", "past state"))
    made = Counter(net.shape(net.outputs[head.output]) for head in ends if head.kind == "state")
    free = {dims: count - known[dims] for dims, count in made.items() if dims is not None and dims not in known}
    for dims, count in free.items():
        alike = [name for name, value in net.inputs.items() if found[name] == "features" and net.shape(value) == dims]
        if 0 < len(alike) <= count:
            found |= dict.fromkeys(alike, "state")


def _is_picture(net: Net, name: str, role: str) -> bool:
    """Also one with more channels than colours."""
    return role.startswith("image") or (role == "features" and net.rank(net.inputs[name]) == 4)


def _same_size(net: Net, name: str) -> bool:
    dims = net.shape(net.inputs[name])
    return any(net.shape(value) == dims for value in net.outputs.values())


def _channels(net: Net, name: str, role: str) -> int | None:
    return size(net, net.inputs[name], 3 if role.endswith("NHWC") else 1)


# -- outputs


def _cleaned(net: Net, head: Head, found: dict[str, str | None]) -> str | None:
    """Beside a time step, what is as large as the noisy input is what noise or a clean one is: of the same kind."""
    if "timestep" not in found.values():
        return None
    dims = net.shape(net.outputs[head.output])
    noisy = [name for name in net.inputs if net.shape(net.inputs[name]) == dims and found.get(name)]
    return found[noisy[0]] if noisy and len(dims or ()) > 2 else None
