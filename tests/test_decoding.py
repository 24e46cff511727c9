"""Typed decoding in several threads at once."""

import subprocess
import sys

import pytest

CALLS = {
    "decode_json": 'decode_json(b\'{"part": {"size": 1}}\', Row)',
    "json_decoder": 'json_decoder(tuple[Row, ...]).decode(b\'[{"part": {"size": 1}}]\')[0]',
    "decode_msgpack": "decode_msgpack(b'\\x81\\xa4part\\x81\\xa4size\\x01', Row)",
    "convert": "convert({'part': {'size': 1}}, Row)",
}

# While msgspec examines the type of Row's field, the other threads decode.
PROGRAM = """
import threading, time
from concurrent.futures import ThreadPoolExecutor
from msgspec import Struct
from onnx_autodoc.decoding import {name}

def slow_type():
    time.sleep(0.05)
    return int

class Part(Struct, frozen=True):
    size: "slow_type()"

class Row(Struct, frozen=True):
    part: Part

barrier = threading.Barrier(3)

def decode(_):
    barrier.wait()
    return {call}

with ThreadPoolExecutor(3) as pool:
    assert list(pool.map(decode, range(3))) == [Row(Part(1))] * 3
"""


@pytest.mark.parametrize("name", CALLS)
def test_first_use_of_a_type_by_several_threads_decodes(name: str) -> None:
    """msgspec's own functions end with a segmentation fault here."""
    subprocess.run([sys.executable, "-c", PROGRAM.format(name=name, call=CALLS[name])], check=True, timeout=60)
