"""A runnable onnxruntime program for the model, with inputs that its graph accepts.

Every string of the model file appears as a plain ASCII literal; comments at the top state what is unknown.
"""

import keyword
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.card import Card, Port, Sample

_EXTENSIONS_DOMAIN: Final = "ai.onnx.contrib"
_MAX_VARIABLES_PER_LINE: Final = 4
_LINE_LENGTH: Final = 110
_LIST_LINE_LENGTH: Final = 100
_MAX_NAMES_IN_COMMENT: Final = 5
_MAX_NAME_LENGTH: Final = 400
_MIN_NUMBERED_INPUTS: Final = 3  # to become a loop
_MIN_EQUAL_INPUTS: Final = 8  # of unrelated names, to become a loop

InputItem = tuple[str, str]  # name of an input, expression that makes it
FamilyKey = tuple[str, str, str]  # prefix and suffix of the names, expression
NumberedFamily = dict[FamilyKey, dict[int, str]]  # names by number
_NUMPY_DTYPES: Final = {
    **{name: f"np.{name}" for name in ("float32", "float64", "float16", "complex64", "complex128")},
    **{f"{sign}int{bits}": f"np.{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "bool": "bool",
    "string": "object",
}
# dtype: name in ml_dtypes, bits, number in ONNX
BIT_CAST_DTYPES: Final = {
    "bfloat16": ("bfloat16", 16, 16),
    "float8e4m3fn": ("float8_e4m3fn", 8, 17),
    "float8e4m3fnuz": ("float8_e4m3fnuz", 8, 18),
    "float8e5m2": ("float8_e5m2", 8, 19),
    "float8e5m2fnuz": ("float8_e5m2fnuz", 8, 20),
}
_PACKED_DTYPES: Final = {"uint4": 21, "int4": 22, "float4e2m1": 23}  # number in ONNX; two values per byte
UNSUPPORTED_BY_NUMPY: Final = frozenset((*BIT_CAST_DTYPES, *_PACKED_DTYPES))
MAX_PORTS: Final = 1_000  # inputs, or dynamic dimensions, of a model that gets a program
_RESERVED_NAMES: Final = frozenset(
    (
        *("np", "ort", "ml_dtypes", "rng", "options", "session", "inputs", "values", "outputs", "output", "value"),
        *("name", "i", "bool", "object", "print", "range", "zip", "str"),
    )
)
_MAX_VARIABLE_LENGTH: Final = 40


def quote_literal(text: str) -> str:
    """Return a Python string in printable ASCII that ends no Markdown fence and no HTML tag."""
    quoted = ascii(text)
    if quoted[0] == "'" and '"' not in text:
        quoted = '"' + quoted[1:-1] + '"'
    return quoted.replace("`", "\\x60").replace("<", "\\x3c")


def can_make_input(port: Port) -> bool:
    """Whether the input is an array that numpy and onnxruntime can make, or a list of them."""
    is_supported = port.dtype in _NUMPY_DTYPES or (port.dtype in UNSUPPORTED_BY_NUMPY and port.kind == "tensor")
    return is_supported and port.kind in ("tensor", "sequence", "optional")


class SizeVariables:
    """Variables of the program for the dynamic dimensions. Dimensions without a name are numbers."""

    def __init__(self, card: Card) -> None:
        self.values: dict[str, int] = {}  # by variable
        self.guessed: list[str] = []  # variables of unknown size
        self._variables: dict[str, str] = {}  # by name of the dimension
        self._collisions = Counter[str]()
        self._dims = card.assumptions.dims
        sizes_by_name: dict[str, set[int]] = {}
        for port in card.interface.inputs:
            for declared, size in zip(port.shape or (), port.bound or ()):
                if isinstance(declared, str) and declared in self._dims:
                    sizes_by_name.setdefault(declared, set()).add(size)
        for name, sizes in sorted(sizes_by_name.items(), key=lambda item: "+" in item[0]):  # sums after their terms
            if len(sizes) == 1 and not self._sum_expression(name):
                self._add(name, next(iter(sizes)))

    def shape(self, port: Port) -> str:
        """Return the shape of an input as source text."""
        if port.shape is None and port.bound is None:
            return "(1,)"
        rank = len(port.bound if port.bound is not None else port.shape or ())
        items = [self.dim(port, axis) for axis in range(rank)]
        return f"({items[0]},)" if rank == 1 else f"({', '.join(items)})"

    def length(self, length: int) -> str:
        """Return a length by the variable that it equals or is one less than, so that it follows a change."""
        for less in (0, 1):
            for variable, size in self.values.items():
                if size > 1 and size - less == length:
                    return f"{variable} - 1" if less else variable
        return str(length)

    def dim(self, port: Port, axis: int) -> str:
        """Return a dimension as source text; one of unknown size gets a variable."""
        declared = port.shape[axis] if port.shape is not None and axis < len(port.shape) else None
        size = port.bound[axis] if port.bound is not None else declared if isinstance(declared, int) else None
        if declared == 0:
            return "0"  # some exporters write it for a dynamic dimension; onnxruntime requires it literally
        if not isinstance(declared, str):
            return str(self._dims.get(f"{port.name}.{axis}", 1) if size is None else size)
        expression = self._variables.get(declared) or self._sum_expression(declared)
        terms = (int(term) if term.isdigit() else self.values[term] for term in expression.split(" + ") if term)
        if expression and (size is None or sum(terms) == size):
            return expression
        if size is not None:
            return str(size)
        variable = self._add(declared, 1)
        self.guessed.append(variable)
        return variable

    def _sum_expression(self, name: str) -> str:
        """Return the expression of a dimension that is named as the sum of others, else ""."""
        terms = [term.strip() for term in name.split("+")] if "+" in name else []
        parts = [term if term.isdigit() and term.isascii() else self._variables.get(term, "") for term in terms]
        return " + ".join(parts) if parts and all(parts) else ""

    def _add(self, name: str, size: int) -> str:
        variable = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_")[:_MAX_VARIABLE_LENGTH]
        variable = f"size_{variable}" if not variable or variable[0].isdigit() else variable
        if keyword.iskeyword(variable) or variable in _RESERVED_NAMES:
            variable += "_size"
        while variable in self.values:  # counts on from the last collision, so that many equal names stay linear
            self._collisions[variable] += 1
            variable = f"{variable}_{self._collisions[variable] + 1}"
        self.values[variable] = size
        self._variables[name] = variable
        return variable


def input_expression(port: Port, sizes: SizeVariables) -> str:
    """Return the numpy expression for an input; zeros where nothing is known of its values."""
    dtype = port.dtype or ""
    sample = port.sample or (Sample("text", value="text") if dtype == "string" else Sample("constant", value=0))
    if port.kind == "sequence":
        return f"[{_fill(port, sample, sizes, dtype)}]"
    if dtype in _PACKED_DTYPES:
        bits = f"rng.integers(0, 256, {sizes.shape(port)}, np.uint8)"
        return f"ort.OrtValue.ortvalue_from_numpy_with_onnx_type({bits}, {_PACKED_DTYPES[dtype]})"
    if dtype in BIT_CAST_DTYPES:  # onnxruntime takes them as bits with their ONNX type
        name, width, number = BIT_CAST_DTYPES[dtype]
        bits = f"{_fill(port, sample, sizes, 'float32')}.astype(ml_dtypes.{name}).view(np.uint{width})"
        return f"ort.OrtValue.ortvalue_from_numpy_with_onnx_type({bits}, {number})"
    return _fill(port, sample, sizes, dtype)


def _fill(port: Port, sample: Sample, sizes: SizeVariables, dtype: str) -> str:
    shape, kind = sizes.shape(port), _NUMPY_DTYPES[dtype]
    is_direct = dtype in ("float32", "float64")  # numpy's generator makes them without a conversion
    match sample.fill:
        case "normal":
            scale = "" if sample.high in (None, 1) else f"{sample.high} * "
            if is_direct:
                return f"{scale}rng.standard_normal({shape}, {kind})"
            values = f"{scale}rng.standard_normal({shape})"
            return f"({values}).astype({kind})" if scale else f"{values}.astype({kind})"
        case "uniform":
            if (sample.low, sample.high) != (0, 1):
                return f"rng.uniform({sample.low}, {sample.high}, {shape}).astype({kind})"
            return f"rng.random({shape}, {kind})" if is_direct else f"rng.random({shape}).astype({kind})"
        case "integers":
            bounds = f"{sample.low}, {sample.high}, {shape}"
            return f"rng.integers({bounds}, {kind})" if "int" in dtype else f"rng.integers({bounds}).astype({kind})"
        case "range":
            last = sizes.dim(port, len(port.bound or ()) - 1)
            bounds = f"{sample.low}, {sample.low} + {last}" if sample.low else last
            values = f"np.arange({bounds}, dtype={kind})"
            return values if len(port.bound or ()) == 1 else f"np.broadcast_to({values}, {shape})"
        case "text":
            value, kind = quote_literal(str(sample.value)), "object"
        case _ if shape != "()" and sample.value in (0, 1):
            return f"np.{'ones' if sample.value else 'zeros'}({shape}, {kind})"
        case _ if port.role == "lengths" and isinstance(sample.value, int):
            value = sizes.length(sample.value)
        case _:
            value = str(bool(sample.value) if port.dtype == "bool" else sample.value)
    return f"np.array({value}, {kind})" if shape == "()" else f"np.full({shape}, {value}, {kind})"


def make_snippet(card: Card) -> str:
    """Return a program that fills the inputs as the card assumes and prints the outputs."""
    sizes = SizeVariables(card)
    inputs = [(port.name, input_expression(port, sizes)) for port in card.interface.inputs if can_make_input(port)]
    needs_extensions = any(row.domain == _EXTENSIONS_DOMAIN for row in card.graph.operators)
    packages = {
        "onnxruntime-extensions": needs_extensions,
        "ml_dtypes": any(port.dtype in BIT_CAST_DTYPES for port in card.interface.inputs),
    }
    lines = [" ".join(["# pip install onnxruntime numpy", *(name for name, needed in packages.items() if needed)])]
    lines += _comments(card, sizes)
    lines += ["import ml_dtypes"] * packages["ml_dtypes"]
    lines += ["import numpy as np", "import onnxruntime as ort"]
    lines += ["from onnxruntime_extensions import get_library_path"] * needs_extensions
    lines.append("")
    if len(sizes.values) > _MAX_VARIABLES_PER_LINE:
        lines += [f"{variable} = {size}" for variable, size in sizes.values.items()]
    elif sizes.values:
        lines.append(f"{', '.join(sizes.values)} = {', '.join(map(str, sizes.values.values()))}")
    if any("rng." in expression for _, expression in inputs):
        lines.append("rng = np.random.default_rng(0)")
    options = ""
    if needs_extensions:
        lines.append("options = ort.SessionOptions()")
        lines.append("options.register_custom_ops_library(get_library_path())  # the operators of ai.onnx.contrib")
        options = "options, "
    path = quote_literal(card.model.name)
    lines.append(f'session = ort.InferenceSession({path}, {options}providers=["CPUExecutionProvider"])')
    return "\n".join([*lines, "", *_inputs(card, inputs), "", *_run(card)]) + "\n"


def _comments(card: Card, sizes: SizeVariables) -> Iterator[str]:
    """Yield what the program lacks."""
    missing = [quote_literal(file.path) for file in card.model.file.external if not file.present]
    if missing:
        yield f"# Weights are missing: {_list_names(missing)} must be in the model's folder."
    ports = card.interface.inputs
    unsized = [quote_literal(port.name) for port in ports if can_make_input(port) and port.bound is None]
    if unsized:
        yield f"# The size of {_list_names(unsized)} is unknown: set a valid one."
    if sizes.guessed:
        yield f"# Unknown sizes, set to 1: {_list_names(sizes.guessed)}."
    for port in ports:
        if can_make_input(port):
            continue
        reason = f"of type {port.dtype}, which numpy does not support" if port.dtype else "of unknown type"
        if port.kind != "tensor":
            article = "an" if port.kind[:1] in "aeiou" else "a"
            reason = f"which is {article} {port.kind}, not an array"
        yield f"# To be added: {_list_names([quote_literal(port.name)])}, {reason}."


def _list_names(names: list[str]) -> str:
    left = len(names) - _MAX_NAMES_IN_COMMENT
    shown = [name if len(name) <= _MAX_NAME_LENGTH else f"{name[:_MAX_NAME_LENGTH]}..." for name in names]
    return ", ".join(shown[:_MAX_NAMES_IN_COMMENT]) + (f" and {left} more" if left > 0 else "")


def _inputs(card: Card, inputs: list[InputItem]) -> Iterator[str]:
    single, loops = _make_loops([item for item in inputs if len(item[0]) <= _MAX_NAME_LENGTH])
    single += [item for item in inputs if len(item[0]) > _MAX_NAME_LENGTH]
    ports = {port.name: (index, port.role) for index, port in enumerate(card.interface.inputs)}
    if not single:
        yield "inputs = {}"
    else:
        yield "inputs = {"
        for name, expression in single:
            index, role = ports[name]
            is_long = len(name) > _MAX_NAME_LENGTH
            key = f"session.get_inputs()[{index}].name" if is_long else quote_literal(name)
            line, comment = f"    {key}: {expression},", f"  # {role}"
            yield line + comment if role and len(line) + len(comment) <= _LINE_LENGTH else line
        yield "}"
    yield from loops


def _run(card: Card) -> Iterator[str]:
    outputs = card.interface.outputs
    if any(port.dtype in UNSUPPORTED_BY_NUMPY for port in outputs):
        yield "values = {name: ort.OrtValue.ortvalue_from_numpy(value) if isinstance(value, np.ndarray) else value"
        yield "          for name, value in inputs.items()}"
        yield "outputs = session.run_with_ort_values(None, values)"
        shown = "output.type, value.shape()"
    else:
        yield "outputs = session.run(None, inputs)"
        shown = "value.dtype, value.shape"
        if any(port.kind != "tensor" for port in outputs):
            shown = 'output.type, value.shape if hasattr(value, "shape") else f"{len(value or ())} items"'
    yield "for output, value in zip(session.get_outputs(), outputs):"
    yield f"    print(output.name, {shown})"


def _make_loops(items: Sequence[InputItem]) -> tuple[list[InputItem], list[str]]:
    """Split inputs into single ones and loops over similar ones, such as the caches of many layers."""
    families = _find_numbered(items)
    covered = {name for members in families.values() for name in members.values()}
    single = [item for item in items if item[0] not in covered]
    lines: list[str] = []
    families_by_numbers: dict[tuple[int, ...], list[FamilyKey]] = {}
    for key, members in families.items():
        families_by_numbers.setdefault(tuple(members), []).append(key)
    for numbers, keys in families_by_numbers.items():
        iterable = f"range({len(numbers)})" if numbers == tuple(range(len(numbers))) else str(numbers)
        lines.append(f"for i in {iterable}:")
        for prefix, suffix, expression in keys:
            lines.append(f"    inputs[{numbered_literal(prefix, suffix)}] = {expression}")
    names_by_expression: dict[str, list[str]] = {}
    for name, expression in single:
        names_by_expression.setdefault(expression, []).append(name)
    looped = {key: names for key, names in names_by_expression.items() if len(names) >= _MIN_EQUAL_INPUTS}
    for expression, names in looped.items():
        lines += _name_loop(names, expression)
    return [item for item in single if item[1] not in looped], lines


def _find_numbered(items: Sequence[InputItem]) -> NumberedFamily:
    """Find inputs whose names differ in one number only, the largest families first; an input is in one family."""
    candidates: NumberedFamily = {}
    for name, expression in items:
        for match in re.finditer(r"(?<![0-9])(0|[1-9][0-9]{0,5})(?![0-9])", name):
            if match[0].isascii():
                key = (name[: match.start()], name[match.end() :], expression)
                candidates.setdefault(key, {})[int(match[0])] = name
    families: NumberedFamily = {}
    covered: set[str] = set()
    for key, members in sorted(candidates.items(), key=lambda entry: -len(entry[1])):
        free = {number: name for number, name in members.items() if name not in covered}
        if len(free) >= _MIN_NUMBERED_INPUTS:
            families[key] = dict(sorted(free.items()))
            covered.update(free.values())
    order = {name: index for index, (name, _) in enumerate(items)}
    return dict(sorted(families.items(), key=lambda entry: min(order[name] for name in entry[1].values())))


def _name_loop(names: Sequence[str], expression: str) -> Iterator[str]:
    yield "for name in ("
    line = "   "
    for name in names:
        item = f" {quote_literal(name)},"
        if len(line) + len(item) > _LIST_LINE_LENGTH and line.strip():
            yield line
            line = "   "
        line += item
    yield line
    yield "):"
    yield f"    inputs[name] = {expression}"


def numbered_literal(prefix: str, suffix: str) -> str:
    """Return an f-string with the loop variable between two texts."""
    start, end = (quote_literal(text.replace("{", "{{").replace("}", "}}")) for text in (prefix, suffix))
    if start[0] == end[0]:
        return f"f{start[:-1]}{{i}}{end[1:]}"
    return f"f{start[:-1]}{{i}}{start[-1]} {end.replace('{{', '{').replace('}}', '}')}"
