"""Hundreds of cards in one process: memory stays flat, and nothing is left behind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CARDS = 500
MAX_GROWTH_MIB = 12.0  # from a fifth of the cards to the last one: 30 KiB each


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_five_hundred_cards_leave_memory_descriptors_and_processes_as_they_were() -> None:
    command = [sys.executable, "-m", "tests.api._many_cards", str(CARDS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    result = json.loads(done.stdout)
    assert result["leftovers"] == []
    assert CARDS // 20 < result["failed"] < CARDS // 2  # invalid files are among them
    assert result["mib"][-1] - result["mib"][2] < MAX_GROWTH_MIB, result["mib"]
