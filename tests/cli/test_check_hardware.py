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
    given = [
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
    given += ["--target-latency", "1s", "--target-throughput", "2"]
    ours, cards = vars(parse([*words, *given])), vars(parse([RESNET, *given]))
    shared = {"device", "devices", "precision", "runtime", "profile", "prices", "target_latency", "target_throughput"}
    assert {key: ours[key] for key in shared} == {key: cards[key] for key in shared}


def test_limit_applies_to_the_requested_device(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = write_limit(policy, "hardware.devices.rtx_4090.seconds.bound")
    assert main(words) == 1
    assert "the card has nothing of the name rtx_4090" in capsys.readouterr().out
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
        without = figure(path, [])
        with_it = figure(path, option)
        assert without != with_it, option
        middle = most or (without + with_it) / 2
        words = write_limit(policy, path, most=middle)
        assert {main(words), main([*words, *option])} == {0, 1}, option
    words = write_limit(policy, "hardware.devices.t4.seconds.bound", most=0.01)
    assert (main(words), main([*words, "--devices", str(tmp_path / "own.toml")])) == (0, 1)
    words = write_limit(policy, "hardware.prices.t4.per_million")
    assert (main(words), main([*words, "--prices", str(tmp_path / "prices.toml")])) == (1, 0)


def figure(path: str, option: list[str]) -> float:
    keys = {"--precision": "precision", "--runtime": "runtime"}
    given = {keys[option[0]]: option[1]} if option and option[0] in keys else {}
    times = {"--target-throughput": {"target_throughput": 20000.0}, "--target-latency": {"target_latency": 1e-3}}
    arguments = {**given, **(times.get(option[0], {}) if option else {})}
    found = msgspec.to_builtins(card(RESNET, **arguments))["hardware"]  # type: ignore[arg-type]
    found["devices"] = {row["device"]: row for row in found["devices"]}
    for key in path.split(".")[1:]:
        found = found[key]
    assert isinstance(found, int | float)
    return found


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
    assert f"{option[0]}: the policy asks for nothing of hardware" in err
    assert err.count("\n") == 1


def test_unknown_device_is_an_error_with_suggestions(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*write_limit(policy, "hardware.devices.t4.seconds.bound"), "--device", "T4"]) == 2
    assert "similar: t4" in capsys.readouterr().err


def test_card_keeps_its_devices_and_may_be_a_baseline(
    policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = str(tmp_path / "kept.json")
    assert main([RESNET, "--device", "l4", "-o", kept]) == 0
    words = write_limit(policy, "hardware.devices.l4.seconds.bound")
    words[1] = kept
    assert main(words) == 0
    assert main([*words, "--device", "t4"]) == 2
    assert "need the model itself" in capsys.readouterr().err
    path = '"hardware.devices.l4.seconds.bound"'
    policy.write_text(f"{RULES}[changes]\n{path} = {{ max_percent = 0 }}\n")
    for baseline in (kept, RESNET):
        words = ["check", RESNET, "--policy", str(policy), "--baseline", baseline, "--device", "l4"]
        assert main(words) == 0, capsys.readouterr().out


def test_python_check_has_the_same_options(policy: Path) -> None:
    write_limit(policy, "hardware.devices.rtx_4090.seconds.bound")
    assert not check(RESNET, policy).passed
    assert check(RESNET, policy, devices=["rtx_4090"], precision="fp16").passed
    assert check(card(RESNET, devices=["rtx_4090"]), policy).passed
    with pytest.raises(BadInput, match="need the model itself"):
        check(card(RESNET), policy, devices=["rtx_4090"])
    write_limit(policy, "graph.nodes")
    with pytest.raises(BadInput, match="devices: the policy asks for nothing of hardware"):
        check(RESNET, policy, devices=["rtx_4090"])
