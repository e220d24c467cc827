"""Why a card holds its clocks down, by the driver's own bits and words.

Bits: nvml.h of the driver (nvmlClocksEventReason*, formerly nvmlClocksThrottleReason*), as pynvml 13.615
has them. The XML's elements are clocks_throttle_reason_* up to branch 535, clocks_event_reason_* since 550.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

IDLE = "gpu_idle"
HEAT = frozenset({"sw_thermal_slowdown", "hw_thermal_slowdown"})
_BITS = {
    0x1: IDLE,
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clocks_setting",
}
_WORDS = {
    IDLE: "clocks are low because nothing runs",
    "applications_clocks_setting": "clocks are set lower by an administrator (applications clocks)",
    "sw_power_cap": "held back by its power limit",
    "hw_slowdown": "the hardware has cut the clocks (heat, or a warning from the power supply)",
    "sync_boost": "held back to the pace of the cards that it is synchronised with",
    "sw_thermal_slowdown": "the driver slows it down because of heat",
    "hw_thermal_slowdown": "the hardware slows it down because of heat",
    "hw_power_brake_slowdown": "the power supply has told it to slow down (power brake)",
    "display_clocks_setting": "held back by the display's clock setting",
}
_TAG = re.compile(r"^clocks_(?:event|throttle)_reasons/clocks_(?:event|throttle)_reason_(\w+)$")


def from_mask(text: str | None) -> tuple[str, ...] | None:
    """Read the query's bit mask; a bit that we do not know keeps its number."""
    try:
        mask = int(text or "", 16)
    except ValueError:
        return None
    known = [name for bit, name in _BITS.items() if mask & bit]
    rest = mask & ~sum(_BITS)
    return (*known, *([f"{rest:#x}"] if rest else []))


def from_xml(values: Mapping[str, str]) -> tuple[str, ...] | None:
    """Read the XML's elements, in either spelling; None where there are none."""
    said = {match.group(1): text for path, text in values.items() if (match := _TAG.match(path))}
    told = {name: text for name, text in said.items() if text in ("Active", "Not Active")}
    return tuple(_name(name) for name, text in told.items() if text == "Active") if told else None


def _name(tag: str) -> str:
    return "display_clocks_setting" if tag == "display_clock_setting" else tag


def words(reason: str) -> str:
    """Say what a reason means."""
    return _WORDS.get(reason, f"a reason that this version does not know ({reason})")
