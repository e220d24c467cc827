"""The volume itself: formatted where empty, mounted now and at boot; folders and files on it."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from .gpu_host_look import Look
from .gpu_host_owned_file import write_file
from .gpu_host_refused import RefusedError
from .gpu_host_storage_device import device, make
from .gpu_host_storage_mounts import mounts, with_line, without_line

FSTAB = Path("/etc/fstab")
MOUNTINFO = Path("/proc/self/mountinfo")


def mount(module, notes, plan):
    """Format where the plan says so, write the line for boot, mount; each noted before."""
    path, known, said = plan["path"], plan["uuid"], []
    if plan["format"]:
        still_empty(plan["device"])
        known = str(uuid.uuid4())
        make(module, plan["device"], plan["format"], known)
        said.append(f"{plan['device']} was empty and has {plan['format']} now.")
    made = not Path(path).is_dir()
    notes.note(mount={"path": path, "made": made, "now": plan["now"]})
    if plan["line"]:
        line = f"UUID={known} {plan['line']}"
        notes.note(fstab=line)
        text = FSTAB.read_text(encoding="utf-8") if FSTAB.exists() else ""
        write_file(module, FSTAB, with_line(text, line).encode(), 0o644)
        said.append(f"{path} is in {FSTAB}, by UUID and with nofail.")
    if plan["now"]:
        Path(path).mkdir(parents=True, exist_ok=True)
        rc, out, error = module.run_command(["mount", path])
        if rc != 0:
            raise RefusedError(
                "mount", f"{path} could not be mounted: {(error or out).strip()}. See to that, and run again."
            )
        said.append(f"{plan['device']} is mounted at {path}.")
    return said


def still_empty(path):
    """Look once more, in the last moment before what cannot be undone."""
    seen = device(Look(), path, mounts(MOUNTINFO.read_text(encoding="utf-8")))
    full = (
        seen.get("fstype")
        or seen.get("table")
        or seen.get("signatures") != []
        or seen.get("zeros") is not True
    )
    if full or not seen.get("block") or seen["partitions"] or seen["mounted"] or seen["swap"]:
        raise RefusedError(
            "format",
            f"{path} is not empty any more; needed is an empty device. Look who writes to it (`lsblk -f`).",
        )


def folders(wanted):
    """Make each folder, with its owner and mode; what is in it is left alone."""
    for each in wanted.values():
        Path(each["path"]).mkdir(parents=True, exist_ok=True)
        try:
            shutil.chown(each["path"], each["owner"], each["group"])
        except LookupError as error:
            raise RefusedError(
                "owner",
                (
                    f"{each['path']} is to be of {each['owner']}:{each['group']}, and this host does not "
                    f"know them: {error}. Make that user or group, or set another in gpu_storage_folders, "
                    "and run again."
                ),
            ) from error
        Path(each["path"]).chmod(int(each["mode"], 8))
    return [f"Made or set right: {', '.join(each['path'] for each in wanted.values())}."] if wanted else []


def files(module, notes, wanted):
    """Write this role's own files."""
    for name, text in wanted.items():
        notes.note([name])
        write_file(module, Path(name), text.encode(), 0o644)
    return [f"Written: {', '.join(sorted(wanted))}."] if wanted else []


def unmount(module, notes):
    """Take out the line for boot and, where nobody uses it, the mount that this role made."""
    settings, said = notes.settings, []
    if settings.get("fstab") and FSTAB.exists():
        text = FSTAB.read_text(encoding="utf-8")
        after = without_line(text, settings["fstab"])
        if after != text:
            write_file(module, FSTAB, after.encode(), 0o644)
    noted = settings.get("mount") or {}
    if noted.get("now"):
        there = any(each["target"] == noted["path"] for each in mounts(MOUNTINFO.read_text(encoding="utf-8")))
        rc, out, error = module.run_command(["umount", noted["path"]]) if there else (0, "", "")
        if rc != 0:
            said.append(f"{noted['path']} stays mounted until the next boot: {(error or out).strip()}.")
        elif noted["made"] and Path(noted["path"]).is_dir() and not any(Path(noted["path"]).iterdir()):
            Path(noted["path"]).rmdir()
    return said
