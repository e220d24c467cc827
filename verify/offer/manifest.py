"""What is recorded of an offer: a recording of a host without what only repairs need, and what we add."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.launch import docker_run
from verify.manifest import manifest

if TYPE_CHECKING:
    from verify.image.reference import Reference

Json = dict[str, Any]

TRIES, REGISTRY, METADATA = "offer-tries", "offer-registry", "offer-metadata"
"""The names under which the probes' answers stand among a recording's commands."""

MIB = 1024 * 1024
BYTES, SECONDS = 64 * MIB, 3.0
RATE_BYTES, RATE_SECONDS = 64 * MIB, 8.0
TRIES_DEADLINE_S = 150

# What of a host's recording only the doctor looks at.
_LEFT_OUT = frozenset(
    {
        *("modinfo-nvidia", "modinfo-newest", "modules-load", "dkms-status", "mokutil-sb", "dpkg-audit"),
        *("apt-policy", "held-packages", "package-locks", "cloud-init-status", "docker-log", "docker-unit"),
        *("fabricmanager-log", "dmesg-nvidia", "journal-nvidia", "image-python3", "image-python"),
    }
)
_FILES = (
    "/proc/meminfo",
    "/proc/self/status",
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/dmi/id/product_name",
)
_LABEL = ("--label", "gpu-host.offer={id}")
_SMI = ("nvidia-smi", "-L")
_CUDA = "cuda"


def offer_manifest() -> Json:
    """Return what the recorder looks at; it changes nothing."""
    whole = manifest("host")
    inside = {spec["name"]: spec for spec in manifest("container")["commands"]}
    more: list[Json] = [
        {"name": "nproc", "argv": ["nproc"]},
        {"name": "buildx-version", "argv": ["docker", "buildx", "version"], "engine": True},
        inside["nvidia-smi-topo"],
        inside[_CUDA],
    ]
    return {
        **whole,
        "files": [*whole["files"], *_FILES],
        "commands": [
            *(one for one in whole["commands"] if one["name"] not in _LEFT_OUT),
            *more,
        ],
    }


def tries_source(*, mounts: tuple[str, ...], docker: bool, measure: bool, mark: bool, forget: bool) -> str:
    """Return the text of the program that tries things out, with what it is to try."""
    given = {
        "mounts": list(mounts),
        "docker": docker,
        "bytes": BYTES if measure else 0,
        "seconds": SECONDS,
        "mark": mark,
        "forget": forget,
        "deadline": TRIES_DEADLINE_S,
        "runs": _runs(),
    }
    return _source("tries", f"json.loads({json.dumps(given)!r})")


def _runs() -> dict[str, list[str]]:
    """Return one container for each way to ask for a card, and one that asks for none."""

    def run(name: str, **asked: Any) -> list[str]:  # noqa: ANN401  # docker_run's own
        return docker_run("{image}", _SMI, name=f"gpu-host-offer-{{id}}-{name}", options=_LABEL, **asked)

    return {
        "run-none": run("none"),
        "run-gpus-all": run("all", gpus="all"),
        "run-runtime": run("runtime", runtime="nvidia", env={"NVIDIA_VISIBLE_DEVICES": "all"}),
        "run-cdi": run("cdi", cdi="all"),
    }


def registry_source(
    host: str, *, plain: bool, image: Reference | None, username: str, password: str, ca: str
) -> str:
    """Return the text of the program that reaches a registry; the login is in it, and nowhere else."""
    given = {
        "host": host,
        "plain": plain,
        "image": str(image) if image else None,
        "repository": image.repository if image else None,
        "wanted": image.wanted if image else None,
        "username": username,
        "password": password,
        "ca": ca,
        "bytes": RATE_BYTES,
        "seconds": RATE_SECONDS,
    }
    return _source("registry", f"json.loads({json.dumps(given)!r})")


def metadata_source() -> str:
    """Return the text of the program that asks the clouds' metadata services."""
    return _source("metadata", "")


def _source(name: str, given: str) -> str:
    text = Path(__file__).with_name(f"{name}_probe.py").read_text(encoding="utf-8")
    return f"{text}\nsys.exit(main({given}))\n"
