"""Where a lane's arrays live, and how to wait for it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from verify.race.clock import Clock
from verify.race.libraries import CUDA, Libraries

if TYPE_CHECKING:
    from types import ModuleType

# A numpy array or a torch tensor: neither library is there where the types are checked.
Array = Any


def clock_for(device: str, libraries: Libraries) -> Clock:
    """Return the clock of a device; the CPU has nothing queued when a call returns."""
    if device == CUDA:
        return Clock(time.perf_counter, libraries["torch"].cuda.synchronize)
    return Clock(time.perf_counter, lambda: None)


def to_device(torch: ModuleType, device: str, *arrays: Array) -> tuple[Array, ...]:
    """Return numpy arrays as tensors on a device."""
    return tuple(torch.from_numpy(array).to(device) for array in arrays)


def same_precision(torch: ModuleType) -> None:
    """Forbid TF32, so that the card calculates as many digits as the CPU."""
    torch.set_float32_matmul_precision("highest")
