"""dnf on this host: the same steps as with apt, in its words."""

from __future__ import annotations

import re
import time
from pathlib import Path

from .gpu_host_apt_run import ENVIRONMENT, RefusedError
from .gpu_host_locks import DNF as LOCKS
from .gpu_host_locks import held as lock_held

LOCK_PLUGIN = "python3-dnf-plugin-versionlock"
QUERY = "%{NAME}\\t%{EPOCH}\\t%{VERSION}\\t%{RELEASE}\\n"
SPARE = 200 * 10**6
NETWORK = r"Could not resolve host|Couldn't resolve host"


def packages(said: str) -> dict:
    """Return full versions (epoch only where there is one) from rpm's query lines."""
    rows = [line.split("\t") for line in said.splitlines()]
    return {
        row[0]: f"{'' if row[1] in ('(none)', '0') else row[1] + ':'}{row[2]}-{row[3]}"
        for row in rows
        if len(row) == 4  # noqa: PLR2004
    }


def transaction(said: str) -> dict:
    """Return what `dnf --assumeno` would do: names by new, changed, removed."""
    sections = {
        "Installing": "new", "Installing dependencies": "new", "Installing weak dependencies": "new",
        "Upgrading": "changed", "Downgrading": "changed", "Reinstalling": "changed",
        "Removing": "removed", "Removing dependent packages": "removed", "Removing unused dependencies": "removed",
    }  # fmt: skip
    found: dict = {"new": [], "changed": [], "removed": []}
    kind = None
    for line in said.splitlines():
        head = re.match(r"^([A-Z][a-z ]+):$", line)
        if head:
            kind = sections.get(head[1])
        elif kind and re.match(r"^ \S+\s+\S+\s+\S+", line):
            found[kind].append(line.split()[0])
        elif re.match(r"^ +replacing +(\S+)\.\S+ ", line):
            found["removed"].append(line.split()[1].rpartition(".")[0])
        elif not line.strip():
            kind = None
    return found


def complaint(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if re.match(r"\s*(Error|Problem|- |No match)", line)]
    return "; ".join(lines[:3]) or (said.strip().splitlines() or ["no reason given"])[-1]


class Dnf:
    """dnf and rpm with what the module was given."""

    def __init__(self, module):
        self.module, self.given = module, module.params
        self.warnings: list = []

    def run(self, program, *arguments):
        found = self.module.get_bin_path(program)
        if not found:
            return 127, f"Error: there is no {program} on this host"
        rc, out, error = self.module.run_command([found, *arguments], environ_update=ENVIRONMENT)
        return rc, out + error

    def dnf(self, *arguments):
        network = [f"--setopt=proxy={self.given['proxy']}"] if self.given["proxy"] else []
        network += [f"--setopt=sslcacert={self.given['ca_file']}"] if self.given["ca_file"] else []
        return self.run(
            "dnf",
            "--setopt=install_weak_deps=False",
            "--setopt=skip_if_unavailable=True",
            *network,
            *arguments,
        )

    def have(self, names):
        return packages(self.run("rpm", "-q", "--queryformat", QUERY, *names)[1]) if names else {}

    def same(self, there, wanted):
        """Tell whether a version is the wanted one: its release, and its epoch, may be left out."""
        plain = there.partition(":")[2] if ":" in there and ":" not in wanted else there
        return plain == wanted or plain.rpartition("-")[0] == wanted

    def holds(self):
        said = self.run("dnf", "-q", "versionlock", "list")[1]
        return {name for line in said.splitlines() if (name := locked(line))}

    def wait(self):
        until = time.monotonic() + self.given["lock_timeout"]
        while (found := lock_held(LOCKS)) is not None:
            if time.monotonic() >= until:
                raise RefusedError("lock", f"{found[0]} is held by {found[1]} for more than {self.given['lock_timeout']} s. "
                              "Needed is that it ends: let it finish, and run again. A lock is never deleted.")  # fmt: skip
            time.sleep(1)

    def repair(self, ours):
        """Nothing: dnf's transactions are whole or are told by rpm itself; nothing is left half configured."""

    def refresh(self):
        """Enable the streams that are wanted, and read the lists of our own repositories."""
        for stream in self.given["modules"]:
            rc, said = self.dnf("-y", "module", "enable", stream)
            if rc != 0:
                rc, said = self.dnf("-y", "module", "switch-to", stream, "--allowerasing")
            if rc != 0:
                raise RefusedError("unavailable", f"dnf cannot enable the module stream {stream}: {complaint(said)}. Needed is a "
                              "repository that has it (`dnf module list nvidia-driver`).")  # fmt: skip
        for name in self.given["repositories"]:
            # Where the list of packages is signed, dnf asks whether it may take up the key, whose fingerprint we checked.
            rc, said = self.dnf(
                "-q", "-y", "makecache", "--refresh", f"--repo={name}", "--setopt=skip_if_unavailable=False"
            )
            if rc != 0:
                what = "names are not resolved here" if re.search(NETWORK, said) else "it cannot be read"
                raise RefusedError("repository", f"The repository {name}: {what} ({complaint(said)}). Needed is a repository that "
                              "this host reaches and whose signature holds: correct the role's repository_url or key, and "
                              "run again.")  # fmt: skip

    def words(self, names):
        folder = self.given["folder"]
        if not folder:
            return [name.replace("=", "-", 1) for name in names]
        found = []
        for name, _, version in (name.partition("=") for name in names):
            files = sorted(str(path) for path in Path(folder).glob(f"{name}-{version or '[0-9]'}*.rpm"))
            if not files:
                raise RefusedError("unavailable", f"{folder} has no package {name} {version}. Needed are all packages in it, those "
                              "that they depend on included: put it there (`dnf download --resolve`), and run again.")  # fmt: skip
            found.append(files[-1])
        return found

    def plan(self, names, released):
        words = self.words(names)
        strangers = self.holds() - released
        locked_names = sorted(strangers & {name.partition("=")[0] for name in names})
        there = self.have(locked_names)
        if any(name in there for name in locked_names):
            raise RefusedError("held", f"Held by somebody on this host, and in the way: {', '.join(locked_names)} (`dnf versionlock "
                          f"list`). Needed is that they may change: `dnf versionlock delete {' '.join(locked_names)}`, or set "
                          "the version that is there, and run again.", held=locked_names)  # fmt: skip
        self.unlock(sorted(released))
        options = ["--allowerasing"] if self.given["replaces"] else []
        verb = "install"
        rc, said = self.dnf("--assumeno", *options, verb, *words)
        would = transaction(said)
        if self.given["allow_downgrade"] and rc != 0 and not any(would.values()):
            verb = "downgrade"
            rc, said = self.dnf("--assumeno", *options, verb, *words)
            would = transaction(said)
        if not any(would.values()):
            self.lock(sorted(released))
            raise RefusedError("unavailable", f"dnf cannot install {' '.join(names)}: {complaint(said)}. Needed is a repository that "
                          f"has these (`dnf list --showduplicates {names[0].partition('=')[0]}`): correct the version or the "
                          "repository, and run again.")  # fmt: skip
        other = sorted(set(would["removed"]) - set(self.given["replaces"]) - set(would["new"]))
        if other:
            self.lock(sorted(released))
            raise RefusedError("removal", f"dnf would remove {', '.join(other)} to install {', '.join(names)}. Needed is that nothing of "
                          "yours goes: remove these yourself if you want that, and run again.")  # fmt: skip
        return [verb, *options], words, would

    def room(self, options, words):
        """Left to rpm: it tests the disk before a transaction, and says which file system is short."""

    def install(self, options, words, names):
        rc, said = self.dnf("-y", *options, *words)
        if rc != 0:
            reason = "disk" if re.search(r"more space needed|[Nn]o space left", said) else "install"
            reason = "repository" if re.search(r"GPG|signature", said) else reason
            raise RefusedError(reason, f"dnf did not install {' '.join(names)}: {complaint(said)}. Needed is what it names: repair that, "
                          "and run again.", said="\n".join(said.splitlines()[-30:]))  # fmt: skip

    def hold(self, names, *, on=True):
        if on:
            self.lock(names)
        else:
            self.unlock(names)

    def lock(self, names):
        if not names:
            return
        if self.run("dnf", "-q", "versionlock", "list")[0] != 0:
            self.dnf("-y", "-q", "install", LOCK_PLUGIN)
        rc, said = self.dnf("-q", "versionlock", "add", *names)
        if rc != 0:
            raise RefusedError("install", f"dnf cannot lock the versions of {' '.join(names)}: {complaint(said)}. Needed is the plugin "
                          f"{LOCK_PLUGIN}: install it, and run again.")  # fmt: skip

    def unlock(self, names):
        if names:
            self.run("dnf", "-q", "versionlock", "delete", *names)


def locked(line: str) -> str | None:
    """Return the name in a line of `dnf versionlock list`: `nvidia-open-3:580.159.03-1.el9.*`."""
    shown = re.match(r"^!?(?:(\d+):)?(.+)-(?:\d+:)?[^-]+-[^-]+$", line.strip())
    return shown[2] if shown else None
