"""Names as drivers and kernels give them. One that fits none of ours, or two, fits none."""

import pytest

from onnx_autodoc.hardware.devices import all_devices
from onnx_autodoc.hardware.devices.catalog import match_apple, match_cpu, match_jetson, match_nvidia


@pytest.mark.parametrize(
    ("name", "mib", "expected"),
    [
        ("NVIDIA GeForce RTX 4090", 24564, "rtx_4090"),
        ("NVIDIA GeForce RTX 4090 D", 24564, "rtx_4090_d"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 16376, "rtx_4090_laptop"),
        ("NVIDIA GeForce RTX 4050 Laptop GPU", 6140, "rtx_4050_laptop"),
        ("GeForce RTX 4050 Laptop GPU", None, "rtx_4050_laptop"),
        ("NVIDIA GeForce RTX 4060 Ti", 8188, "rtx_4060_ti_8gb"),
        ("NVIDIA GeForce RTX 4060 Ti", 16380, "rtx_4060_ti_16gb"),
        ("NVIDIA GeForce RTX 4060", 8188, "rtx_4060"),
        ("NVIDIA GeForce RTX 4070 Ti SUPER", 16376, "rtx_4070_ti_super"),
        ("NVIDIA GeForce RTX 3080", 10240, "rtx_3080_10gb"),
        ("NVIDIA GeForce RTX 3080", 12288, "rtx_3080_12gb"),
        ("NVIDIA GeForce RTX 3080", None, None),
        ("NVIDIA GeForce RTX 3080 Laptop GPU", 16384, None),
        ("NVIDIA GeForce RTX 3060", 12288, "rtx_3060_12gb"),
        ("NVIDIA GeForce RTX 3060", 8192, None),
        ("NVIDIA GeForce GTX 1080 Ti", 11264, "gtx_1080_ti"),
        ("NVIDIA GeForce RTX 2080 Ti", 22528, None),
        ("Tesla T4", 15360, "t4"),
        ("NVIDIA L4", 23034, "l4"),
        ("NVIDIA L40", 46068, "l40"),
        ("NVIDIA L40S", 46068, "l40s"),
        ("NVIDIA A10", 23028, "a10"),
        ("NVIDIA A10G", 23028, "a10g"),
        ("NVIDIA A100-SXM4-80GB", 81920, "a100_sxm_80gb"),
        ("NVIDIA A100-SXM4-40GB", 40536, "a100_sxm_40gb"),
        ("NVIDIA A100 80GB PCIe", 81920, "a100_pcie_80gb"),
        ("NVIDIA A100-PCIE-40GB", 40536, "a100_pcie_40gb"),
        ("NVIDIA A100-SXM4-80GB", None, "a100_sxm_80gb"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", 4864, None),
        ("NVIDIA H100 80GB HBM3", 81559, "h100_sxm"),
        ("NVIDIA H100 PCIe", 81559, "h100_pcie"),
        ("NVIDIA H100 NVL", 95830, "h100_nvl"),
        ("NVIDIA H200", 143771, "h200_sxm"),
        ("NVIDIA B200", 183359, "b200"),
        ("NVIDIA B300 SXM6 AC", 275040, "b300"),
        ("NVIDIA GB200", 189471, "gb200"),
        ("NVIDIA GH200 480GB", 97871, "gh200_96gb"),
        ("NVIDIA GB10", None, "gb10"),
        ("NVIDIA RTX A6000", 49140, "rtx_a6000"),
        ("NVIDIA RTX 6000 Ada Generation", 49140, "rtx_6000_ada"),
        ("Quadro RTX 6000", 24576, None),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, "rtx_pro_6000_server"),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 97887, "rtx_pro_6000_maxq"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 97887, None),
        ("Tesla V100-SXM2-16GB", 16384, "v100_sxm2_16gb"),
        ("Tesla V100-PCIE-32GB", 32768, "v100_pcie_32gb"),
        ("Tesla P100-PCIE-16GB", 16384, "p100_pcie_16gb"),
        ("Orin (nvgpu)", None, None),
        ("NVIDIA Graphics Device", 95830, None),
        ("", None, None),
    ],
)
def test_gpu_is_matched_by_driver_name(name: str, mib: int | None, expected: str | None) -> None:
    assert match_nvidia(name, mib and mib << 20) == expected


@pytest.mark.parametrize(
    ("name", "gib", "expected"),
    [
        ("NVIDIA Jetson Nano Developer Kit", 3.86, "jetson_nano_4gb"),
        ("NVIDIA Jetson Nano 2GB Developer Kit", 1.9, "jetson_nano_2gb"),
        ("NVIDIA Jetson Xavier NX Developer Kit", 6.7, "jetson_xavier_nx_8gb"),
        ("NVIDIA Jetson Orin Nano Developer Kit", 7.44, "jetson_orin_nano_8gb"),
        ("NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super", 7.44, "jetson_orin_nano_super"),
        ("NVIDIA Jetson AGX Orin Developer Kit", 61.4, "jetson_agx_orin_64gb"),
        ("NVIDIA Jetson AGX Orin Developer Kit", 29.8, "jetson_agx_orin_32gb"),
        ("NVIDIA Jetson AGX Thor Developer Kit", 122.8, "jetson_thor_t5000"),
        ("NVIDIA Jetson AGX Orin Developer Kit", None, None),
    ],
)
def test_jetson_is_matched_by_board_and_memory(name: str, gib: float | None, expected: str | None) -> None:
    assert match_jetson(name, gib and int(gib * (1 << 30))) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("12th Gen Intel(R) Core(TM) i7-12700H", "core_i7_12700h"),
        ("Intel(R) Xeon(R) Platinum 8480+", "xeon_8480plus"),
        ("Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", "xeon_8380"),
        ("Intel(R) Xeon(R) Platinum 8380H CPU @ 2.90GHz", None),
        ("AMD EPYC 9654 96-Core Processor", "epyc_9654"),
        ("AMD EPYC", None),
        ("AMD Ryzen 9 7950X 16-Core Processor", "ryzen_7950x"),
        ("AMD Ryzen 9 7950X3D 16-Core Processor", None),
        ("AMD Ryzen 7 7840HS w/ Radeon 780M Graphics", "ryzen_7840hs"),
        ("Raspberry Pi 4 Model B Rev 1.4", "raspberry_pi_4"),
    ],
)
def test_cpu_is_matched_by_model_name(name: str, expected: str | None) -> None:
    assert match_cpu(name) == expected


def test_apple_chip_is_matched_by_brand() -> None:
    for item in all_devices():
        if item.family == "apple":
            assert match_apple(item.name.partition(" (")[0]) == item.id
    assert match_apple("Apple M9") is None
    assert match_apple("Apple A16 Bionic") is None


def test_published_names_match_themselves_or_nothing() -> None:
    """A name with memory never leads to another device."""
    for item in all_devices():
        if item.vendor == "NVIDIA" and item.kind == "gpu":
            assert match_nvidia(item.name, item.capacity_bytes) in (item.id, None), item.id
