"""Whether the firmware and the kernel let only signed modules in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite, cite_command, file_text

if TYPE_CHECKING:
    from verify.recording import Recording

MOKUTIL = "mokutil-sb"
LOCKDOWN = "/sys/kernel/security/lockdown"
EFI = "/sys/firmware/efi"
_VARIABLE = re.compile(rf"^{EFI}/efivars/SecureBoot-[0-9a-f-]+$")
_OFF = re.compile(
    r"SecureBoot disabled|doesn't support Secure Boot|EFI variables are not supported"
    r"|validation is disabled in shim",
    re.IGNORECASE,
)
_ON = re.compile(r"SecureBoot enabled", re.IGNORECASE)
_VALUE = 4  # four bytes of attributes stand before it


@dataclass(frozen=True, slots=True)
class SigningFacts:
    """``secure_boot`` and ``lockdown`` are None where nothing tells."""

    secure_boot: bool | None
    lockdown: str | None
    evidence: tuple[str, ...]

    @property
    def demanded(self) -> bool | None:
        """Whether an unsigned module is refused."""
        if self.secure_boot or self.lockdown in ("integrity", "confidentiality"):
            return True
        return False if self.secure_boot is False or self.lockdown == "none" else None


def signing_facts(recording: Recording) -> SigningFacts:
    """Read Secure Boot's state: mokutil, else the EFI variable, else that there is no EFI at all."""
    secure, evidence = _mokutil(recording) or _variable(recording) or (None, [])
    text = file_text(recording, LOCKDOWN)
    chosen = re.search(r"\[(\w+)\]", text or "")
    if chosen:
        evidence = [*evidence, cite(LOCKDOWN, text)]
    return SigningFacts(secure, chosen.group(1) if chosen else None, tuple(evidence))


def _mokutil(recording: Recording) -> tuple[bool, list[str]] | None:
    entry = recording.command(MOKUTIL)
    said = entry.said if entry and not entry.missing and not entry.timed_out else ""
    if entry is None or not (_OFF.search(said) or _ON.search(said)):
        return None
    line = next(line for line in said.splitlines() if _OFF.search(line) or _ON.search(line))
    return not _OFF.search(said), [cite_command(entry, line)]


def _variable(recording: Recording) -> tuple[bool, list[str]] | None:
    for path in recording.file_paths:
        value = (file_text(recording, path) or "") if _VARIABLE.match(path) else ""
        if len(value) > _VALUE:
            on = value[_VALUE] == "\x01"
            return on, [cite(path, f"the fifth byte is {ord(value[_VALUE])}")]
    if recording.paths.get(EFI) is False:
        return False, [cite(EFI, "missing: started by a BIOS")]
    return None
