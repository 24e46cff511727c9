"""What this machine is: its processor, and an accelerator if it has one. What is not found is said, never guessed."""

from typing import Any

import msgspec

from onnx_autodoc.hardware.devices._cpu import this_cpu
from onnx_autodoc.hardware.devices._device import Device
from onnx_autodoc.hardware.devices._gpu import apple, jetson, nvidia
from onnx_autodoc.hardware.devices._system import System, here


class Detected(msgspec.Struct, frozen=True):
    """`found` is what `auto` means: the first accelerator, else the processor. `said`: what was found, and how."""

    found: Device
    cpu: Device
    others: tuple[Device, ...]
    said: tuple[str, ...]


def this_machine(system: System | None = None, nvml: Any = None, sysctl: Any = None) -> Detected:
    """Looks, and never fails. The arguments put another machine in the place of this one."""
    where = system or here()
    cpu, said = this_cpu(where)
    cpu, chips, chip_said = apple(where, cpu, sysctl)
    boards, board_said = jetson(where)
    cards, card_said = ((), ()) if boards else nvidia(where, nvml)
    others = (*chips, *boards, *cards)
    lines = chip_said if chips else (*said, *chip_said, *board_said, *card_said)
    return Detected(others[0] if others else cpu, cpu, others, lines)
