"""Detection on machines of files: missing values are reported, and nothing fails."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onnx_autodoc.hardware.devices import detect_machine
from onnx_autodoc.hardware.devices.cpu import cpu_quota, memory_limit
from tests.hardware.devices._systems import (
    ALDER_FLAGS,
    INTEL_FLAGS,
    PI5_FEATURES,
    SAPPHIRE_FLAGS,
    ZEN3_FLAGS,
    format_arm,
    format_meminfo,
    format_x86,
    list_clocks,
    write_machine,
)

XEON = "Intel(R) Xeon(R) Platinum 8480+"


class Driver:
    """In the place of pynvml."""

    def __init__(self, *cards: tuple[str | bytes, int | None]) -> None:
        self.cards = cards

    def nvmlInit(self) -> None:  # noqa: N802
        pass

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetName(self, handle: int) -> str | bytes:  # noqa: N802
        return self.cards[handle][0]

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:  # noqa: N802
        total = self.cards[handle][1]
        if total is None:
            raise RuntimeError("Not Supported")
        return SimpleNamespace(total=total)


def make_absent_driver() -> Driver:
    return Driver()


def test_server_with_amx_is_detected(tmp_path: Path) -> None:
    files = {
        "proc/cpuinfo": format_x86(56, 2, "GenuineIntel", XEON, SAPPHIRE_FLAGS),
        "proc/meminfo": format_meminfo(1 << 28),
    }
    system = write_machine(tmp_path, files | list_clocks(dict.fromkeys(range(112), 3_800_000)))
    detected = detect_machine(system, make_absent_driver())
    assert detected.device is detected.cpu
    assert detected.cpu.rates["fp32"] == pytest.approx(56 * 3.8e9 * 64)
    assert detected.cpu.rates["int8"] == pytest.approx(56 * 3.8e9 * 2048)
    assert detected.cpu.rates["bf16"] == pytest.approx(56 * 3.8e9 * 1024)
    assert detected.cpu.rates["fp16"] == pytest.approx(56 * 3.8e9 * 128)
    assert detected.cpu.memory_bytes == 256 << 30
    assert detected.cpu.bandwidth == 307.2e9
    assert detected.lines[0] == f"processor: {XEON} (56 cores, 112 threads; /proc/cpuinfo)"
    assert any("xeon_8480plus" in line for line in detected.lines)
    assert not any("exceeded" in line for line in detected.lines)


def test_hybrid_laptop_is_detected(tmp_path: Path) -> None:
    name = "12th Gen Intel(R) Core(TM) i7-12700H"
    files = {
        "proc/cpuinfo": format_x86(14, 1, "GenuineIntel", name, ALDER_FLAGS),
        "sys/devices/cpu_atom/cpus": "6-13\n",
    }
    speeds = dict.fromkeys(range(6), 4_700_000) | dict.fromkeys(range(6, 14), 3_500_000)
    detected = detect_machine(write_machine(tmp_path, files | list_clocks(speeds)), make_absent_driver()).cpu
    assert detected.rates["fp32"] == pytest.approx(6 * 4.7e9 * 32 + 8 * 3.5e9 * 16)
    assert detected.rates["int8"] == pytest.approx(4 * detected.rates["fp32"])
    assert detected.bandwidth == 76.8e9
    assert "fp32: 16 per cycle (AVX2 on an efficiency core, two 128-bit units)" in detected.derived


@pytest.mark.parametrize(
    ("vendor", "name", "flags", "family", "model", "fp32", "int8"),
    [
        ("AuthenticAMD", "AMD EPYC 7763 64-Core Processor", ZEN3_FLAGS, "25", "1", 32, 64),
        ("AuthenticAMD", "AMD Ryzen 9 7950X 16-Core Processor", INTEL_FLAGS, "25", "97", 32, 128),
        ("AuthenticAMD", "AMD Ryzen 9 9950X 16-Core Processor", INTEL_FLAGS, "26", "68", 64, 256),
        ("AuthenticAMD", "AMD EPYC 7601 32-Core Processor", ZEN3_FLAGS, "23", "1", 16, 32),
        ("GenuineIntel", "11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz", INTEL_FLAGS, "6", "140", 32, 128),
        ("GenuineIntel", "Intel(R) Core(TM) i9-10940X CPU @ 3.30GHz", INTEL_FLAGS, "6", "85", 64, 256),
        ("GenuineIntel", "Intel(R) Xeon(R) CPU E5-2670", "sse2 avx", "6", "45", 16, None),
        ("GenuineIntel", "Intel(R) Core(TM)2 Duo", "sse2", "6", "23", 8, None),
    ],
)
def test_operations_per_cycle_follow_the_instruction_set(
    tmp_path: Path, vendor: str, name: str, flags: str, family: str, model: str, fp32: int, int8: int | None
) -> None:
    cpuinfo = format_x86(1, 1, vendor, name, flags, cpu_family=family, model=model)
    system = write_machine(tmp_path, {"proc/cpuinfo": cpuinfo} | list_clocks({0: 1_000_000}))
    rates = detect_machine(system, make_absent_driver()).cpu.rates
    assert rates["fp32"] == fp32 * 1e9
    assert rates.get("int8") == (None if int8 is None else int8 * 1e9)


def test_raspberry_pi_is_detected(tmp_path: Path) -> None:
    files = {"proc/cpuinfo": format_arm(["0xd0b"] * 4, PI5_FEATURES), "proc/meminfo": format_meminfo(8_245_000)}
    files["proc/device-tree/model"] = "Raspberry Pi 5 Model B Rev 1.0\0"
    detected = detect_machine(
        write_machine(tmp_path, files | list_clocks(dict.fromkeys(range(4), 2_400_000))), make_absent_driver()
    )
    assert detected.cpu.name == "Raspberry Pi 5 Model B Rev 1.0"
    assert detected.cpu.rates["fp32"] == pytest.approx(4 * 2.4e9 * 16)
    assert detected.cpu.rates["int8"] == pytest.approx(4 * 2.4e9 * 64)
    assert detected.cpu.bandwidth == 17.1e9
    assert "instruction set: asimd, asimddp, asimdhp" in detected.lines


def test_unknown_core_has_no_rates(tmp_path: Path) -> None:
    system = write_machine(
        tmp_path, {"proc/cpuinfo": format_arm(["0xfff"], PI5_FEATURES)} | list_clocks({0: 2_000_000})
    )
    detected = detect_machine(system, make_absent_driver())
    assert detected.cpu.rates == {}
    assert "rates: unknown, because the width of this core's vector units is unknown" in detected.lines


def test_machine_without_clock_has_upper_limits(tmp_path: Path) -> None:
    detected = detect_machine(
        write_machine(tmp_path, {"proc/cpuinfo": format_x86(2, 1, "AuthenticAMD", "AMD EPYC", ZEN3_FLAGS)})
    )
    assert detected.cpu.rates["fp32"] == pytest.approx(2 * 6.2e9 * 32)
    assert detected.cpu.is_ceiling
    assert "memory: unknown (/proc/meminfo)" in detected.lines
    assert detected.cpu.bandwidth is None
    assert "memory bandwidth: unknown; `onnx-autodoc calibrate` measures it" in detected.lines


@pytest.mark.parametrize(
    ("name", "more"),
    [("AMD EPYC", {"cpu_MHz": "2445.422"}), ("Intel(R) Xeon(R) CPU @ 2.20GHz", {})],
)
def test_base_clock_is_no_upper_limit(tmp_path: Path, name: str, more: dict[str, str]) -> None:
    """The current and the nominal clock are no upper limits: a ceiling is used, and reported."""
    cpuinfo = format_x86(2, 1, "", name, ZEN3_FLAGS, **more)
    detected = detect_machine(write_machine(tmp_path, {"proc/cpuinfo": cpuinfo}), make_absent_driver())
    assert detected.cpu.rates["fp32"] == pytest.approx(2 * 6.2e9 * 32)
    assert any("no such core exceeds" in line for line in detected.lines)
    assert detected.cpu.notes and detected.cpu.is_ceiling


@pytest.mark.parametrize(("driver", "clock"), [("acpi-cpufreq", 6.2e9), ("amd-pstate-epp", 3e9), ("intel_pstate", 3e9)])
def test_clock_without_boost_is_no_upper_limit(tmp_path: Path, driver: str, clock: float) -> None:
    files = {"proc/cpuinfo": format_x86(1, 1, "GenuineIntel", "Intel", ZEN3_FLAGS)} | list_clocks({0: 3_000_000})
    files["sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"] = f"{driver}\n"
    detected = detect_machine(write_machine(tmp_path, files), make_absent_driver()).cpu
    assert detected.rates["fp32"] == pytest.approx(clock * 32)
    assert detected.is_ceiling == (clock == 6.2e9)


def test_reported_clock_equal_to_the_assumed_one_is_known(tmp_path: Path) -> None:
    files = {"proc/cpuinfo": format_x86(1, 1, "GenuineIntel", "Intel", ZEN3_FLAGS)} | list_clocks({0: 6_200_000})
    detected = detect_machine(write_machine(tmp_path, files), make_absent_driver())
    assert detected.cpu.rates["fp32"] == pytest.approx(6.2e9 * 32)
    assert not detected.cpu.is_ceiling and not detected.cpu.notes
    assert not any("clock is unknown" in line for line in detected.lines)


def test_part_number_of_another_vendor_is_unknown(tmp_path: Path) -> None:
    cpuinfo = format_arm(["0xd0b"], PI5_FEATURES).replace("0x41", "0x51")
    detected = detect_machine(write_machine(tmp_path, {"proc/cpuinfo": cpuinfo}), make_absent_driver()).cpu
    assert detected.rates == {}
    assert "Cortex" not in detected.name


def test_memory_limit_is_reported_without_total(tmp_path: Path) -> None:
    detected = detect_machine(write_machine(tmp_path, list_limits(2, "max", str(2 << 30))), make_absent_driver())
    assert detected.cpu.memory_bytes == 2 << 30
    message = "memory: 2.00 GiB, the container's limit (cgroup), of an unknown total (/proc/meminfo)"
    assert message in detected.lines


def test_both_origins_of_clocks_are_reported(tmp_path: Path) -> None:
    files = {"proc/cpuinfo": format_x86(2, 1, "GenuineIntel", "Intel", ZEN3_FLAGS)} | list_clocks({0: 3_000_000})
    rule = detect_machine(write_machine(tmp_path, files), make_absent_driver()).cpu.derived[0]
    assert rule.endswith("2 x 3.00 GHz or 6.20 GHz (maximum by cpufreq or assumed maximum)")


def test_processors_outside_the_affinity_do_not_count(tmp_path: Path) -> None:
    files = {"proc/cpuinfo": format_x86(8, 2, "AuthenticAMD", "AMD", ZEN3_FLAGS)} | list_clocks(
        dict.fromkeys(range(16), 3_000_000)
    )
    detected = detect_machine(
        write_machine(tmp_path, files, {0, 1, 8}), make_absent_driver()
    )  # 0 and 8 are threads of one core
    assert detected.lines[0] == "processor: AMD (2 cores, 3 threads; /proc/cpuinfo)"
    assert detected.cpu.rates["fp32"] == pytest.approx(2 * 3e9 * 32)


def list_limits(version: int, quota: str, limit: str) -> dict[str, str]:
    if version == 2:
        return {
            "proc/self/cgroup": "0::/kube/pod\n",
            "sys/fs/cgroup/kube/cpu.max": f"{quota} 100000\n",
            "sys/fs/cgroup/kube/pod/memory.max": f"{limit}\n",
            "sys/fs/cgroup/kube/pod/cpu.max": "max 100000\n",
        }
    return {
        "proc/self/cgroup": "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": f"{quota}\n",  # the container sees its own group at the top
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{limit}\n",
    }


@pytest.mark.parametrize("version", [1, 2])
def test_container_limits_apply(tmp_path: Path, version: int) -> None:
    files = {
        "proc/cpuinfo": format_x86(4, 1, "AuthenticAMD", "AMD", ZEN3_FLAGS),
        "proc/meminfo": format_meminfo(64 << 20),
    }
    files |= list_clocks(dict.fromkeys(range(4), 3_000_000)) | list_limits(version, "150000", str(2 << 30))
    detected = detect_machine(write_machine(tmp_path, files), make_absent_driver())
    assert detected.cpu.memory_bytes == 2 << 30
    assert detected.cpu.rates["fp32"] == pytest.approx(1.5 * 3e9 * 32)
    assert "the container may use 1.50 of these processors (cgroup)" in detected.lines
    assert "memory: 2.00 GiB, the container's limit (cgroup), of 64.0 GiB (/proc/meminfo)" in detected.lines


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("quota", "limit"), [("max", "max"), ("-1", "9223372036854771712"), ("", ""), ("x", "-5")])
def test_no_limit_is_no_limit(tmp_path: Path, version: int, quota: str, limit: str) -> None:
    system = write_machine(tmp_path, list_limits(version, quota, limit))
    assert cpu_quota(system) is None
    assert memory_limit(system) is None


def test_cgroup_path_does_not_leave_the_root(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/../../x\n", "x/memory.max": "5\n", "sys/fs/x/memory.max": "5\n"}
    assert memory_limit(write_machine(tmp_path, files)) is None


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/cpuinfo": ""},
        {"proc/cpuinfo": "processor\t: 0\n"},
        {"proc/cpuinfo": "no colon\n:\nprocessor: x\nflags: avx2\n"},
        {"proc/cpuinfo": "processor: 0\ncpu MHz: nan\nflags: fma avx2\nmodel: \ncpu family: \n"},
        {"proc/meminfo": "MemTotal:\nMemTotal: x kB\n", "sys/devices/cpu_atom/cpus": "x-,99999999999-5,-"},
        {"proc/cpuinfo": "processor: 0\nvendor_id: AuthenticAMD\nflags: avx2 fma\ncpu family: ²\nmodel: x\n"},
        {"proc/cpuinfo": f"processor: {'9' * 5000}\nprocessor: ²\n", "proc/meminfo": "MemTotal: ² kB\n"},
        {"proc/device-tree/model": "NVIDIA Jetson Something New"},
        {"proc/cpuinfo": "processor: 0\nmodel name: \x1b[31mred\nflags: avx2\n"},
    ],
)
def test_malformed_files_do_not_fail(tmp_path: Path, files: dict[str, str]) -> None:
    detected = detect_machine(write_machine(tmp_path, files), make_absent_driver())
    assert detected.lines
    assert all(line and "\n" not in line and "\x1b" not in line for line in detected.lines)
    assert detected.cpu.rates == {} or detected.cpu.is_ceiling


WORDS = st.sampled_from(
    [
        *("processor", "flags", "Features", "model name", "cpu MHz", "CPU part", "CPU implementer", "avx2", "fma"),
        *("asimd", "0xd0b", "0x41", "core id", ": ", "\n", "0", "²", "-1", "1e9", "Intel", "@ 2.20GHz", "\t", "\0"),
    ]
)


@given(st.lists(WORDS, max_size=60).map("".join), st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_arbitrary_kernel_text_does_not_fail(tmp_path: Path, cpuinfo: str, group: str, limit: str) -> None:
    files = {"proc/cpuinfo": cpuinfo, "proc/meminfo": f"MemTotal: {limit}", "proc/self/cgroup": f"0::/{group}"}
    files |= {"sys/fs/cgroup/cpu.max": limit, "sys/fs/cgroup/memory.max": limit, "sys/devices/cpu_atom/cpus": limit}
    system = write_machine(tmp_path, {key: text.encode("utf-8", "replace").decode() for key, text in files.items()})
    detected = detect_machine(system, make_absent_driver())
    assert all("\n" not in line for line in detected.lines)
    assert all(rate > 0 for rate in detected.cpu.rates.values())


def test_published_gpu_is_auto_with_reported_memory(tmp_path: Path) -> None:
    driver = Driver(("Tesla T4", 15_843_721_216), (b"NVIDIA L4", 24_152_899_584))
    detected = detect_machine(write_machine(tmp_path, {}), driver)
    assert [item.id for item in detected.accelerators] == ["t4", "l4"]
    assert detected.device.id == "t4"
    assert detected.device.rates["int8"] == 130e12
    assert detected.device.capacity_bytes == 15_843_721_216
    assert "GPU: Tesla T4, 14.8 GiB (NVML), listed as `t4`" in detected.lines


def test_unpublished_gpu_has_memory_and_no_rates(tmp_path: Path) -> None:
    detected = detect_machine(write_machine(tmp_path, {}), Driver(("NVIDIA RTX 9999", 8 << 30))).device
    assert (detected.id, detected.memory_bytes, detected.rates, detected.bandwidth) == ("auto_gpu", 8 << 30, {}, None)


def test_gpu_is_not_taken_for_the_cpu(tmp_path: Path) -> None:
    """Calibrations and measurements of the processor are found by its id."""
    detected = detect_machine(
        write_machine(tmp_path, {}), Driver(("NVIDIA RTX 9999", 8 << 30), ("NVIDIA RTX 9998", 8 << 30))
    )
    assert [item.id for item in detected.accelerators] == ["auto_gpu", "auto_gpu_2"]
    assert detected.cpu.id == "auto"


def test_failing_gpu_does_not_hide_the_others(tmp_path: Path) -> None:
    class Lost(Driver):
        def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
            if index == 0:
                raise RuntimeError("GPU is lost")
            return index

    detected = detect_machine(write_machine(tmp_path, {}), Lost(("Tesla T4", 15 << 30), ("NVIDIA L4", 24_152_899_584)))
    assert [item.id for item in detected.accelerators] == ["l4"]
    assert "GPU 0: query failed: GPU is lost (NVML)" in detected.lines
    every = detect_machine(write_machine(tmp_path, {}), Lost(("Tesla T4", 15 << 30)))
    assert every.accelerators == ()
    assert "GPU 0: query failed: GPU is lost (NVML)" in every.lines


def test_gpu_without_reported_memory_uses_the_published_one(tmp_path: Path) -> None:
    detected = detect_machine(write_machine(tmp_path, {}), Driver(("NVIDIA GB10", None))).device
    assert detected.id == "gb10"
    assert detected.memory_bytes == 128 << 30
    message = detect_machine(write_machine(tmp_path, {}), Driver(("NVIDIA GB10", None))).lines
    assert "GPU: NVIDIA GB10 (NVML), listed as `gb10`; its memory size is the listed one" in message


def test_failing_driver_is_reported_only_if_present(tmp_path: Path) -> None:
    class Broken(Driver):
        def nvmlInit(self) -> None:  # noqa: N802
            raise RuntimeError("Driver/library version mismatch")

    quiet = detect_machine(write_machine(tmp_path / "a", {}), Broken())
    assert not any("NVIDIA" in line for line in quiet.lines)
    (tmp_path / "b/proc/driver/nvidia").mkdir(parents=True)
    loud = detect_machine(write_machine(tmp_path / "b", {}), Broken())
    assert any("could not be queried: Driver/library version mismatch" in line for line in loud.lines)


def test_missing_nvml_is_reported_only_with_a_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    assert not any("nvidia-ml-py" in line for line in detect_machine(write_machine(tmp_path / "a", {})).lines)
    (tmp_path / "b/proc/driver/nvidia").mkdir(parents=True)
    assert any(
        "nvidia-ml-py is not installed" in line for line in detect_machine(write_machine(tmp_path / "b", {})).lines
    )


def test_jetson_board_is_detected(tmp_path: Path) -> None:
    files = {
        "proc/device-tree/model": "NVIDIA Jetson AGX Orin Developer Kit\0",
        "proc/meminfo": format_meminfo(64_350_000),
    }
    detected = detect_machine(write_machine(tmp_path, files), Driver(("Orin (nvgpu)", None)))
    assert [item.id for item in detected.accelerators] == ["jetson_agx_orin_64gb"]
    assert detected.device.capacity_bytes == 64_350_000 * 1024


def test_jetson_with_unknown_memory_is_not_matched(tmp_path: Path) -> None:
    detected = detect_machine(
        write_machine(tmp_path, {"proc/device-tree/model": "NVIDIA Jetson AGX Orin Developer Kit\0"})
    )
    assert detected.accelerators == ()
    assert any("select one with --device" in line for line in detected.lines)


def test_apple_chip_is_detected(tmp_path: Path) -> None:
    values = {"machdep.cpu.brand_string": "Apple M1 Pro", "hw.memsize": str(16 << 30)}
    detected = detect_machine(write_machine(tmp_path, {}, platform="darwin"), make_absent_driver(), values.get)
    assert detected.device.id == "apple_m1_pro"
    assert detected.device.memory_bytes == 16 << 30
    assert detected.lines == (
        "chip: Apple M1 Pro, 16.0 GiB (sysctl), listed as `apple_m1_pro`; its GPU may have fewer cores than listed",
    )
    assert (detected.cpu.name, detected.cpu.memory_bytes) == ("Apple M1 Pro", 16 << 30)
    silent = detect_machine(
        write_machine(tmp_path, {}, platform="darwin"),
        make_absent_driver(),
        {"machdep.cpu.brand_string": "Apple M1 Pro"}.get,
    )
    assert "its memory size is the listed one" in silent.lines[0]
    nothing = detect_machine(write_machine(tmp_path, {}, platform="darwin"), make_absent_driver(), {}.get)
    assert "processor: unknown (sysctl); not listed" in nothing.lines


def test_this_machine_is_detected() -> None:
    detected = detect_machine()
    assert detected.cpu.kind
    assert detected.lines
    assert detected.device in (detected.cpu, *detected.accelerators)
