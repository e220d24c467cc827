"""How long the card takes to wake: in a process of its own, for in the race's it has been awake all along.

From a new Python's first call to CUDA (importing torch is not in it) to the end of one small kernel: starting
the driver's context, loading the code, allocating. A lane's first call shows less of it: by then the race has
asked for the card, and perhaps calculated with it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from verify.race.process import run

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SECONDS = 30.0
PART = 4  # no more than this part of what is left of the budget
KEY = "wake_s"
# The child looks for modules exactly where the race does.
BOOT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from verify.race.wake import main
main()
"""


def seconds(left_s: float) -> float | None:
    """Wake the card in a process of its own; None where it did not wake, or not in time."""
    argv = [sys.executable, "-c", BOOT, json.dumps(sys.path)]
    ended = run(argv, os.environ, max(0.0, min(MOST_SECONDS, left_s / PART)))
    try:
        found = json.loads(ended.stdout.splitlines()[-1])[KEY] if ended.status == 0 else None
    except (ValueError, LookupError, TypeError):
        return None
    return float(found) if isinstance(found, float) and found > 0 else None


def timed(now: Callable[[], float], kernel: Callable[[], Any], synchronize: Callable[[], None]) -> float:
    """Return the seconds from before the first call to the end of what it queued.

    Nothing is waited for before: that would be the first call.
    """
    began = now()
    kernel()
    synchronize()
    return now() - began


def main() -> None:
    """Be the other process."""
    torch: Any = importlib.import_module("torch")  # before the clock starts
    found = timed(time.perf_counter, lambda: torch.ones(1, device="cuda").add_(1), torch.cuda.synchronize)
    print(json.dumps({KEY: found}), flush=True)
