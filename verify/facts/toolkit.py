"""The NVIDIA Container Toolkit: its four packages, its command, its CDI specification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from verify.facts.source import as_list, as_object, as_text, cite, cite_command
from verify.facts.version import Version

if TYPE_CHECKING:
    from verify.recording import Recording

PACKAGES = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container-tools",
    "libnvidia-container1",
)
CDI_KIND = "nvidia.com/gpu"
_CDI_FOLDERS = ("/etc/cdi/", "/var/run/cdi/")
_PACKAGE_COLUMNS = 3
_YAML_LIMIT = 256 * 1024


@dataclass(frozen=True, slots=True)
class CdiSpec:
    """One CDI specification of NVIDIA's cards."""

    path: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolkitFacts:
    """``packages`` is None where nobody asked the package manager."""

    packages: dict[str, str] | None
    specs: tuple[CdiSpec, ...] | None
    unreadable_specs: tuple[str, ...]
    unread_specs: tuple[str, ...]
    evidence: tuple[str, ...]
    spec_evidence: tuple[str, ...]

    @property
    def versions(self) -> dict[str, Version]:
        """The upstream version of each installed package."""
        read = {name: Version.parse(text) for name, text in (self.packages or {}).items()}
        return {name: version for name, version in read.items() if version}


def toolkit_facts(recording: Recording) -> ToolkitFacts:
    """Read the toolkit's state on a host."""
    packages, evidence = _packages(recording)
    specs, unreadable, spec_evidence = _specs(recording)
    return ToolkitFacts(
        packages=packages,
        specs=specs,
        unreadable_specs=unreadable,
        unread_specs=_unread(recording),
        evidence=evidence,
        spec_evidence=spec_evidence,
    )


def _packages(recording: Recording) -> tuple[dict[str, str] | None, tuple[str, ...]]:
    entry = recording.command("toolkit-packages")
    if entry is None or entry.missing or entry.timed_out or entry.rc is None:
        return None, (cite_command(entry),) if entry else ()
    rows = [line.split() for line in entry.stdout.splitlines()]
    rows = [row for row in rows if len(row) >= _PACKAGE_COLUMNS and row[-1] == "installed"]
    installed = {row[0].partition(":")[0]: row[1] for row in rows}
    found = {name: installed[name] for name in PACKAGES if name in installed}
    lines = [cite("toolkit-packages", f"{name} {version} installed") for name, version in found.items()]
    return found, tuple(lines) or (cite("toolkit-packages", "none of the four is installed"),)


def _specs(recording: Recording) -> tuple[tuple[CdiSpec, ...] | None, tuple[str, ...], tuple[str, ...]]:
    looked = [pattern for pattern in recording.globs if pattern.startswith(_CDI_FOLDERS)]
    paths = [path for path in recording.file_paths if path.startswith(_CDI_FOLDERS)]
    if not looked and not paths:
        return None, (), ()
    specs, unreadable = [], []
    for path in paths:
        entry = recording.file(path)
        if entry is None or entry.missing or not path.endswith((".yaml", ".yml", ".json")):
            continue
        document = _yaml(entry.text)
        if entry.text is not None and document is None:
            unreadable.append(path)
        elif document and document.get("kind") == CDI_KIND:
            names = (as_text(as_object(device).get("name")) for device in as_list(document.get("devices")))
            specs.append(CdiSpec(path, tuple(name for name in names if name)))
    evidence = [cite(spec.path, f"kind: {CDI_KIND}, devices: {', '.join(spec.devices)}") for spec in specs]
    evidence += [cite(path, "not a readable CDI specification") for path in unreadable]
    evidence += [cite(pattern, "no file") for pattern in looked if not recording.globs[pattern]]
    return tuple(specs), tuple(unreadable), tuple(evidence)


def _unread(recording: Recording) -> tuple[str, ...]:
    """Return the specifications that are there and whose text was not recorded."""
    listed = {
        path
        for pattern in recording.globs
        if pattern.startswith(_CDI_FOLDERS)
        for path in recording.globs[pattern]
    }
    listed.update(path for path in recording.file_paths if path.startswith(_CDI_FOLDERS))
    entries = {path: recording.file(path) for path in listed}
    return tuple(
        sorted(
            path for path, entry in entries.items() if entry is None or (entry.present and entry.text is None)
        )
    )


def _yaml(text: str | None) -> dict[str, object] | None:
    """Parse YAML (JSON is YAML); None where it is anything but a mapping."""
    if not text or len(text) > _YAML_LIMIT:
        return None
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
