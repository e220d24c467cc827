"""dnf on this host, asked: what is there, what it would do. Changes nothing."""

from __future__ import annotations

import re
from pathlib import Path

from .gpu_host_apt_state import mentioned
from .gpu_host_dnf_state import (
    QUERY,
    complaint,
    known_cause,
    left_out,
    locked,
    older,
    packages,
    same_version,
    stream,
    transaction,
)
from .gpu_host_locks import DNF
from .gpu_host_refused import RefusedError
from .gpu_host_tool import Tool

CONF = "/etc/dnf/dnf.conf"
MODULES = "/etc/dnf/modules.d"
PLUGIN = "/etc/dnf/plugins/versionlock.conf"
LOCK_PLUGIN = "python3-dnf-plugin-versionlock"
OPTIONS = (
    "--setopt=install_weak_deps=False",
    "--setopt=skip_if_unavailable=True",
    "--setopt=clean_requirements_on_remove=False",
    "--setopt=exit_on_lock=True",
)


def read(path: Path) -> str:
    """Return a file's text, whatever its bytes are."""
    return path.read_text(encoding="utf-8", errors="replace")


def with_network(text: str, proxy: str, ca_file: str) -> str:
    """Return dnf's own configuration with this run's proxy and certificates in [main]."""
    new = {"proxy": proxy, "sslcacert": ca_file}
    given = {key: value for key, value in new.items() if value}
    for key in given:
        text = re.sub(rf"(?m)^{key}\s*=.*\n?", "", text)
    lines = "".join(f"{key}={value}\n" for key, value in given.items())
    if not re.search(r"(?m)^\[main\]", text):
        return f"[main]\n{lines}{text}"
    return re.sub(r"(?m)^\[main\][ \t]*\n?", lambda _: f"[main]\n{lines}", text, count=1)


def forget_stream(name: str) -> None:
    """Take away the file that `dnf module reset` leaves: it says that no stream is on."""
    file = Path(MODULES, f"{name}.module")
    if file.is_file() and not re.search(r"(?m)^\s*(stream|state)\s*=[ \t]*\S", read(file)):
        file.unlink()


class DnfAsked(Tool):
    """dnf and rpm with what the module was given."""

    NAME, LOCKS, LOCKED = "dnf", DNF, "already locked by"

    def network(self):
        """Return options for the proxy."""
        given = self.given
        if not given["proxy"] and not given["ca_file"]:
            return []
        own = read(Path(CONF)) if Path(CONF).exists() else ""
        return self.private(with_network(own, given["proxy"], given["ca_file"]))

    def dnf(self, *arguments):
        """Run dnf, whoever else does at that moment."""
        return self.patiently("dnf", *self.network(), *OPTIONS, *arguments)

    def have(self, names):
        """Return versions by name."""
        return packages(self.run("rpm", "-q", "--queryformat", QUERY, *names)[1]) if names else {}

    def same(self, there, wanted):
        """Tell whether a version is the wanted one."""
        return same_version(there, wanted)

    def twice(self, names):
        """Return those that are there in two versions at once, each with the older ones."""
        return older(self.run("rpm", "-q", "--queryformat", QUERY, *names)[1]) if names else {}

    def holds(self):
        """Return the names whose versions are locked, by whomever. Asking dnf takes seconds."""
        conf = Path(PLUGIN)
        found = re.search(r"(?m)^\s*locklist\s*=\s*(\S+)", read(conf)) if conf.is_file() else None
        file = Path(found[1]) if found else None
        return locked(read(file)) if file and file.is_file() else set()

    def needed_for_holds(self):
        """Return packages that locking versions needs and this host lacks."""
        return [] if Path(PLUGIN).is_file() else [LOCK_PLUGIN]

    def streams(self):
        """Return the wanted module streams that are not on, each with what is on in its place."""
        found = {}
        for name, _, wanted in (word.partition(":") for word in self.given["modules"]):
            file = Path(MODULES, f"{name}.module")
            there = stream(read(file)) if file.is_file() else ""
            if there != wanted:
                found[name] = there
        return found

    def words(self, names):
        """Return names as dnf takes them: from the folder of an air-gapped site, files."""
        folder = self.given["folder"]
        if not folder:
            return [name.replace("=", "-", 1) for name in names]
        found = []
        for name, _, version in (name.partition("=") for name in names):
            plain = version.rpartition(":")[2] or "[0-9]"
            files = sorted(str(path) for path in Path(folder).glob(f"{name}-{plain}*.rpm"))
            if not files:
                raise RefusedError(
                    "unavailable",
                    f"{folder} has no package {name} {version}".rstrip()
                    + ". Needed are all packages in it, those "
                    "that they depend on included: put it there (`dnf download --resolve`), and run again.",
                )
            found.append(files[-1])
        return found

    def plan(self, names, released):
        """Ask dnf what it would do; refuse what may not be done. Our own locks are off by now."""
        words = self.words(names)
        strangers = sorted(self.holds() - released)
        wanted = {name.partition("=")[0] for name in names}
        self.not_held([name for name in self.have(strangers) if name in wanted])
        options = ["--allowerasing"] if self.given["replaces"] else []
        verb = "install"
        _, said = self.dnf("--assumeno", verb, *options, *words)
        would = transaction(said)
        for name in left_out(said):
            self.warn(f"The repository {name} does not work and was left out.")
        if not any(would.values()):
            if "exclude filtering" in said:
                self.not_held(mentioned(strangers, said) or strangers)
            cause = known_cause(said)
            raise RefusedError(
                cause[0] if cause else "unavailable",
                f"dnf cannot install {' '.join(names)}: {cause[1] if cause else complaint(said)}. Needed is "
                f"a repository that has these (`dnf list --showduplicates {names[0].partition('=')[0]}`): "
                "correct the version or the repository, and run again.",
            )
        self.not_held([name for name in strangers if name in would["changed"] + would["removed"]])
        self.allowed(names, would)
        return [verb, *options], words, would

    def not_held(self, names):
        """Refuse where somebody on this host locked these."""
        if names:
            raise RefusedError(
                "held",
                f"Held by somebody on this host, and in the way: {', '.join(names)} (`dnf versionlock "
                f"list`). Needed is that they may change: `dnf versionlock delete {' '.join(names)}`, or set "
                "the version that is there, and run again.",
                held=names,
            )

    def room(self):
        """Left to rpm: it tests the disk before a transaction, and says which file system is short."""
