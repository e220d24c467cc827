"""Which packages the stand-in repositories hold: pure data for assemble.py.

The names are those that NVIDIA and Docker use on Ubuntu 24.04 and RHEL 9; what is in the packages is ours, or
Debian's own build of Docker and nvidia-smi. Every summary says simulated.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SIMULATED = "(simulated stand-in by gpu-host, not by the vendor)"
# Two of a branch, so that a version can be held and raised within it; the newest of each is at NVIDIA's security floor.
DRIVERS_580 = ("580.95.05", "580.159.03")
DRIVERS_595 = ("595.58.03", "595.71.05")
# CUDA 13.0 came with 580, 13.2 with 595.
CUDA = {"580": "13.0", "595": "13.2"}
ENGINE = "26.1.5"
CONTAINERD = "1.7.24"


@dataclass(frozen=True, slots=True)
class Package:
    """One package. ``parts`` names what payload.py puts into it; relations are written as the format wants them."""

    name: str
    version: str
    summary: str
    parts: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    driver: str = ""
    # Streams of the module nvidia-driver, on RHEL 8 and 9.
    streams: tuple[str, ...] = field(default=())


def branch(driver: str) -> str:
    """580 of 580.95.05."""
    return driver.partition(".")[0]


def _pinning(what: str) -> Package:
    return Package(
        f"nvidia-driver-pinning-{what}", f"{what}-1ubuntu1", f"keeps the driver at {what}", ("pinning",),
        provides=("nvidia-driver-pinning",), conflicts=("nvidia-driver-pinning",),
    )  # fmt: skip


def _apt_driver(driver: str) -> list[Package]:
    """The packages of one driver: up to 580 their names carry the branch, from 590 on they do not."""
    version, number = f"{driver}-1ubuntu1", branch(driver)
    suffix = f"-{number}" if int(number) < 590 else ""  # noqa: PLR2004 - NVIDIA's own border

    def make(
        name: str,
        summary: str,
        parts: tuple[str, ...] = (),
        needs: tuple[str, ...] = (),
        tail: str = "",
        **more: tuple[str, ...],
    ) -> Package:
        # An unnumbered package takes the place of the numbered one of an older branch.
        old = () if suffix else tuple(f"{name}-{branch(d)}{tail}" for d in DRIVERS_580[:1])
        return Package(
            f"{name}{suffix}{tail}", version, f"{summary} {driver}", parts, needs, driver=driver,
            provides=more.get("provides", ()), conflicts=(*old, *more.get("conflicts", ())),
        )  # fmt: skip

    same = f"(= {version})"
    compute, common, source = (
        f"libnvidia-compute{suffix}",
        f"nvidia-kernel-common{suffix}",
        f"nvidia-kernel-source{suffix}",
    )
    flavours = []
    for tail, other, kind in (("-open", "", "open"), ("", "-open", "proprietary")):
        flavours += [
            make("nvidia-kernel-source", f"{kind} kernel module's source", ("dkms",), tail=tail, conflicts=(f"{source}{other}",)),
            make(
                "nvidia-dkms", f"{kind} kernel module by DKMS", (), (f"{source}{tail} {same}", f"{common} {same}", "dkms"), tail,
                provides=("nvidia-kernel",), conflicts=(f"nvidia-dkms{suffix}{other}",),
            ),
            make(
                "nvidia-headless", f"headless metapackage ({kind})", (),
                (f"nvidia-dkms{suffix}{tail} {same}", f"{compute} {same}", f"nvidia-compute-utils{suffix} {same}"), tail,
            ),
            make(
                "nvidia-driver", f"driver metapackage ({kind})", (),
                (f"nvidia-dkms{suffix}{tail} {same}", f"{compute} {same}", f"nvidia-utils{suffix} {same}",
                 f"nvidia-compute-utils{suffix} {same}"), tail,
            ),
        ]  # fmt: skip
    return [
        make("libnvidia-compute", "compute libraries", ("nvml",)),
        make("libnvidia-cfg1", "configuration library"),
        make("nvidia-utils", "nvidia-smi", ("smi",), (compute,)),
        make("nvidia-compute-utils", "persistence daemon", ("persistenced",), (compute,)),
        make("nvidia-kernel-common", "files shared by the kernel modules"),
        *flavours,
        Package(
            "nvidia-open", version, f"open driver, metapackage {driver}", driver=driver,
            needs=(f"nvidia-driver{suffix}-open {same}",),
        ),
        Package(
            "cuda-drivers", version, f"proprietary driver, metapackage {driver}", driver=driver,
            needs=(f"nvidia-driver{suffix} {same}",),
        ),
        Package("nvidia-fabricmanager", version, f"Fabric Manager {driver}", ("fabricmanager",), driver=driver),
        Package("nvidia-persistenced", version, f"persistence daemon {driver}", driver=driver),
        Package("nvidia-modprobe", version, f"nvidia-modprobe {driver}", driver=driver),
    ]  # fmt: skip


def apt_nvidia() -> list[Package]:
    """NVIDIA's CUDA repository for Ubuntu 24.04."""
    drivers = (*DRIVERS_580, *DRIVERS_595)
    # The real dkms brings compilers, which nothing here would use.
    dkms = Package("dkms", "1:3.2.2-1simulated", "DKMS that builds nothing", ("dkms-tool",))
    return [
        dkms,
        *(_pinning(what) for what in ("580", "595", *drivers)),
        *(package for driver in drivers for package in _apt_driver(driver)),
    ]


def apt_docker() -> list[Package]:
    """Docker's repository for Ubuntu 24.04, with Debian's build of the engine."""
    tail = "1~ubuntu.24.04~noble"
    return [
        Package(
            "docker-ce", f"5:{ENGINE}-{tail}", "Docker Engine", ("engine",),
            needs=("containerd.io (>= 1.6.24)", "docker-ce-cli", "iptables"), conflicts=("docker.io", "docker-engine"),
        ),
        Package("docker-ce-cli", f"5:{ENGINE}-{tail}", "Docker client", ("client",), conflicts=("docker.io", "docker-cli")),
        Package(
            "containerd.io", f"{CONTAINERD}-{tail}", "containerd and runc", ("containerd",),
            provides=("containerd", "runc"), conflicts=("containerd", "runc"),
        ),
        Package("docker-buildx-plugin", f"0.13.1-{tail}", "buildx"),
        Package("docker-compose-plugin", f"2.26.1-{tail}", "compose"),
    ]  # fmt: skip


def _rpm_driver(driver: str) -> list[Package]:
    version, number = f"3:{driver}-1.el9", branch(driver)
    latest = number == branch(DRIVERS_595[0])
    same = f"= {version}"

    def make(
        name: str,
        summary: str,
        parts: tuple[str, ...] = (),
        needs: tuple[str, ...] = (),
        flavours: tuple[str, ...] = ("open", "dkms"),
        conflicts: tuple[str, ...] = (),
    ) -> Package:
        streams = tuple(
            stream
            for flavour in flavours
            for stream in (
                f"{number}-{flavour}",
                *([{"open": "open-dkms", "dkms": "latest-dkms"}[flavour]] if latest else []),
            )
        )
        provides = (f"nvidia-kmod {same}",) if name.startswith("kmod-") else ()
        return Package(
            name, version, f"{summary} {driver}", parts, needs, provides, conflicts, driver, streams
        )

    return [
        make("nvidia-driver-cuda-libs", "compute libraries", ("nvml",)),
        make("nvidia-driver-libs", "graphics libraries", (), (f"nvidia-driver-cuda-libs {same}",)),
        make("nvidia-driver-cuda", "nvidia-smi", ("smi",), (f"nvidia-driver-cuda-libs {same}", f"nvidia-persistenced {same}")),
        make("nvidia-driver", "driver", (), (f"nvidia-driver-libs {same}", f"nvidia-kmod-common {same}")),
        make("nvidia-kmod-common", "files shared by the kernel modules", (), (f"nvidia-kmod {same}",)),
        make("nvidia-persistenced", "persistence daemon", ("persistenced",)),
        make("nvidia-modprobe", "nvidia-modprobe"),
        make("nvidia-fabricmanager", "Fabric Manager", ("fabricmanager",)),
        make("kmod-nvidia-open-dkms", "open kernel module by DKMS", ("dkms",), ("dkms",), ("open",), ("kmod-nvidia-latest-dkms",)),
        make(
            "kmod-nvidia-latest-dkms", "proprietary kernel module by DKMS", ("dkms",), ("dkms",), ("dkms",),
            ("kmod-nvidia-open-dkms",),
        ),
        make(
            "nvidia-open", "open driver, metapackage", (),
            (f"nvidia-driver {same}", f"nvidia-driver-cuda {same}", f"kmod-nvidia-open-dkms {same}"), ("open",),
        ),
        make(
            "cuda-drivers", "proprietary driver, metapackage", (),
            (f"nvidia-driver {same}", f"nvidia-driver-cuda {same}", f"kmod-nvidia-latest-dkms {same}"), ("dkms",),
        ),
    ]  # fmt: skip


def rpm_nvidia() -> list[Package]:
    """NVIDIA's CUDA repository for RHEL 9."""
    dkms = Package("dkms", "3.2.2-1.el9", "DKMS that builds nothing", ("dkms-tool",))
    return [dkms, *(package for driver in (*DRIVERS_580, *DRIVERS_595) for package in _rpm_driver(driver))]


def rpm_docker() -> list[Package]:
    """Docker's repository for the RHEL 9 family, with Debian's build of the engine."""
    return [
        Package(
            "docker-ce", f"3:{ENGINE}-1.el9", "Docker Engine", ("engine",),
            needs=("containerd.io >= 1.6.24", "docker-ce-cli", "iptables", "systemd"), conflicts=("docker", "docker-engine"),
        ),
        Package("docker-ce-cli", f"1:{ENGINE}-1.el9", "Docker client", ("client",)),
        Package(
            "containerd.io", f"{CONTAINERD}-3.1.el9", "containerd and runc", ("containerd",),
            provides=("containerd", "runc"), conflicts=("containerd", "runc"),
        ),
        Package("docker-buildx-plugin", "0.13.1-1.el9", "buildx"),
        Package("docker-compose-plugin", "2.26.1-1.el9", "compose"),
    ]  # fmt: skip
