"""This tool and its peers on the corpus, compared with reference values: `make scoreboard` writes docs/scoreboard.md.

Every peer has a virtual environment under `.scoreboard/`, where its results are cached; FRESH=1 installs the newest
versions and runs them again. This tool always runs.
"""

import argparse
import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks import _autodoc
from benchmarks._entries import ROOT, Entry, load_entries
from benchmarks._page import Column, render_page
from benchmarks._results import Result, cached_result, run_tool

CACHE_FOLDER = ROOT / ".scoreboard"
PAGE = ROOT / "docs" / "scoreboard.md"
OURS = "onnx-autodoc"


class Peer(NamedTuple):
    name: str
    extras: str = ""  # that make its figures better

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def python(self) -> str:
        return str(CACHE_FOLDER / self.name / "bin" / "python")


# To add one: a module in benchmarks/peers/ that follows _contract.py, and a line here.
PEERS = (
    Peer("haoline"),
    Peer("onnx-tool"),
    Peer("onnxsim", "[onnxruntime,shape-inference,symbolic]"),
)

ToolRunner = Callable[[Entry, str], Result]


class Tool(NamedTuple):
    name: str
    version: str
    method: str
    run_tool: ToolRunner


def install_peer(peer: Peer, fresh: bool) -> Tool:
    if fresh or not Path(peer.python).exists():
        subprocess.run([sys.executable, "-m", "venv", str(CACHE_FOLDER / peer.name)], check=True)
        pip = [peer.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
        subprocess.run([*pip, peer.name + peer.extras], check=True)
    installed_version = version(peer.python, peer.name)
    method = read_method(ROOT / "benchmarks" / "peers" / f"{peer.module}.py")
    return Tool(
        peer.name,
        installed_version,
        method,
        lambda entry, model: peer_result(peer, installed_version, entry, model, fresh),
    )


def peer_result(peer: Peer, installed_version: str, entry: Entry, model: str, fresh: bool) -> Result:
    cache = CACHE_FOLDER / "results" / f"{peer.name}-{entry.name}.json"
    if fresh:
        cache.unlink(missing_ok=True)
    recorded = [json.dumps(entry.shapes), json.dumps(entry.values)]
    command = [peer.python, "-m", f"benchmarks.peers.{peer.module}", model, *recorded]
    return cached_result(
        cache, installed_version, lambda: run_tool(command, last_line, [f"{Path(model).parent}/", f"{ROOT}/"])
    )


def last_line(output: str) -> dict[str, int | None]:
    """Parse the last line of a runner's output: native code may print before it."""
    figures: dict[str, int | None] = json.loads("".join(output.splitlines()[-1:]))
    return figures


def own_tool() -> Tool:
    def result(entry: Entry, model: str) -> Result:
        return run_tool(
            _autodoc.command(entry, model), _autodoc.installed_version, [f"{Path(model).parent}/", f"{ROOT}/"]
        )

    return Tool(OURS, version(sys.executable, OURS), read_method(Path(_autodoc.__file__)), result)


def version(python: str, name: str) -> str:
    """Return a package's version, in a separate process: imports here would raise every tool's peak memory."""
    code = f"import importlib.metadata as metadata; print(metadata.version({name!r}))"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def read_method(runner: Path) -> str:
    """Return the docstring of a runner, which describes how it runs the tool."""
    return ast.get_docstring(ast.parse(runner.read_text())) or ""


def run_tools(tools: Iterable[Tool], entry: Entry) -> dict[str, Result]:
    """Run each tool on one model, which exists only meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / f"{entry.name}.onnx")
        prepare = [sys.executable, "-m", "benchmarks._prepare", str(entry.path), model, json.dumps(entry.shapes)]
        subprocess.run(prepare, check=True)
        installed_version = {tool.name: tool.run_tool(entry, model) for tool in tools}
    for name, result in installed_version.items():
        print(f"{entry.name:<36} {name:<14} {result.wall:6.2f} s  {result.failure or result.macs}", flush=True)
    return installed_version


def main() -> int:
    parser = argparse.ArgumentParser(description="write docs/scoreboard.md")
    parser.add_argument("--fresh", action="store_true", help="reinstall the peers and run them again")
    fresh = parser.parse_args().fresh
    tools = [own_tool(), *(install_peer(peer, fresh) for peer in PEERS)]
    models = load_entries()
    installed_version = {model.name: run_tools(tools, model) for model in models}
    columns = [
        Column(
            tool.name, tool.version, tool.method, {name: each[tool.name] for name, each in installed_version.items()}
        )
        for tool in tools
    ]
    PAGE.write_text(render_page(models, columns), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
