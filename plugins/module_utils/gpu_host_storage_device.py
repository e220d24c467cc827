"""A block device: whether anything at all is on it, and the making of a file system on one that is empty."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .gpu_host_refused import RefusedError

SAMPLE = 1 << 20  # a signature that no tool knows still stands at the beginning or at the end


def device(look, given, found):
    """Look at a device; nothing is written, and nothing that is in use is opened for more than a look."""
    real = os.path.realpath(given)
    try:
        info = Path(real).stat()
    except OSError:
        return {"given": given, "real": real, "exists": False}
    block = stat.S_ISBLK(info.st_mode)
    number = f"{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}"
    system = Path("/sys/dev/block") / number
    known = probed(look, real)
    return {
        "given": given,
        "real": real,
        "exists": True,
        "block": block,
        "partitions": sorted(part.parent.name for part in system.glob("*/partition")) if block else [],
        "holders": sorted(each.name for each in system.glob("holders/*")) if block else [],
        "mounted": sorted({each["target"] for each in found if each["device"] == number}) if block else [],
        "swap": any(line.split(" ")[0] == real for line in (look.text("/proc/swaps") or "").splitlines()),
        "signatures": signatures(look, real),
        "fstype": known.get("TYPE"),
        "uuid": known.get("UUID"),
        "table": known.get("PTTYPE"),
        **sampled(real),
    }


def probed(look, path):
    """Return what blkid finds on it, past every cache."""
    rc, said = look.run(["blkid", "-p", "-o", "export", path])
    pairs = (line.partition("=") for line in said.splitlines()) if rc == 0 else ()
    return {name: value for name, _, value in pairs}


def signatures(look, path):
    """Return the names of what wipefs would erase; None where it cannot tell."""
    rc, said = look.run(["wipefs", "--no-act", "--noheadings", "--output", "TYPE", path])
    return sorted(set(said.split())) if rc == 0 else None


def sampled(path):
    """Return its size, whether somebody holds it, and whether its beginning and its end are all zeros."""
    try:
        # For a device the kernel takes this as: only if nobody else has it (mounts, RAID, LVM, swap).
        handle = os.open(path, os.O_RDONLY | os.O_EXCL)
    except OSError as error:
        return {"busy": error.strerror or "busy", "zeros": None, "bytes": None}
    try:
        size = os.lseek(handle, 0, os.SEEK_END)
        ends = [os.pread(handle, SAMPLE, place) for place in (0, max(0, size - SAMPLE))]
    except OSError as error:
        return {"busy": error.strerror or "unreadable", "zeros": None, "bytes": None}
    finally:
        os.close(handle)
    return {"busy": None, "zeros": not any(map(any, ends)), "bytes": size}


def make(module, path, filesystem, uuid):
    """Make the file system; the tools themselves refuse what is in use or holds another one."""
    arguments = ["-q", "-L", "gpu-host", *(["-U", uuid] if filesystem == "ext4" else ["-m", f"uuid={uuid}"])]
    rc, out, error = module.run_command([f"mkfs.{filesystem}", *arguments, path])
    if rc != 0:
        raise RefusedError(
            "format",
            (
                f"mkfs.{filesystem} made no file system on {path}: {(error or out).strip()}. Look at the "
                "device (`lsblk -f`, `dmesg`), and run again."
            ),
        )
