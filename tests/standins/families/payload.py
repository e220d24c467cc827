"""What a part of a package puts on the disk, and the shell lines that run after installing, before removing.

The shell lines do the same whatever the package format is, and may run twice.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from catalogue import CUDA, Package, branch

LIBRARIES = (
    "usr/lib/x86_64-linux-gnu"  # the loader's own folder on these Debian roots, whatever the system's name is
)
UNITS = "usr/lib/systemd/system"

Scripts = tuple[str, str]
NOTHING: Scripts = ("", "")

# The library reads its version from the simulation's file, and the module is loaded anew as by a reboot.
FOLLOW = """[ ! -e /etc/gpu-host/simulated ] || {{
  sed -i 's/^driver_version = .*/driver_version = {driver}/' /etc/gpu-host/simulated
  sed -i 's/^cuda_version = .*/cuda_version = {cuda}/' /etc/gpu-host/simulated
  [ ! -d /run/systemd/system ] || systemctl restart gpu-host-simulated-card.service
}}
ldconfig
"""
DKMS = """#!/bin/sh
# Stand-in for DKMS (simulated, gpu-host): it builds nothing, and calls each source installed.
[ "$1" = status ] || exit 0
for conf in /usr/src/*/dkms.conf; do
  [ -e "$conf" ] || continue
  . "$conf"
  echo "$PACKAGE_NAME/$PACKAGE_VERSION, $(uname -r), $(uname -m): installed"
done
"""
DAEMON = """#!/bin/sh
# Stand-in for {name} {driver} (simulated, gpu-host): it does nothing.
[ "$1" != --version ] || {{ echo "{name}: version {driver} (simulated)"; exit 0; }}
exec sleep infinity
"""
UNIT = """[Unit]
Description={name} (simulated)

[Service]
ExecStart=/usr/bin/{program}

[Install]
WantedBy=multi-user.target
"""
DOCKER_UNIT = """[Unit]
Description=Docker Application Container Engine
After=network-online.target docker.socket firewalld.service containerd.service time-set.target
Wants=network-online.target containerd.service
Requires=docker.socket
StartLimitBurst=3
StartLimitIntervalSec=60

[Service]
Type=notify
ExecStart=/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock
ExecReload=/bin/kill -s HUP $MAINPID
TimeoutStartSec=0
RestartSec=2
Restart=always
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
Delegate=yes
KillMode=process
OOMScoreAdjust=-500

[Install]
WantedBy=multi-user.target
"""


def put(tree: Path, name: str, text: str, mode: int = 0o644) -> None:
    """Write a file of a package."""
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def take(tree: Path, name: str, source: Path, mode: int = 0o755) -> None:
    """Copy a file into a package."""
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, path)
    path.chmod(mode)


def stop(*units: str) -> str:
    """Shell lines that stop and disable units."""
    return f"[ ! -d /run/systemd/system ] || systemctl disable --quiet --now {' '.join(units)} || true\n"


def nvml(tree: Path, package: Package, given: Path) -> Scripts:
    """The stand-in library, under the name that this driver's has."""
    name = f"libnvidia-ml.so.{package.driver}"
    take(tree, f"{LIBRARIES}/{name}", given / "card/libnvidia-ml.so", 0o644)
    (tree / LIBRARIES / "libnvidia-ml.so.1").symlink_to(name)
    return FOLLOW.format(driver=package.driver, cuda=CUDA[branch(package.driver)]), ""


def smi(tree: Path, _: Package, given: Path) -> Scripts:
    """Debian's real nvidia-smi: the library says the versions."""
    take(tree, "usr/bin/nvidia-smi", given / "debian/usr/lib/nvidia/current/nvidia-smi")
    return NOTHING


def dkms(tree: Path, package: Package, _: Path) -> Scripts:
    """A source folder as DKMS knows them, with nothing to build in it."""
    text = (
        f'PACKAGE_NAME="nvidia"\nPACKAGE_VERSION="{package.driver}"\n# simulated: there is no source here\n'
    )
    put(tree, f"usr/src/nvidia-{package.driver}/dkms.conf", text)
    return NOTHING


def dkms_tool(tree: Path, _package: Package, _given: Path) -> Scripts:
    """The command that answers ``dkms status``."""
    put(tree, "usr/sbin/dkms", DKMS, 0o755)
    return NOTHING


def daemon(program: str, service: str) -> Callable[[Path, Package, Path], Scripts]:
    """A daemon that does nothing, and its unit."""

    def part(tree: Path, package: Package, _: Path) -> Scripts:
        put(tree, f"usr/bin/{program}", DAEMON.format(name=program, driver=package.driver), 0o755)
        put(tree, f"{UNITS}/{service}.service", UNIT.format(name=service, program=program))
        return "[ ! -d /run/systemd/system ] || systemctl daemon-reload\n", stop(f"{service}.service")

    return part


def pinning(tree: Path, package: Package, _: Path) -> Scripts:
    """Preferences of apt: this branch or version before every other."""
    what = package.name.rpartition("-")[2]
    versions = f"{what}*" if "." in what else f"{what}.*"
    text = f"Package: *nvidia* cuda-drivers*\nPin: version {versions}\nPin-Priority: 1000\n"
    put(tree, f"etc/apt/preferences.d/{package.name}", text)
    return NOTHING


def engine(tree: Path, _: Package, given: Path) -> Scripts:
    """Debian's dockerd where Docker's packages put theirs."""
    debian = given / "debian/usr"
    take(tree, "usr/bin/dockerd", debian / "sbin/dockerd")
    take(tree, "usr/bin/docker-proxy", debian / "sbin/docker-proxy")
    take(tree, "usr/bin/docker-init", debian / "bin/tini-static")
    put(tree, f"{UNITS}/docker.service", DOCKER_UNIT)
    take(tree, f"{UNITS}/docker.socket", debian / "lib/systemd/system/docker.socket", 0o644)
    after = "getent group docker >/dev/null || groupadd --system docker\n"
    return after + "[ ! -d /run/systemd/system ] || systemctl daemon-reload\n", stop(
        "docker.service", "docker.socket"
    )


def client(tree: Path, _: Package, given: Path) -> Scripts:
    """Debian's docker command."""
    take(tree, "usr/bin/docker", given / "debian/usr/bin/docker")
    return NOTHING


def containerd(tree: Path, _: Package, given: Path) -> Scripts:
    """Debian's containerd and runc."""
    debian = given / "debian/usr"
    for program in ("containerd", "containerd-shim-runc-v2"):
        take(tree, f"usr/bin/{program}", debian / "bin" / program)
    take(tree, "usr/bin/runc", debian / "sbin/runc")
    take(tree, f"{UNITS}/containerd.service", debian / "lib/systemd/system/containerd.service", 0o644)
    return "[ ! -d /run/systemd/system ] || systemctl daemon-reload\n", stop("containerd.service")


PARTS: dict[str, Callable[[Path, Package, Path], Scripts]] = {
    "nvml": nvml,
    "smi": smi,
    "dkms": dkms,
    "dkms-tool": dkms_tool,
    "persistenced": daemon("nvidia-persistenced", "nvidia-persistenced"),
    "fabricmanager": daemon("nv-fabricmanager", "nvidia-fabricmanager"),
    "pinning": pinning,
    "engine": engine,
    "client": client,
    "containerd": containerd,
}
# Packages for apt start their services; rpms leave that to the administrator.
STARTED_BY_DEB = {
    "engine": "containerd.service docker.service docker.socket",
    "persistenced": "nvidia-persistenced.service",
}


def fill(tree: Path, package: Package, given: Path) -> Scripts:
    """Put all parts of a package into its tree; returns what runs after installing and before removing."""
    scripts = [PARTS[part](tree, package, given) for part in package.parts]
    return "".join(after for after, _ in scripts), "".join(before for _, before in scripts)
