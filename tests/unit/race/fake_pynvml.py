"""A pynvml that does what state.json beside it says. Simulated: no figure here is a card's.

Copied into a folder that the sampler's process imports from. Keys of the state: ``init`` error, hang, missing
or broken; ``cards`` their UUIDs; ``handle`` the one that may be asked; ``unsupported`` functions, or "*";
``lost_after`` so many points; ``hangs`` and ``ends`` a function; ``bytes`` for text as old bindings gave it;
``values`` by function, where those of a list are given one by one.
"""

# ruff: noqa: N802, N816, T201  # NVML's names; and it prints, as libraries do

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

STATE = json.loads(Path(__file__).with_name("state.json").read_text())
VALUES: dict[str, Any] = {
    "nvmlDeviceGetUtilizationRates": 80,
    "nvmlDeviceGetMemoryInfo": 3 * 2**20,
    "nvmlDeviceGetPowerUsage": 100_000,
    "nvmlDeviceGetClockInfo": 1500,
    "nvmlDeviceGetTemperature": 50,
    "nvmlDeviceGetCurrentClocksEventReasons": 0,
    "nvmlDeviceGetEnforcedPowerLimit": 150_000,
    "nvmlDeviceGetPowerManagementDefaultLimit": 150_000,
    "nvmlDeviceGetTemperatureThreshold": 95,
    "nvmlDeviceGetComputeRunningProcesses": [[]],
    **STATE.get("values", {}),
}
nvmlMemory_v2 = 0x2000028
asked: dict[str, int] = {}

print("a library that prints")


class NVMLError(Exception):
    def __init__(self, value: int, text: str | bytes = "simulated") -> None:
        super().__init__(text.encode() + b"\xf8" if STATE.get("bytes") and isinstance(text, str) else text)
        self.value = value


if STATE.get("init") == "missing":
    raise ModuleNotFoundError("No module named 'pynvml'", name="pynvml")
if STATE.get("init") == "broken":
    raise ImportError("its library is broken")


def hang() -> None:
    Path(__file__).with_name("hangs").touch()
    time.sleep(3600)


def nvmlInit() -> None:
    if STATE.get("init") == "hang":
        hang()
    if STATE.get("init") == "error":
        raise NVMLError(9, "Driver Not Loaded")


def nvmlDeviceGetCount() -> int:
    return len(STATE.get("cards", ["GPU-1"]))


def nvmlDeviceGetHandleByIndex(index: int) -> str:
    return str(STATE.get("cards", ["GPU-1"])[index])


def nvmlDeviceGetHandleByUUID(uuid: str | bytes) -> str:
    if isinstance(uuid, bytes) != bool(STATE.get("bytes")):
        raise TypeError("a bytes-like object is required, not 'str'")
    text = uuid.decode() if isinstance(uuid, bytes) else uuid
    if text not in STATE.get("cards", ["GPU-1"]):
        raise NVMLError(6, "Not Found")
    return text


def _function(name: str) -> Any:
    def ask(handle: str, *_: Any) -> Any:
        assert handle == STATE.get("handle", handle), f"asked {handle}"
        asked[name] = asked.get(name, 0) + 1
        if STATE.get("hangs") == name:
            hang()
        if STATE.get("ends") == name:
            os._exit(7)
        if asked.get("nvmlDeviceGetUtilizationRates", 0) > STATE.get("lost_after", 1e9):
            raise NVMLError(15, "GPU is lost")
        if STATE.get("unsupported") == "*" or name in STATE.get("unsupported", []):
            raise NVMLError(3, "Not Supported")
        value = VALUES[name]
        if isinstance(value, list):
            value = value[min(asked[name], len(value)) - 1]
        if name == "nvmlDeviceGetUtilizationRates":
            return SimpleNamespace(gpu=value)
        if name == "nvmlDeviceGetMemoryInfo":
            return SimpleNamespace(used=value)
        if name == "nvmlDeviceGetComputeRunningProcesses":
            return [SimpleNamespace(pid=pid) for pid in value]
        return value

    return ask


for _name in VALUES:
    globals()[_name] = _function(_name)
