"""Put nodes, files and links into a container's root before it is pivoted into. Needs root.

At that moment (prestart, createContainer) the container's mount namespace still shows the host's whole tree,
with the new root somewhere below it: files are bound from the one to the other.
"""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS = 0x00020000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT, _MS_BIND = 1, 2, 4, 32, 4096
_LINKS_FOLLOWED = 40


def _check(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def enter_mount_namespace(pid: int) -> None:
    """Move this process into the container's mount namespace (os.setns is newer than Debian 12's Python)."""
    descriptor = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    _check(_LIBC.setns(descriptor, _CLONE_NEWNS), f"setns /proc/{pid}/ns/mnt")


def inside(root: Path, path: str) -> Path:
    """Return where a path of the container lies on the host; links are followed inside the root only."""
    pending = [part for part in path.split("/") if part]
    done: list[str] = []
    links = 0
    while pending:
        part = pending.pop(0)
        if part == ".":
            continue
        if part == "..":
            done = done[:-1]
            continue
        here = root.joinpath(*done, part)
        if here.is_symlink():
            links += 1
            if links > _LINKS_FOLLOWED:
                raise OSError(f"too many links in {path}")
            target = str(here.readlink())
            if target.startswith("/"):
                done = []
            pending = [piece for piece in target.split("/") if piece] + pending
            continue
        done.append(part)
    return root.joinpath(*done)


def bind(root: Path, source: str, target: str) -> None:
    """Bind a host file read-only to a path in the container."""
    place = inside(root, target)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch(exist_ok=True)
    to = os.fsencode(place)
    _check(_LIBC.mount(os.fsencode(source), to, b"none", _MS_BIND, None), f"mount {source} on {target}")
    flags = _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV
    _check(_LIBC.mount(None, to, b"none", flags, None), f"remount {target}")


def node(root: Path, path: str, numbers: tuple[int, int]) -> None:
    """Make a character device in the container that everybody may use, as the driver's are."""
    place = inside(root, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(*numbers))
    place.chmod(0o666)  # mknod's mode is cut by the umask


def link(root: Path, path: str, target: str) -> None:
    """Make a link in the container, in place of whatever has its name."""
    folder, _, name = path.rpartition("/")
    place = inside(root, folder) / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(target)


def update_ldcache(root: Path) -> None:
    """Let the host's ldconfig write the container's cache; an image without one has no use for it."""
    if not inside(root, "/etc/ld.so.cache").exists() and not inside(root, "/sbin/ldconfig").exists():
        return
    subprocess.run(["/sbin/ldconfig", "-r", os.fspath(root)], check=False, capture_output=True)


def numbers_of(path: str) -> tuple[int, int]:
    """Return a host node's major and minor number."""
    device = Path(path).stat().st_rdev
    return os.major(device), os.minor(device)


def device_cgroup(text: str) -> str | None:
    """Return the path of the devices controller in a /proc/PID/cgroup; None under cgroup v2 alone."""
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        if "devices" in controllers.split(","):
            return path
    return None


def allow(pid: int, nodes: list[tuple[int, int]]) -> None:
    """Allow the nodes in the container's device cgroup.

    Under cgroup v2 the rules are a program that only its owner can widen; nothing is done there, and nothing
    is lost: a simulated node has no driver behind it, so that opening it fails either way.
    """
    path = device_cgroup(Path(f"/proc/{pid}/cgroup").read_text())
    if path is None:
        return
    file = Path(f"/sys/fs/cgroup/devices{path}/devices.allow")
    for major, minor in nodes:
        file.write_text(f"c {major}:{minor} rwm")
