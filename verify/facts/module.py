"""The kernel's half of the driver: is it loaded, and which version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite, file_text, first_line
from verify.facts.version import Version
from verify.json_values import as_text, json_object

if TYPE_CHECKING:
    from verify.recording import Recording

PROC_VERSION = "/proc/driver/nvidia/version"
SYS_VERSION = "/sys/module/nvidia/version"
PROC_MODULES = "/proc/modules"
MARK = "/var/lib/gpu-host/reboot-needed.json"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
# Two shapes: the proprietary "… x86_64 Kernel Module  520.56.06  <date>" and the open
# "… Open Kernel Module for x86_64  515.57  Release Build …".
_NVRM = re.compile(r"^NVRM version:.*?Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)(?=\s|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RebootMark:
    """The role's note that a reboot is due. ``due`` is None where nothing tells: damaged, or no boot id."""

    recorded: bool
    there: bool
    due: bool | None
    because: str
    asked: bool
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """``loaded`` is None where nothing that could tell was recorded."""

    loaded: bool | None
    version: Version | None
    open: bool | None
    nouveau: bool
    on_disk: Version | None
    reboot: RebootMark
    evidence: tuple[str, ...]


def module_facts(recording: Recording) -> ModuleFacts:
    """Read what the kernel says of its NVIDIA module."""
    looked = [entry for path in (PROC_VERSION, SYS_VERSION, PROC_MODULES) if (entry := recording.file(path))]
    texts = {entry.path: entry.text for entry in looked if entry.text is not None}
    names = {line.split(" ", 1)[0] for line in texts.get(PROC_MODULES, "").splitlines()}
    proc = _NVRM.search(texts.get(PROC_VERSION, ""))
    version = Version.parse(proc.group(1) if proc else None) or Version.parse(texts.get(SYS_VERSION))
    # Some kernels have no /proc/modules: that it is missing says nothing.
    answered = bool(texts) or any(entry.missing for entry in looked if entry.path != PROC_MODULES)
    loaded = version is not None or "nvidia" in names if answered else None
    modinfo = recording.command("modinfo-nvidia")
    on_disk = re.search(r"^version:\s*(\S+)", modinfo.stdout if modinfo else "", re.MULTILINE)
    return ModuleFacts(
        loaded=loaded,
        version=version,
        open="Open Kernel Module" in texts.get(PROC_VERSION, "") if proc else None,
        nouveau="nouveau" in names,
        on_disk=Version.parse(on_disk.group(1) if on_disk else None),
        reboot=reboot_mark(recording),
        evidence=tuple(
            cite(entry.path, "missing" if entry.missing else entry.error or _shown(entry.path, entry.text))
            for entry in looked
        ),
    )


def reboot_mark(recording: Recording) -> RebootMark:
    """Read the note that a reboot is due: a boot since then has another id, and has settled it."""
    entry = recording.file(MARK)
    boot_id = (file_text(recording, BOOT_ID) or "").strip()
    note = json_object(entry.text) if entry and entry.text is not None else None
    evidence = []
    if entry:
        evidence.append(cite(MARK, "missing" if entry.missing else entry.error or first_line(entry.text)))
    if boot_id:
        evidence.append(cite(BOOT_ID, boot_id))
    noted = as_text(note.get("boot_id")) if note else None
    return RebootMark(
        recorded=entry is not None and entry.error is None,
        there=entry is not None and entry.text is not None,
        due=noted.strip() == boot_id if noted and boot_id else None,
        because=(as_text(note.get("because")) if note else None) or "no reason was noted",
        asked=bool(note.get("asked", True)) if note else True,
        evidence=tuple(evidence),
    )


def _shown(path: str, text: str | None) -> str:
    if path != PROC_MODULES:
        return first_line(text)
    lines = [line for line in (text or "").splitlines() if line.startswith(("nvidia ", "nouveau "))]
    return lines[0] if lines else "no line for nvidia"
