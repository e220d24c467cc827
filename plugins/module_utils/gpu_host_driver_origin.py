"""Where a driver came from: distribution, NVIDIA's repository, .run installer, a vendor's image, Windows."""

from __future__ import annotations

from typing import Any

NONE, DISTRIBUTION, NVIDIA, RUNFILE, VENDOR, WSL, PACKAGE, UNKNOWN = (
    "none", "distribution", "nvidia", "runfile", "vendor", "wsl", "package", "unknown",
)  # fmt: skip
# What a vendor's build carries in its version or its maintainer.
VENDORS = {
    "lambda": "Lambda's stack",
    "pop": "Pop!_OS",
    "system76": "Pop!_OS",
    "azure": "Azure's image",
    "dgx": "DGX OS",
}
# Systems whose maker looks after the driver, by a file of theirs.
SYSTEMS = (
    ("/etc/dgx-release", "DGX OS"),
    ("/opt/azurehpc", "Azure's HPC image"),
    ("/opt/deeplearning", "Google's image"),
    ("/etc/nv_tegra_release", "NVIDIA's system for Jetson"),
)


def owner(look: Any, path: str) -> str | None:
    """Name the package that a file belongs to; a diversion's line names another one."""
    rc, out = look.run(["dpkg-query", "-S", path])
    lines = [line for line in out.splitlines() if not line.startswith("diversion ")]
    if rc == 0 and lines:
        return lines[0].partition(":")[0].split(",")[0]
    rc, out = look.run(["rpm", "-qf", "--qf", "%{NAME}\n", path])
    return out.splitlines()[0] if rc == 0 and out else None


def about(look: Any, name: str) -> tuple[str, str]:
    """Return a package's version and who makes it."""
    rc, out = look.run(["dpkg-query", "-W", "-f", "${Version}\t${Maintainer}\n", name])
    if rc != 0 or "\t" not in out:
        rc, out = look.run(["rpm", "-q", "--qf", "%{VERSION}-%{RELEASE}\t%{VENDOR}\n", name])
    version, _, maker = out.splitlines()[0].partition("\t") if rc == 0 and out else ("", "", "")
    return version.strip(), maker.strip()


def maker_of(version: str, maker: str) -> tuple[str, str]:
    """Tell whose build a package is."""
    words = maker.lower()
    for mark, name in VENDORS.items():
        if mark in version.lower() or mark in words:
            return VENDOR, name
    # Debian's maintainers have NVIDIA in their team's name, so the distributions go first.
    if any(
        mark in words
        for mark in ("debian", "ubuntu", "canonical", "rocky", "red hat", "almalinux", "rpm fusion")
    ):
        return DISTRIBUTION, "the distribution"
    if "nvidia" in words or "cudatools" in words:
        return NVIDIA, "NVIDIA's repository"
    return PACKAGE, f"packages of {maker}" if maker else "packages"


def origin(look: Any, tool: str) -> dict[str, str]:
    """Return the kind of origin, and the sentence that says it."""
    if tool.startswith("/usr/lib/wsl/"):
        return {"origin_kind": WSL, "origin": "the Windows host's driver (WSL)"}
    found = next(
        (name for path in dict.fromkeys((look.real(tool), tool)) if (name := owner(look, path))), None
    )
    system = next((name for path, name in SYSTEMS if look.exists(path)), None)
    if found is None:
        run = look.exists("/usr/bin/nvidia-uninstall") or look.exists("/usr/bin/nvidia-installer")
        says = "NVIDIA's .run installer" if run else "no package of this system"
        if system:
            return {"origin_kind": VENDOR, "origin": f"{says}, on {system}"}
        return {"origin_kind": RUNFILE if run else UNKNOWN, "origin": says}
    version, maker = about(look, found)
    kind, name = (VENDOR, system) if system else maker_of(version, maker)
    return {"origin_kind": kind, "origin": f"package {found} {version}".strip() + f" ({name})"}
