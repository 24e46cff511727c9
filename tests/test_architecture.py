"""A machine holds the architecture: who may import whom, complete shelves, public names, the published schema."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import onnx_autodoc
from onnx_autodoc import ops, render
from onnx_autodoc import readers as read
from onnx_autodoc.cli._parser import COMMANDS, FORMAT_NAMES
from onnx_autodoc.ops import Operator
from onnx_autodoc.schema import SCHEMAS

ROOT = Path(onnx_autodoc.__file__).parent

# package -> the packages it may import; nobody imports the command line.
PACKAGES: dict[str, set[str]] = {
    "errors": set(),
    "text": set(),
    "limits": {"errors"},
    "ir": set(),
    "sandbox": {"errors", "limits"},
    "readers": {"errors", "ir", "limits", "text"},
    "ops": {"ir", "text"},
    "shapes": {"errors", "ir", "limits", "ops", "text"},
    "analysis": {"errors", "ir", "ops", "readers", "shapes", "text"},
    "patterns": {"ir", "limits", "ops", "shapes", "text"},
    "architecture": {"analysis", "ir", "limits", "ops", "patterns", "shapes", "text"},
    "hardware": {"analysis", "architecture", "errors", "ir", "ops", "readers", "shapes", "text"},
    "lint": {"analysis", "architecture", "errors", "ir", "limits", "ops", "shapes", "text"},
    "runtime": {
        "analysis",
        "architecture",
        "errors",
        "ir",
        "limits",
        "ops",
        "patterns",
        "readers",
        "sandbox",
        "shapes",
        "text",
    },
    "card": {
        "analysis",
        "architecture",
        "errors",
        "hardware",
        "ir",
        "limits",
        "lint",
        "ops",
        "runtime",
        "shapes",
        "text",
    },
    "compare": {"card", "errors", "text"},
    "policy": {"architecture", "card", "compare", "errors", "ir", "lint", "ops", "readers", "text"},
    "schema": {"card", "compare", "policy"},
    "render": {"card", "compare", "errors", "lint", "policy", "text"},
    "api": {
        *("", "analysis", "architecture", "card", "compare", "errors", "hardware", "ir", "limits", "lint", "policy"),
        *("readers", "render", "runtime", "sandbox", "shapes", "text"),
    },
    "cli": {
        *("", "api", "compare", "errors", "hardware", "limits", "lint", "policy", "readers", "render", "runtime"),
        *("sandbox", "schema", "shapes", "text"),
    },
    "": {"api", "errors", "limits"},  # the package itself: its public names
    "__main__": {"cli"},
}


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def imports() -> list[tuple[str, str, str]]:
    """(file, its room, a room it imports) for every import inside the package."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        relative = path.relative_to(ROOT)
        own = (
            "" if relative.name == "__init__.py" and len(relative.parts) == 1 else relative.parts[0].removesuffix(".py")
        )
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                if name == "onnx_autodoc" and isinstance(node, ast.ImportFrom):
                    found += [(str(relative), own, _submodule(alias.name)) for alias in node.names]
                elif name.startswith("onnx_autodoc"):
                    found.append((str(relative), own, room_of(name)))
    return found


def _submodule(name: str) -> str:
    return name if (ROOT / name).is_dir() or (ROOT / f"{name}.py").is_file() else ""


def test_imports_point_one_way() -> None:
    wrong = [(file, room) for file, own, room in imports() if room != own and room not in PACKAGES[own]]
    assert wrong == []


def test_the_import_table_names_every_room_and_has_no_cycle() -> None:
    rooms = {path.stem if path.suffix else path.name for path in ROOT.iterdir() if not path.name.startswith("__")}
    assert rooms - {"data", "py"} == set(PACKAGES) - {"", "__main__"}
    order = list(PACKAGES)
    for room, allowed in PACKAGES.items():
        if room not in ("", "api", "cli"):
            assert all(order.index(other) < order.index(room) for other in allowed), room


def entries(shelf: str) -> set[str]:
    """The files of a shelf that are entries: those without a leading underscore."""
    return {path.stem for path in (ROOT / shelf).glob("*.py") if not path.stem.startswith("_")}


def test_every_operator_family_is_on_its_shelf() -> None:
    listed = {id(table) for tables in ops.TABLES.values() for table in tables}
    for name in entries("ops"):
        public = {key: item for key, item in vars(getattr(ops, name)).items() if key.isupper() and key[0] != "_"}
        tables = [item for item in public.values() if isinstance(item, dict) and _holds_operators(item)]
        assert tables, f"ops/{name}.py has no table"
        assert all(id(table) in listed for table in tables), (
            f"ops/{name}.py has a table that ops/__init__.py does not list"
        )


def _holds_operators(table: dict[str, object]) -> bool:
    return bool(table) and all(isinstance(entry, Operator) for entry in table.values())


def test_no_operator_stands_in_two_tables() -> None:
    for domain, tables in ops.TABLES.items():
        names = [name for table in tables for name in table]
        assert sorted(names) == sorted(set(names)), domain


def test_every_format_is_on_its_shelf() -> None:
    assert entries("render") | {"html"} == set(render.FORMATS)
    assert entries("readers") == set(read.FORMATS)
    assert tuple(render.FORMATS) == FORMAT_NAMES


def test_public_names_are_there() -> None:
    for name in onnx_autodoc.__all__:
        assert getattr(onnx_autodoc, name) is not None
    names = {"AutodocError", "BadInput", "Card", "LimitReached", "Limits", "__version__", "card", "check", "compare"}
    assert set(onnx_autodoc.__all__) == names | {"within"}
    with pytest.raises(AttributeError):
        _ = onnx_autodoc.no_such_name


def test_the_published_schema_is_that_of_the_types() -> None:
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


def test_no_rooms_file_is_too_long_to_read() -> None:
    long = {str(path.relative_to(ROOT)): lines for path in ROOT.rglob("*.py") if (lines := _lines(path)) > 500}
    assert long == {}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
