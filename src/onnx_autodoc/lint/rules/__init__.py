"""The lint rules, grouped by subject.

To add a rule, declare it with `@rule` in one of these modules, and add a test with a model that violates it and a
similar one that does not; `make docs` adds its page. Rules read facts of the analysis; they measure nothing.
"""

from typing import Final

from onnx_autodoc.lint.rule import Rule
from onnx_autodoc.lint.rules import (
    declarations,
    dynamic_shapes,
    files,
    graph,
    inference,
    operators,
    opsets,
    performance,
    precision,
    quantization,
    redundancy,
    weights,
)

_MODULES: Final = (
    *(declarations, dynamic_shapes, files, graph, inference, operators, opsets),
    *(performance, precision, quantization, redundancy, weights),
)
_DECLARED: Final = [item for module in _MODULES for item in vars(module).values() if isinstance(item, Rule)]
RULES: Final = {item.id: item for item in sorted(_DECLARED, key=lambda item: item.id)}
