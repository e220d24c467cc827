"""Build everything a simulated lab needs, what is independent of each other side by side.

usage: build.py [KIND…]: the kinds of host (base/build.py names them); Debian 13 is always among them.

Prints progress while it runs and one JSON object at the end. What has been built before is found in the
cache by its content hash, so that a second call takes about a second.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any

import common

# The first group needs nothing; the second is built on the stand-in CUDA base.
STAGES = (
    {"base": "tests/standins/base/build.py", "cuda": "tests/standins/cuda/build.py"},
    {
        "card": "tests/standins/card/build.py",
        "toolkit": "tests/standins/toolkit/build.py",
        "race": "roles/race_image/files/build.py",
    },
)


# What is built only for some kinds of host.
FAMILIES = {"families": "tests/standins/families/build.py"}
FAMILY_KINDS = {"ubuntu2404", "rocky9"}


def build(name: str, script: str, kinds: list[str]) -> tuple[str, dict[str, Any]]:
    """Run one builder; return its name and its result."""
    return name, common.built(script, *(kinds if name == "base" else []))


def main(kinds: list[str]) -> int:
    """Build all and print their results by name."""
    last = FAMILIES if FAMILY_KINDS & set(kinds) else {}
    results: dict[str, Any] = {}
    with ThreadPoolExecutor(max_workers=3) as pool:
        for stage in (*STAGES, last):
            results |= dict(pool.map(build, stage, stage.values(), repeat(kinds)))
    common.finish(**results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
