"""An open dimension of an input or output has no name.

Why it matters: a name says what a size is and which sizes are equal. Without one, nobody knows what to give, runtimes
cannot check that two inputs agree nor plan memory for both at once, and a size can only be fixed input by input.

What to do: name it when exporting (dynamic_axes={"input": {0: "batch"}} or dynamic_shapes of torch.onnx.export), or in
the file: onnx.tools.update_model_dims.update_inputs_outputs_dims(model, {"input": ["batch", 3, "height", "width"]},
{"output": ["batch", 1000]}).

"?" and "unk__12" and a negative number are no names: exporters write them where they have none.
"""

import re
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Model, Value
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.shapes import inputs_of
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.INFO
_MOST: Final = 6  # that are listed in the sentence
_NO_NAME: Final = re.compile(r"\s*(\?|none|-\d+|unk_*\d*|unknown\d*|dynamicdimension\.\d+)?\s*", re.I)


def check(case: Case) -> Iterator[Found]:
    found = list(_unnamed(case.model))
    if found:
        places = ", ".join(f"{named(value.name, 40)}.{axis}" for value, axis in found[:_MOST])
        has = plural(len(found), "open dimension has", "open dimensions have")
        values = tuple(dict.fromkeys(value.name for value, _ in found))
        yield Found(f"{has} no name: {places}" + (" …" if len(found) > _MOST else ""), values)


def _unnamed(model: Model) -> Iterator[tuple[Value, int]]:
    for value in (*inputs_of(model), *model.graph.outputs):
        for axis, dim in enumerate((value.type.dims if value.type else None) or ()):
            if _is_open(dim):
                yield value, axis


def _is_open(dim: int | str | None) -> bool:
    return dim < 0 if isinstance(dim, int) else dim is None or _NO_NAME.fullmatch(dim) is not None
