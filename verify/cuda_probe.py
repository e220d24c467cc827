"""What CUDA's own driver library says, without any framework: one JSON object; sent as text to python3.

Runs where the rest of this package is absent (Python 3.6 or newer). nvidia-smi talks to another library
(libnvidia-ml) and works in containers where CUDA does not: this asks CUDA. The object is printed before
cuInit as well, because cuInit can hang.
"""

import ctypes
import glob
import json
import os
import sys
from typing import Any, Dict, List, Optional

LIBRARY = "libcuda.so.1"
CAPABILITY = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR

Json = Dict[str, Any]


def _maps(maps: str = "/proc/self/maps") -> List[str]:
    """Return the files of libcuda that this process has in memory."""
    with open(maps) as stream:
        paths = {line.rstrip("\n").split(None, 5)[-1] for line in stream if "/" in line}
    return sorted(path for path in paths if path.rsplit("/", 1)[-1].startswith("libcuda.so"))


def _word(cuda: Any, status: int) -> Optional[str]:
    """CUDA's own name for an error: CUDA_ERROR_NO_DEVICE."""
    name = ctypes.c_char_p()
    try:
        if cuda.cuGetErrorName(status, ctypes.byref(name)) == 0 and name.value:
            return name.value.decode("utf-8", "replace")
    except (AttributeError, ValueError):
        pass
    return None


def _uuid(cuda: Any, device: Any) -> Optional[str]:
    raw = (ctypes.c_ubyte * 16)()
    ask = getattr(cuda, "cuDeviceGetUuid_v2", None) or getattr(cuda, "cuDeviceGetUuid", None)
    if ask is None or ask(raw, device) != 0:
        return None
    digits = "".join("%02x" % byte for byte in raw)
    return "GPU-%s-%s-%s-%s-%s" % (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])


def _device(cuda: Any, number: int) -> Json:
    device, name, capability = ctypes.c_int(), ctypes.create_string_buffer(256), []
    status = cuda.cuDeviceGet(ctypes.byref(device), number)
    if status != 0:
        return {"error": status, "word": _word(cuda, status)}
    cuda.cuDeviceGetName(name, len(name), device)
    for attribute in CAPABILITY:
        value = ctypes.c_int()
        if cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device) == 0:
            capability.append(value.value)
    return {
        "name": name.value.decode("utf-8", "replace"),
        "uuid": _uuid(cuda, device),
        "capability": capability if len(capability) == len(CAPABILITY) else None,
    }


def _tell(answer: Json) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def probe(answer: Json) -> None:
    """Load the library, start CUDA, and describe what it finds."""
    try:
        cuda = ctypes.CDLL(LIBRARY)
    except OSError as error:
        answer["error"] = str(error)
        return
    try:
        answer["library"] = next(iter(_maps()), None)
        answer["real"] = os.path.realpath(answer["library"]) if answer["library"] else None
        answer["asking"] = "cuInit"
        _tell(answer)
        answer["init"] = cuda.cuInit(0)
        answer["word"] = _word(cuda, answer["init"]) if answer["init"] else None
        answer["asking"] = "devices"
        version, count = ctypes.c_int(), ctypes.c_int()
        if cuda.cuDriverGetVersion(ctypes.byref(version)) == 0:
            answer["cuda"] = version.value
        if answer["init"] == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0:
            answer["count"] = count.value
            answer["devices"] = [_device(cuda, number) for number in range(count.value)]
    except (AttributeError, OSError, ctypes.ArgumentError) as error:
        answer["error"] = "%s: %s" % (type(error).__name__, error)


def main() -> None:
    answer = {
        "library": None,
        "real": None,
        "init": None,
        "word": None,
        "cuda": None,
        "count": None,
        "devices": None,
        "nodes": sorted(glob.glob("/dev/nvidia*")),
        "error": None,
        "asking": "the library",
    }  # type: Json
    probe(answer)
    answer["asking"] = None
    _tell(answer)


if __name__ == "__main__":
    main()
