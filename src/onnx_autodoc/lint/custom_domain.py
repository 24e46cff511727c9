"""Nodes belong to a domain that is neither ONNX's nor onnxruntime's.

Why it matters: the file alone does not run in onnxruntime. Whoever loads it needs the library that defines these
operators, in a version that fits the runtime, and engines that compile ahead of time need a plugin for each. Operators
of one engine (TensorRT's plugins, org.openvinotoolkit) run in that one alone.

What to do: ship the library with the model and register it (SessionOptions.register_custom_ops_library in
onnxruntime; those of ai.onnx.contrib and com.microsoft.extensions are in the package onnxruntime-extensions), or export
with the operation written in operators of ONNX, or as a function in the file.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._uses import Key
from onnx_autodoc.ops import specified
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.WARNING
_MOST: Final = 4  # operators that are listed in the sentence
_EXTENSIONS: Final = "com.microsoft.extensions"  # a package apart, whatever its name begins with


def check(case: Case) -> Iterator[Found]:
    found: dict[Key, list[str]] = {}
    for use in case.uses:
        if not use.local and not is_stock(use.key[0]):
            found.setdefault(use.key, []).extend(spot.path for spot in (*use.spots, *use.aside))
    if found:
        nodes = tuple(path for paths in found.values() for path in paths)
        listed = ", ".join(named(f"{domain}.{op}", 40) for domain, op in list(found)[:_MOST])
        more = " …" if len(found) > _MOST else ""
        whose = "needs a library" if len(nodes) == 1 else "need a library"
        yield Found(f"{plural(len(nodes), 'node')} {whose} that does not come with onnxruntime: {listed}{more}", nodes)


def is_stock(domain: str) -> bool:
    """Whether operators of this domain come with ONNX or with onnxruntime."""
    return domain in specified.STOCK_DOMAINS or (
        domain.startswith(specified.STOCK_FAMILIES) and not domain.startswith(_EXTENSIONS)
    )
