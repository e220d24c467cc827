"""apt on this host: waits for its locks, refreshes, asks first, installs exactly that, holds."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from .gpu_host_apt import complaint
from .gpu_host_apt_state import SENTENCES, broken_sources, changes, half_configured, installed, size_needed
from .gpu_host_locks import APT as LOCKS
from .gpu_host_locks import held as lock_held

ENVIRONMENT = {
    "LC_ALL": "C",
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    "NEEDRESTART_MODE": "l",  # needrestart would restart Docker, and with it the containers
    "NEEDRESTART_SUSPEND": "1",
}
OPTIONS = (
    "-o", "APT::Get::AutomaticRemove=false", "-o", "DPkg::Lock::Timeout=60",
    "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold", "--quiet",
)  # fmt: skip
ALONE = ("-o", "Dir::Etc::sourceparts=-", "-o", "APT::Get::List-Cleanup=0")
SPARE = 200 * 10**6  # bytes that are left free


class RefusedError(Exception):
    """It was not done: a reason for programs and a sentence for people."""

    def __init__(self, reason, sentence, **more):
        super().__init__(sentence)
        self.reason, self.sentence, self.more = reason, sentence, more


class Apt:
    """apt-get, dpkg-query and apt-mark with what the module was given."""

    def __init__(self, module):
        self.module, self.given = module, module.params
        self.warnings = []

    def run(self, program, *arguments):
        found = self.module.get_bin_path(program)
        if not found:
            return 127, f"E: there is no {program} on this host"
        rc, out, error = self.module.run_command([found, *arguments], environ_update=ENVIRONMENT)
        return rc, out + error

    def get(self, *arguments):
        network = []
        if self.given["proxy"]:
            network += [f"-o=Acquire::{kind}::Proxy={self.given['proxy']}" for kind in ("http", "https")]
        if self.given["ca_file"]:
            network += [f"-o=Acquire::https::CAInfo={self.given['ca_file']}"]
        return self.run("apt-get", *OPTIONS, *network, *arguments)

    def have(self, names):
        """Return versions by name, of those that are wholly there."""
        if not names:
            return {}
        return installed(
            self.run("dpkg-query", "-W", "-f=${Package}\\t${db:Status-Abbrev}\\t${Version}\\n", *names)[1]
        )

    def same(self, there, wanted):
        return there == wanted

    def half(self):
        """Return the packages that are half configured, anywhere on the host."""
        return half_configured(
            self.run("dpkg-query", "-W", "-f=${Package}\\t${db:Status-Abbrev}\\t${Version}\\n")[1]
        )

    def holds(self):
        return {name.partition(":")[0] for name in self.run("apt-mark", "showhold")[1].split()}

    def wait(self):
        """Wait for locks, with the holder said; they are never deleted."""
        until, said = time.monotonic() + self.given["lock_timeout"], set()
        while True:
            found = lock_held(LOCKS)
            if found is None:
                return
            if time.monotonic() >= until:
                raise RefusedError(
                    "lock",
                    f"{found[0]} is held by {found[1]} for more than {self.given['lock_timeout']} s. Needed is that it "
                    "ends: let it finish (`ps -f -p PID` shows it), and run again. A lock is never deleted.",
                )
            if found[1] not in said:
                said.add(found[1])
                self.warnings.append(f"Waited for {found[1]}, which held {found[0]}.")
            time.sleep(1)

    def repair(self, ours):
        """Finish what an interrupted run of ours left; somebody else's is theirs."""
        half = self.half()
        if not half:
            return
        theirs = sorted(set(half) - ours)
        if theirs:
            raise RefusedError(
                "half-configured",
                f"Half configured packages are here: {' '.join(theirs)}. Needed is a whole dpkg: run `dpkg --configure -a`, "
                "read what it says, and run again.",
                half_configured=half,
            )
        self.warnings.append(f"Finished an interrupted installation: {' '.join(half)}.")
        self.run("dpkg", "--force-confdef", "--force-confold", "--configure", "-a")
        left = self.half()
        if left:
            rc, said = self.get("--fix-broken", "--yes", "--no-install-recommends", "install")
            left = self.half() if rc == 0 else left
        if left:
            raise RefusedError(
                "half-configured",
                f"dpkg --configure -a does not finish {' '.join(left)}: {complaint(said)}. Needed is a whole dpkg: run "
                "`dpkg --configure -a`, read what it says, and run again.",
                half_configured=left,
            )

    def refresh(self):
        """Read the lists anew. Ours must come; a stranger that does not is a warning."""
        rc, said = self.get("update")
        if rc == 0 and not broken_sources(said):
            return
        mine = [f"/etc/apt/sources.list.d/{name}.sources" for name in self.given["repositories"]]
        for file in mine:
            if not Path(file).exists():
                continue
            rc, alone = self.get("-o", f"Dir::Etc::sourcelist={file}", *ALONE, "update")
            if rc != 0 or any("E:" in line for line in re.findall(r"^E:", alone, re.MULTILINE)):
                raise RefusedError("repository", self.why_not(file, alone))
        for line in broken_sources(said)[:5]:
            self.warnings.append(f"A package source does not work and was left out: {line}")

    def why_not(self, file, said):
        for pattern, sentence in SENTENCES:
            shown = re.search(rf"^[EW]: .*(?:{pattern}).*$", said, re.MULTILINE)
            if shown:
                return (
                    f"The package list of {file} cannot be read: "
                    + sentence.format(line=shown[0][2:].strip())
                    + "."
                )
        return (
            f"The package list of {file} cannot be read: {complaint(said)}. Needed is a repository that this host reaches "
            "and whose signature holds: correct the role's repository_url or key, and run again."
        )

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
                    f"{folder} has no {pattern}. Needed are all packages in it, those that they depend on included: put "
                    "it there (`apt-get download`), and run again.",
                )
            found.append(files[-1])
        return found

    def plan(self, names, released):
        """Ask apt what it would do; refuse what may not be done."""
        options = ["--no-install-recommends"]
        options += ["--allow-downgrades"] if self.given["allow_downgrade"] else []
        options += ["--allow-change-held-packages"] if released else []
        gone = [f"{name}-" for name in self.given["replaces"] if name in self.have([name])]
        words = [*self.words(names), *gone]
        rc, said = self.get("--simulate", *options, "install", *words)
        strangers = self.holds() - released
        would = changes(said)
        touched = {kind: sorted(set(those)) for kind, those in would.items()}
        held = sorted(strangers & set(touched["changed"] + touched["removed"]))
        if rc != 0 and "held" in said.lower():
            held = held or sorted(strangers)
        if held:
            raise RefusedError(
                "held",
                f"Held by somebody on this host, and in the way: {', '.join(held)} (`apt-mark showhold`). Needed is that "
                f"they may change: `apt-mark unhold {' '.join(held)}`, or set the version that is there, and run again.",
                held=held,
            )
        if rc != 0:
            raise RefusedError("unavailable", self.cannot(names, said))
        other = sorted(set(touched["removed"]) - set(self.given["replaces"]))
        if other:
            raise RefusedError(
                "removal",
                f"apt would remove {', '.join(other)} to install {', '.join(names)}. Needed is that nothing of yours goes: "
                "remove these yourself if you want that, and run again.",
            )
        return options, words, touched

    def cannot(self, names, said):
        return (
            f"apt cannot install {' '.join(names)}: {complaint(said)}. Needed is a package source that has these "
            f"(`apt-cache policy {names[0].partition('=')[0]}` shows what each has): correct the version or the "
            "repository, and run again."
        )

    def room(self, options, words):
        """Refuse before the download where the disk has no room for it."""
        # --assume-no prints the sizes and stops there.
        fetched, after = size_needed(self.get("--assume-no", *options, "install", *words)[1])
        for place, need in (("/var/cache/apt/archives", fetched), ("/usr", after)):
            folder = Path(place)
            while not folder.exists():
                folder = folder.parent
            room = os.statvfs(folder)
            free = room.f_bavail * room.f_frsize
            if need and free < need + SPARE:
                raise RefusedError(
                    "disk",
                    f"{place} has {free // 10**6} MB free; needed are {(need + SPARE) // 10**6} MB. Make room "
                    f"(`df -h {place}`; `apt-get clean` helps in /var), and run again.",
                )

    def install(self, options, words, names):
        rc, said = self.get("--yes", *options, "install", *words)
        if rc == 0:
            return
        half = self.half()
        for pattern, sentence in SENTENCES:
            shown = re.search(rf"^.*(?:{pattern}).*$", said, re.MULTILINE)
            if shown:
                kind = "disk" if "disk" in sentence else "repository"
                raise RefusedError(kind, sentence.format(line=shown[0].strip()) + ".", half_configured=half)
        raise RefusedError(
            "install",
            f"apt did not install {' '.join(names)}: {complaint(said)}. "
            + (f"Half configured now: {' '.join(half)}. " if half else "")
            + "Needed is what it names: repair that, and run again.",
            half_configured=half,
            said="\n".join(said.splitlines()[-30:]),
        )

    def hold(self, names, *, on=True):
        if names:
            self.run("apt-mark", "hold" if on else "unhold", *names)
