"""Edit an OCI bundle's config.json. Pure: the caller reads and writes the file, and stats the nodes."""

from __future__ import annotations

import copy
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .cdi import Edits

    Numbers = Callable[[str], tuple[int, int]]

PRESTART_HOOK = "nvidia-container-runtime-hook"


def _set_env(process: dict[str, Any], entries: Sequence[str]) -> None:
    names = {entry.partition("=")[0] for entry in entries}
    kept = [entry for entry in process.get("env") or [] if entry.partition("=")[0] not in names]
    process["env"] = [*kept, *entries]


def _add_nodes(linux: dict[str, Any], paths: Sequence[str], numbers: Numbers) -> None:
    devices = [d for d in linux.get("devices") or [] if d.get("path") not in paths]
    resources = linux.setdefault("resources", {})
    rules = list(resources.get("devices") or [])
    for path in paths:
        major, minor = numbers(path)
        node = {
            "path": path,
            "type": "c",
            "major": major,
            "minor": minor,
            "fileMode": 0o666,
            "uid": 0,
            "gid": 0,
        }
        devices.append(node)
        rules.append({"allow": True, "type": "c", "major": major, "minor": minor, "access": "rwm"})
    linux["devices"], resources["devices"] = devices, rules


def without_prestart_hook(config: dict[str, Any]) -> dict[str, Any]:
    """Drop the hook that dockerd adds for ``--gpus``: the runtime does its work, once is enough."""
    result = copy.deepcopy(config)
    hooks = result.get("hooks") or {}
    if "prestart" in hooks:
        hooks["prestart"] = [
            hook for hook in hooks["prestart"] if PurePosixPath(hook["path"]).name != PRESTART_HOOK
        ]
    return result


def with_prestart_hook(config: dict[str, Any], path: str) -> dict[str, Any]:
    """Add the prestart hook, as the real runtime does in legacy mode."""
    result = without_prestart_hook(config)
    hook = {"path": path, "args": [PRESTART_HOOK, "prestart"]}
    result.setdefault("hooks", {}).setdefault("prestart", []).append(hook)
    return result


def apply(config: dict[str, Any], edits: Edits, nodes: Sequence[str], numbers: Numbers) -> dict[str, Any]:
    """Return the config with edits and the chosen cards' nodes; ``numbers`` says a node's major and minor."""
    result = without_prestart_hook(config)
    _set_env(result.setdefault("process", {}), edits["env"])
    paths = [node["path"] for node in edits["deviceNodes"]] + list(nodes)
    _add_nodes(result.setdefault("linux", {}), paths, numbers)
    targets = {mount["containerPath"] for mount in edits["mounts"]}
    mounts = [m for m in result.get("mounts") or [] if m.get("destination") not in targets]
    result["mounts"] = mounts + [
        {
            "source": mount["hostPath"],
            "destination": mount["containerPath"],
            "type": "bind",
            "options": mount["options"],
        }
        for mount in edits["mounts"]
    ]
    create = result.setdefault("hooks", {}).setdefault("createContainer", [])
    create += [{"path": hook["path"], "args": hook["args"]} for hook in edits["hooks"]]
    return result
