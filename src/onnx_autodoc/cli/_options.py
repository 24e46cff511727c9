"""Options that several commands share, and what is a valid value of them."""

import argparse
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from onnx_autodoc.api._hardware import Asked
    from onnx_autodoc.shapes import Request

_TARGETS: Final = ("target_latency", "target_throughput")
_HARDWARE: Final = ("device", "devices", "precision", "runtime", "profile", "prices", *_TARGETS)
_UNITS: Final = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "": 1e-3}


def request_of(options: argparse.Namespace) -> "Request":
    """What the options ask for of open dimensions."""
    from onnx_autodoc.shapes import Request

    return Request(tuple(options.dim), options.batch, options.seq, options.size, tuple(options.value))


def dimension_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("open dimensions", "sizes that the file leaves open; the card states each one")
    group.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=N",
        help="the size of an open dimension, by its name or as INPUT.AXIS=N (repeatable)",
    )
    group.add_argument("--batch", type=positive, metavar="N", help="the batch size (default 1)")
    group.add_argument("--seq", type=positive, metavar="N", help="the sequence length (default 128)")
    group.add_argument("--size", type=_size, metavar="HxW", help="the height and width of images (default 224x224)")
    group.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="INPUT=V",
        help="the value of a single-number input that steers branches, loops or shapes (repeatable)",
    )


def hardware_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "hardware", "where the model is to run; `onnx-autodoc devices` lists what is known"
    )
    group.add_argument(
        "--device",
        action="append",
        default=[],
        metavar="ID",
        help="a device to estimate for, or auto for this machine (repeatable; default: three usual ones)",
    )
    group.add_argument("--devices", metavar="FILE", help="devices of your own, in TOML")
    group.add_argument("--precision", metavar="P", help="fp32 tf32 bf16 fp16 fp8 int8 int4 (default: as the file is)")
    group.add_argument("--runtime", metavar="R", help="the runtime that typical times are of: tensorrt, pytorch …")
    group.add_argument("--profile", metavar="FILE", help="what calibrate kept of this machine (default: your own)")
    group.add_argument("--target-latency", type=_time, metavar="T", help="how long a run may take: 20ms, 0.5s")
    group.add_argument("--target-throughput", type=_number, metavar="N", help="how many samples per second it must do")
    group.add_argument("--prices", metavar="FILE", help="prices per hour in TOML, for the price of a million samples")


def hardware_files(options: argparse.Namespace) -> tuple[str | None, ...]:
    """What is read besides models."""
    return options.devices, options.prices, options.profile


def hardware_option(options: argparse.Namespace) -> str | None:
    """One of the hardware options that were given."""
    return next((f"--{name.replace('_', '-')}" for name in _HARDWARE if getattr(options, name) not in (None, [])), None)


def asked_of(options: argparse.Namespace) -> "Asked":
    """What the options ask of hardware."""
    from onnx_autodoc.api._hardware import Asked

    return Asked(
        tuple(options.device),
        options.precision,
        options.devices,
        options.target_latency,
        options.target_throughput,
        options.prices,
        options.runtime,
        options.profile,
    )


def _number(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,18}(\.[0-9]{0,18})?(e[+-]?[0-9]{1,2})?", text, re.IGNORECASE) or not float(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return float(text)


def _time(text: str) -> float:
    """In seconds; a plain number is in milliseconds, as latencies are."""
    found = re.fullmatch(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(us|µs|ms|s|)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time, for example 20ms or 0.5s")
    return _number(found[1]) * _UNITS[found[2]]


def positive(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9][0-9]{0,17})[x×]([1-9][0-9]{0,17})", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not HEIGHTxWIDTH, for example 224x224")
    return int(found[1]), int(found[2])
