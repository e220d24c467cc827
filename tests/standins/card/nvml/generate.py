"""Read nvml.h and write the stand-in library's stubs: one weak function for every function it declares.

A stub answers NVML_ERROR_NOT_SUPPORTED, which is what a real card says to what it cannot do. The functions
that are really implemented (the .c files beside this one) are strong symbols and win at link time.
"""

from __future__ import annotations

import re

_DECLARATION = re.compile(r"^[ \t]*nvmlReturn_t[ \t]+DECLDIR[ \t]+(nvml\w+)[ \t]*\(", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# The pinned header declares 386. Far fewer means that the header's way of writing has changed.
FEWEST = 300

_HEAD = """\
/* Generated from nvml.h by generate.py, never committed. */
#include "trace.h"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define STUB(name) __attribute__((weak)) int name(void) { gpu_host_trace(#name); return 3; }
"""


def functions(header: str) -> tuple[str, ...]:
    """Every function of ``nvml.h`` that returns an nvmlReturn_t, each once, in the header's order."""
    return tuple(dict.fromkeys(_DECLARATION.findall(_COMMENT.sub(" ", header))))


def stubs(names: tuple[str, ...]) -> str:
    """C source with one weak stub for every name."""
    return _HEAD + "".join(f"STUB({name})\n" for name in names)


def too_few(found: int) -> str:
    """Say what to do about a header that could not be read."""
    return (
        f"nvml.h declares {found} functions where at least {FEWEST} are expected: check the version of "
        "nvidia-nvml-dev-cu12 in tests/standins/card/requirements.txt and the pattern in generate.py."
    )
