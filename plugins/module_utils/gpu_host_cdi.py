"""CDI specifications of NVIDIA's cards: which there are, which counts, and if it fits this machine."""

from __future__ import annotations

import json
import os
import re
import stat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# In CDI's order: where both folders describe a device, the later one wins.
FOLDERS = ("/etc/cdi", "/var/run/cdi")
KIND = "nvidia.com/gpu"
# `path: /dev/nvidia0`, `hostPath: /usr/lib/…`, and the same in JSON. A node's path is the host's too.
SPEC_ENTRY = re.compile(r"""["']?\b(hostPath|path)["']?\s*:\s*["']?(/[^"',\s}]+)""")
KIND_ENTRY = re.compile(r"""(?<!\w)["']?kind["']?\s*:\s*["']?([\w.-]+/[\w.-]+)""")
SCHEMA_ENTRY = re.compile(r"""["']?cdiVersion["']?\s*:\s*["']?v?(\d+\.\d+\.\d+)""")
NAME_ENTRY = re.compile(r"""(?<!\w)["']?name["']?\s*:\s*["']?([^"',\s}]+)""")
# Programs that a specification made by nvidia-ctk calls; a comment in it says that a person was there too.
MAKER = re.compile(r"/nvidia-(?:cdi-hook|ctk)\b")
CARD_NODE = re.compile(r"/dev/nvidia(\d+)$")
MIG_NAME = re.compile(r"(?:mig)?\d+:\d+$")
DRIVER_FILE = re.compile(r"/lib(?:nvidia-ml|cuda)\.so\.(\d+\.\d+[.\d]*)$")
# Of the mode bits: readable for everybody, who may be an engine of a user's.
EVERYBODY = 0o004
READ = "nvidia-smi", "--query-gpu=index", "--format=csv,noheader"


def uncommented(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def spec_paths(text: str) -> set[str]:
    """Return the host paths that a CDI specification names."""
    named = SPEC_ENTRY.findall(uncommented(text))
    return {path for key, path in named if key == "hostPath" or path.startswith("/dev/")}


def damage(path: str, text: str | None) -> str | None:
    """Say what makes a file no specification at all; None where it is one."""
    if text is None:
        return "it cannot be read"
    if not text.strip():
        return "it is empty"
    try:
        if path.endswith(".json"):
            json.loads(text)
        else:
            import yaml  # noqa: PLC0415 - most hosts have it; where it is not there the patterns have to do

            try:
                yaml.safe_load(text)
            except yaml.YAMLError as error:
                return f"it is no YAML ({str(error).splitlines()[0]})"
    except ImportError:
        pass
    except ValueError as error:
        return f"it is no JSON ({error})"
    return None if SCHEMA_ENTRY.search(uncommented(text)) else "it has no cdiVersion"


def spec(look: Any, path: str) -> dict[str, Any] | None:
    """Return what a file says of NVIDIA's cards, None where it is another vendor's."""
    text = look.text(path)
    plain = uncommented(text or "")
    kind = KIND_ENTRY.search(plain)
    if (kind.group(1) != KIND) if kind else not path.rsplit("/", 1)[-1].startswith("nvidia"):
        return None
    schema = SCHEMA_ENTRY.search(plain)
    made = MAKER.search(plain) and plain.strip() == (text or "").strip()
    return {
        "path": path,
        # Damaged or empty: what a program that was stopped left; nothing in it can be a person's work.
        "made": "nvidia-ctk" if made or not plain.strip() else "by hand",
        "schema": schema.group(1) if schema else None,
        "devices": sorted(set(NAME_ENTRY.findall(plain))),
    }


def mode(look: Any, path: str) -> int:
    """Return a file's mode bits; those of a readable file where it is gone by now."""
    try:
        return stat.S_IMODE(os.stat(look.at(path)).st_mode)  # noqa: PTH116 - the same call as below
    except OSError:
        return 0o644


def node_number(look: Any, path: str) -> str | None:
    """Return MAJOR:MINOR of a device node, None for anything else."""
    try:
        found = os.stat(look.at(path))  # noqa: PTH116 - follows links as systemd does
    except OSError:
        return None
    return f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}" if stat.S_ISCHR(found.st_mode) else None


def unlinked(look: Any) -> list[str]:
    """Return the nodes that systemd cannot find by number: a daemon-reload takes these from containers."""
    if not look.exists("/sys/module/nvidia/initstate"):
        return []
    numbers = {path: node_number(look, path) for path in look.paths("/dev/nvidia*")}
    linked = {name.rsplit("/", 1)[-1] for name in look.paths("/dev/char/*")}
    return [path for path, number in numbers.items() if number and number not in linked]


def cards_differ(look: Any, listed: set[str]) -> str | None:
    """Say how the cards listed and those that are there differ; a node alone is no card yet."""
    there = {path for path in look.paths("/dev/nvidia[0-9]*") if CARD_NODE.search(path)}
    if listed == there:
        return None
    if listed and listed < there:
        # A node whose card has died, or was given to a virtual machine: the driver knows how many it serves.
        rc, out = look.run(list(READ))
        if rc == 0 and len(out.splitlines()) == len(listed):
            return None
    names = [" ".join(sorted(paths)) or "no card" for paths in (listed, there)]
    return f"it lists {names[0]}, the machine has {names[1]}"


def faults(look: Any, text: str, driver_version: str | None, devices: list[str]) -> Iterator[str | None]:
    """Say what of a specification no longer fits this machine, what weighs most first; None is no fault."""
    named = spec_paths(text)
    if not devices:
        yield "it lists no card"
    yield from (f"it names {path}, which does not exist" for path in sorted(named) if not look.exists(path))
    yield cards_differ(look, {path for path in named if CARD_NODE.search(path)})
    others = {found for path in named for found in DRIVER_FILE.findall(path)} - {driver_version}
    if driver_version and others:
        yield f"it was made for driver {min(others)}, the driver is {driver_version}"
    instances = look.paths("/proc/driver/nvidia/capabilities/gpu*/mig/gi*/ci*/access")
    slices = [name for name in devices if MIG_NAME.match(name)]
    if len(slices) != len(instances):
        yield f"it lists {len(slices)} MIG devices, the machine has {len(instances)}"
    # Toolkit 1.19.1 and 1.20.0 make one before these nodes are there: nvidia-smi works then, and CUDA fails.
    if look.exists("/dev/nvidia-uvm") and "/dev/nvidia-uvm" not in named:
        yield "it leaves out /dev/nvidia-uvm, without which CUDA fails in containers"
    if look.exists("/sys/module/nvidia/initstate") and not look.exists("/dev/nvidia-uvm"):
        yield "/dev/nvidia-uvm is not there, and CUDA fails in containers without it"


def stale(look: Any, text: str, driver_version: str | None, devices: list[str]) -> str | None:
    """Say why a specification no longer fits this machine; None where it does."""
    return next(filter(None, faults(look, text, driver_version, devices)), None)


def judged(look: Any, found: dict[str, Any], driver_version: str | None) -> dict[str, Any]:
    """Return a specification with the reason why it does not fit, None where it does."""
    text = look.text(found["path"])
    because = damage(found["path"], text) or stale(look, text or "", driver_version, found["devices"])
    if because is None and not mode(look, found["path"]) & EVERYBODY:
        because = f"only root can read it (mode {mode(look, found['path']):04o}; needed is 0644)"
    return {**found, "because": because}


def twins(specs: list[dict[str, Any]]) -> list[str]:
    """Return the files of one folder that describe the same devices: engines then take none of them."""
    return [
        one["path"]
        for one in specs
        if any(set(one["devices"]) & set(other["devices"]) for other in specs if other is not one)
    ]


def found_in(look: Any, folder: str, driver_version: str | None) -> list[dict[str, Any]]:
    """Return a folder's specifications of NVIDIA's cards, judged."""
    paths = [*look.paths(f"{folder}/*.yaml"), *look.paths(f"{folder}/*.json")]
    return [judged(look, found, driver_version) for path in paths if (found := spec(look, path))]


def cdi(look: Any, driver_version: str | None) -> dict[str, Any]:
    """Judge what there is: path, fresh and because are about what counts, specs about every file."""
    first, last = (found_in(look, folder, driver_version) for folder in FOLDERS)
    counting = last or first
    same = twins(counting)
    result = {"specs": [*first, *last], "unlinked": unlinked(look), "twins": same}
    if not counting:
        return {**result, "path": None, "fresh": False, "because": "there is none"}
    # Of several the one that has all cards, then the last.
    chosen = max(enumerate(counting), key=lambda pair: ("all" in pair[1]["devices"], pair[0]))[1]
    because = chosen["because"]
    if same:
        because = (
            f"{' and '.join(same)} describe the same devices, and an engine then takes none "
            '("Found 0 CDI devices")'
        )
    return {**result, "path": chosen["path"], "fresh": because is None, "because": because}
