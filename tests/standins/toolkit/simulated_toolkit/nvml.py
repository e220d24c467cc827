"""The few NVML calls that the toolkit itself makes: which cards there are."""

from __future__ import annotations

import ctypes

from .choose import Card

LIBRARY = "libnvidia-ml.so.1"
_TEXT_LENGTH = 96


class NvmlError(Exception):
    """NVML's own words for why it cannot say which cards there are."""


class LibraryMissingError(NvmlError):
    """No libnvidia-ml.so.1 where the dynamic loader looks."""


def _check(library: ctypes.CDLL, code: int) -> None:
    if code:
        text = library.nvmlErrorString
        text.restype = ctypes.c_char_p
        raise NvmlError((text(code) or b"Unknown Error").decode())


def cards() -> tuple[str, tuple[Card, ...]]:
    """Return the driver's version and the cards, in NVML's order."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise LibraryMissingError("ERROR_LIBRARY_NOT_FOUND") from error
    _check(library, library.nvmlInit_v2())
    version = ctypes.create_string_buffer(_TEXT_LENGTH)
    _check(library, library.nvmlSystemGetDriverVersion(version, _TEXT_LENGTH))
    count = ctypes.c_uint()
    _check(library, library.nvmlDeviceGetCount_v2(ctypes.byref(count)))
    found = []
    for index in range(count.value):
        handle, minor = ctypes.c_void_p(), ctypes.c_uint()
        uuid = ctypes.create_string_buffer(_TEXT_LENGTH)
        _check(library, library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)))
        _check(library, library.nvmlDeviceGetUUID(handle, uuid, _TEXT_LENGTH))
        _check(library, library.nvmlDeviceGetMinorNumber(handle, ctypes.byref(minor)))
        found.append(Card(index, uuid.value.decode(), minor.value))
    library.nvmlShutdown()
    return version.value.decode(), tuple(found)
