"""Us and our peers on the corpus, against the recorded truth: `make scoreboard` writes docs/scoreboard.md.

Every peer is installed into an environment of its own under `.scoreboard/`, and its results are kept there; FRESH=1
brings its newest version and asks it anew. Our own tool always runs anew.
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

from benchmarks import _ours
from benchmarks._entries import ROOT, Entry, entries
from benchmarks._page import Column, page
from benchmarks._results import Result, ask, kept

PLACE = ROOT / ".scoreboard"
PAGE = ROOT / "docs" / "scoreboard.md"
OURS = "onnx-autodoc"


class Peer(NamedTuple):
    name: str
    extras: str = ""  # optional parts of it that make its figures better

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def python(self) -> str:
        return str(PLACE / self.name / "bin" / "python")


# To add one: a file in benchmarks/peers/ that keeps the contract there, and a line here.
PEERS = (
    Peer("haoline"),
    Peer("onnx-tool"),
    Peer("onnxsim", "[onnxruntime,shape-inference,symbolic]"),
)

Ask = Callable[[Entry, str], Result]


class Tool(NamedTuple):
    name: str
    version: str
    asked: str  # in words
    ask: Ask


def installed(peer: Peer, fresh: bool) -> Tool:
    if fresh or not Path(peer.python).exists():
        subprocess.run([sys.executable, "-m", "venv", str(PLACE / peer.name)], check=True)
        pip = [peer.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
        subprocess.run([*pip, peer.name + peer.extras], check=True)
    found = version(peer.python, peer.name)
    asked = words(ROOT / "benchmarks" / "peers" / f"{peer.module}.py")
    return Tool(peer.name, found, asked, lambda entry, model: peer_result(peer, found, entry, model, fresh))


def peer_result(peer: Peer, found: str, entry: Entry, model: str, fresh: bool) -> Result:
    place = PLACE / "results" / f"{peer.name}-{entry.name}.json"
    if fresh:
        place.unlink(missing_ok=True)
    recorded = [json.dumps(entry.shapes), json.dumps(entry.values)]
    command = [peer.python, "-m", f"benchmarks.peers.{peer.module}", model, *recorded]
    return kept(place, found, lambda: ask(command, last_line, [f"{Path(model).parent}/", f"{ROOT}/"]))


def last_line(output: str) -> dict[str, int | None]:
    """A runner's answer comes last: native code may print before it, past Python."""
    figures: dict[str, int | None] = json.loads("".join(output.splitlines()[-1:]))
    return figures


def ourselves() -> Tool:
    def result(entry: Entry, model: str) -> Result:
        return ask(_ours.command(entry, model), _ours.found, [f"{Path(model).parent}/", f"{ROOT}/"])

    return Tool(OURS, version(sys.executable, OURS), words(Path(_ours.__file__)), result)


def version(python: str, name: str) -> str:
    """In a process of its own: what this one imports, every tool's peak memory would begin with."""
    code = f"import importlib.metadata as metadata; print(metadata.version({name!r}))"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def words(runner: Path) -> str:
    """The first lines of a runner's file, which say how the tool was asked."""
    return ast.get_docstring(ast.parse(runner.read_text())) or ""


def answers(tools: Iterable[Tool], entry: Entry) -> dict[str, Result]:
    """What each tool says of one model, which is made for that and gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / f"{entry.name}.onnx")
        prepare = [sys.executable, "-m", "benchmarks._prepare", str(entry.path), model, json.dumps(entry.shapes)]
        subprocess.run(prepare, check=True)
        found = {tool.name: tool.ask(entry, model) for tool in tools}
    for name, result in found.items():
        print(f"{entry.name:<36} {name:<14} {result.wall:6.2f} s  {result.failure or result.macs}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="write docs/scoreboard.md")
    parser.add_argument("--fresh", action="store_true", help="install the peers anew and ask them anew")
    fresh = parser.parse_args().fresh
    tools = [ourselves(), *(installed(peer, fresh) for peer in PEERS)]
    models = entries()
    found = {model.name: answers(tools, model) for model in models}
    columns = [
        Column(tool.name, tool.version, tool.asked, {name: each[tool.name] for name, each in found.items()})
        for tool in tools
    ]
    PAGE.write_text(page(models, columns), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
