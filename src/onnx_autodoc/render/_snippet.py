"""How to run a model: a short program for onnxruntime that really runs, with inputs that its graph accepts.

Every word of the file stands in it as a string of plain ASCII; what is not known is said in comments at its top.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Port
from onnx_autodoc.render._snippet_alike import loops
from onnx_autodoc.render._snippet_values import ALIEN, BORROWED, can_be_made, expression
from onnx_autodoc.render._snippet_words import Sizes, literal

_EXTENSIONS: Final = "ai.onnx.contrib"
_FEW: Final = 4  # variables on one line
_WIDTH: Final = 110
_NAMED: Final = 5  # names in a comment
_LONGEST: Final = 400  # letters of a name


def snippet(card: Card) -> str:
    """A program that fills the inputs as the card says and prints what comes out."""
    sizes = Sizes(card)
    made = [(port.name, expression(port, sizes)) for port in card.interface.inputs if can_be_made(port)]
    body = [*_session(card), "", *_inputs(card, made), "", *_run(card)]
    drawn = any("rng." in text for _, text in made)
    head = [*_notes(card, sizes), *_imports(card), ""]
    variables = [*_variables(sizes), *(["rng = np.random.default_rng(0)"] if drawn else [])]
    return "\n".join([*head, *variables, *body]) + "\n"


# -- what to know first


def _notes(card: Card, sizes: Sizes) -> Iterator[str]:
    more = " onnxruntime-extensions" if _extended(card) else ""
    yield f"# pip install onnxruntime numpy{more}{' ml_dtypes' if _borrows(card) else ''}"
    missing = [literal(file.path) for file in card.model.file.external if not file.present]
    if missing:
        yield f"# Weights are missing: {_listing(missing)} must lie beside the model."
    unsized = [literal(port.name) for port in card.interface.inputs if can_be_made(port) and port.bound is None]
    if unsized:
        yield f"# The size of {_listing(unsized)} is not known: set it to one that fits."
    if sizes.guessed:
        yield f"# Not known, and set to 1: {_listing(sizes.guessed)}."
    for port in card.interface.inputs:
        if not can_be_made(port):
            yield f"# To be added: {_listing([literal(port.name)])}, {_described(port)}."


def _listing(words: list[str]) -> str:
    more = len(words) - _NAMED
    shown = [word if len(word) <= _LONGEST else f"{word[:_LONGEST]}..." for word in words[:_NAMED]]
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _described(port: Port) -> str:
    if port.kind != "tensor":
        article = "an" if port.kind[:1] in "aeiou" else "a"
        return f"which is {article} {port.kind}, not an array"
    return f"of {port.dtype}, which numpy does not have" if port.dtype else "whose type is not known"


def _extended(card: Card) -> bool:
    return any(row.domain == _EXTENSIONS for row in card.graph.operators)


def _borrows(card: Card) -> bool:
    return any(port.dtype in BORROWED for port in card.interface.inputs)


def _as_values(card: Card) -> bool:
    """Whether outputs have a type that onnxruntime cannot hand out as an array."""
    return any(port.dtype in ALIEN for port in card.interface.outputs)


# -- the program


def _imports(card: Card) -> Iterator[str]:
    if _borrows(card):
        yield "import ml_dtypes"
    yield "import numpy as np"
    yield "import onnxruntime as ort"
    if _extended(card):
        yield "from onnxruntime_extensions import get_library_path"


def _variables(sizes: Sizes) -> Iterator[str]:
    if len(sizes.sizes) > _FEW:
        yield from (f"{word} = {size}" for word, size in sizes.sizes.items())
    elif sizes.sizes:
        yield f"{', '.join(sizes.sizes)} = {', '.join(map(str, sizes.sizes.values()))}"


def _session(card: Card) -> Iterator[str]:
    options = ""
    if _extended(card):
        yield "options = ort.SessionOptions()"
        yield "options.register_custom_ops_library(get_library_path())  # the operators of ai.onnx.contrib"
        options = "options, "
    yield f'session = ort.InferenceSession({literal(card.model.name)}, {options}providers=["CPUExecutionProvider"])'


def _inputs(card: Card, made: list[tuple[str, str]]) -> Iterator[str]:
    single, looped = loops([(name, text) for name, text in made if len(name) <= _LONGEST])
    single += [(name, text) for name, text in made if len(name) > _LONGEST]
    roles = {port.name: port.role for port in card.interface.inputs}
    places = {port.name: at for at, port in enumerate(card.interface.inputs)}
    if not single:
        yield "inputs = {}"
    else:
        yield "inputs = {"
        yield from (_entry(_key(name, places[name]), text, roles.get(name)) for name, text in single)
        yield "}"
    yield from looped


def _key(name: str, at: int) -> str:
    """A name that fills pages is asked of the session."""
    return literal(name) if len(name) <= _LONGEST else f"session.get_inputs()[{at}].name"


def _entry(key: str, text: str, role: str | None) -> str:
    line = f"    {key}: {text},"
    comment = f"  # {role}"
    return line + comment if role and len(line) + len(comment) <= _WIDTH else line


def _run(card: Card) -> Iterator[str]:
    if _as_values(card):
        yield "values = {name: ort.OrtValue.ortvalue_from_numpy(value) if isinstance(value, np.ndarray) else value"
        yield "          for name, value in inputs.items()}"
        yield "outputs = session.run_with_ort_values(None, values)"
        shown = "output.type, value.shape()"
    else:
        yield "outputs = session.run(None, inputs)"
        plain = all(port.kind == "tensor" for port in card.interface.outputs)
        either = 'output.type, value.shape if hasattr(value, "shape") else f"{len(value or ())} items"'
        shown = "value.dtype, value.shape" if plain else either
    yield "for output, value in zip(session.get_outputs(), outputs):"
    yield f"    print(output.name, {shown})"
