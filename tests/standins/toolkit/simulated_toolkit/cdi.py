"""The CDI specification of this host's cards, and what of it one container gets. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .driver import CONTAINER_FOLDER
from .errors import ToolkitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .driver import Driver

KIND = "nvidia.com/gpu"
HOOK = "/usr/bin/nvidia-cdi-hook"
Edits = dict[str, Any]


def _nodes(paths: Iterable[str]) -> list[dict[str, str]]:
    return [{"path": path} for path in paths]


def _hook(name: str, *arguments: str) -> dict[str, Any]:
    return {"hookName": "createContainer", "path": HOOK, "args": ["nvidia-cdi-hook", name, *arguments]}


def common_edits(driver: Driver) -> Edits:
    """Return what comes with any card: control nodes, files, links, the loader's cache."""
    hooks = []
    if driver.links:
        links = [word for link in driver.links for word in ("--link", f"{link.target}::{link.path}")]
        hooks.append(_hook("create-symlinks", *links))
    hooks.append(_hook("update-ldcache", "--folder", CONTAINER_FOLDER))
    return {
        # Says to any nvidia runtime further down that the work is done.
        "env": ["NVIDIA_VISIBLE_DEVICES=void"],
        "deviceNodes": _nodes(driver.control_nodes),
        "mounts": [
            {
                "hostPath": file.source,
                "containerPath": file.target,
                "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"],
            }
            for file in driver.files
        ],
        "hooks": hooks,
    }


def document(driver: Driver, kind: str = KIND) -> dict[str, Any]:
    """Return the specification: each card by index and by UUID, and ``all``."""
    if not driver.cards:
        raise ToolkitError('invalid CDI Spec: failed add device "all": invalid device, empty device edits')
    devices = [
        {"name": name, "containerEdits": {"deviceNodes": _nodes([card.node])}}
        for card in driver.cards
        for name in (str(card.index), card.uuid)
    ]
    every = {"name": "all", "containerEdits": {"deviceNodes": _nodes(card.node for card in driver.cards)}}
    return {
        "cdiVersion": "0.7.0",
        "kind": kind,
        "devices": [*devices, every],
        "containerEdits": common_edits(driver),
    }


def management(nodes: Sequence[str], driver: Driver) -> dict[str, Any]:
    """Return the specification that needs no NVML: every node there is, as one device."""
    return {
        "cdiVersion": "0.7.0",
        "kind": "management.nvidia.com/gpu",
        "devices": [{"name": "all", "containerEdits": {"deviceNodes": _nodes(nodes)}}],
        "containerEdits": common_edits(driver),
    }


def device_names(document: Any) -> tuple[str, ...]:
    """Return the qualified names that a specification file offers; none where it is not one."""
    try:
        return tuple(f"{document['kind']}={device['name']}" for device in document["devices"])
    except (KeyError, TypeError):
        return ()
