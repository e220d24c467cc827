"""How many kernels a piece of torch code launches: counted by the operations that torch dispatches.

A model, not a profile: one launch for each operation that is no view, as on a card without graphs or fusion.
It says the same on a CPU, where nothing is launched, for the code is the same.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Dispatched as one operation, made of several inside.
INSIDE = {"aten.binary_cross_entropy_with_logits.default": 5}
NO_LAUNCH = ("profiler.", "prim.")


def launches(work: Callable[[], Any]) -> int | None:
    """Run ``work`` once and return the count; None where this torch cannot be watched."""
    try:
        mode = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode
    except (ImportError, AttributeError):
        return None
    counted = [0]

    class Counting(mode):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, function: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
            name = str(function)
            if not (getattr(function, "is_view", False) or name.startswith(NO_LAUNCH)):
                counted[0] += INSIDE.get(name, 1)
            return function(*args, **(kwargs or {}))

    with Counting():
        work()
    return counted[0]
