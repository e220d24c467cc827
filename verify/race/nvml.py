"""The card as NVML tells of it through pynvml: field by field, and what is not told is None.

Only the sampler's process imports pynvml. The module comes from NVIDIA's nvidia-ml-py; others have shipped
one of the same name, which mostly works, so it is used and named.
"""

from __future__ import annotations

import os
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

OWN = "nvidia-ml-py"
FOREIGN = ("pynvml", "nvidia-ml-py3")
# nvmlReturn_t, NVML API reference: errors that stay. The others may pass.
NOT_SUPPORTED, NO_PERMISSION, FUNCTION_NOT_FOUND, GPU_IS_LOST, RESET_REQUIRED = 3, 4, 13, 15, 16
NEVER = (NOT_SUPPORTED, NO_PERMISSION, FUNCTION_NOT_FOUND)
GONE = (GPU_IS_LOST, RESET_REQUIRED)
MIB = 2**20
Reading = Optional[float]  # noqa: UP045  # evaluated when imported, on Python 3.9 too


class NoCardError(Exception):
    """Why nothing can be read, as a message."""

    def __init__(self, said: Message) -> None:
        super().__init__(str(said))
        self.said = said


class Card:
    """One card, read until it is lost; a question that it will never answer is asked once."""

    def __init__(self, pynvml: ModuleType, handle: Any) -> None:  # noqa: ANN401
        self._nvml = pynvml
        self._handle = handle
        self._never: set[str] = set()
        self.lost: str | None = None

    def point(self) -> list[Reading]:
        """Return utilisation, memory, power, SM clock, temperature and the mask of reasons."""
        n = self._nvml
        busy = self._ask("UtilizationRates", then=lambda rates: rates.gpu)
        used = self._ask("MemoryInfo", getattr(n, "nvmlMemory_v2", None), then=lambda m: m.used / MIB)
        if used is None:  # drivers before 510 have the first version alone
            used = self._ask("MemoryInfo", then=lambda m: m.used / MIB)
        reasons = self._ask("CurrentClocksEventReasons")
        if reasons is None:  # so called up to branch 530
            reasons = self._ask("CurrentClocksThrottleReasons")
        return [
            busy,
            used,
            self._ask("PowerUsage", then=_watts),
            self._ask("ClockInfo", getattr(n, "NVML_CLOCK_SM", 1)),
            self._ask("Temperature", getattr(n, "NVML_TEMPERATURE_GPU", 0)),
            reasons,
        ]

    def energy_mj(self) -> int | None:
        """Return the card's own counter; Volta and newer have one."""
        counted: int | None = self._ask("TotalEnergyConsumption")
        return counted

    def limits(self) -> dict[str, Reading]:
        """Return the power limit in force, its default and the temperature at which the card slows down."""
        slowdown = getattr(self._nvml, "NVML_TEMPERATURE_THRESHOLD_SLOWDOWN", 1)
        return {
            "power_w": self._ask("EnforcedPowerLimit", then=_watts),
            "power_default_w": self._ask("PowerManagementDefaultLimit", then=_watts),
            "slowdown_c": self._ask("TemperatureThreshold", slowdown),
        }

    def pids(self) -> list[int] | None:
        """Return the processes that compute on the card, by the ids that the host gives them."""
        for name in ("ComputeRunningProcesses", "ComputeRunningProcesses_v2"):
            found: list[int] | None = self._ask(name, then=lambda them: [int(one.pid) for one in them])
            if found is not None:
                return found
        return None

    def _ask(self, name: str, *arguments: Any, then: Callable[[Any], Any] = lambda value: value) -> Any:  # noqa: ANN401
        key = f"{name}{arguments}"
        if self.lost or key in self._never:
            return None
        try:
            return then(getattr(self._nvml, f"nvmlDeviceGet{name}")(self._handle, *arguments))
        except (AttributeError, TypeError, ValueError):  # a binding of another age
            self._never.add(key)
        except Exception as error:  # noqa: BLE001  # NVMLError is the binding's own
            code = getattr(error, "value", None)
            if code in GONE:
                self.lost = said(error)
            elif code in NEVER:
                self._never.add(key)
        return None


def open_card(wanted: str | None) -> tuple[Card, list[Message]]:
    """Return the card and what is to be said of the binding; raises NoCardError."""
    pynvml, notes = binding()
    try:
        pynvml.nvmlInit()
        count = int(pynvml.nvmlDeviceGetCount())
        return Card(pynvml, _handle(pynvml, wanted or _visible(), count)), notes
    except NoCardError:
        raise
    except Exception as error:
        raise NoCardError(message("sampler-no-nvml", error=said(error))) from error


def _handle(pynvml: ModuleType, wanted: str | None, count: int) -> Any:  # noqa: ANN401
    """Return the card of this UUID, PCI address or index; another card that is lost does not matter."""
    if wanted is None and count > 1:
        raise NoCardError(message("sampler-which-card", count=count))
    wanted = wanted or "0"
    if wanted.isdigit():
        if int(wanted) < count:
            return pynvml.nvmlDeviceGetHandleByIndex(int(wanted))
        raise NoCardError(message("sampler-no-card", card=wanted))
    for name, value in (("UUID", wanted), ("UUID", f"GPU-{wanted}"), ("PciBusId", wanted)):
        for text in (value, value.encode()):  # bindings differ in which they take
            try:
                return getattr(pynvml, f"nvmlDeviceGetHandleBy{name}")(text)
            except Exception as error:
                if getattr(error, "value", None) in GONE:
                    raise
    raise NoCardError(message("sampler-no-card", card=wanted))


def binding() -> tuple[ModuleType, list[Message]]:
    """Return the module pynvml, and a note where it is not NVIDIA's."""
    try:
        module = import_module("pynvml")
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "pynvml":
            raise NoCardError(message("sampler-no-pynvml")) from error
        raise NoCardError(message("sampler-import", error=said(error))) from error
    foreign = [name for name in FOREIGN if _ships(name, module)]
    if foreign and not _ships(OWN, module):
        return module, [message("sampler-foreign", distribution=foreign[0], version=_version(foreign[0]))]
    if foreign:  # two distributions own one file: the last one installed is the one imported
        return module, [message("sampler-both", distribution=foreign[0], version=_version(foreign[0]))]
    return module, []


def said(error: BaseException) -> str:
    """Return an error in a line; one binding gives bytes, another text, and a driver may give garbage."""
    try:
        text = error.args[0] if error.args and isinstance(error.args[0], (str, bytes)) else str(error)
    except Exception:  # noqa: BLE001  # pynvml looks the words up in a library that may not be there
        text = f"NVML error {getattr(error, 'value', '?')}"
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    first = (text.splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}".rstrip(": ")


def _watts(milliwatts: float) -> float:
    return milliwatts / 1000


def _visible() -> str | None:
    """Return the card that CUDA is told to use, where its name means the same to NVML."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    if first.startswith(("GPU-", "MIG-")):
        return first
    by_bus = os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    return first if first.isdigit() and by_bus else None


def _ships(distribution: str, module: ModuleType) -> bool:
    """Whether this distribution is installed and has the file that was imported."""
    where = Path(str(module.__file__)).resolve()
    try:
        files = metadata.distribution(distribution).files or []
        return any(Path(str(file.locate())).resolve() == where for file in files)
    except metadata.PackageNotFoundError:
        return False


def _version(distribution: str) -> str:
    return metadata.version(distribution)
