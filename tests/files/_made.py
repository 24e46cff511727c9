"""Models with external data, in folders where these files are links, pipes, devices or missing."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

from tests._wire import chunk, integer, model, node, value

CANARY = b"canary bytes that no output may contain" * 100
Made = Callable[[Path, Path], str]  # (model folder, file outside of it) -> location in the model


def external(*locations: str, elements: int = 8) -> bytes:
    """Return a model that adds float tensors, each in the external file of that name."""
    tensors = b"".join(chunk(5, _tensor(f"w{at}", location, elements)) for at, location in enumerate(locations))
    names = ["x", *(f"s{at}" for at in range(len(locations) - 1)), "y"]
    sums = (node("Add", f"{names[at]} w{at}", names[at + 1]) for at in range(len(locations)))
    return model(value(11, "x", (elements,)) + tensors + b"".join(sums) + value(12, "y", (elements,)))


def _tensor(name: str, location: str, elements: int) -> bytes:
    place = chunk(13, chunk(1, "location") + chunk(2, location))
    return integer(1, elements) + integer(2, 1) + chunk(8, name) + place + integer(14, 1)


def plain(folder: Path, outside: Path) -> str:
    (folder / "w.bin").write_bytes(bytes(range(32)))
    return "w.bin"


def absolute(folder: Path, outside: Path) -> str:
    return str(outside)


def upwards(folder: Path, outside: Path) -> str:
    return f"../{outside.name}"


def down_and_up(folder: Path, outside: Path) -> str:
    (folder / "deep").mkdir()
    return f"deep/../../{outside.name}"


def linked(folder: Path, outside: Path) -> str:
    (folder / "w.bin").symlink_to(outside)
    return "w.bin"


def linked_folder(folder: Path, outside: Path) -> str:
    (folder / "deep").symlink_to(outside.parent)
    return f"deep/{outside.name}"


def linked_twice(folder: Path, outside: Path) -> str:
    (folder / "a").mkdir()
    (folder / "a" / "b").symlink_to("c")
    (folder / "a" / "c").symlink_to(outside.parent)
    return f"a/b/{outside.name}"


def hard_linked(folder: Path, outside: Path) -> str:
    (folder / "w.bin").hardlink_to(outside)
    return "w.bin"


def pipe(folder: Path, outside: Path) -> str:
    os.mkfifo(folder / "w.bin")
    return "w.bin"


def unix_socket(folder: Path, outside: Path) -> str:
    here = os.open(folder, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{here}/w.bin")  # a socket's path has to be short
    os.close(here)
    return "w.bin"


def device(folder: Path, outside: Path) -> str:
    try:
        os.mknod(folder / "w.bin", 0o20666, os.makedev(1, 5))
    except PermissionError:
        (folder / "w.bin").symlink_to("/dev/zero")
    return "w.bin"


def link_to_a_device(folder: Path, outside: Path) -> str:
    (folder / "w.bin").symlink_to("/dev/zero")
    return "w.bin"


def a_folder(folder: Path, outside: Path) -> str:
    (folder / "w.bin").mkdir()
    return "w.bin"


OUTSIDE: tuple[Made, ...] = (absolute, upwards, down_and_up, linked, linked_folder, linked_twice, hard_linked)
ODD: tuple[Made, ...] = (pipe, unix_socket, device, link_to_a_device, a_folder)


def place(tmp_path: Path, made: Made) -> tuple[Path, Path]:
    """Return a model whose external file is what `made` creates, and the file outside of its folder."""
    outside = tmp_path / "canary.bin"
    outside.write_bytes(CANARY)
    folder = tmp_path / "model"
    folder.mkdir()
    path = folder / "model.onnx"
    path.write_bytes(external(made(folder, outside)))
    return path, outside


def everything(tmp_path: Path) -> tuple[Path, Path]:
    """Return one model with an external file of every kind, each in its own folder unless it leads out."""
    outside = tmp_path / "canary.bin"
    outside.write_bytes(CANARY)
    folder = tmp_path / "model"
    folder.mkdir()
    names = []
    for made in (plain, *OUTSIDE, *ODD):
        inner = folder if made in (absolute, upwards, down_and_up) else folder / made.__name__
        inner.mkdir(exist_ok=True)
        names.append(("" if inner == folder else f"{inner.name}/") + made(inner, outside))
    (folder / "model.onnx").write_bytes(external(*names))
    return folder / "model.onnx", outside


def tree(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder, by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
