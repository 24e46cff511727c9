"""Command lines that each violate one requirement, for the test of the oracle."""

import os
import signal
import sys
import time
from pathlib import Path


def right(argv: list[str]) -> int:
    sys.stdout.write("a card\n")
    return 0


def refused(argv: list[str]) -> int:
    sys.stderr.write("onnx-autodoc: error: model.onnx: not an ONNX model\n")
    return 2


def two_lines(argv: list[str]) -> int:
    sys.stderr.write("onnx-autodoc: error: one\nand two\n")
    return 2


def no_line(argv: list[str]) -> int:
    return 3


def raises(argv: list[str]) -> int:
    raise KeyError("a name")


def hangs(argv: list[str]) -> int:
    time.sleep(60)
    return 0


def loops_in_child(argv: list[str]) -> int:
    """Loop forever in a child process, which must be killed with the session."""
    if os.fork() == 0:
        while True:
            pass
    os.wait()
    return 0


def exhausts_memory(argv: list[str]) -> int:
    blocks = []
    while True:
        blocks.append(bytearray(b"x" * (1 << 22)))
        time.sleep(0.005)


def exhausts_memory_in_child(argv: list[str]) -> int:
    if os.fork() == 0:
        exhausts_memory(argv)
    os.wait()
    return right(argv)


def dies(argv: list[str]) -> int:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def not_a_number(argv: list[str]) -> int:
    sys.stdout.write('{"macs": NaN}\n')
    return 0


def half_json(argv: list[str]) -> int:
    sys.stdout.write('{"macs": ')
    return 0


def says_nothing(argv: list[str]) -> int:
    return 0


def prints_escapes(argv: list[str]) -> int:
    sys.stdout.write("\x1b[31mred\n")
    return 0


def reverses_text(argv: list[str]) -> int:
    sys.stdout.write("\u202eder\n")
    return 0


def internal_error(argv: list[str]) -> int:
    sys.stderr.write("onnx-autodoc: error: model.onnx: internal error: KeyError: 'x'\n")
    return 2


def part_failed(argv: list[str]) -> int:
    sys.stdout.write(
        '{"gaps": [{"section": "hardware", "reason": "internal error: KeyError: x; the rest of the card is valid"}]}\n'
    )
    return 0


def writes_and_fails(argv: list[str]) -> int:
    Path("out.json").write_text("{")
    return refused(argv)


def prints_and_fails(argv: list[str]) -> int:
    right(argv)
    return refused(argv)


def leaves(argv: list[str]) -> int:
    sys.exit(7)


def warns(argv: list[str]) -> int:
    sys.stderr.write("a warning\n")
    return right(argv)


def uneven_rows(argv: list[str]) -> int:
    sys.stdout.write("a,b\n1\n")
    return 0


def negative(argv: list[str]) -> int:
    sys.stdout.write('{"nodes": [{"op": "Conv", "macs": -1}]}\n')
    return 0
