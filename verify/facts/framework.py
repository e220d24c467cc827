"""What torch says in the container: the last JSON object that its probe printed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.probe import capability, cuda_version, full_uuid, last_object
from verify.facts.source import cite_command
from verify.facts.version import Version
from verify.json_values import as_list, as_number, as_object, as_text, as_truth, as_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.recording import CommandEntry, Recording

_FOUND_VERSION = re.compile(r"found version (\d+)")


@dataclass(frozen=True, slots=True)
class TorchDevice:
    """A card as torch describes it, and what became of the one real kernel on it."""

    name: str | None
    capability: tuple[int, int] | None
    uuid: str | None
    kernel_ok: bool | None
    kernel_error: str | None


@dataclass(frozen=True, slots=True)
class FrameworkFacts:
    """``recorded`` means that the probe was started.

    ``errors`` has, by question, what came instead of an answer; a question that hung or took the process
    down is among them. ``clean_count`` is what a second process saw, without the variables that hide cards.
    """

    recorded: bool
    version: str | None
    cuda: Version | None
    hip: str | None
    cudnn: int | None
    available: bool | None
    device_count: int | None
    names: tuple[str, ...]
    arch_list: tuple[str, ...]
    devices: tuple[TorchDevice, ...]
    kernel_ok: bool | None
    kernel_error: str | None
    kernel_result: float | None
    convolution_error: str | None
    cudnn_files: tuple[str, ...]
    errors: Mapping[str, str]
    error: str | None
    reasons: tuple[str, ...]
    found_cuda: Version | None
    machine: str | None
    visible: str | None
    clean_count: int | None
    evidence: tuple[str, ...]
    clean_evidence: tuple[str, ...]


def framework_facts(recording: Recording) -> FrameworkFacts:
    """Read the probe's answers out of a container's recording."""
    entry = recording.command("torch")
    answer, line = last_object(entry)
    kernel = as_object(answer.get("kernel"))
    errors = {name: str(text) for name, text in as_object(answer.get("errors")).items()}
    error, asking = as_text(answer.get("error")), as_text(answer.get("asking"))
    if entry and (not answer or asking):
        stopped = _stopped(entry)
        errors |= {asking: stopped} if asking else {}
        error = error or stopped if asking in (None, "torch") else error
    convolution = as_object(answer.get("convolution"))
    reasons = _reasons(answer, kernel)
    clean_count, clean_evidence = _clean(recording)
    return FrameworkFacts(
        recorded=entry is not None,
        version=as_text(answer.get("torch")),
        cuda=Version.parse(as_text(answer.get("cuda"))),
        hip=as_text(answer.get("hip")),
        cudnn=as_whole(answer.get("cudnn")),
        available=as_truth(answer.get("available")),
        device_count=as_whole(answer.get("device_count")),
        names=tuple(str(as_object(device).get("name")) for device in as_list(answer.get("devices"))),
        arch_list=tuple(name for name in as_list(answer.get("arch_list")) if isinstance(name, str)),
        devices=tuple(_device(as_object(one)) for one in as_list(answer.get("devices"))),
        kernel_ok=as_truth(kernel.get("ok")),
        kernel_error=as_text(kernel.get("error")),
        kernel_result=as_number(kernel.get("result")),
        convolution_error=as_text(convolution.get("error")),
        cudnn_files=_files(answer, "libcudnn"),
        errors=errors,
        error=error,
        reasons=reasons,
        found_cuda=_found_cuda(reasons),
        machine=as_text(answer.get("machine")),
        visible=recording.env.get("CUDA_VISIBLE_DEVICES"),
        clean_count=clean_count,
        evidence=_evidence(
            entry,
            line,
            recording.where,
            (*((error,) if error and answer else ()), *errors.values(), *reasons),
        ),
        clean_evidence=clean_evidence,
    )


def _evidence(
    entry: CommandEntry | None, line: str | None, where: str, said: tuple[str, ...]
) -> tuple[str, ...]:
    """Cite the object; what it complains of may stand far behind, so once more by itself."""
    if entry is None:
        return ()
    return (
        cite_command(entry, line, where),
        *(cite_command(entry, text, where) for text in dict.fromkeys(said)),
    )


def _stopped(entry: CommandEntry) -> str:
    last = (entry.stderr.strip().splitlines() or [""])[-1]
    return f"{entry.ended}: {last}" if last else entry.ended


def _device(device: Mapping[str, object]) -> TorchDevice:
    kernel = as_object(device.get("kernel"))
    return TorchDevice(
        name=as_text(device.get("name")),
        capability=capability(device.get("capability")),
        uuid=full_uuid(as_text(device.get("uuid"))),
        kernel_ok=as_truth(kernel.get("ok")),
        kernel_error=as_text(kernel.get("error")),
    )


def _reasons(answer: Mapping[str, object], kernel: Mapping[str, object]) -> tuple[str, ...]:
    """Return what torch gave as reasons for finding no card, or for not using it."""
    found = [answer.get("init"), *as_list(answer.get("warnings"))]
    if kernel.get("ok") is False and not str(kernel.get("error")).startswith("not tried"):
        found.append(kernel.get("error"))
    return tuple(dict.fromkeys(text for text in found if isinstance(text, str) and text))


def _found_cuda(reasons: tuple[str, ...]) -> Version | None:
    """Read the driver's CUDA out of "the driver is too old (found version 11040)"."""
    numbers = (match.group(1) for text in reasons if (match := _FOUND_VERSION.search(text)))
    return next((found for number in numbers if (found := cuda_version(int(number[:9])))), None)


def _files(answer: Mapping[str, object], library: str) -> tuple[str, ...]:
    files = as_list(as_object(answer.get("libraries")).get(library))
    return tuple(path for path in files if isinstance(path, str))


def _clean(recording: Recording) -> tuple[int | None, tuple[str, ...]]:
    """Read the second look: without the variables that hide cards, in a process of its own."""
    entry = recording.command("torch-clean")
    answer, line = last_object(entry)
    cleaned = any(isinstance(name, str) for name in as_list(answer.get("cleaned")))
    if entry is None or not cleaned:
        return None, ()
    return as_whole(answer.get("device_count")), (cite_command(entry, line, recording.where),)
