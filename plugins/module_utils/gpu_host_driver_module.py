"""The kernel's half of the driver: what is loaded, what is built for which kernel, what stands in its way."""

from __future__ import annotations

import re
from typing import Any

# Two shapes: the proprietary "… x86_64 Kernel Module  520.56.06  <date>" and the open
# "… Open Kernel Module for x86_64  515.57  Release Build …".
NVRM = re.compile(r"^NVRM version:.*?Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)(?=\s|$)", re.MULTILINE)
# Two styles: `nvidia/580.1, 6.8.0-1, x86_64: installed` and `nvidia, 470.1, 5.4.0, x86_64: built`.
DKMS = re.compile(
    r"^(?P<module>nvidia[\w-]*)(?:/|,\s*)(?P<version>[\w.~+-]+)"
    r"(?:,\s*(?P<kernel>[^,:\s]+),\s*(?P<arch>[\w-]+))?:\s*(?P<state>[a-z-]+)(?P<tail>.*)$"
)
BUILT = (
    "updates/dkms",
    "updates",
    "extra",
    "weak-updates",
    "kernel/drivers/video",
    "kernel/drivers/char/drm",
    "kernel/nvidia*",
)
FILES = ("nvidia.ko*", "nvidia-current.ko*")
LOGS = ("/var/lib/dkms/nvidia*/*/build/make.log",)
ERROR = re.compile(
    r"\berror\b[:!]|\bfatal error\b|\*\*\* |No such file or directory|undefined!", re.IGNORECASE
)
SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-*"
TAIL = 6


def loaded(look: Any) -> dict[str, Any] | None:
    """Return the version and flavour of the module that runs; None where none is loaded."""
    text = look.text("/proc/driver/nvidia/version") or ""
    found = NVRM.search(text)
    version = found.group(1) if found else (look.text("/sys/module/nvidia/version") or "").strip()
    if not version:
        return None
    flavour = None if not found else "open" if "Open Kernel Module" in text else "proprietary"
    return {"version": version, "flavour": flavour}


def dkms_rows(text: str) -> list[dict[str, Any]]:
    """Parse the lines of `dkms status` about NVIDIA's module."""
    found = [DKMS.match(line.strip()) for line in text.splitlines()]
    return [
        {
            "module": row["module"],
            "version": row["version"],
            "kernel": row["kernel"],
            "state": row["state"],
            "differs": "WARNING!" in row["tail"],
        }
        for row in found
        if row
    ]


def on_disk(look: Any) -> dict[str, str]:
    """Return the version of the module on the disk, by kernel: a file is asked, because its name differs."""
    found: dict[str, str] = {}
    for folder in look.paths("/lib/modules/*"):
        paths = [path for place in BUILT for name in FILES for path in look.paths(f"{folder}/{place}/{name}")]
        if paths:
            rc, out = look.run(["modinfo", "-F", "version", paths[0]])
            found[folder.rsplit("/", 1)[1]] = out.strip() if rc == 0 and out else ""
    return found


def secure_boot(look: Any) -> bool | None:
    """Tell whether the firmware lets only signed modules in; None where nothing tells."""
    if look.which("mokutil"):
        _, out = look.run(["mokutil", "--sb-state"])
        if re.search(r"SecureBoot enabled", out, re.IGNORECASE):
            return True
        if re.search(r"SecureBoot disabled|doesn't support Secure Boot|EFI variables are not supported", out):
            return False
    for path in look.paths(SECURE_BOOT):
        value = look.text(path) or ""
        if len(value) > 4:  # noqa: PLR2004  # four bytes of attributes, then the value
            return value[4] == "\x01"
    # A machine started by a BIOS has none of it.
    return None if look.exists("/sys/firmware/efi") else False


def build_log(look: Any) -> dict[str, Any] | None:
    """Return the newest make.log of a build that did not end well: its first error and its last lines."""
    paths = [path for pattern in LOGS for path in look.paths(pattern)]
    newest = max(paths, key=lambda path: look.at(path).stat().st_mtime, default=None)
    if newest is None:
        return None
    # DKMS ends its log with how long it took, which says nothing.
    said = (look.text(newest) or "").splitlines()
    lines = [line.rstrip() for line in said if line.strip() and not line.startswith(("#", "-----"))]
    error = next((line.strip() for line in lines if ERROR.search(line)), "")
    return {"path": newest, "error": error[:300], "last": [line[:300] for line in lines[-TAIL:]]}


def module_facts(look: Any) -> dict[str, Any]:
    """Return what decides whether a module can be built and loaded."""
    rc, out = look.run(["dkms", "status"]) if look.which("dkms") else (None, "")
    lines = [line for line in out.splitlines() if line.startswith("nvidia")] if rc == 0 else []
    names = {line.split(" ", 1)[0] for line in (look.text("/proc/modules") or "").splitlines()}
    return {
        "dkms": lines,
        "dkms_rows": dkms_rows("\n".join(lines)),
        "on_disk": on_disk(look),
        "headers": [path.split("/")[3] for path in look.paths("/lib/modules/*/build") if look.exists(path)],
        "nouveau": "nouveau" in names or look.exists("/sys/module/nouveau"),
        "secure_boot": secure_boot(look),
        "build_log": build_log(look),
    }
