"""Where a lane's arrays live, how to wait for it, and how many digits it calculates with."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from verify.race.clock import Clock
from verify.race.libraries import CUDA, Libraries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

# A numpy array or a torch tensor: neither library is there where the types are checked.
Array = Any
BFLOAT16_SINCE = (8, 0)  # Ampere; older cards imitate it, more slowly than they do float16


def clock_for(device: str, libraries: Libraries) -> Clock:
    """Return the clock of a device; the CPU has nothing queued when a call returns."""
    if device == CUDA:
        return Clock(time.perf_counter, libraries["torch"].cuda.synchronize)
    return Clock(time.perf_counter, lambda: None)


def card_uuid(libraries: Libraries) -> str | None:
    """Return the UUID of the card that lanes run on, as nvidia-smi writes it; None where torch has none."""
    try:
        return f"GPU-{libraries['torch'].cuda.get_device_properties(0).uuid}"
    except Exception:  # noqa: BLE001  # no torch, no card, a torch that does not know UUIDs yet
        return None


def to_device(torch: ModuleType, device: str, *arrays: Array) -> tuple[Array, ...]:
    """Return numpy arrays as tensors on a device."""
    return tuple(torch.from_numpy(array).to(device) for array in arrays)


@contextlib.contextmanager
def tf32(libraries: Libraries, *, allowed: bool) -> Iterator[None]:
    """Allow or forbid TF32 while a lane runs; as before afterwards.

    Without it the card calculates as many digits as the CPU. torch forbids it for matrix products by default,
    but not for convolutions.
    """
    if "torch" not in libraries:
        yield
        return
    torch = libraries["torch"]
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    _set(torch, "high" if allowed else "highest", convolutions=allowed)
    try:
        yield
    finally:
        _set(torch, before[0], convolutions=before[1])


def _set(torch: ModuleType, products: str, *, convolutions: bool) -> None:
    torch.set_float32_matmul_precision(products)
    torch.backends.cudnn.allow_tf32 = convolutions


def mixed_precision(torch: ModuleType) -> str:
    """Return the short format that this card calculates with natively."""
    return "bfloat16" if torch.cuda.get_device_capability() >= BFLOAT16_SINCE else "float16"
