"""Hardware options: each one changes the card or is refused in one line with advice."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onnx_autodoc.api import hardware_options
from onnx_autodoc.api.hardware_options import HardwareOptions, add_measurement, add_profile, resolve_options
from onnx_autodoc.cli import main
from onnx_autodoc.errors import AutodocError, BadInput
from onnx_autodoc.hardware.devices import DetectedMachine, Device, find_device
from onnx_autodoc.render import FORMATS
from tests._corpus import graph

RESNET = str(graph("resnet50-ts-op17"))
CPU = Device(id="auto", name="A processor", family="own", kind="cpu", rates={"fp32": 1e12})


def write_file(tmp_path: Path, text: str, name: str = "own.toml") -> str:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


def read_refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([RESNET, *words]) in (2, 3)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def set_machine(monkeypatch: pytest.MonkeyPatch, *others: Device) -> None:
    machine = DetectedMachine(others[0] if others else CPU, CPU, others, ("detected",))
    monkeypatch.setattr(hardware_options, "detect_machine", lambda: machine)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--device", "AUTO"], "similar: auto"),
        (["--device", " Auto"], "similar: auto"),
        (["--device", "NVIDIA A100-SXM4-80GB"], "similar: a100_sxm_80gb"),
        (["--precision", "FP16"], "similar: fp16"),
        (["--precision", "\x1b[31m"], "use one of: fp32"),
        (["--runtime", "TensorRT"], "similar: tensorrt"),
        (["--runtime", "qqq"], "use one of: edgetpu"),
        (["--devices", ""], "the file name is empty"),
        (["--prices", ""], "the file name is empty"),
        (["--prices", "."], "is a folder"),
        (["--prices", RESNET], "not UTF-8 text"),
    ],
)
def test_wrong_option_is_one_line(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    err = read_refusal(capsys, *words)
    assert message in err
    assert ".onnx file" not in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[per_hour]\nt4 = " + "9" * 400, "the price of t4 is not a plausible number above 0"),
        ("[per_hour]\nt4 = 1e300", "the price of t4 is not a plausible number above 0"),
        ("[per_hour]\nt4 = 1e-300", "the price of t4 is not a plausible number above 0"),
        ("[per_hour]\nt44 = 1", "own.toml: unknown device 't44'; similar: t4"),
        ("[per_hour]\nt4 = 1\n[per_day]\nt4 = 2", "own.toml: per_day: unknown; prices are under [per_hour]"),
        ("[per_hour]\nh100_sxm = 2", "no price of t4"),
        ('[per_hour]\n"\\u001b[31m" = 2', "unknown device"),
        ("#" * 2_000_000, "may have at most"),
    ],
)
def test_wrong_prices_are_one_line_with_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    err = read_refusal(capsys, "--device", "t4", "--prices", write_file(tmp_path, text))
    assert message in err
    assert "own.toml" in err


def test_implausible_rates_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    own = write_file(tmp_path, '[devices.x]\nname = "X"\nfp32_tflops = 1e-13\n')
    assert "fp32_tflops" in read_refusal(capsys, "--device", "x", "--devices", own)


@pytest.mark.parametrize(
    ("device", "runtime"), [("t4", "edgetpu"), ("core_i7_12700h", "tensorrt"), ("hailo_8", "pytorch")]
)
def test_runtime_without_published_times_is_refused(device: str, runtime: str) -> None:
    with pytest.raises(BadInput, match=f"--runtime {runtime}: no published measurements on a device like {device}"):
        resolve_options(HardwareOptions((device,), runtime=runtime))
    assert resolve_options(HardwareOptions((device, "jetson_agx_orin_64gb", "coral_edge_tpu"), runtime=runtime))


def test_runtime_may_apply_to_requirements_only() -> None:
    assert resolve_options(HardwareOptions(("hailo_8",), runtime="tensorrt", target_latency=0.1))


def test_price_of_auto_is_the_price_of_the_detected_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    set_machine(monkeypatch, find_device("t4"))
    prices = write_file(tmp_path, "[per_hour]\nauto = 2\n")
    assert resolve_options(HardwareOptions(("auto",), prices=prices)).prices == {"t4": 2.0}
    with pytest.raises(BadInput, match="priced twice"):
        resolve_options(HardwareOptions(("auto",), prices=write_file(tmp_path, "[per_hour]\nauto = 2\nt4 = 1\n")))


def test_device_that_is_also_this_machine_is_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import msgspec

    own = msgspec.structs.replace(find_device("t4"), memory_reported_bytes=5)
    set_machine(monkeypatch, own)
    for names in (("auto", "t4", "l4"), ("t4", "auto", "l4")):
        assert resolve_options(HardwareOptions(names)).devices == (own, find_device("l4"))


def test_profile_is_refused_if_auto_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    set_machine(monkeypatch, find_device("t4"))
    options = HardwareOptions(("auto",), profile="here.json")
    no_facts: Any = None
    with pytest.raises(BadInput, match="auto is NVIDIA T4"):
        add_profile(resolve_options(options), no_facts, options)
    request = resolve_options(HardwareOptions(("auto",)))
    assert add_profile(request, no_facts, HardwareOptions(("auto",))) is request


def test_measurement_keeps_the_gpu_and_the_calibrated_bandwidth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import msgspec

    gpu = Device(id="auto_gpu", name="A GPU", family="own", kind="gpu")
    set_machine(monkeypatch, gpu)
    timing = SimpleNamespace(runs=3, min_seconds=1.0, median_seconds=2.0, p95_seconds=3.0)
    measured: Any = SimpleNamespace(timing=timing, runtime="onnxruntime", provider="CPU")
    assert add_measurement(resolve_options(HardwareOptions(("auto",))), measured).devices == (CPU, gpu)
    set_machine(monkeypatch)
    calibrated = msgspec.structs.replace(CPU, bandwidth=5e9)
    request = msgspec.structs.replace(
        resolve_options(HardwareOptions(("t4", "auto"))), devices=(find_device("t4"), calibrated)
    )
    assert add_measurement(request, measured).devices == (calibrated, find_device("t4"))


HOSTILE = '"\\u001b[31mred\\u001b[0m\\nnew|line <script>alert(1)</script> \\u202e"'


@pytest.mark.parametrize("format_name", ["terminal", "markdown", "html", "huggingface"])
def test_name_of_an_own_device_is_escaped(capsys: pytest.CaptureFixture[str], tmp_path: Path, format_name: str) -> None:
    own = write_file(
        tmp_path, f"[devices.x]\nname = {HOSTILE}\nfp32_tflops = 1\nmem_bandwidth_gbs = 10\nmemory_gib = 9\n"
    )
    assert main([RESNET, "--device", "x", "--devices", own, "--format", format_name]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "<script>alert" not in out and "\u202e" not in out


def test_extreme_rates_of_own_devices_give_a_card(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rates = ("1e-6", "1e9", "0.5")
    for rate in rates:
        own = write_file(tmp_path, f'[devices.x]\nname = "X"\nfp32_tflops = {rate}\nmem_bandwidth_gbs = {rate}\n')
        assert main([RESNET, "--device", "x", "--devices", own, "--format", "json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["hardware"]["devices"]
        assert row["seconds"]["bound"] > 0


@pytest.mark.parametrize(
    "options",
    [
        HardwareOptions(("\0",)),
        HardwareOptions(devices_file="a\0b"),
        HardwareOptions(prices="a\0b"),
        HardwareOptions(runtime="\n"),
        HardwareOptions(("x" * 10**6,)),
    ],
    ids=["device", "devices", "prices", "runtime", "long"],
)
def test_hostile_options_raise_autodoc_errors(options: HardwareOptions) -> None:
    with pytest.raises(AutodocError):
        resolve_options(options)


@pytest.mark.parametrize("format_name", [name for name in FORMATS if name != "pdf"])
def test_format_depends_on_devices_or_refuses_them(capsys: pytest.CaptureFixture[str], format_name: str) -> None:
    if not FORMATS[format_name].needs_hardware:
        assert f"--device: has no effect on --format {format_name}" in read_refusal(
            capsys, "--device", "l4", "--format", format_name
        )
        assert "--verify" in read_refusal(capsys, "--verify", "--format", format_name)
        return
    texts = []
    for device in ("l4", "t4"):
        assert main([RESNET, "--device", device, "--format", format_name]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] != texts[1]


def test_device_file_is_not_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = '[devices.x]\nname = "X"\nfp32_tflops = 1\n'
    own = write_file(tmp_path, text, "own.txt")
    assert "would overwrite a source file" in read_refusal(capsys, "--device", "x", "--devices", own, "-o", own)
    assert Path(own).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("words", [["--target-throughput", "1e3"], ["--target-latency", "2e-2s"]])
def test_targets_accept_exponents(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main([RESNET, *words, "--format", "json"]) == 0
    target = json.loads(capsys.readouterr().out)["hardware"]["requirements"]["target"]
    assert target in ("1000 samples per second", "a run in 20.0 ms")


def test_explain_auto_describes_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "auto"]) == 0
    assert capsys.readouterr().out.startswith("auto: ")
