"""What kind of machine bootstrap.sh was started on, by the same eyes as the preflight's.

Prints one word for the shell (``full``, ``vendor`` or ``bare``) on standard output, and what was found on
standard error. Standard library only, Python 3.8 or newer; changes nothing.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from plugins.module_utils.gpu_host_driver import driver
from plugins.module_utils.gpu_host_look import Look
from plugins.module_utils.gpu_host_machine import machine

# Where nothing can be installed for Docker: no systemd of its own, or a kernel that belongs to Windows.
BARE = ("rented-container", "wsl")


def mode(found: dict[str, Any], card: dict[str, Any]) -> tuple[str, str]:
    """Return full, vendor or bare, and what that means here."""
    because = found["because"]
    if found["kind"] in BARE or not found["systemd"]:
        no_systemd = "" if found["systemd"] or "systemd" in because else ", no systemd"
        return "bare", (
            f"a container offer ({because}{no_systemd}): Docker cannot be set up here, so this verifies the "
            "machine as it is and races bare"
        )
    if card["works"]:
        origin = card.get("origin") or "unknown origin"
        return "vendor", f"a machine ({because}) with a driver that works: {card['version']} from {origin}"
    return "full", f"a full machine ({because}) without a driver that works: {card['says']}"


def main() -> int:
    look = Look()
    found = machine(look, uid=os.geteuid(), architecture=platform.machine())
    # In a container the driver is the host's: the doctor looks at it.
    said = driver(look) if found["systemd"] else {"works": False, "says": "not asked", "version": None}
    kind, words = mode(found, said)
    sys.stderr.write(f"{found['os_name']}, {found['architecture']}: {words}\n")
    sys.stdout.write(f"{kind}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
