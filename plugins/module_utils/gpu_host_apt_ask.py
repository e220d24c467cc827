"""apt on this host, asked: what is there, what it would do, whether there is room. Changes nothing."""

from __future__ import annotations

import os
import time
from fnmatch import fnmatchcase
from pathlib import Path

from .gpu_host_apt import complaint
from .gpu_host_apt_state import (
    QUERY,
    TRIGGERED,
    cut_off,
    fetched,
    half_configured,
    installed,
    known_cause,
    mentioned,
    planned,
    unpacked,
)
from .gpu_host_locks import APT
from .gpu_host_refused import RefusedError
from .gpu_host_tool import Tool

OPTIONS = (
    "-o", "APT::Get::AutomaticRemove=false", "-o", "DPkg::Lock::Timeout=60",
    "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold", "--quiet",
)  # fmt: skip
SPARE = 200 * 10**6  # bytes that are left free
ARCHIVES = "/var/cache/apt/archives"


class AptAsked(Tool):
    """apt-get, dpkg-query and apt-mark with what the module was given."""

    NAME, LOCKS, LOCKED = "apt", APT, "Could not get lock"

    def __init__(self, module):
        super().__init__(module)
        self.updated = ""  # what the refresh said
        self.coming = []  # what the plan would unpack
        self.download = 0  # bytes of it that are not on this host
        self.told = ""  # what the lists say of that
        self.held = None  # asked for once, until something changes it

    def network(self):
        """Return options for the proxy."""
        given = self.given
        lines = [
            f'Acquire::{kind}::Proxy "{given["proxy"]}";' for kind in ("http", "https") if given["proxy"]
        ]
        lines += [f'Acquire::https::CAInfo "{given["ca_file"]}";'] if given["ca_file"] else []
        return self.private("\n".join(lines) + "\n") if lines else []

    def get(self, *arguments):
        """Run apt-get, whoever else does at that moment."""
        return self.patiently("apt-get", *self.network(), *OPTIONS, *arguments)

    def have(self, names):
        """Return versions by name, of those that are wholly there."""
        return installed(self.run("dpkg-query", "-W", QUERY, *names)[1]) if names else {}

    def same(self, there, wanted):
        """Tell whether a version is the wanted one; 580.* is any of that branch, as apt itself reads it."""
        return fnmatchcase(there, wanted)

    def half(self):
        """Return the packages that are half configured, anywhere on the host."""
        return half_configured(self.run("dpkg-query", "-W", QUERY)[1])

    def cut_off(self):
        """Return the packages that were cut off serving a trigger, and are whole otherwise."""
        return cut_off(self.run("dpkg-query", "-W", TRIGGERED)[1])

    def wait(self):
        """Wait for its locks; whoever had them may have held something."""
        began = time.monotonic()
        super().wait()
        if time.monotonic() - began > 1:
            self.held = None

    def holds(self):
        """Return the names that are held, by whomever."""
        if self.held is None:
            self.held = {name.partition(":")[0] for name in self.run("apt-mark", "showhold")[1].split()}
        return self.held

    def words(self, names):
        """Return names as apt takes them: from the folder of an air-gapped site, files; else as given."""
        folder = self.given["folder"]
        if not folder:
            return list(names)
        found = []
        for name, _, version in (name.partition("=") for name in names):
            pattern = f"{name}_{version.replace(':', '%3a') or '*'}_*.deb"
            files = sorted(str(path) for path in Path(folder).glob(pattern))
            if not files:
                raise RefusedError(
                    "unavailable",
                    f"{folder} has no {pattern}. Needed are all packages in it, those that they depend on "
                    "included: put it there (`apt-get download`), and run again.",
                )
            found.append(files[-1])
        return found

    def plan(self, names, released):
        """Ask apt what it would do; refuse what may not be done."""
        options = ["--no-install-recommends"]
        options += ["--allow-downgrades"] if self.given["allow_downgrade"] else []
        options += ["--allow-change-held-packages"] if released else []
        there = self.have(self.given["replaces"])
        words = [*self.words(names), *(f"{name}-" for name in self.given["replaces"] if name in there)]
        # Without --allow-downgrades it would stop there, untold the rest. --simulate takes twice as long.
        shown = ("--print-uris", "--yes", "-V", "--allow-downgrades")
        rc, said = self.get(*shown, *options, "install", *words)
        would = planned(said)
        self.coming, self.download, self.told = would["coming"], fetched(said), ""
        strangers = sorted(self.holds() - released)
        touched = set(would["changed"] + would["removed"])
        held = [name for name in strangers if name in touched]
        if rc != 0 and not held:
            held = mentioned(strangers, said)
        if held:
            raise RefusedError(
                "held",
                f"Held by somebody on this host, and in the way: {', '.join(held)} (`apt-mark showhold`). "
                f"Needed is that they may change: `apt-mark unhold {' '.join(held)}`, or set the version "
                "that is there, and run again.",
                held=held,
            )
        if rc != 0:
            raise RefusedError("unavailable", self.cannot(names, said))
        if not would["understood"]:
            raise RefusedError(
                "unread",
                "What apt would do is not understood: it lists other packages than it counts. Needed is an "
                "apt-get that lists them as Debian 12's does: run `apt-get install "
                f"{' '.join(words)}` yourself, and run again.",
            )
        self.allowed(names, would)
        return options, words, would

    def cannot(self, names, said):
        """Say why apt does not have these; what the refresh said is the reason more often than not."""
        cause = known_cause(self.updated)
        return (
            f"apt cannot install {' '.join(names)}: {complaint(said)}. "
            + (f"Perhaps because {cause[1]}. " if cause else "")
            + f"Needed is a package source that has these (`apt-cache policy {names[0].partition('=')[0]}` "
            "shows what each has): correct the version or the repository, and run again."
        )

    def shown(self):
        """Return what apt's lists say of the packages that the plan would unpack."""
        if self.coming and not self.told:
            self.told = self.run("apt-cache", "show", *self.coming)[1]
        return self.told

    def room(self):
        """Refuse before the download where the disk has no room for what was planned."""
        new = unpacked(self.shown())
        form = "-f=Package: ${Package}\\nInstalled-Size: ${Installed-Size}\\n\\n"
        old = unpacked(self.run("dpkg-query", "-W", form, *new)[1]) if new else {}
        after = sum(size - old.get(name, 0) for name, size in new.items())
        for place, need in ((ARCHIVES, self.download), ("/usr", after)):
            folder = Path(place)
            while not folder.exists():
                folder = folder.parent
            room = os.statvfs(folder)
            free = room.f_bavail * room.f_frsize
            if need > 0 and free < need + SPARE:
                raise RefusedError(
                    "disk",
                    f"{place} has {free // 10**6} MB free; needed are {(need + SPARE) // 10**6} MB. Make "
                    f"room (`df -h {place}`; `apt-get clean` helps in /var), and run again.",
                )
