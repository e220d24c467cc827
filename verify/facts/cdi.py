"""CDI specifications of NVIDIA's cards: what they name, and for which driver they were made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from verify.facts.source import cite
from verify.facts.version import Version
from verify.json_values import as_list, as_object, as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verify.recording import FileEntry, Recording

CDI_KIND = "nvidia.com/gpu"
CDI_FOLDERS = ("/etc/cdi/", "/var/run/cdi/")
_ENDS = (".yaml", ".yml", ".json")
_YAML_LIMIT = 256 * 1024
# The two that carry the driver's own version; libnvidia-egl-wayland and the like have versions of their own.
_LIBRARY = re.compile(r"/lib(?:nvidia-ml|cuda)\.so\.(\d{3,}\.[\d.]*\d)$")


@dataclass(frozen=True, slots=True)
class CdiSpec:
    """One CDI specification of NVIDIA's cards. ``gone``: files that it names and the host does not have."""

    path: str
    devices: tuple[str, ...]
    schema: Version | None = None
    driver: Version | None = None
    library: str | None = None
    gone: tuple[str, ...] = ()
    looked: bool = True  # whether anything is known of them
    mode: str | None = None

    @property
    def folder(self) -> str:
        """The folder that it lies in."""
        return self.path.rpartition("/")[0]


def cdi_specs(recording: Recording) -> tuple[tuple[CdiSpec, ...] | None, tuple[str, ...], tuple[str, ...]]:
    """Return the specifications, the files that are none, and the lines to cite; None where nobody looked."""
    looked = [pattern for pattern in recording.globs if pattern.startswith(CDI_FOLDERS)]
    paths = [path for path in recording.file_paths if path.startswith(CDI_FOLDERS)]
    if not looked and not paths:
        return None, (), ()
    specs, unreadable = [], []
    for path in paths:
        entry = recording.file(path)
        if entry is None or entry.missing or not path.endswith(_ENDS):
            continue
        document = _yaml(entry.text)
        if entry.text is not None and document is None:
            unreadable.append(path)
        elif document and document.get("kind") == CDI_KIND:
            specs.append(_spec(recording, entry, document))
    evidence = [cite(spec.path, f"kind: {CDI_KIND}, devices: {', '.join(spec.devices)}") for spec in specs]
    evidence += [cite(path, "not a readable CDI specification") for path in unreadable]
    evidence += [cite(pattern, "no file") for pattern in looked if not recording.globs[pattern]]
    return tuple(specs), tuple(unreadable), tuple(evidence)


def unread_specs(recording: Recording) -> tuple[str, ...]:
    """Return the specifications that are there and whose text was not recorded."""
    listed = {
        path
        for pattern in recording.globs
        if pattern.startswith(CDI_FOLDERS)
        for path in recording.globs[pattern]
    }
    listed.update(path for path in recording.file_paths if path.startswith(CDI_FOLDERS))
    entries = {path: recording.file(path) for path in listed}
    return tuple(
        sorted(
            path for path, entry in entries.items() if entry is None or (entry.present and entry.text is None)
        )
    )


def _spec(recording: Recording, entry: FileEntry, document: dict[str, object]) -> CdiSpec:
    devices = [as_object(device) for device in as_list(document.get("devices"))]
    names = (as_text(device.get("name")) for device in devices)
    paths = list(dict.fromkeys(_host_paths(document, devices)))
    library, driver = _driver(paths)
    return CdiSpec(
        path=entry.path,
        devices=tuple(name for name in names if name),
        schema=Version.parse(as_text(document.get("cdiVersion"))),
        driver=driver,
        library=library,
        gone=tuple(path for path in paths if recording.paths.get(path) is False),
        looked=not paths or any(path in recording.paths for path in paths),
        mode=entry.mode,
    )


def _host_paths(document: dict[str, object], devices: list[dict[str, object]]) -> Iterator[str]:
    """List the files of the host that the specification names: mounts, device nodes, programs of hooks."""
    for edits in (as_object(one.get("containerEdits")) for one in (document, *devices)):
        for section in ("mounts", "deviceNodes", "hooks"):
            for item in map(as_object, as_list(edits.get(section))):
                path = as_text(item.get("hostPath")) or as_text(item.get("path"))
                if path and path.startswith("/"):
                    yield path


def _driver(paths: list[str]) -> tuple[str | None, Version | None]:
    """Return the library that tells for which driver it was made, and that version."""
    for path in paths:
        found = _LIBRARY.search(path)
        if found:
            return path, Version.parse(found.group(1))
    return None, None


def _yaml(text: str | None) -> dict[str, object] | None:
    """Parse YAML (JSON is YAML); None where it is anything but a mapping."""
    if not text or len(text) > _YAML_LIMIT:
        return None
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
