"""Options on hardware as a clumsy or hostile user gives them: one line that says what to do, or something changes."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onnx_autodoc.api import _hardware
from onnx_autodoc.api._hardware import Asked, wanted_of, with_measured, with_profile
from onnx_autodoc.cli import main
from onnx_autodoc.errors import AutodocError, BadInput
from onnx_autodoc.hardware.devices import Detected, Device, find
from onnx_autodoc.render import FORMATS
from tests._corpus import graph

RESNET = str(graph("resnet50-ts-op17"))
CPU = Device(id="auto", name="A processor", family="own", kind="cpu", rates={"fp32": 1e12})


def written(tmp_path: Path, text: str, name: str = "own.toml") -> str:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([RESNET, *words]) in (2, 3)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def here(monkeypatch: pytest.MonkeyPatch, *others: Device) -> None:
    machine = Detected(others[0] if others else CPU, CPU, others, ("found",))
    monkeypatch.setattr(_hardware, "this_machine", lambda: machine)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--device", "AUTO"], "near it: auto"),
        (["--device", " Auto"], "near it: auto"),
        (["--device", "NVIDIA A100-SXM4-80GB"], "near it: a100_sxm_80gb"),
        (["--precision", "FP16"], "near it: fp16"),
        (["--precision", "\x1b[31m"], "there are: fp32"),
        (["--runtime", "TensorRT"], "near it: tensorrt"),
        (["--runtime", "qqq"], "there are: edgetpu"),
        (["--devices", ""], "the name of a file is empty"),
        (["--prices", ""], "the name of a file is empty"),
        (["--prices", "."], "is a folder"),
        (["--prices", RESNET], "not UTF-8 text"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    err = refused(capsys, *words)
    assert said in err
    assert ".onnx file" not in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[per_hour]\nt4 = " + "9" * 400, "the price of t4 is no number above 0"),
        ("[per_hour]\nt4 = 1e300", "the price of t4 is no number above 0"),
        ("[per_hour]\nt4 = 1e-300", "the price of t4 is no number above 0"),
        ("[per_hour]\nt44 = 1", "own.toml: there is no device 't44'; near it: t4"),
        ("[per_hour]\nt4 = 1\n[per_day]\nt4 = 2", "own.toml: per_day: unknown; prices stand under [per_hour]"),
        ("[per_hour]\nh100_sxm = 2", "has no price of t4"),
        ('[per_hour]\n"\\u001b[31m" = 2', "there is no device"),
        ("#" * 2_000_000, "bytes is not read"),
    ],
)
def test_a_wrong_table_of_prices_is_one_line_with_its_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, said: str
) -> None:
    err = refused(capsys, "--device", "t4", "--prices", written(tmp_path, text))
    assert said in err
    assert "own.toml" in err


def test_rates_that_no_device_has_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    own = written(tmp_path, '[devices.x]\nname = "X"\nfp32_tflops = 1e-13\n')
    assert "fp32_tflops" in refused(capsys, "--device", "x", "--devices", own)


@pytest.mark.parametrize(
    ("device", "runtime"), [("t4", "edgetpu"), ("core_i7_12700h", "tensorrt"), ("hailo_8", "pytorch")]
)
def test_a_runtime_of_which_nothing_is_published_for_the_devices_is_refused(device: str, runtime: str) -> None:
    with pytest.raises(BadInput, match=f"--runtime {runtime}: nothing is published of it on a device like {device}"):
        wanted_of(Asked((device,), runtime=runtime))
    assert wanted_of(Asked((device, "jetson_agx_orin_64gb", "coral_edge_tpu"), runtime=runtime))


def test_a_runtime_may_be_for_the_requirements_alone() -> None:
    assert wanted_of(Asked(("hailo_8",), runtime="tensorrt", latency=0.1))


def test_a_price_of_this_machine_is_the_price_of_what_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here(monkeypatch, find("t4"))
    prices = written(tmp_path, "[per_hour]\nauto = 2\n")
    assert wanted_of(Asked(("auto",), prices=prices)).prices == {"t4": 2.0}
    with pytest.raises(BadInput, match="priced twice"):
        wanted_of(Asked(("auto",), prices=written(tmp_path, "[per_hour]\nauto = 2\nt4 = 1\n")))


def test_a_device_that_is_this_machine_too_is_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import msgspec

    own = msgspec.structs.replace(find("t4"), memory_reported_bytes=5)
    here(monkeypatch, own)
    for names in (("auto", "t4", "l4"), ("t4", "auto", "l4")):
        assert wanted_of(Asked(names)).devices == (own, find("l4"))


def test_a_profile_is_refused_where_this_machine_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    here(monkeypatch, find("t4"))
    asked = Asked(("auto",), profile="here.json")
    nothing: Any = None
    with pytest.raises(BadInput, match="auto is NVIDIA T4"):
        with_profile(wanted_of(asked), nothing, asked)
    wanted = wanted_of(Asked(("auto",)))
    assert with_profile(wanted, nothing, Asked(("auto",))) is wanted


def test_what_was_measured_keeps_the_gpu_and_the_bandwidth_that_calibration_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import msgspec

    gpu = Device(id="auto_gpu", name="A GPU", family="own", kind="gpu")
    here(monkeypatch, gpu)
    timing = SimpleNamespace(runs=3, min_seconds=1.0, median_seconds=2.0, p95_seconds=3.0)
    measured: Any = SimpleNamespace(timing=timing, runtime="onnxruntime", provider="CPU")
    assert with_measured(wanted_of(Asked(("auto",))), measured).devices == (CPU, gpu)
    here(monkeypatch)
    known = msgspec.structs.replace(CPU, bandwidth=5e9)
    wanted = msgspec.structs.replace(wanted_of(Asked(("t4", "auto"))), devices=(find("t4"), known))
    assert with_measured(wanted, measured).devices == (known, find("t4"))


HOSTILE = '"\\u001b[31mred\\u001b[0m\\nnew|line <script>alert(1)</script> \\u202e"'


@pytest.mark.parametrize("format_name", ["terminal", "markdown", "html", "huggingface"])
def test_the_name_of_a_users_device_is_data(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, format_name: str
) -> None:
    own = written(tmp_path, f"[devices.x]\nname = {HOSTILE}\nfp32_tflops = 1\nmem_bandwidth_gbs = 10\nmemory_gib = 9\n")
    assert main([RESNET, "--device", "x", "--devices", own, "--format", format_name]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "<script>alert" not in out and "\u202e" not in out


def test_any_file_of_devices_is_a_card_or_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rates = ("1e-6", "1e9", "0.5")
    for rate in rates:
        own = written(tmp_path, f'[devices.x]\nname = "X"\nfp32_tflops = {rate}\nmem_bandwidth_gbs = {rate}\n')
        assert main([RESNET, "--device", "x", "--devices", own, "--format", "json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["hardware"]["devices"]
        assert row["seconds"]["bound"] > 0


@pytest.mark.parametrize(
    "asked",
    [Asked(("\0",)), Asked(shelf="a\0b"), Asked(prices="a\0b"), Asked(runtime="\n"), Asked(("x" * 10**6,))],
    ids=["device", "devices", "prices", "runtime", "long"],
)
def test_every_error_is_one_of_ours(asked: Asked) -> None:
    with pytest.raises(AutodocError):
        wanted_of(asked)


@pytest.mark.parametrize("format_name", [name for name in FORMATS if name != "pdf"])
def test_a_format_depends_on_devices_or_refuses_them(capsys: pytest.CaptureFixture[str], format_name: str) -> None:
    if not FORMATS[format_name].estimated:
        assert f"nothing in --format {format_name} depends on it" in refused(
            capsys, "--device", "l4", "--format", format_name
        )
        assert "--verify" in refused(capsys, "--verify", "--format", format_name)
        return
    texts = []
    for device in ("l4", "t4"):
        assert main([RESNET, "--device", device, "--format", format_name]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] != texts[1]


def test_what_a_card_is_made_from_is_never_written_over(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = '[devices.x]\nname = "X"\nfp32_tflops = 1\n'
    own = written(tmp_path, text, "own.txt")
    assert "would take the place" in refused(capsys, "--device", "x", "--devices", own, "-o", own)
    assert Path(own).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("words", [["--target-throughput", "1e3"], ["--target-latency", "2e-2s"]])
def test_targets_may_be_written_with_powers_of_ten(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main([RESNET, *words, "--format", "json"]) == 0
    target = json.loads(capsys.readouterr().out)["hardware"]["requirements"]["target"]
    assert target in ("1000 samples per second", "a run in 20.0 ms")


def test_this_machine_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "auto"]) == 0
    assert capsys.readouterr().out.startswith("auto: ")
