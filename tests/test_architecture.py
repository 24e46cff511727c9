"""ARCHITECTURE.md is correct: imports, the walk of one model, complete tables; public names and published schemas."""

import ast
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import onnx_autodoc
from onnx_autodoc import render
from onnx_autodoc.cli.parser import COMMANDS
from onnx_autodoc.ops import OPERATORS, Operator
from onnx_autodoc.ops.registry import FAMILIES
from onnx_autodoc.readers import READERS
from onnx_autodoc.schema import SCHEMAS
from onnx_autodoc.shapes import Request
from tests._versions import ORDERS_SCHEMA_TYPES

ROOT = Path(onnx_autodoc.__file__).parent

PAGE = (ROOT.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")


def _read_import_table() -> dict[str, set[str]]:
    """Return package -> the packages it may import, from the table in ARCHITECTURE.md."""
    rows = re.findall(r"^\| `([a-z_.]+)` \| [^|]+ \|([^|]*)\|$", PAGE, re.M)
    table: dict[str, set[str]] = {}
    for package, list_imports in rows:
        names = {name.strip() for name in list_imports.split(",")} - {""}
        table[package] = set(table) if names == {"all above"} else names
    return table


PACKAGES = _read_import_table()
ROOT_MODULES = {"": {"api", "errors", "limits", "ops"}, "__main__": {"cli"}}  # the public names; the entry point


def find_package(module: str) -> str:
    parts = module.split(".")[1:]
    known = PACKAGES | ROOT_MODULES
    return next((name for name in (".".join(parts[:2]), *parts[:1]) if name in known), parts[0] if parts else "")


def list_imports() -> list[tuple[str, str, str, str]]:
    """Return (file, its package, imported package, imported name) for every import inside the project."""
    result = []
    for path in sorted(ROOT.rglob("*.py")):
        file = path.relative_to(ROOT)
        own = find_package(".".join(("onnx_autodoc", *file.with_suffix("").parts)).removesuffix(".__init__"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            result += [
                (file.as_posix(), own, find_package(module) if _is_module(module) else "", module)
                for module in modules
                if module.partition(".")[0] == "onnx_autodoc" and module != "onnx_autodoc.__version__"
            ]
    return result


def _is_module(name: str) -> bool:
    """Whether `name` is in a package or module below the root, not a name of the root package itself."""
    first = name.split(".")[1]
    return (ROOT / first).is_dir() or (ROOT / f"{first}.py").is_file()


def test_imports_follow_the_table() -> None:
    allowed = PACKAGES | ROOT_MODULES
    wrong = [(file, module) for file, own, package, module in list_imports() if package not in allowed[own] | {own}]
    assert wrong == []


def test_no_private_name_is_imported_from_another_package() -> None:
    private = [
        (file, module)
        for file, own, package, module in list_imports()
        if package != own and any(part.startswith("_") for part in module.split("."))
    ]
    assert private == []


def test_import_table_names_every_package_and_has_no_cycle() -> None:
    packages = {path.stem if path.suffix else path.name for path in ROOT.iterdir() if not path.name.startswith("__")}
    assert packages - {"data", "py"} == {name for name in PACKAGES if "." not in name}
    order = list(PACKAGES)
    assert order[-2:] == ["api", "cli"]
    for package, allowed in PACKAGES.items():
        assert all(order.index(other) < order.index(package) for other in allowed), package


def test_walk_names_functions_in_the_order_of_their_calls() -> None:
    hops = re.findall(r"^\d+\. `([a-z_.]+)\.([a-zA-Z_]+)`", PAGE, re.M)
    assert len(hops) == 12
    functions = [getattr(import_module(f"onnx_autodoc.{module}"), name) for module, name in hops]
    codes = {function.__code__: name for function, (_, name) in zip(functions, hops, strict=True) if callable(function)}
    calls: list[str] = []

    def record(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in codes:
            calls.append(codes[frame.f_code])

    model = ROOT / "data" / "demo.onnx"
    sys.setprofile(record)
    try:
        functions[3](model, Request())
    finally:
        sys.setprofile(None)
    assert list(dict.fromkeys(calls)) == [name for _, name in hops[3:-1]]
    assert "html" in functions[-1]


def test_paths_in_the_page_exist() -> None:
    paths = set(re.findall(r"`([a-z_/]+/[a-z_*]*(?:\.py|\.csv)?)`", PAGE))
    assert len(paths) > 20
    roots = (ROOT, ROOT.parents[1])
    assert [path for path in sorted(paths) if not any(list(root.glob(path.rstrip("/"))) for root in roots)] == []


def list_modules(package: str) -> set[str]:
    return {path.stem for path in (ROOT / package).glob("*.py") if not path.stem.startswith("_")}


def test_every_operator_table_is_registered() -> None:
    registered = {id(table) for tables in FAMILIES.values() for table in tables}
    modules = [
        import_module(f"onnx_autodoc.ops.{name}") for name in sorted(list_modules("ops") - {"fused_costs", "registry"})
    ]
    tables = {
        f"{module.__name__}.{key}": id(item)
        for module in modules
        for key, item in vars(module).items()
        if key.isupper() and key[0] != "_" and key != "PLAIN" and isinstance(item, dict) and _is_operator_table(item)
    }
    assert len(tables) > 20
    assert [name for name, table in tables.items() if table not in registered] == []


def _is_operator_table(table: dict[str, object]) -> bool:
    return bool(table) and all(isinstance(entry, Operator) for entry in table.values())


def test_every_operator_has_one_row() -> None:
    for domain, tables in FAMILIES.items():
        names = [name for table in tables for name in table]
        assert names and sorted(names) == sorted(set(names)), domain


# Patterns over the canonical net, benchmark graphs and the dispatch of control flow name operators; all else
# reads the rows of `ops`.
_OPERATOR_TABLES_ALLOWED = (
    "ops/",
    "patterns/",
    "runtime/calibration/graphs/",
    "runtime/calibration/ort_fusions.py",
    "shapes/control_flow.py",
)


def test_tables_of_op_types_are_in_ops() -> None:
    op_types = {op for _, op in OPERATORS}
    files = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            items: list[Any] = (
                node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])  # tuples, lists and sets
            )
            if sum(isinstance(item, ast.Constant) and item.value in op_types for item in items) >= 3:
                files.add(path.relative_to(ROOT).as_posix())
    assert any(name.startswith("ops/") for name in files)
    assert [name for name in sorted(files) if not name.startswith(_OPERATOR_TABLES_ALLOWED)] == []


def test_tables_list_every_format() -> None:
    assert [reader.name for reader in READERS] == ["onnx"]
    assert {"terminal", "markdown", "html", "json"} < set(render.FORMATS)


def test_public_names_exist() -> None:
    for name in onnx_autodoc.__all__:
        assert getattr(onnx_autodoc, name) is not None
    names = {"AutodocError", "BadInput", "Card", "LimitReached", "Limits", "__version__", "card", "check", "compare"}
    assert set(onnx_autodoc.__all__) == names | {"Operator", "register_operator", "within"}
    with pytest.raises(AttributeError):
        _ = onnx_autodoc.no_such_name


@ORDERS_SCHEMA_TYPES
def test_published_schema_matches_the_types() -> None:
    for name, schema in SCHEMAS.items():
        published = (ROOT / "schema" / f"{name}-1.json").read_text(encoding="utf-8")
        assert published == schema(), "run `make schema`"
        assert "$defs" in json.loads(published)
    assert {path.name for path in (ROOT / "schema").glob("*.json")} == {f"{name}-1.json" for name in SCHEMAS}


@pytest.mark.parametrize("command", [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)])
def test_help_loads_nothing_heavy(command: list[str]) -> None:
    code = (
        "import sys; from onnx_autodoc.cli import main\n"
        f"try: main({command!r})\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'msgspec', 'rich', 'jinja2', 'onnx', 'onnxruntime'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_file_is_longer_than_500_lines() -> None:
    long = {str(path.relative_to(ROOT)): lines for path in ROOT.rglob("*.py") if (lines := _count_lines(path)) > 500}
    assert long == {}


def _count_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_comparing_cards_loads_no_analysis() -> None:
    code = (
        "import sys, onnx_autodoc.compare\n"
        "packages = {name.split('.')[1] for name in sys.modules if name.startswith('onnx_autodoc.')}\n"
        "assert packages == {'card', 'compare', 'decoding', 'errors', 'limits', 'text'}, packages\n"
        "assert not {'numpy', 'onnx'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
