"""What is installed beside torch in the container: its compiled extensions, and the bindings of NVML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.probe import last_object
from verify.facts.source import cite_command
from verify.json_values import as_list, as_object, as_text, as_truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.recording import Recording

# A build's own word for what it was made for: 0.28.0+cu130, 2.6.0+cu122torch2.4cxx11abiFALSE
_CUDA_TAG = re.compile(r"\+(?:[a-z0-9.]*\.)?cu(\d{2,3})(?!\d)", re.IGNORECASE)
_TORCH_TAG = re.compile(r"\+[^+]*torch(\d+\.\d+)", re.IGNORECASE)
_NVML = ("pynvml", "nvidia-ml-py")
_PINNED = re.compile(r"^torch\s*\(?\s*==\s*(\d+(?:\.\d+)*)")
# xformers and bitsandbytes import without their compiled half, and say so.
_HALF = re.compile(
    r"can't load C\+\+/CUDA extensions[^;]{0,200}|compiled without GPU support[^;]{0,100}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Extension:
    """One compiled extension of torch. ``imports`` is None where the import was not tried."""

    name: str
    version: str
    imports: bool | None
    error: str | None
    half: str | None
    cuda_tag: str | None
    for_torch: str | None


@dataclass(frozen=True, slots=True)
class PackageFacts:
    """``recorded``: the probe answered. Distributions that are not installed are in neither."""

    recorded: bool
    extensions: tuple[Extension, ...]
    nvml: Mapping[str, str]
    evidence: tuple[str, ...]


def package_facts(recording: Recording) -> PackageFacts:
    """Read the probe's answer."""
    entry = recording.command("python-packages")
    answer, line = last_object(entry)
    installed = {
        name: one
        for name, value in as_object(answer.get("installed")).items()
        if as_text((one := as_object(value)).get("version"))
    }
    imports = as_object(answer.get("imports"))
    found = tuple(
        _extension(name, one, as_object(imports.get(name)))
        for name, one in installed.items()
        if name not in ("torch", *_NVML)
    )
    evidence = [cite_command(entry, line, recording.where)] if entry else []
    if entry:
        texts = (
            f"{one.name} {one.version}: {one.error or one.half}" for one in found if one.error or one.half
        )
        evidence += [cite_command(entry, text, recording.where) for text in texts]
    return PackageFacts(
        recorded=bool(answer),
        extensions=found,
        nvml={
            name: str(installed[name]["version"]) for name in ("pynvml", "nvidia-ml-py") if name in installed
        },
        evidence=tuple(evidence),
    )


def cuda_tag(version: str) -> str | None:
    """Return ``130`` of ``2.13.0+cu130``, and ``12`` where a build names the major version alone."""
    found = _CUDA_TAG.search(version)
    return found.group(1) if found else None


def _extension(name: str, one: Mapping[str, object], outcome: Mapping[str, object]) -> Extension:
    version = str(one["version"])
    half = _HALF.search(as_text(outcome.get("said")) or "")
    tagged = _TORCH_TAG.search(version)
    pinned = (_PINNED.match(wish) for wish in as_list(one.get("requires")) if isinstance(wish, str))
    return Extension(
        name=name,
        version=version,
        imports=as_truth(outcome.get("ok")),
        error=as_text(outcome.get("error")),
        half=" ".join(half.group().split()) if half else None,
        cuda_tag=cuda_tag(version),
        for_torch=tagged.group(1) if tagged else next((match.group(1) for match in pinned if match), None),
    )
