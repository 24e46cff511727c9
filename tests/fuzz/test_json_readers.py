"""JSON documents of hostile files are read in Python, JavaScript and DuckDB, with the figures that the tool prints."""

import shutil
from pathlib import Path

import pytest

from fuzz.hostile import hostile_files
from fuzz.json_readers import find_differences, write_documents

INTERVAL = 4  # `make fuzz` reads the documents of all files
SLOW = ("bombs/functions", "bombs/Ifs", "tensors/sparse with 4,000")

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def test_documents_of_hostile_files_are_read_in_three_languages(tmp_path: Path) -> None:
    families = ("tensors/", "bombs/", "oddities/", "graphs/")
    builders = [build for name, build in hostile_files(systematic=False).items() if name.startswith(families)
                and not name.startswith(SLOW)]  # fmt: skip
    paths = write_documents((build() for build in builders[::INTERVAL]), tmp_path)
    assert len(paths) > 60
    assert list(find_differences(paths)) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"macs": 9223372036854775808}', "beyond 64 bits"),
        ('{"macs": 1' + "0" * 400 + "}", "DuckDB"),
        ('{"macs": 1}\n{"macs": \n', "DuckDB"),
    ],
)
def test_unreadable_document_is_found(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / ("0.json" if problem == "beyond 64 bits" else "0.jsonl")
    path.write_text(text)
    assert any(problem in difference for difference in find_differences([path]))
