"""The kernel module on the disk: for which kernels it is there, by DKMS, by its file, or as modinfo says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite, cite_command, file_text, first_line

if TYPE_CHECKING:
    from verify.recording import Recording

DKMS = "dkms-status"
MODINFO = "modinfo-nvidia"
NEWEST = "modinfo-newest"
KERNEL = "/proc/sys/kernel/osrelease"
# Two styles: `nvidia/580.1, 6.8.0-1, x86_64: installed` and `nvidia, 470.1, 5.4.0, x86_64: built`.
_ROW = re.compile(
    r"^(?P<module>nvidia[\w-]*)(?:/|,\s*)(?P<version>[\w.~+-]+)"
    r"(?:,\s*(?P<kernel>[^,:\s]+),\s*(?P<arch>[\w-]+))?:\s*(?P<state>[a-z-]+)(?P<tail>.*)$"
)
_KERNEL_LINE = re.compile(r"^kernel: (\S+)$", re.MULTILINE)
_FILE = re.compile(r"^/lib/modules/([^/]+)/.*/nvidia(?:-current)?\.ko(?:\.\w+)?$")
_MAKE_LOG = re.compile(r"^/var/lib/dkms/.*/make\.log$")
# What the compiler said comes before what make makes of it.
_ERRORS = (
    re.compile(r"\b(?:fatal )?error:|undefined!|No such file or directory", re.IGNORECASE),
    re.compile(r"\*\*\* |\bERROR\b"),
)


@dataclass(frozen=True, slots=True)
class DkmsRow:
    """One line of ``dkms status`` about NVIDIA's module."""

    module: str
    version: str
    kernel: str | None
    state: str
    differs: bool


@dataclass(frozen=True, slots=True)
class BuildFacts:
    """``headers`` is about the running kernel; None where nobody looked. ``error`` is make.log's."""

    recorded: bool
    kernel: str | None
    headers: bool | None
    rows: tuple[DkmsRow, ...] | None
    kernels_with_file: tuple[str, ...]
    kernels: tuple[str, ...] | None
    boot_kernels: tuple[str, ...]
    on_disk: bool | None
    newest: str | None
    """The newest installed kernel that modinfo was asked about, and whether it has a module."""
    newest_has: bool | None
    open: bool | None
    signer: str | None
    error: str | None
    error_path: str | None
    evidence: tuple[str, ...]

    @property
    def built_for(self) -> tuple[str, ...]:
        """The kernels that have the module, oldest first."""
        rows = {row.kernel for row in self.rows or () if row.state == "installed" and row.kernel}
        here = {self.kernel} if self.on_disk and self.kernel else set()
        coming = {self.newest} if self.newest_has and self.newest else set()
        return tuple(sorted(rows | set(self.kernels_with_file) | here | coming, key=kernel_order))


def kernel_order(name: str) -> tuple[tuple[int, ...], str]:
    """Sort kernels as their numbers say: 6.10 after 6.8."""
    return tuple(int(number) for number in re.findall(r"\d{1,9}", name)), name


def build_facts(recording: Recording) -> BuildFacts:
    """Read what is built for which kernel, and why it is not."""
    kernel = (file_text(recording, KERNEL) or "").strip() or None
    rows = _rows(recording)
    modinfo = recording.command(MODINFO)
    info = _modinfo(modinfo.stdout) if modinfo and modinfo.ok else {}
    next_ = recording.command(NEWEST)
    coming = _KERNEL_LINE.search(next_.stdout if next_ else "")
    headers = recording.paths.get(f"/lib/modules/{kernel}/build") if kernel else None
    path, error = _error(recording)
    found = [path for paths in recording.globs.values() for path in paths]
    files = {match.group(1) for one in found if (match := _FILE.match(one))}
    folders = recording.globs.get("/lib/modules/*")
    looked = modinfo is not None and modinfo.ran
    return BuildFacts(
        recorded=rows is not None or looked or headers is not None or bool(files) or error is not None,
        kernel=kernel,
        headers=headers,
        rows=rows,
        kernels_with_file=tuple(sorted(files, key=kernel_order)),
        kernels=None if folders is None else tuple(one.rsplit("/", 1)[-1] for one in folders),
        boot_kernels=tuple(
            one.removeprefix("/boot/vmlinuz-") for one in recording.globs.get("/boot/vmlinuz-*", ())
        ),
        on_disk=bool(info) if looked else None,
        newest=coming.group(1) if coming else None,
        newest_has=next_.rc == 0 if next_ and coming and not next_.timed_out else None,
        open=_open(info.get("license"), rows),
        signer=info.get("signer") or info.get("sig_id"),
        error=error,
        error_path=path,
        evidence=_evidence(recording, kernel, headers, path, error),
    )


def _rows(recording: Recording) -> tuple[DkmsRow, ...] | None:
    entry = recording.command(DKMS)
    if entry is None or not entry.ok:
        return None
    matches = [_ROW.match(line.strip()) for line in entry.stdout.splitlines()]
    return tuple(
        DkmsRow(row["module"], row["version"], row["kernel"], row["state"], "WARNING!" in row["tail"])
        for row in matches
        if row
    )


def _modinfo(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    values: dict[str, str] = {}
    for key, _, value in pairs:
        values.setdefault(key.strip(), value.strip())
    return values


def _open(license_: str | None, rows: tuple[DkmsRow, ...] | None) -> bool | None:
    """Whether the module on the disk is the open one: its licence tells, else DKMS's name for it."""
    if license_:
        return "GPL" in license_
    if rows and any("open" in row.module for row in rows):
        return True
    return None


def _error(recording: Recording) -> tuple[str | None, str | None]:
    """Return the last error of the newest make.log that has one."""
    for path in sorted((path for path in recording.file_paths if _MAKE_LOG.match(path)), reverse=True):
        lines = (file_text(recording, path) or "").splitlines()
        for pattern in _ERRORS:
            bad = [line.strip() for line in lines if pattern.search(line)]
            if bad:
                return path, bad[-1]
    return None, None


def _evidence(
    recording: Recording,
    kernel: str | None,
    headers: bool | None,  # noqa: FBT001
    path: str | None,
    error: str | None,
) -> tuple[str, ...]:
    lines = []
    for name in (DKMS, MODINFO, NEWEST):
        entry = recording.command(name)
        if entry is not None:
            said = [
                line
                for line in entry.stdout.splitlines()
                if line.startswith(("nvidia", "version:", "kernel:"))
            ]
            lines += [cite(name, line) for line in said[:4]] or [cite_command(entry)]
    if headers is not None:
        lines.append(cite(f"/lib/modules/{kernel}/build", "present" if headers else "missing"))
    if path and error:
        lines.append(cite(path, first_line(error)))
    return tuple(lines)


def newest(kernels: tuple[str, ...]) -> str | None:
    """Return the newest of some kernels."""
    return max(kernels, key=kernel_order, default=None)
