"""NVIDIA's driver as it is on the host: does it work, which version, where did it come from."""

from __future__ import annotations

from typing import Any

from .gpu_host_installed import packages


def origin(look: Any, tool: str) -> str:
    """Say where the driver's user space came from."""
    if tool.startswith("/usr/lib/wsl/"):
        return "the Windows host's driver (WSL)"
    for path in dict.fromkeys((look.real(tool), tool)):
        rc, out = look.run(["dpkg-query", "-S", path])
        owner = [line.partition(":")[0] for line in out.splitlines() if not line.startswith("diversion ")]
        if rc == 0 and owner:
            name = owner[0].split(",")[0]
            return f"package {name} {packages(look, [name]).get(name, '')}".strip()
    if look.exists("/usr/bin/nvidia-uninstall"):
        return "NVIDIA's .run installer"
    return "no package of this system"


def dkms(look: Any) -> list[str]:
    """Return the lines of `dkms status` about NVIDIA's module: apt's exit status does not tell."""
    rc, out = look.run(["dkms", "status"]) if look.which("dkms") else (None, "")
    return [line for line in out.splitlines() if line.startswith("nvidia")] if rc == 0 else []


def driver(look: Any) -> dict[str, Any]:
    tool = look.which("nvidia-smi")
    rc, out = (None, "nvidia-smi is not installed")
    if tool:
        rc, out = look.run([tool, "--query-gpu=driver_version", "--format=csv,noheader"])
    lines = out.splitlines()
    return {
        "tool": tool,
        "works": rc == 0,
        "says": lines[0] if lines else "",
        "version": lines[0].strip() if rc == 0 and lines else None,
        "origin": origin(look, tool) if tool else None,
        "dkms": dkms(look),
    }
