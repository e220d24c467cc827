"""What a training's time on the card goes to: how many kernels, how long they run, what starting them costs.

Looked at in a training of its own after the timed ones, because watching every kernel slows it down.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from verify.race.clock import Clock

LAUNCHES = 500  # fewer than the card's queue holds: a full queue would make the host wait for the card
MICROSECOND = 1e-6


def profiled(
    torch: ModuleType,
    clock: Clock,
    work: Callable[[], Any] | None,
    modelled: Mapping[str, Any] | None,
    seconds: float,
) -> dict[str, Any] | None:
    """Return {launch_s, device_s, overlap_s, launches, from} of one training that takes so many seconds.

    By the model's count without a profiler, and without ``work``, for which there is no time then.
    ``launch_s`` is what the host spends on starting kernels. As much of it as lies beneath running kernels
    (``overlap_s`` at least) makes nobody wait: it is the most that launching can have cost, not what it cost.
    """
    each = launch_seconds(torch, clock)
    seen = kernels(torch, work) if work else None
    if seen is not None:
        number, busy = seen
        launch_s = number * each
        return {
            "launch_s": launch_s,
            "device_s": busy,
            "overlap_s": max(0.0, launch_s + busy - seconds),
            "launches": number,
            "from": "profiler",
        }
    counted = (modelled or {}).get("launches")
    if counted is None:
        return None
    return {
        "launch_s": counted * each,
        "device_s": None,
        "overlap_s": None,
        "launches": counted,
        "from": "model",
    }


def launch_seconds(torch: ModuleType, clock: Clock) -> float:
    """Return how long the host takes to start one small kernel from Python, on this machine."""
    number = torch.zeros(1, device="cuda")
    for _ in range(LAUNCHES):
        number.add_(1)
    clock.synchronize()
    start = clock.now()
    for _ in range(LAUNCHES):
        number.add_(1)
    return (clock.now() - start) / LAUNCHES


def kernels(torch: ModuleType, work: Callable[[], Any]) -> tuple[int, float] | None:
    """Return how many kernels ran and for how many seconds; None where the profiler saw none.

    What was queued before ``work`` is waited for first. The profiler also draws what the program calls itself
    (an optimiser's step) over the kernels beneath: that is no kernel.
    """
    try:
        torch.cuda.synchronize()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without a card it says so, and says nothing here
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
                work()
                torch.cuda.synchronize()
        on_card = [e for e in profiler.events() if _is_kernel(e)]
        busy = sum(e.time_range.elapsed_us() for e in on_card) * MICROSECOND
    except Exception:  # noqa: BLE001  # not permitted in this container, or another profiler is there already
        return None
    return (len(on_card), busy) if on_card else None


def _is_kernel(event: Any) -> bool:  # noqa: ANN401  # torch's own
    return str(event.device_type).endswith("CUDA") and not getattr(event, "is_user_annotation", False)
