"""What torch says in this environment, as one JSON object; sent as text to the container's python3.

Runs where the rest of this package is absent. Every question has its own answer or its own error.
"""

from __future__ import annotations

import importlib
import json
from typing import Any


def _kernel(torch: Any) -> dict[str, Any]:  # noqa: ANN401  # torch has no types here
    """One real kernel: is_available() is true on machines where the first launch fails."""
    if not torch.cuda.is_available():
        return {"ok": False, "error": "not tried: torch.cuda.is_available() is False", "result": None}
    try:
        ones = torch.ones((64, 64), device="cuda")
        total = float((ones @ ones).sum().item())
        torch.cuda.synchronize()
    except Exception as error:  # noqa: BLE001  # whatever CUDA raises is the answer
        return {"ok": False, "error": f"{type(error).__name__}: {error}", "result": None}
    right = 64.0**3
    wrong = None if total == right else f"the sum is {total}, it must be {right}"
    return {"ok": wrong is None, "error": wrong, "result": total}


def _devices(torch: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    found = []
    for number in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(number)
        found.append(
            {
                "name": properties.name,
                "capability": [properties.major, properties.minor],
                "uuid": str(properties.uuid) if hasattr(properties, "uuid") else None,
            }
        )
    return found


def probe() -> dict[str, Any]:
    """Answer every question about torch, or say what went wrong."""
    answer: dict[str, Any] = {
        "torch": None,
        "cuda": None,
        "cudnn": None,
        "available": False,
        "device_count": 0,
        "arch_list": [],
        "devices": [],
        "kernel": {"ok": False, "error": "not tried", "result": None},
        "error": None,
    }
    try:
        torch = importlib.import_module("torch")
        answer["torch"] = str(torch.__version__)
        answer["cuda"] = torch.version.cuda
        answer["cudnn"] = torch.backends.cudnn.version()
        answer["available"] = bool(torch.cuda.is_available())
        answer["device_count"] = int(torch.cuda.device_count())
        answer["arch_list"] = list(torch.cuda.get_arch_list())
        answer["devices"] = _devices(torch) if answer["available"] else []
        answer["kernel"] = _kernel(torch)
    except Exception as error:  # noqa: BLE001  # a missing or broken torch is an answer too
        answer["error"] = f"{type(error).__name__}: {error}"
    return answer


if __name__ == "__main__":
    print(json.dumps(probe()))  # noqa: T201
