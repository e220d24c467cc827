"""Which packages the stand-in repositories hold: pure data for assemble.py.

The names are those that NVIDIA and Docker use on Ubuntu 24.04 and RHEL 9; what is in the packages is ours, or
Debian's own build of Docker and nvidia-smi. Every summary says simulated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SIMULATED = "(simulated stand-in by gpu-host, not by the vendor)"
# Two of a branch, so that a version can be held and raised in it; the newer one is NVIDIA's security floor.
DRIVERS = {"580": ("580.95.05", "580.159.03"), "595": ("595.58.03", "595.71.05")}
EVERY_DRIVER = tuple(driver for drivers in DRIVERS.values() for driver in drivers)
LATEST = "595"
CUDA = {"580": "13.0", "595": "13.2"}
# NVIDIA's packages for apt carry the branch in their names before this one.
UNNUMBERED_FROM = 590
# What Debian 13 has, whose build of the engine is in the packages.
ENGINE, CONTAINERD = "26.1.5", "1.7.24"


@dataclass(frozen=True, slots=True)
class Package:
    """One package. ``parts`` names what payload.py puts into it; relations are as the format writes them."""

    name: str
    version: str
    summary: str
    parts: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    driver: str = ""
    # Streams of the module nvidia-driver, on RHEL 8 and 9.
    streams: tuple[str, ...] = ()


def maker(package: Package) -> str:
    """Who makes the real one, which a driver's origin is read from; and that this is none of theirs."""
    vendor = "NVIDIA" if package.driver or package.name.startswith("nvidia-") else "others"
    return f"gpu-host, standing in for {vendor} (simulated)"


def branch(driver: str) -> str:
    """580 of 580.95.05."""
    return driver.partition(".")[0]


class AptDriver:
    """The packages of one driver for apt."""

    def __init__(self, driver: str) -> None:
        self.driver = driver
        self.version = f"{driver}-1ubuntu1"
        self.numbered = int(branch(driver)) < UNNUMBERED_FROM
        self.suffix = f"-{branch(driver)}" if self.numbered else ""

    def same(self, name: str, tail: str = "") -> str:
        """Another package of this very version, as a dependency."""
        return f"{name}{self.suffix}{tail} (= {self.version})"

    def make(self, name: str, summary: str, tail: str = "", **more: Any) -> Package:
        """Make a package with the branch in its name where NVIDIA has it; ``tail`` follows the branch."""
        # An unnumbered package takes the place of the numbered one of an older branch.
        older = [number for number in DRIVERS if int(number) < UNNUMBERED_FROM and not self.numbered]
        conflicts = (*(f"{name}-{number}{tail}" for number in older), *more.pop("conflicts", ()))
        return Package(
            f"{name}{self.suffix}{tail}", self.version, f"{summary} {self.driver}",
            conflicts=conflicts, driver=self.driver, **more,
        )  # fmt: skip

    def flavour(self, tail: str, other: str) -> list[Package]:
        """The packages of one flavour of the kernel module."""
        kind = "open" if tail else "proprietary"
        compute, daemon = self.same("libnvidia-compute"), self.persistence()
        module, source = self.same("nvidia-dkms", tail), self.same("nvidia-kernel-source", tail)
        return [
            self.make(
                "nvidia-kernel-source", f"{kind} kernel module's source", tail, parts=("dkms",),
                conflicts=(f"nvidia-kernel-source{self.suffix}{other}",),
            ),
            self.make(
                "nvidia-dkms", f"{kind} kernel module by DKMS", tail, provides=("nvidia-kernel",),
                needs=(source, self.same("nvidia-kernel-common"), "dkms"),
                conflicts=(f"nvidia-dkms{self.suffix}{other}",),
            ),
            self.make("nvidia-headless", f"headless, {kind}", tail, needs=(module, compute, daemon)),
            self.make(
                "nvidia-driver", f"metapackage ({kind})", tail,
                needs=(module, compute, daemon, *([self.same("nvidia-utils")] if self.numbered else [])),
            ),
        ]  # fmt: skip

    def persistence(self) -> str:
        """The persistence daemon's package, as a dependency."""
        return self.same("nvidia-compute-utils" if self.numbered else "nvidia-persistenced")

    def by_age(self) -> list[Package]:
        """What NVIDIA's tables have in one of the two ages alone; nvidia-smi moves with it."""
        if not self.numbered:
            return [
                self.make("libnvidia-compute", "compute libraries, nvidia-smi", parts=("nvml", "smi"),
                          conflicts=("nvidia-utils-580",)),
                self.make("nvidia-persistenced", "persistence daemon", parts=("persistenced",),
                          conflicts=("nvidia-compute-utils-580",)),
            ]  # fmt: skip
        compute = f"libnvidia-compute{self.suffix}"
        return [
            self.make("libnvidia-compute", "compute libraries", parts=("nvml",)),
            self.make("nvidia-utils", "nvidia-smi", parts=("smi",), needs=(compute,)),
            self.make(
                "nvidia-compute-utils", "persistence daemon", parts=("persistenced",), needs=(compute,)
            ),
        ]

    def packages(self) -> list[Package]:
        """All of them."""
        plain = {"nvidia-modprobe": (), "nvidia-fabricmanager": ("fabricmanager",)}
        metas = {
            "nvidia-open": self.same("nvidia-driver", "-open"),
            "cuda-drivers": self.same("nvidia-driver"),
        }
        return [
            *self.by_age(),
            self.make("libnvidia-cfg1", "configuration library"),
            self.make("nvidia-kernel-common", "files shared by the kernel modules"),
            *self.flavour("-open", ""),
            *self.flavour("", "-open"),
            *(
                Package(n, self.version, f"{n} {self.driver}", p, driver=self.driver)
                for n, p in plain.items()
            ),
            *(Package(n, self.version, f"{n} {self.driver}", needs=(need,)) for n, need in metas.items()),
        ]


def apt_nvidia() -> list[Package]:
    """NVIDIA's CUDA repository for Ubuntu 24.04."""
    pinning = "nvidia-driver-pinning"
    return [
        # The real dkms brings compilers, which nothing here would use.
        Package("dkms", "1:3.2.2-1simulated", "DKMS that builds nothing", ("dkms-tool",)),
        *(
            Package(
                f"{pinning}-{what}", f"{what}-1ubuntu1", f"keeps the driver at {what}", ("pinning",),
                provides=(pinning,), conflicts=(pinning,),
            )
            for what in (*DRIVERS, *EVERY_DRIVER)
        ),
        *(package for driver in EVERY_DRIVER for package in AptDriver(driver).packages()),
    ]  # fmt: skip


def apt_docker() -> list[Package]:
    """Docker's repository for Ubuntu 24.04, with Debian's build of the engine."""
    tail = "1~ubuntu.24.04~noble"
    return [
        Package(
            "docker-ce", f"5:{ENGINE}-{tail}", "Docker Engine", ("engine",),
            needs=("containerd.io (>= 1.6.24)", "docker-ce-cli", "iptables"),
            conflicts=("docker.io", "docker-engine"),
        ),
        Package(
            "docker-ce-cli", f"5:{ENGINE}-{tail}", "Docker client", ("client",),
            conflicts=("docker.io", "docker-cli"),
        ),
        Package(
            "containerd.io", f"{CONTAINERD}-{tail}", "containerd and runc", ("containerd",),
            provides=("containerd", "runc"), conflicts=("containerd", "runc"),
        ),
        Package("docker-buildx-plugin", f"0.13.1-{tail}", "buildx"),
        Package("docker-compose-plugin", f"2.26.1-{tail}", "compose"),
    ]  # fmt: skip


class RpmDriver:
    """The packages of one driver for dnf."""

    def __init__(self, driver: str) -> None:
        self.driver = driver
        self.version = f"3:{driver}-1.el9"

    def same(self, name: str) -> str:
        """Another package of this very version, as a relation."""
        return f"{name} = {self.version}"

    def streams(self, flavours: tuple[str, ...]) -> tuple[str, ...]:
        """The streams that have a package: its branch's, and the rolling ones of the newest branch."""
        number = branch(self.driver)
        rolling = {"open": "open-dkms", "dkms": "latest-dkms"} if number == LATEST else {}
        return tuple(f"{number}-{name}" for name in flavours) + tuple(
            rolling[name] for name in flavours if rolling
        )

    def make(self, name: str, summary: str, *flavours: str, **more: Any) -> Package:
        """Make a package of both flavours of the kernel module, or of those named."""
        streams = self.streams(flavours or ("open", "dkms"))
        return Package(
            name, self.version, f"{summary} {self.driver}", driver=self.driver, streams=streams, **more
        )

    def flavour(self, kind: str, kmod: str, other: str, meta: str) -> list[Package]:
        """The packages of one flavour of the kernel module."""
        needs = tuple(self.same(name) for name in ("nvidia-driver", "nvidia-driver-cuda", kmod))
        return [
            self.make(
                kmod, "kernel module by DKMS", kind, parts=("dkms",), needs=("dkms",),
                provides=(self.same("nvidia-kmod"),), conflicts=(other,),
            ),
            self.make(meta, "metapackage", kind, needs=needs),
        ]  # fmt: skip

    def packages(self) -> list[Package]:
        """All of them."""
        same, libraries = self.same, self.same("nvidia-driver-cuda-libs")
        opened, closed = "kmod-nvidia-open-dkms", "kmod-nvidia-latest-dkms"
        return [
            self.make("nvidia-driver-cuda-libs", "compute libraries", parts=("nvml",)),
            self.make("nvidia-driver-libs", "graphics libraries", needs=(libraries,)),
            self.make(
                "nvidia-driver-cuda",
                "nvidia-smi",
                parts=("smi",),
                needs=(libraries, same("nvidia-persistenced")),
            ),
            self.make(
                "nvidia-driver", "driver", needs=(same("nvidia-driver-libs"), same("nvidia-kmod-common"))
            ),
            self.make(
                "nvidia-kmod-common", "files shared by the kernel modules", needs=(same("nvidia-kmod"),)
            ),
            self.make("nvidia-persistenced", "persistence daemon", parts=("persistenced",)),
            self.make("nvidia-modprobe", "nvidia-modprobe"),
            self.make("nvidia-fabricmanager", "Fabric Manager", parts=("fabricmanager",)),
            *self.flavour("open", opened, closed, "nvidia-open"),
            *self.flavour("dkms", closed, opened, "cuda-drivers"),
        ]


def rpm_nvidia() -> list[Package]:
    """NVIDIA's CUDA repository for RHEL 9."""
    return [
        Package("dkms", "3.2.2-1.el9", "DKMS that builds nothing", ("dkms-tool",)),
        *(package for driver in EVERY_DRIVER for package in RpmDriver(driver).packages()),
    ]


def rpm_docker() -> list[Package]:
    """Docker's repository for the RHEL 9 family, with Debian's build of the engine."""
    return [
        Package(
            "docker-ce", f"3:{ENGINE}-1.el9", "Docker Engine", ("engine",),
            needs=("containerd.io >= 1.6.24", "docker-ce-cli", "iptables", "systemd"),
            conflicts=("docker", "docker-engine"),
        ),
        Package("docker-ce-cli", f"1:{ENGINE}-1.el9", "Docker client", ("client",)),
        Package(
            "containerd.io", f"{CONTAINERD}-3.1.el9", "containerd and runc", ("containerd",),
            provides=("containerd", "runc"), conflicts=("containerd", "runc"),
        ),
        Package("docker-buildx-plugin", "0.13.1-1.el9", "buildx"),
        Package("docker-compose-plugin", "2.26.1-1.el9", "compose"),
    ]  # fmt: skip
