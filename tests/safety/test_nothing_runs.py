"""No file can make the tool run code: the source has no call that could, and runs of a model are bounded."""

import ast
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import onnx_autodoc
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.runtime.machine import free_memory
from onnx_autodoc.runtime.process import WORKER_ENVIRONMENT

ROOT = Path(onnx_autodoc.__file__).parent
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}

MODULES = {
    *("pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "sympy", "code", "codeop", "runpy", "imp", "pty"),
    *("socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "telnetlib", "xmlrpc"),
    *("xml", "lxml", "xml.etree", "html.parser", "pdb", "webbrowser", "multiprocessing", "asyncio", "concurrent"),
}
CALLS = {"eval", "exec", "compile", "__import__", "execfile", "sympify", "breakpoint", "input", "globals"}
METHODS = {
    *("system", "popen", "spawnl", "spawnv", "execv", "execve", "execl", "execvp", "startfile", "mktemp", "sympify"),
    *("register_custom_ops_library", "fromfile", "memmap", "full_load", "unsafe_load", "load_all", "from_string"),
}
FORMATS = {"format", "format_map"}
# Literals of the module, and other objects with a method `format`: msgspec.json, logging.Formatter, Polynomial.
NOT_TEMPLATES = ("msgspec.json", "text", "shape", "super()")
HARMLESS = {"urllib.parse", "xml.sax.saxutils"}  # they quote and read nothing
# Allowed uses, with the reason.
ALLOWED = {
    ("runtime/calibration/benchmarks.py", "concurrent"),  # threads that copy memory, to time it
    ("render/junit.py", "xml"),  # ElementTree writes there, and parses nothing
    ("runtime/confinement.py", "ctypes"),  # system calls of the C library that Python itself runs on
    ("runtime/measurement.py", "ctypes"),
    ("runtime/worker.py", "ctypes"),
    ("sandbox/interpreter.py", "pickle"),  # the caller's arguments for its worker; no bytes of a file
}
PROCESSES = {
    "runtime/process.py",  # the worker of a run
    "sandbox/interpreter.py",  # this Python
    "hardware/devices/detection.py",  # Apple's sysctl by its path
}
BY_NAME = {  # modules whose names are in the source
    *(
        "runtime/__init__.py",
        "policy/reading.py",
        "hardware/devices/detection.py",
        "render/__init__.py",
    ),
    *("__init__.py", "lint/rules/__init__.py"),
}


def _list_imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _list_calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            yield name, node


def test_modules_that_execute_data_are_not_imported() -> None:
    names = ((file, name) for file, tree in TREES.items() for name in _list_imports(tree) if name not in HARMLESS)
    roots = ((file, name.partition(".")[0]) for file, name in names)
    assert {use for use in roots if use[1] in MODULES | {"ctypes"}} == ALLOWED


def test_functions_that_execute_data_are_not_called() -> None:
    plain = [
        (file, name)
        for file, tree in TREES.items()
        for name, call in _list_calls(tree)
        if name in (CALLS if isinstance(call.func, ast.Name) else METHODS)
        and ast.unparse(call.func) != "platform.system"
    ]
    assert plain == []


def test_processes_are_started_in_three_modules_and_without_a_shell() -> None:
    users = {file for file, tree in TREES.items() if "subprocess" in _list_imports(tree)}
    assert users == PROCESSES
    words = [keyword for tree in TREES.values() for _, call in _list_calls(tree) for keyword in call.keywords]
    assert [keyword for keyword in words if keyword.arg in ("shell", "allow_pickle", "preexec_fn")] == []


def test_import_module_is_used_only_for_names_in_the_source() -> None:
    users = {file for file, tree in TREES.items() if any(name == "import_module" for name, _ in _list_calls(tree))}
    assert users <= BY_NAME


def test_yaml_is_read_by_safe_loaders_only() -> None:
    users = {file for file, tree in TREES.items() if "yaml" in _list_imports(tree)}
    assert users == {"policy/yaml_loader.py", "render/readme.py"}
    loaders = {
        ast.unparse(keyword.value)
        for _, call in _list_calls(TREES["render/readme.py"])
        for keyword in call.keywords
        if keyword.arg == "Loader"
    }
    assert loaders == {"yaml.SafeLoader"}
    tree = TREES["policy/yaml_loader.py"]
    bases = [ast.unparse(base) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for base in node.bases]
    assert bases == ["yaml.SafeLoader"]
    loads = [ast.unparse(call.func) for name, call in _list_calls(tree) if name in ("load", "full_load", "unsafe_load")]
    assert loads == []


def test_format_templates_are_constants() -> None:
    """`str.format` with a template from a file could read attributes of our objects: templates are constants."""
    calls = [(file, call.func) for file, tree in TREES.items() for name, call in _list_calls(tree) if name in FORMATS]
    templates = [(file, ast.unparse(func.value)) for file, func in calls if isinstance(func, ast.Attribute)]
    assert templates
    unknown = [
        (file, template)
        for file, template in templates
        if template not in NOT_TEMPLATES and not re.fullmatch(r"'.*'|_?[A-Z_]+(\[.*\])?", template)
    ]
    assert unknown == []


def test_configuration_in_a_model_is_ignored() -> None:
    """`ort_config` in a file's metadata could name files to write: onnxruntime reads it if this variable is set."""
    assert WORKER_ENVIRONMENT["ORT_LOAD_CONFIG_FROM_MODEL"] == "0"
    assert WORKER_ENVIRONMENT["ORT_DISABLE_TELEMETRY"] == "1"


def test_memory_of_a_run_is_limited_to_free_memory() -> None:
    free = free_memory()
    assert free is not None
    assert 0 < free <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with within(Limits(memory=1 << 28)):
        assert free_memory() == 1 << 28


LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, resource.RLIM_INFINITY))
from onnx_autodoc.runtime.worker import set_limits
set_limits(256 << 20, 10)
print(resource.getrlimit(resource.RLIMIT_AS)[0], resource.getrlimit(resource.RLIMIT_CORE)[0])
try:
    bytearray(512 << 20)
except MemoryError:
    print("refused")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count private memory")
def test_run_does_not_inherit_the_memory_limit_of_its_parent() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(resource.RLIM_INFINITY), "0", "refused"]
