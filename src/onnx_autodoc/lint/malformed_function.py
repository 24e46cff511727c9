"""A function of the file cannot be called as it is.

Why it matters: a function that calls itself never ends; one that is called with more values than it takes, or asked for
more than it gives, means something else than what is written. So does one that gives one value twice. Runtimes refuse
the file.

What to do: export again, or write the functions out where they are called: onnx.inliner.inline_local_functions(model).

A warning of a function without a name, and of one that has two attributes of one name: runtimes take it, checkers
refuse it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.ir import Function, Node, circular, inner_graphs
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._written import told
from onnx_autodoc.lint.impossible_version import VERSIONS
from onnx_autodoc.text import named

SEVERITY: Final = Severity.ERROR
_LONGEST: Final = 100  # letters of a name
Key = tuple[str, str, str]


def check(case: Case) -> Iterator[Found]:
    functions = {function.key: function for function in case.model.functions}
    if not functions:
        return
    texts = {name: f"the function {named(name, _LONGEST)} calls itself" for name in _endless(functions)}
    for each in case.written:
        for at, node in enumerate(each.graph.nodes):
            called = functions.get(_key(node))
            text = _misfit(node, called) if called is not None else ""
            if text:
                texts[each.name(at)] = f"{named(each.name(at), _LONGEST)} {text}"
    texts |= {name: text for function in case.model.functions for name, text in _repeating(function)}
    if texts:
        text = told(tuple(texts.values()), "a call cannot be made", "calls cannot be made")
        yield Found(text, tuple(texts))
    odd = {function.name: text for function in case.model.functions for text in _oddities(function)}
    if odd:
        text = told(tuple(odd.values()), "a function is odd", "functions are odd")
        yield Found(text, tuple(filter(None, odd)), severity=Severity.WARNING, about="definitions")


def _key(node: Node) -> Key:
    return node.domain, node.op, node.overload


def _misfit(node: Node, function: Function) -> str:
    if len(node.inputs) > len(function.inputs):
        return f"gives {named(function.name, _LONGEST)} {len(node.inputs)} values, which takes {len(function.inputs)}"
    if len(node.outputs) > len(function.outputs):
        return (
            f"asks {named(function.name, _LONGEST)} for {len(node.outputs)} values, which gives {len(function.outputs)}"
        )
    return ""


def _repeating(function: Function) -> Iterator[tuple[str, str]]:
    for name, count in Counter(function.outputs).items():
        if count > 1:
            text = f"the function {named(function.name, _LONGEST)} gives {named(name, _LONGEST)} {count} times"
            yield function.name, text


def _oddities(function: Function) -> Iterator[str]:
    if not function.name:
        yield f"one of the domain {named(function.domain or 'ai.onnx', _LONGEST)} has no name"
    for flaw in function.flaws:
        if not flaw.startswith(VERSIONS):
            yield f"of {named(function.name, _LONGEST)}: {flaw}"


def _endless(functions: Mapping[Key, Function]) -> list[str]:
    """The functions that come to call themselves."""
    calls = {key: _calls(function) & functions.keys() for key, function in functions.items()}
    return [key[1] for key in circular(calls)]


def _calls(function: Function) -> set[Key]:
    found = {_key(node) for node in function.nodes}
    found.update(_key(node) for graph in inner_graphs(function.nodes) for node in graph.nodes)
    return found
