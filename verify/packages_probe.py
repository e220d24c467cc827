"""Which compiled extensions of torch are installed, and whether each imports; sent as text to python3.

Runs where the rest of this package is absent (Python 3.6 or newer). Each import has a process and a time
limit of its own, because an extension that was built for another torch may take its process down.
Prints one JSON object: before the imports, and after them.
"""

import json
import subprocess
import sys
import time
from typing import Any, Dict, List, Optional

LIMIT_S = 35.0
TOGETHER = 4  # each import of torch takes some hundred MiB of memory
SAID = 600

# Distribution: the module whose import loads what was compiled.
EXTENSIONS = {
    "torchvision": "torchvision",
    "torchaudio": "torchaudio",
    "flash-attn": "flash_attn",
    "xformers": "xformers.ops",
    "bitsandbytes": "bitsandbytes",
    "triton": "triton",
    "apex": "apex",
    "deepspeed": "deepspeed",
}
# Two distributions that bring the module pynvml.
NVML = ("pynvml", "nvidia-ml-py")

Json = Dict[str, Any]


def _metadata(name: str) -> Optional[Json]:
    """Version and wish for torch of an installed distribution; None where it is not installed."""
    try:
        from importlib import metadata  # noqa: PLC0415  # Python 3.8
    except ImportError:
        return _old_metadata(name)
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    wishes = [str(wish) for wish in found.requires or []]
    return {"version": str(found.version), "requires": [wish for wish in wishes if _of_torch(wish)]}


def _old_metadata(name: str) -> Optional[Json]:
    try:
        import pkg_resources  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415
    except ImportError:
        return None
    try:
        found = pkg_resources.get_distribution(name)
    except Exception:  # noqa: BLE001  # several classes, by the version of setuptools
        return None
    wishes = [str(wish) for wish in found.requires()]
    return {"version": str(found.version), "requires": [wish for wish in wishes if _of_torch(wish)]}


def _of_torch(wish: str) -> bool:
    """Whether a requirement is one on torch itself: not torchvision, and none of an extra."""
    return wish.startswith("torch") and not wish[5:6].isalnum() and "extra ==" not in wish


def _start(module: str) -> "subprocess.Popen[bytes]":
    program = "import importlib, sys; importlib.import_module(sys.argv[1])"
    return subprocess.Popen(
        [sys.executable, "-c", program, module],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _outcome(process: "subprocess.Popen[bytes]", until: float) -> Json:
    try:
        _, raw = process.communicate(timeout=max(0.1, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()  # and not waited for: what hangs in the driver does not die
        return {"ok": False, "error": "no answer within %.0f s" % LIMIT_S, "said": None}
    said = raw.decode("utf-8", "replace").strip()
    if process.returncode == 0:
        # xformers imports without its compiled half, and says so.
        return {"ok": True, "error": None, "said": " ".join(said.split())[-SAID:] or None}
    last = (said.splitlines() or [""])[-1]
    ended = "killed by signal %d" % -process.returncode if process.returncode < 0 else ""
    return {"ok": False, "error": ": ".join(filter(None, [ended, last[:SAID]])) or "no reason", "said": None}


def _imported(names: List[str]) -> Dict[str, Json]:
    """Import some of them at a time, all within one limit."""
    until = time.monotonic() + LIMIT_S
    found = {}  # type: Dict[str, Json]
    for first in range(0, len(names), TOGETHER):
        few = names[first : first + TOGETHER]
        if time.monotonic() > until:
            found.update(
                (name, {"ok": None, "error": "not tried: no time left", "said": None}) for name in few
            )
            continue
        running = [(name, _start(EXTENSIONS[name])) for name in few]
        found.update((name, _outcome(process, until)) for name, process in running)
    return found


def main() -> None:
    asked = ["torch", *EXTENSIONS, *NVML]
    installed = {}  # type: Dict[str, Json]
    errors = {}  # type: Dict[str, str]
    for name in asked:
        try:
            found = _metadata(name)
        except Exception as error:  # noqa: BLE001  # damaged metadata of one says nothing of the others
            errors[name] = "%s: %s" % (type(error).__name__, error)
            continue
        if found is not None:
            installed[name] = found
    answer = {"installed": installed, "imports": {}, "errors": errors, "asking": "imports"}  # type: Json
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    answer["imports"] = _imported([name for name in EXTENSIONS if name in installed])
    answer["asking"] = None
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
