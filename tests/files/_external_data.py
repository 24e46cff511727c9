"""Models with external data, in folders where these files are links, pipes, devices or missing."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

from tests._wire import chunk, integer, model, node, value

CANARY = b"canary bytes that no output may contain" * 100
AddFile = Callable[[Path, Path], str]  # (model folder, file outside of it) -> location in the model


def build_external_model(*locations: str, elements: int = 8) -> bytes:
    """Return a model that adds float tensors, each in the external file of that name."""
    tensors = b"".join(chunk(5, _tensor(f"w{at}", location, elements)) for at, location in enumerate(locations))
    names = ["x", *(f"s{at}" for at in range(len(locations) - 1)), "y"]
    sums = (node("Add", f"{names[at]} w{at}", names[at + 1]) for at in range(len(locations)))
    return model(value(11, "x", (elements,)) + tensors + b"".join(sums) + value(12, "y", (elements,)))


def _tensor(name: str, location: str, elements: int) -> bytes:
    entry = chunk(13, chunk(1, "location") + chunk(2, location))
    return integer(1, elements) + integer(2, 1) + chunk(8, name) + entry + integer(14, 1)


def add_regular_file(folder: Path, outside: Path) -> str:
    (folder / "w.bin").write_bytes(bytes(range(32)))
    return "w.bin"


def name_absolute_path(folder: Path, outside: Path) -> str:
    return str(outside)


def name_parent_path(folder: Path, outside: Path) -> str:
    return f"../{outside.name}"


def name_path_through_parent(folder: Path, outside: Path) -> str:
    (folder / "deep").mkdir()
    return f"deep/../../{outside.name}"


def add_link(folder: Path, outside: Path) -> str:
    (folder / "w.bin").symlink_to(outside)
    return "w.bin"


def add_linked_folder(folder: Path, outside: Path) -> str:
    (folder / "deep").symlink_to(outside.parent)
    return f"deep/{outside.name}"


def add_chained_links(folder: Path, outside: Path) -> str:
    (folder / "a").mkdir()
    (folder / "a" / "b").symlink_to("c")
    (folder / "a" / "c").symlink_to(outside.parent)
    return f"a/b/{outside.name}"


def add_hard_link(folder: Path, outside: Path) -> str:
    (folder / "w.bin").hardlink_to(outside)
    return "w.bin"


def add_pipe(folder: Path, outside: Path) -> str:
    os.mkfifo(folder / "w.bin")
    return "w.bin"


def add_socket(folder: Path, outside: Path) -> str:
    descriptor = os.open(folder, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{descriptor}/w.bin")  # a socket's path has to be short
    os.close(descriptor)
    return "w.bin"


def add_device(folder: Path, outside: Path) -> str:
    try:
        os.mknod(folder / "w.bin", 0o20666, os.makedev(1, 5))
    except PermissionError:
        (folder / "w.bin").symlink_to("/dev/zero")
    return "w.bin"


def add_device_link(folder: Path, outside: Path) -> str:
    (folder / "w.bin").symlink_to("/dev/zero")
    return "w.bin"


def add_folder(folder: Path, outside: Path) -> str:
    (folder / "w.bin").mkdir()
    return "w.bin"


OUTSIDE: tuple[AddFile, ...] = (
    name_absolute_path,
    name_parent_path,
    name_path_through_parent,
    add_link,
    add_linked_folder,
    add_chained_links,
    add_hard_link,
)
ODD: tuple[AddFile, ...] = (add_pipe, add_socket, add_device, add_device_link, add_folder)


def create_model(tmp_path: Path, add_file: AddFile) -> tuple[Path, Path]:
    """Return a model whose external file `add_file` creates, and the file outside of its folder."""
    outside = tmp_path / "canary.bin"
    outside.write_bytes(CANARY)
    folder = tmp_path / "model"
    folder.mkdir()
    path = folder / "model.onnx"
    path.write_bytes(build_external_model(add_file(folder, outside)))
    return path, outside


def create_model_with_all_kinds(tmp_path: Path) -> tuple[Path, Path]:
    """Return one model with an external file of every kind, each in its own folder unless it leads out."""
    outside = tmp_path / "canary.bin"
    outside.write_bytes(CANARY)
    folder = tmp_path / "model"
    folder.mkdir()
    names = []
    for add_file in (add_regular_file, *OUTSIDE, *ODD):
        inner = (
            folder
            if add_file in (name_absolute_path, name_parent_path, name_path_through_parent)
            else folder / add_file.__name__
        )
        inner.mkdir(exist_ok=True)
        names.append(("" if inner == folder else f"{inner.name}/") + add_file(inner, outside))
    (folder / "model.onnx").write_bytes(build_external_model(*names))
    return folder / "model.onnx", outside


def read_tree(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder, by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
