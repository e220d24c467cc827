"""What torch says in this environment, as JSON objects; sent as text to the container's python3.

Runs where the rest of this package is absent (Python 3.6 or newer). Every question has its own answer or
its own error. The object is printed anew before each question, which ``asking`` names, and whole at the
end: where a question never comes back, or takes the process down, the last object says which, and what
was answered before it.

With the argument ``clean`` it drops the variables that hide cards or change their order first, and asks
only what they may have changed.
"""

import importlib
import json
import os
import platform
import re
import sys
import warnings
from typing import Any, Callable, Dict, List, Optional

HIDING = (
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "HIP_VISIBLE_DEVICES",
    "PYTORCH_NVML_BASED_CUDA_CHECK",
)
# What torch loads of CUDA, by the start of the file's name.
LIBRARIES = ("libcuda", "libcudnn", "libcudart", "libcublas", "libnccl")
NOT_AVAILABLE = "not tried: torch.cuda.is_available() is False"

Json = Dict[str, Any]


def _said(error: BaseException) -> str:
    return "%s: %s" % (type(error).__name__, error)


def _kernel(torch: Any, device: str = "cuda") -> Json:
    """One real kernel: is_available() is true on machines where the first launch fails."""
    if not torch.cuda.is_available():
        return {"ok": False, "error": NOT_AVAILABLE, "result": None}
    try:
        ones = torch.ones((64, 64), device=device)
        total = float((ones @ ones).sum().item())
        torch.cuda.synchronize()
    except Exception as error:  # noqa: BLE001  # whatever CUDA raises is the answer
        return {"ok": False, "error": _said(error), "result": None}
    right = 64.0**3
    wrong = None if total == right else "the sum is %s, it must be %s" % (total, right)
    return {"ok": wrong is None, "error": wrong, "result": total}


def _convolution(torch: Any) -> Json:
    """One convolution: cuDNN is only really loaded by its first use."""
    if not torch.cuda.is_available():
        return {"ok": False, "error": NOT_AVAILABLE}
    try:
        image = torch.ones((1, 1, 8, 8), device="cuda")
        result = torch.nn.functional.conv2d(image, torch.ones((1, 1, 3, 3), device="cuda"))
        total = float(result.sum().item())
    except Exception as error:  # noqa: BLE001
        return {"ok": False, "error": _said(error)}
    right = 6.0 * 6 * 9
    wrong = None if total == right else "the sum is %s, it must be %s" % (total, right)
    return {"ok": wrong is None, "error": wrong}


def _device(torch: Any, number: int) -> Json:
    properties = torch.cuda.get_device_properties(number)
    return {
        "name": properties.name,
        "capability": [properties.major, properties.minor],
        "uuid": str(properties.uuid) if hasattr(properties, "uuid") else None,
    }


def loaded(maps: str = "/proc/self/maps") -> Dict[str, List[str]]:
    """Return the files of CUDA's libraries that this process has in memory."""
    with open(maps) as stream:
        paths = {line.rstrip("\n").split(None, 5)[-1] for line in stream if "/" in line}
    found = {}  # type: Dict[str, List[str]]
    for path in sorted(paths):
        name = re.match(r"lib[a-z]+", path.rsplit("/", 1)[-1])
        if name and name.group() in LIBRARIES:
            found.setdefault(name.group(), []).append(path)
    return found


def _init(torch: Any) -> Optional[str]:
    """Why CUDA cannot be used: is_available() only says that it cannot."""
    try:
        torch.cuda.init()
    except Exception as error:  # noqa: BLE001
        return _said(error)
    return None


class Probe:
    """The answers so far, and how each question is asked."""

    def __init__(self) -> None:
        self.answer = {
            "torch": None,
            "cuda": None,
            "hip": None,
            "cudnn": None,
            "available": None,
            "device_count": None,
            "arch_list": None,
            "devices": None,
            "kernel": {"ok": False, "error": "not tried", "result": None},
            "convolution": None,
            "init": None,
            "libraries": None,
            "machine": platform.machine(),
            "python": platform.python_version(),
            "executable": sys.executable,
            "cleaned": None,
            "warnings": [],
            "errors": {},
            "error": None,
            "asking": None,
        }  # type: Json

    def tell(self, asking: Optional[str] = None) -> None:
        """Print what is known, and what is asked next."""
        self.answer["asking"] = asking
        sys.stdout.write(json.dumps(self.answer) + "\n")
        sys.stdout.flush()

    def ask(self, name: str, question: Callable[[], Any]) -> Any:
        """Ask one question; an exception is an answer too, to this question alone."""
        self.tell(name)
        try:
            self.answer[name] = question()
        except Exception as error:  # noqa: BLE001
            self.answer["errors"][name] = _said(error)
        return self.answer[name]

    def clean(self) -> bool:
        """Drop the variables that hide cards; False where there was none."""
        self.answer["cleaned"] = sorted(name for name in HIDING if os.environ.pop(name, None) is not None)
        return bool(self.answer["cleaned"])

    def run(self, *, short: bool) -> None:
        """Answer every question about torch, or say what went wrong."""
        self.tell("torch")
        try:
            torch = importlib.import_module("torch")
            self.answer["torch"] = str(torch.__version__)
        except BaseException as error:  # noqa: BLE001  # a missing or broken torch is an answer too
            self.answer["error"] = _said(error)
            return
        self.ask("cuda", lambda: torch.version.cuda)
        self.ask("hip", lambda: getattr(torch.version, "hip", None))
        if not short:
            self.ask("cudnn", torch.backends.cudnn.version)
            self.ask("arch_list", lambda: list(torch.cuda.get_arch_list()))
        self.ask("available", lambda: bool(torch.cuda.is_available()))
        self.ask("device_count", lambda: int(torch.cuda.device_count()))
        if not self.answer["available"]:
            self.answer["kernel"]["error"] = NOT_AVAILABLE
            if self.answer["cuda"]:
                self.answer["init"] = self.ask("init", lambda: _init(torch))
            return
        self.cards(torch)
        if not short:
            self.ask("convolution", lambda: _convolution(torch))
            self.ask("libraries", loaded)

    def cards(self, torch: Any) -> None:
        """Describe every card and run one kernel on each."""
        count = range(self.answer["device_count"] or 0)
        self.ask("devices", lambda: [_device(torch, number) for number in count])
        for number, device in enumerate(self.answer["devices"] or []):
            self.tell("kernel %d" % number)
            device["kernel"] = _kernel(torch, "cuda:%d" % number)
            if number == 0:
                self.answer["kernel"] = device["kernel"]


def main(arguments: List[str]) -> None:
    probe = Probe()
    short = "clean" in arguments
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        if not short or probe.clean():
            probe.run(short=short)
        texts = [" ".join(str(complaint.message).split())[:500] for complaint in complaints]
    # torch says in a warning why it finds no card: "the driver is too old (found version 11040)".
    probe.answer["warnings"] = [text for text in texts if "CUDA" in text or "cuda" in text][:5]
    probe.tell()


if __name__ == "__main__":
    main(sys.argv[1:])
