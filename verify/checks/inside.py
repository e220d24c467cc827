"""Layer container, what nvidia-smi alone cannot show: libcuda, CUDA itself, /dev/shm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.applies import STAND_IN
from verify.checks.check import Verdict, count, failed, not_applicable, not_recorded, passed, warned
from verify.compat.cuda_errors import CudaError, cuda_error, number_in
from verify.facts.inside import SHM
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.inside import InsideFacts
    from verify.facts.state import State

ENOUGH_SHM = 1 << 30
_BETWEEN = (Layer.RUNTIME, Layer.CONTAINER)
_NOT_READY = 802
_OF_THE_HOST = (_NOT_READY, 803, 804)
_KERNEL_LOG = "dmesg | grep -i -e nvrm -e xid | tail  # on the host"
_BY_CDI = "void"  # what NVIDIA_VISIBLE_DEVICES says in a container that was given its cards by CDI


def capabilities(state: State) -> Verdict:
    """Whether libcuda is mounted: nvidia-smi does without it, and nothing else does."""
    inside = state.container.inside
    if state.container.simulated and state.container.host_libcuda is False:
        return not_applicable(STAND_IN)
    if not inside.asked and not inside.cuda_missing:
        return not_recorded("libcuda in the container")
    evidence = (*inside.evidence, *inside.smi_evidence)
    if inside.library:
        return passed(f"libcuda is in the container: {inside.library}", evidence)
    if inside.asked and inside.library_error is None:
        return not_recorded("libcuda in the container")
    shown = f" and nvidia-smi shows CUDA Version: {inside.cuda_missing}" if inside.cuda_missing else ""
    asked = (inside.env or {}).get("NVIDIA_DRIVER_CAPABILITIES")
    words = "is unset" if asked is None else f"is {asked!r}"
    if inside.files:
        return failed(
            f"libcuda is in the container ({inside.files[0]}) and the loader does not find it: "
            f"{inside.library_error or 'no reason given'}",
            "ldconfig  # in the container; the toolkit's hook update-ldcache does it: journalctl -u docker",
            evidence,
            _BETWEEN,
        )
    return failed(
        f"libcuda is not mounted in the container{shown}; NVIDIA_DRIVER_CAPABILITIES {words}",
        _mount(state, asked),
        evidence,
        _BETWEEN,
    )


def _mount(state: State, asked: str | None) -> str:
    """Say how libcuda comes in: by the variable, or, where that is in order, by the host."""
    by_cdi = (state.container.inside.env or {}).get("NVIDIA_VISIBLE_DEVICES") == _BY_CDI
    has_compute = asked is not None and {"compute", "all"} & {word.strip() for word in asked.split(",")}
    if not by_cdi and not has_compute:
        wanted = ",".join(dict.fromkeys(["compute", *filter(None, (asked or "utility").split(","))]))
        return (
            f"add compute to NVIDIA_DRIVER_CAPABILITIES: docker run -e NVIDIA_DRIVER_CAPABILITIES={wanted} …"
        )
    if state.container.host_libcuda is False:
        return (
            "the host has no libcuda: apt-get install libcuda1 (Ubuntu: libnvidia-compute-NNN; RHEL: "
            "nvidia-driver-cuda-libs), then systemctl restart nvidia-cdi-refresh docker"
        )
    return (
        "nvidia-ctk cdi generate | grep libcuda; systemctl restart nvidia-cdi-refresh; then a new container"
    )


def cuda(state: State) -> Verdict:
    """Whether CUDA starts: cuInit of the driver API, told apart by its number."""
    inside, torch = state.container.inside, state.container.framework
    if state.container.simulated:
        return not_applicable(STAND_IN)
    if inside.stuck:
        return failed(
            f"CUDA does not start: {inside.stuck}",
            f"{_KERNEL_LOG}: a card that hangs needs a reset or a reboot",
            inside.evidence,
            _BETWEEN,
        )
    number = inside.init or next(filter(None, map(number_in, torch.reasons)), None)
    known = cuda_error(number) if number else None
    if number and (inside.init or known):
        evidence = inside.evidence if inside.init else torch.evidence
        return _fails(inside, number, known, evidence, smi_works=state.container.driver.answers)
    if inside.init is None or inside.count is None:
        return not_recorded("cuInit in the container")
    if inside.count == 0:
        return _fails(inside, 100, cuda_error(100), inside.evidence, smi_works=state.container.driver.answers)
    version = f"CUDA {inside.cuda}, " if inside.cuda else ""
    return passed(f"cuInit returns 0: {version}{count(inside.count, 'device')}", inside.evidence)


def _fails(
    inside: InsideFacts, number: int, known: CudaError | None, evidence: tuple[str, ...], *, smi_works: bool
) -> Verdict:
    name = (known.name if known else None) or inside.word or "no name known"
    meaning = f": {known.meaning}" if known else ""
    uvm = "; /dev/nvidia-uvm is not in the container" if inside.uvm is False else ""
    smi = "nvidia-smi works in the container and CUDA does not" if smi_works else "CUDA does not start"
    between = (Layer.DRIVER, Layer.CONTAINER) if number in _OF_THE_HOST else _BETWEEN
    return failed(
        f"{smi}: error {number}, {name}{meaning}{uvm}",
        known.remedy if known else _KERNEL_LOG,
        evidence,
        between,
        ("driver.fabric-manager",) if number == _NOT_READY else (),
    )


def shm(state: State) -> Verdict:
    """Whether /dev/shm has room for the loaders' workers, and for NCCL."""
    inside = state.container.inside
    if inside.shm_missing:
        return warned(
            "there is no /dev/shm in the container: workers of a DataLoader, and NCCL, need one",
            "docker run --shm-size=1g …, or --ipc=host",
            inside.shm_evidence,
        )
    if inside.shm_bytes is None:
        return not_recorded("the size of /dev/shm in the container")
    size = _mib(inside.shm_bytes)
    if inside.shm_bytes < ENOUGH_SHM:
        return warned(
            f"{SHM} in the container has {size}, less than 1 GiB: workers of a DataLoader die of a bus "
            "error, and NCCL may not start",
            "docker run --shm-size=1g …, or --ipc=host; for every container: "
            '"default-shm-size": "1g" in /etc/docker/daemon.json, unless dockerd has it as a flag',
            inside.shm_evidence,
        )
    return passed(f"{SHM} in the container has {size}", inside.shm_evidence)


def _mib(size: int) -> str:
    gib = size / (1 << 30)
    return f"{gib:.1f} GiB" if gib >= 1 else f"{size / (1 << 20):.0f} MiB"
