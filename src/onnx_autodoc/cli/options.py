"""Options that several commands share, and the types of their values."""

import argparse
import re
from typing import TYPE_CHECKING, Final

from onnx_autodoc.errors import LimitReached
from onnx_autodoc.limits import MAX_BYTES, MAX_DEPTH, MIN_MEMORY_BYTES, OPTIONS, Limits

if TYPE_CHECKING:
    from onnx_autodoc.api import HardwareOptions
    from onnx_autodoc.shapes import Request

_HARDWARE_OPTIONS: Final = (
    *("device", "devices", "precision", "runtime", "profile", "prices"),
    *("target_latency", "target_throughput"),
)
_SECONDS_BY_UNIT: Final = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "": 1e-3}
_BYTES_BY_UNIT: Final = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_DEFAULTS: Final = Limits()


def build_request(options: argparse.Namespace) -> "Request":
    """Return the request for dynamic dimensions."""
    from onnx_autodoc.shapes import parse_request

    return parse_request(options.dim, options.batch, options.seq, options.size, options.value)


def add_dimension_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("dynamic dimensions", "sizes that the file does not fix; the card lists each one")
    group.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=N",
        help="size of a dynamic dimension, by name or as INPUT.AXIS=N (repeatable)",
    )
    group.add_argument("--batch", type=positive_int, metavar="N", help="batch size (default 1)")
    group.add_argument("--seq", type=positive_int, metavar="N", help="sequence length (default 128)")
    group.add_argument("--size", type=_image_size, metavar="HxW", help="height and width of images (default 224x224)")
    group.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="INPUT=V",
        help="value of a one-element input that controls branches, loops or shapes (repeatable)",
    )


def add_hardware_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("hardware", "devices of the estimates; `onnx-autodoc devices` lists them")
    group.add_argument(
        "--device",
        action="append",
        default=[],
        metavar="ID",
        help="device, or auto for this machine (repeatable; default: a GPU, a CPU and an edge device)",
    )
    group.add_argument("--devices", metavar="FILE", help="TOML file with more devices")
    group.add_argument("--precision", metavar="P", help="fp32 tf32 bf16 fp16 fp8 int8 int4 (default: that of the file)")
    group.add_argument("--runtime", metavar="R", help="runtime of the typical times: tensorrt, pytorch …")
    group.add_argument(
        "--profile", metavar="FILE", help="calibration profile of this machine (default: the stored one)"
    )
    group.add_argument("--target-latency", type=_latency, metavar="T", help="maximum time of a run: 20ms, 0.5s")
    group.add_argument(
        "--target-throughput", type=_positive_number, metavar="N", help="minimum number of samples per second"
    )
    group.add_argument(
        "--prices", metavar="FILE", help="TOML file with prices per hour, for the cost of a million samples"
    )


def hardware_files(options: argparse.Namespace) -> tuple[str | None, ...]:
    """Return the files that are read besides models."""
    return options.devices, options.prices, options.profile


def first_hardware_option(options: argparse.Namespace) -> str | None:
    """Return the first hardware option on the command line."""
    names = (name for name in _HARDWARE_OPTIONS if getattr(options, name) not in (None, []))
    return next((f"--{name.replace('_', '-')}" for name in names), None)


def build_hardware_options(options: argparse.Namespace) -> "HardwareOptions":
    """Return the hardware options."""
    from onnx_autodoc.api import HardwareOptions

    return HardwareOptions(
        tuple(options.device),
        options.precision,
        options.devices,
        options.target_latency,
        options.target_throughput,
        options.prices,
        options.runtime,
        options.profile,
    )


def _positive_number(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,18}(\.[0-9]{0,18})?(e[+-]?[0-9]{1,2})?", text, re.IGNORECASE) or not float(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return float(text)


def _latency(text: str) -> float:
    """Return seconds; a number without a unit is in milliseconds."""
    match = re.fullmatch(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(us|µs|ms|s|)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time, for example 20ms or 0.5s")
    return _positive_number(match[1]) * _SECONDS_BY_UNIT[match[2]]


def positive_int(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def _image_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9][0-9]{0,17})[x×]([1-9][0-9]{0,17})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not HEIGHTxWIDTH, for example 224x224")
    return int(match[1]), int(match[2])


def add_limit_options(parser: argparse.ArgumentParser, default_timeout: str = "depends on the graph") -> None:
    group = parser.add_argument_group("limits", "resources that a file may use; a reached limit is exit code 3")
    group.add_argument(
        "--timeout",
        type=_seconds,
        metavar="S",
        help=f"seconds for the whole command (default: {default_timeout})",
    )
    group.add_argument("--max-memory", type=_memory, metavar="SIZE", help="memory of the tool (default 1GB)")
    for option, metavar, text in (
        ("--max-nodes", "N", f"nodes in a file, including subgraphs and functions (default {_DEFAULTS.nodes:,})"),
        ("--max-steps", "N", f"steps of shape inference (default {_DEFAULTS.steps:,} plus 8 per node)"),
        ("--max-rows", "N", "listed nodes, those of a function at each call (default 100,000 plus 8 per node)"),
    ):
        group.add_argument(option, type=positive_int, metavar=metavar, help=text)
    group.add_argument(
        "--max-depth", type=_depth, metavar="N", help=f"nesting of graphs and functions (default {_DEFAULTS.depth})"
    )
    group.add_argument(
        "--max-string", type=_bytes, metavar="SIZE", help="size of one string in the file (default 16MiB)"
    )
    group.add_argument(
        "--max-text",
        type=_bytes,
        metavar="SIZE",
        help="size of a JSON card (default 256MiB), policy or other text file (lower defaults)",
    )
    group.add_argument(
        "--follow-links", action="store_true", help="follow links to external data, as in a Hugging Face cache"
    )


def build_limits(options: argparse.Namespace) -> Limits:
    """Return the limits of the command line, with defaults for the others."""
    values = {
        field: getattr(options, option.removeprefix("--").replace("-", "_"), None) for field, option in OPTIONS.items()
    }
    return Limits(**{field: value for field, value in values.items() if value is not None})


def _bytes(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,15})\s*([kmg]i?b|)", text.lower())
    if match is None or not int(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size, for example 500MB or 2GiB")
    return min(int(match[1]) * _BYTES_BY_UNIT[match[2]], MAX_BYTES)


def _memory(text: str) -> int:
    if _bytes(text) < MIN_MEMORY_BYTES:
        raise argparse.ArgumentTypeError(
            f"{text!r} is too small: Python and its libraries require {MIN_MEMORY_BYTES:,} bytes"
        )
    return _bytes(text)


def check_memory() -> None:
    """Refuse a process memory limit below the needs of the libraries, which would crash."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= soft < MIN_MEMORY_BYTES:
        needed = f"Python and its libraries require {MIN_MEMORY_BYTES:,}; raise the limit (ulimit -v)"
        raise LimitReached(f"this process is limited to {soft:,} bytes of memory, and {needed}")


def _depth(text: str) -> int:
    if positive_int(text) > MAX_DEPTH:
        raise argparse.ArgumentTypeError(f"{text!r} is above the maximum of {MAX_DEPTH:,}")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,3})?", text) or float(text) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return float(text)


def add_logging_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("diagnostics", "on standard error")
    group.add_argument("--verbose", action="store_true", help="log each step")
    group.add_argument("--debug", action="store_true", help="log each step with its time, and tracebacks of errors")
