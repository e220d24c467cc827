"""What torch says in the container: the probe's one JSON object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import as_list, as_number, as_object, as_text, cite_command, json_object
from verify.facts.version import Version

if TYPE_CHECKING:
    from verify.recording import Recording


@dataclass(frozen=True, slots=True)
class FrameworkFacts:
    """``recorded`` means that the probe was started; ``answered`` that it printed its object."""

    recorded: bool
    answered: bool
    version: str | None
    cuda: Version | None
    cudnn: int | None
    available: bool | None
    device_count: int | None
    names: tuple[str, ...]
    kernel_ok: bool | None
    kernel_error: str | None
    kernel_result: float | None
    error: str | None
    visible: str | None
    evidence: tuple[str, ...]


def framework_facts(recording: Recording) -> FrameworkFacts:
    """Read the probe's answer out of a container's recording."""
    entry = recording.command("torch")
    lines = entry.stdout.strip().splitlines() if entry and not entry.timed_out else []
    answer = json_object(lines[-1] if lines else None) or {}
    kernel = as_object(answer.get("kernel"))
    error = as_text(answer.get("error"))
    if entry and not answer:
        last = (entry.stderr.strip().splitlines() or [""])[-1]
        error = f"{entry.ended}: {last}" if last else entry.ended
    return FrameworkFacts(
        recorded=entry is not None,
        answered=bool(answer),
        version=as_text(answer.get("torch")),
        cuda=Version.parse(as_text(answer.get("cuda"))),
        cudnn=_whole(answer.get("cudnn")),
        available=_truth(answer.get("available")),
        device_count=_whole(answer.get("device_count")),
        names=tuple(str(as_object(device).get("name")) for device in as_list(answer.get("devices"))),
        kernel_ok=_truth(kernel.get("ok")),
        kernel_error=as_text(kernel.get("error")),
        kernel_result=as_number(kernel.get("result")),
        error=error,
        visible=recording.env.get("CUDA_VISIBLE_DEVICES"),
        evidence=(cite_command(entry, lines[-1] if answer else None, recording.where),) if entry else (),
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
