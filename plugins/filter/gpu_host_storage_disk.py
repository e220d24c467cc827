"""Ansible filter: may this device, this mount and this folder hold what is to be kept? Pure."""

from __future__ import annotations

from typing import Any

FIT = ("ext4", "xfs", "btrfs")
FLEETING = ("tmpfs", "ramfs")
REASONS = {
    "overlay": "which is a container's own layer: overlay on overlay does not work",
    "nfs": "a network file system, on which overlay2 cannot keep its layers",
    "cifs": "a network file system, on which overlay2 cannot keep its layers",
    "smb": "a network file system, on which overlay2 cannot keep its layers",
    "fuse": "a file system of a program's, which lacks what overlay2 needs of one",
    "vfat": "which has neither owners nor links",
    "exfat": "which has neither owners nor links",
    "ntfs": "which has no owners and modes of Linux's",
    "fuseblk": "a file system of a program's (ntfs, as a rule), which lacks what overlay2 needs of one",
}
KEPT = "Nothing was changed: needed is an empty device, or one with ext4 or xfs on it."
OFF = "set gpu_storage_docker: false, which keeps only the folders there"


def disk_plan(found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return refusal (a sentence, or empty), and mount: what is to be formatted, mounted and noted first."""
    device = found["device"]
    if device is None:
        return {"refusal": place(found, settings), "mount": None}
    at_path = device.get("mounted") and found["path"]["real"] in device["mounted"]
    refusal = unusable(device) if not at_path else ""
    refusal = refusal or taken(found, at_path=at_path)
    # Of a device that is refused, less is known.
    empty = not refusal and not at_path and is_empty(device)
    filesystem = settings["filesystem"] if empty else device.get("fstype")
    refusal = refusal or (no_tool(found, filesystem) if empty else "")
    if refusal:
        return {"refusal": refusal, "mount": None}
    lines = [each["line"] for each in found["fstab"] if each["path"] == found["path"]["real"]]
    if at_path and lines:
        return {"refusal": place(found, settings), "mount": None}
    return {
        "refusal": "",
        "mount": {
            "device": device["real"],
            "path": found["path"]["real"],
            "format": filesystem if empty else "",
            # Empty where it is made first: the module then takes one that nobody has.
            "uuid": "" if empty else device["uuid"],
            # nofail: a machine whose volume is late or gone still boots, and can be looked at.
            "line": "" if lines else f"{found['path']['real']} {filesystem} defaults,nofail 0 2",
            "now": not at_path,
        },
    }


def is_empty(device: dict[str, Any]) -> bool:
    """Tell whether nothing at all is on it, by everybody who was asked."""
    nothing = not device.get("fstype") and not device.get("table") and not device["partitions"]
    return nothing and device["signatures"] == [] and device["zeros"] is True


def unusable(device: dict[str, Any]) -> str:
    """Say why a device is neither mounted nor formatted; empty where it can be."""
    name = device["given"]
    if not device["exists"]:
        return (
            f"gpu_storage_device is {name}, which is not there. {KEPT} `ls -l /dev/disk/by-id` shows what "
            "there is."
        )
    if not device["block"]:
        return f"gpu_storage_device is {name}, which is no block device. {KEPT}"
    return in_use(name, device) or on_it(name, device)


def in_use(name: str, device: dict[str, Any]) -> str:
    """Say who uses a device; empty where nobody does."""
    partitions, holders, places = (", ".join(device[each]) for each in ("partitions", "holders", "mounted"))
    rows = (
        (
            partitions,
            f"{name} has partitions ({partitions}). {KEPT} Name an empty one of them, if that is meant.",
        ),
        (holders, f"{name} is part of {holders}. {KEPT}"),
        (
            places,
            (
                f"{name} is mounted at {places}. {KEPT} Set gpu_storage_path to where it is, and leave "
                "gpu_storage_device out."
            ),
        ),
        (device["swap"], f"{name} is used as swap. {KEPT}"),
        (
            device["busy"],
            (
                f"{name} cannot be had alone ({device['busy']}): something uses it. {KEPT} `lsblk {name}` "
                "may show what."
            ),
        ),
    )
    return next((sentence for so, sentence in rows if so), "")


def on_it(name: str, device: dict[str, Any]) -> str:
    """Say what is on a device that is neither empty nor to be mounted as it is; empty where it is."""
    if device["signatures"] is None:
        return f"wipefs cannot tell what is on {name}. {KEPT} Look at it (`wipefs -n {name}`), and run again."
    kinds = list(
        dict.fromkeys(kind for kind in [device["fstype"], device["table"], *device["signatures"]] if kind)
    )
    if len(kinds) == 1 and device["fstype"] in ("ext4", "xfs") and device["uuid"]:
        return ""
    if kinds:
        return (
            f"{name} is not empty: there is {', '.join(kinds)} on it. {KEPT} If it may all go, erase it "
            f"yourself (`wipefs -a {name}`, then zero its first and last MiB with dd, or `blkdiscard "
            f"{name}`), and run again."
        )
    if not device["zeros"]:
        return (
            f"{name} has no signature that is known, but its beginning or its end is not all zeros: "
            f"something was written there. {KEPT} If it may all go, `blkdiscard {name}`, or zero its first "
            "and last MiB with dd, and run again."
        )
    return ""


def taken(found: dict[str, Any], *, at_path: bool) -> str:
    """Say why the place of the mount is taken; empty where it is free."""
    path, device = found["path"], found["device"]
    specs = (f"UUID={device.get('uuid')}", device["given"], device["real"])
    other = [each for each in found["fstab"] if each["path"] == path["real"] and each["spec"] not in specs]
    if other:
        return (
            f"/etc/fstab mounts something else at {path['real']} (`{other[0]['line']}`). Needed is that line "
            "gone, or another gpu_storage_path. Nothing was changed."
        )
    if at_path:
        return ""
    if found["mount"] and found["mount"]["exact"]:
        return (
            f"{found['mount']['source']} is mounted at {path['real']}, and not {device['given']}. Needed is "
            "one of them: leave gpu_storage_device out, or set another gpu_storage_path. Nothing was "
            "changed."
        )
    if path["entries"] or (path["exists"] and not path["folder"]):
        return (
            f"{path['real']} is not an empty folder, and {device['given']} mounted there would hide what is "
            "in it. Move that away, or set another gpu_storage_path, and run again. Nothing was changed."
        )
    return ""


def no_tool(found: dict[str, Any], filesystem: str) -> str:
    missing = [name for name in (f"mkfs.{filesystem}", "blkid", "wipefs") if not found["programs"][name]]
    package = {"mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs"}
    if not missing:
        return ""
    return (
        f"There is no {missing[0]} on this host, without which {found['device']['given']} cannot be "
        f"formatted. Install {package.get(missing[0], 'util-linux')}, and run again. Nothing was changed."
    )


def place(found: dict[str, Any], settings: dict[str, Any]) -> str:
    """Say why the folder cannot be the volume; empty where it can."""
    path, mount = found["path"], found["mount"]
    name = path["real"]
    if path["exists"] and not path["folder"]:
        return f"gpu_storage_path is {name}, which is no folder; needed is where the volume is mounted."
    if settings["require_mount"] and not (mount and mount["exact"]):
        there = (
            f"lies on {mount['source']} ({mount['fstype']})" if mount and path["exists"] else "is not there"
        )
        return (
            f"{name} {there}: no volume is mounted at it, and what is kept there would fill the system's own "
            "disk. Mount the volume there, or name its device in gpu_storage_device; if a plain folder is "
            "meant, set gpu_storage_require_mount: false."
        )
    if mount is None:
        return ""
    if "ro" in mount["options"]:
        return f"{name} is mounted read-only ({mount['source']}); needed is one that can be written to."
    if mount["fstype"] in FLEETING:
        return (
            f"{name} is a {mount['fstype']}, which lives in memory and is gone at the next boot; needed is a "
            "disk."
        )
    return not_for_docker(name, mount) if settings["docker"] else ""


def not_for_docker(name: str, mount: dict[str, Any]) -> str:
    """Say why Docker cannot keep its images on a mount; empty where it can."""
    kind = mount["fstype"]
    flags = [flag for flag in ("noexec", "nodev") if flag in mount["options"]]
    if kind not in FIT:
        why = next((REASONS[each] for each in REASONS if kind == each), None)
        why = why or next((REASONS[each] for each in REASONS if kind.startswith(each)), None)
        return (
            f"{name} is on {kind}, {why or 'of which it is not known whether overlay2 works on it'}. Needed "
            f"for Docker is one of {', '.join(FIT)}; or {OFF}."
        )
    if mount["ftype"] is False:
        return (
            f"{name} is an xfs made with ftype=0, on which overlay2 does not work. Needed is one made with "
            f"ftype=1 (mkfs.xfs does so since 2015); or {OFF}."
        )
    if flags:
        return (
            f"{name} is mounted {' and '.join(flags)}, and containers could run no programs or use no "
            f"devices from their volumes there. Mount it without (`mount -o remount,exec,dev {name}`, and in "
            f"/etc/fstab); or {OFF}."
        )
    return ""


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, Any]:
        """Return it."""
        return {"gpu_host_storage_disk": disk_plan}
