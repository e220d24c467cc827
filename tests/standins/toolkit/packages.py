"""What is in the four packages: pure data for assemble.py."""

from __future__ import annotations

from dataclasses import dataclass

VERSIONS = ("1.20.2", "1.20.1", "1.17.8")
REVISION = "1"
# nvidia-cdi-refresh came with 1.18.
CDI_REFRESH_SINCE = (1, 18)
LIB = "/usr/lib/gpu-host-simulated-toolkit"
SIMULATED = "(simulated stand-in, not by NVIDIA)"


@dataclass(frozen=True, slots=True)
class Program:
    """One executable, the module that it runs, that module's folder, what its errors start with."""

    name: str
    module: str
    folder: str
    prefix: str = ""
    # Isolated, and without the site module where no Python package of Debian is needed: starts quicker.
    flags: str = "-IS"


@dataclass(frozen=True, slots=True)
class Package:
    """One package; ``needs`` are the others that it depends on in at least its own version."""

    name: str
    summary: str
    programs: tuple[Program, ...] = ()
    needs: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    # Each chain of packages has its own copy of the modules, so that a skew of versions is one of code too.
    modules: str | None = None


PACKAGES = (
    Package("libnvidia-container1", "NVIDIA container runtime library"),
    Package(
        "libnvidia-container-tools",
        "NVIDIA container runtime library (command-line tools)",
        (Program("nvidia-container-cli", "container_cli", f"{LIB}/cli", "nvidia-container-cli: "),),
        ("libnvidia-container1",),
        ("python3 (>= 3.11)",),
        f"{LIB}/cli",
    ),
    Package(
        "nvidia-container-toolkit-base",
        "NVIDIA Container Toolkit Base",
        (
            Program("nvidia-ctk", "ctk", f"{LIB}/base", flags="-I"),
            Program("nvidia-container-runtime", "runtime", f"{LIB}/base"),
            Program("nvidia-cdi-hook", "cdi_hook", f"{LIB}/base"),
        ),
        (),
        ("python3 (>= 3.11)", "python3-yaml"),
        f"{LIB}/base",
    ),
    Package(
        "nvidia-container-toolkit",
        "NVIDIA Container toolkit",
        (Program("nvidia-container-runtime-hook", "hook", f"{LIB}/base"),),
        ("nvidia-container-toolkit-base", "libnvidia-container-tools"),
    ),
)


def has_cdi_refresh(version: str) -> bool:
    """Whether that version brings nvidia-cdi-refresh."""
    return tuple(int(part) for part in version.split(".")[:2]) >= CDI_REFRESH_SINCE


def control(package: Package, version: str) -> str:
    """Return the package's control file."""
    full = f"{version}-{REVISION}"
    depends = [*(f"{name} (>= {full})" for name in package.needs), *package.depends]
    lines = [
        f"Package: {package.name}",
        f"Version: {full}",
        "Architecture: amd64",
        "Maintainer: gpu-host <gpu-host@localhost>",
        "Section: utils",
        "Priority: optional",
        *([f"Depends: {', '.join(depends)}"] if depends else []),
        f"Description: {package.summary} {SIMULATED}",
        " Made by gpu-host for its simulated hosts; nothing in it is NVIDIA's.",
    ]
    return "\n".join(lines) + "\n"
