"""What a container has of the driver, and what CUDA itself says there: the probe's one JSON object."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.probe import capability, cuda_version, full_uuid, last_object
from verify.facts.source import cite, cite_command
from verify.facts.version import Version
from verify.json_values import as_list, as_object, as_text, as_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.recording import Recording

SHM = "/dev/shm"  # noqa: S108  # looked at, not written to
_SMI = ("nvidia-smi", "nvidia-smi-xml")
_NOT_AVAILABLE = re.compile(r"CUDA (?:UMD )?Version:\s*(N/A|ERR!)|<cuda_version>(N/A|ERR!)</cuda_version>")
_LIBRARY = re.compile(r"(?:^|/)libcuda\.so(?:\.|$)")


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """A card as CUDA's driver library describes it."""

    name: str | None
    uuid: str | None
    capability: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class InsideFacts:
    """One container. ``asked``: the probe ran; ``init``: what cuInit returned, None where it did not."""

    env: Mapping[str, str] | None
    shm_bytes: int | None
    shm_missing: bool
    shm_evidence: tuple[str, ...]
    asked: bool
    library: str | None
    library_error: str | None
    files: tuple[str, ...]
    cuda_missing: str | None
    init: int | None
    word: str | None
    stuck: str | None
    cuda: Version | None
    count: int | None
    devices: tuple[CudaDevice, ...]
    uvm: bool | None
    evidence: tuple[str, ...]
    smi_evidence: tuple[str, ...]


def inside_facts(recording: Recording) -> InsideFacts:
    """Read a container's recording; of a host's, the files of libcuda."""
    entry = recording.command("cuda")
    answer, line = last_object(entry)
    missing, smi_evidence = _cuda_missing(recording)
    init, asking = as_whole(answer.get("init")), as_text(answer.get("asking"))
    real = as_text(answer.get("real")) or as_text(answer.get("library"))
    shm_bytes, shm_missing = _shm(recording)
    return InsideFacts(
        env=recording.env if "env" in recording.document else None,
        shm_bytes=shm_bytes,
        shm_missing=shm_missing,
        shm_evidence=(cite(f"{recording.where} {SHM}", _shm_line(shm_bytes, shm_missing)),),
        asked=bool(answer),
        library=real,
        library_error=as_text(answer.get("error")),
        files=_libraries(recording),
        cuda_missing=missing,
        init=init,
        word=as_text(answer.get("word")),
        stuck=f"{entry.ended} at {asking}" if entry and asking and init is None else None,
        cuda=cuda_version(as_whole(answer.get("cuda"))),
        count=as_whole(answer.get("count")),
        devices=tuple(_device(as_object(one)) for one in as_list(answer.get("devices"))),
        uvm=_uvm(recording),
        evidence=(cite_command(entry, line, recording.where),) if entry else (),
        smi_evidence=smi_evidence,
    )


def _device(device: Mapping[str, object]) -> CudaDevice:
    return CudaDevice(
        name=as_text(device.get("name")),
        uuid=full_uuid(as_text(device.get("uuid"))),
        capability=capability(device.get("capability")),
    )


def _shm(recording: Recording) -> tuple[int | None, bool]:
    entry = recording.disks.get(SHM, {})
    total = as_whole(entry.get("total"))
    return (total if total is not None and total >= 0 else None), entry.get("missing") is True


def _shm_line(total: int | None, missing: bool) -> str:  # noqa: FBT001
    return "missing" if missing else f"total {total}" if total is not None else "not recorded"


def _libraries(recording: Recording) -> tuple[str, ...]:
    paths = [path for found in recording.globs.values() for path in found]
    return tuple(dict.fromkeys(path for path in paths if _LIBRARY.search(path)))


def _cuda_missing(recording: Recording) -> tuple[str | None, tuple[str, ...]]:
    """Find the word that nvidia-smi has in place of CUDA's version, where it could not load libcuda."""
    for name in _SMI:
        entry = recording.command(name)
        found = _NOT_AVAILABLE.search(entry.stdout) if entry else None
        if entry and found:
            return found.group(1) or found.group(2), (cite_command(entry, found.group(), recording.where),)
    return None, ()


def _uvm(recording: Recording) -> bool | None:
    nodes = recording.globs.get("/dev/nvidia*")
    return None if nodes is None else "/dev/nvidia-uvm" in nodes
