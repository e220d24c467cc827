"""When a CPU lane had too little of the machine for a fair race: the one rule, wherever it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Torch takes one thread a core, and the machine counts two where a core has two: half of them is all of it.
FAIR_SHARE = 0.5


def few_cores(cpu: Mapping[str, Any]) -> tuple[float, int] | None:
    """Return how many cores were used, of how many, where these are fewer than half; None where they are not.

    ``cpu`` is race.json's: what is not known of it (threads, usable_cores, quota_cores) holds nobody back.
    """
    known = [cpu.get(key) for key in ("threads", "usable_cores", "quota_cores")]
    used, cores = min((float(value) for value in known if value), default=None), cpu.get("cores")
    if used is None or not cores or used >= cores * FAIR_SHARE:
        return None
    return used, int(cores)
