"""`onnx-autodoc check` with hardware options, which are those of the card."""

from pathlib import Path

import msgspec
import pytest

from onnx_autodoc import card, check
from onnx_autodoc.cli import main
from onnx_autodoc.cli.parser import parse
from onnx_autodoc.errors import BadInput
from tests._corpus import graph

RESNET = str(graph("resnet50-ts-op17"))
RULES = '[rules]\nfail_on = "never"\n'


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return tmp_path / "policy.toml"


def write_limit(policy: Path, path: str, least: float = 1e-9, most: float = 1e30) -> list[str]:
    policy.write_text(f'{RULES}[limits]\n"{path}" = {{ min = {least!r}, max = {most!r} }}\n')
    return ["check", RESNET, "--policy", str(policy)]


def test_check_has_every_hardware_option_of_the_card(policy: Path) -> None:
    words = write_limit(policy, "hardware.devices.t4.seconds.bound")
    options = [
        "--device",
        "t4",
        "--devices",
        "d",
        "--precision",
        "p",
        "--runtime",
        "r",
        "--profile",
        "f",
        "--prices",
        "c",
    ]
    options += ["--target-latency", "1s", "--target-throughput", "2"]
    check_options, card_options = vars(parse([*words, *options])), vars(parse([RESNET, *options]))
    shared = {"device", "devices", "precision", "runtime", "profile", "prices", "target_latency", "target_throughput"}
    assert {key: check_options[key] for key in shared} == {key: card_options[key] for key in shared}


def test_limit_applies_to_the_requested_device(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = write_limit(policy, "hardware.devices.rtx_4090.seconds.bound")
    assert main(words) == 1
    assert "the card has no entry named rtx_4090" in capsys.readouterr().out
    assert main([*words, "--device", "rtx_4090"]) == 0


def test_each_option_changes_a_limited_figure(policy: Path, tmp_path: Path) -> None:
    """A limit between the figure with and without the option passes in one case only."""
    (tmp_path / "own.toml").write_text('[devices.t4]\nname = "T4"\nmem_bandwidth_gbs = 10\nfp32_tflops = 0.1\n')
    (tmp_path / "prices.toml").write_text("[per_hour]\nt4 = 1\n")
    for path, option, most in (
        ("hardware.devices.t4.seconds.bound", ["--precision", "fp16"], 0.0008),
        ("hardware.devices.t4.seconds.expected", ["--runtime", "tensorrt"], None),
        ("hardware.requirements.minimum.capacity_bytes", ["--target-throughput", "20000"], None),
        ("hardware.requirements.minimum.capacity_bytes", ["--target-latency", "1ms"], None),
    ):
        without = read_figure(path, [])
        with_it = read_figure(path, option)
        assert without != with_it, option
        middle = most or (without + with_it) / 2
        words = write_limit(policy, path, most=middle)
        assert {main(words), main([*words, *option])} == {0, 1}, option
    words = write_limit(policy, "hardware.devices.t4.seconds.bound", most=0.01)
    assert (main(words), main([*words, "--devices", str(tmp_path / "own.toml")])) == (0, 1)
    words = write_limit(policy, "hardware.prices.t4.per_million")
    assert (main(words), main([*words, "--prices", str(tmp_path / "prices.toml")])) == (1, 0)


def read_figure(path: str, option: list[str]) -> float:
    keys = {"--precision": "precision", "--runtime": "runtime"}
    settings = {keys[option[0]]: option[1]} if option and option[0] in keys else {}
    times = {"--target-throughput": {"target_throughput": 20000.0}, "--target-latency": {"target_latency": 1e-3}}
    arguments = {**settings, **(times.get(option[0], {}) if option else {})}
    figures = msgspec.to_builtins(card(RESNET, **arguments))["hardware"]  # type: ignore[arg-type]
    figures["devices"] = {row["device"]: row for row in figures["devices"]}
    for key in path.split(".")[1:]:
        figures = figures[key]
    assert isinstance(figures, int | float)
    return figures


@pytest.mark.parametrize(
    ("path", "option"),
    [
        ("graph.nodes", ["--device", "t4"]),
        ("graph.nodes", ["--precision", "fp16"]),
        ("hardware.devices.t4.seconds.bound", ["--target-latency", "1ms"]),
        ("hardware.devices.t4.seconds.bound", ["--target-throughput", "1"]),
        ("hardware.requirements.minimum.capacity_bytes", ["--prices", "prices.toml"]),
    ],
)
def test_option_without_effect_on_a_limit_is_refused(
    policy: Path, capsys: pytest.CaptureFixture[str], path: str, option: list[str]
) -> None:
    assert main([*write_limit(policy, path), *option]) == 2
    err = capsys.readouterr().err
    assert f"{option[0]}: has no effect, as the policy has no limit or change of hardware" in err
    assert err.count("\n") == 1


def test_unknown_device_is_an_error_with_suggestions(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*write_limit(policy, "hardware.devices.t4.seconds.bound"), "--device", "T4"]) == 2
    assert "similar: t4" in capsys.readouterr().err


def test_card_keeps_its_devices_and_may_be_a_baseline(
    policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = str(tmp_path / "kept.json")
    assert main([RESNET, "--device", "l4", "-o", stored]) == 0
    words = write_limit(policy, "hardware.devices.l4.seconds.bound")
    words[1] = stored
    assert main(words) == 0
    assert main([*words, "--device", "t4"]) == 2
    assert "require the model file" in capsys.readouterr().err
    path = '"hardware.devices.l4.seconds.bound"'
    policy.write_text(f"{RULES}[changes]\n{path} = {{ max_percent = 0 }}\n")
    for baseline in (stored, RESNET):
        words = ["check", RESNET, "--policy", str(policy), "--baseline", baseline, "--device", "l4"]
        assert main(words) == 0, capsys.readouterr().out


def test_python_check_has_the_same_options(policy: Path) -> None:
    write_limit(policy, "hardware.devices.rtx_4090.seconds.bound")
    assert not check(RESNET, policy).passed
    assert check(RESNET, policy, devices=["rtx_4090"], precision="fp16").passed
    assert check(card(RESNET, devices=["rtx_4090"]), policy).passed
    with pytest.raises(BadInput, match="require the model file"):
        check(card(RESNET), policy, devices=["rtx_4090"])
    write_limit(policy, "graph.nodes")
    with pytest.raises(BadInput, match="devices: has no effect, as the policy has no limit or change of hardware"):
        check(RESNET, policy, devices=["rtx_4090"])
