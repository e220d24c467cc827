"""apt on this host: waits for its locks, finishes what was left, refreshes, installs, holds."""

from __future__ import annotations

from pathlib import Path

from .gpu_host_apt import complaint
from .gpu_host_apt_ask import AptAsked
from .gpu_host_apt_state import broken_sources, known_cause, unreadable
from .gpu_host_refused import RefusedError

ALONE = ("-o", "Dir::Etc::sourceparts=-", "-o", "APT::Get::List-Cleanup=0")


class Apt(AptAsked):
    """What changes something."""

    def needed_for_holds(self):
        """Return packages that holding needs: none, apt-mark is apt's own."""
        return []

    def streams(self):
        """Return module streams that differ: dnf alone has such."""
        return {}

    def switch(self, name, wanted, there):
        """Nothing to do: apt has no streams."""

    def switch_back(self, streams):
        """Nothing to do: apt has no streams."""

    def repair(self, ours):
        """Finish what an interrupted run of ours left; somebody else's is theirs."""
        half = self.half()
        if not half:
            return
        theirs = sorted(set(half) - ours)
        if theirs:
            theirs = sorted(set(theirs) - self.cut_off())
        if theirs:
            raise RefusedError(
                "half-configured",
                f"Half configured packages are here: {' '.join(theirs)}. Needed is a whole dpkg: run "
                "`dpkg --configure -a`, read what it says, and run again.",
                half_configured=half,
            )
        self.warn(f"Finished an interrupted installation: {' '.join(half)}.")
        _, said = self.run("dpkg", "--force-confdef", "--force-confold", "--configure", "-a")
        if self.half():
            said += self.get("--fix-broken", "--yes", "--no-install-recommends", "install")[1]
        left = self.half()
        if left:
            raise RefusedError(
                "half-configured",
                f"dpkg --configure -a does not finish {' '.join(left)}: {complaint(said)}. Needed is a whole "
                "dpkg: run `dpkg --configure -a`, read what it says, and run again.",
                half_configured=left,
            )

    def refresh(self):
        """Read the lists anew. Ours must come; a stranger that does not is a warning."""
        rc, said = self.get("update")
        self.updated = said
        nothing = unreadable(said)
        if nothing:
            raise RefusedError(
                "repository",
                f"apt cannot read its package sources: {nothing}. Needed is that every file in "
                "/etc/apt/sources.list.d is a source list: repair or remove the one that it names, and run "
                "again.",
            )
        broken = broken_sources(said)
        if rc == 0 and not broken:
            return
        for name in self.given["repositories"]:
            self.refresh_alone(f"/etc/apt/sources.list.d/{name}.sources")
        for line in broken[:5]:
            self.warn(f"A package source does not work and was left out: {line}")

    def refresh_alone(self, file):
        """Read one of our own lists, whatever the others are like."""
        if not Path(file).exists():
            return
        rc, said = self.get("-o", f"Dir::Etc::sourcelist={file}", *ALONE, "update")
        broken = broken_sources(said)
        if rc == 0 and not broken:
            return
        cause = known_cause(said)
        words = ("; ".join(broken[:2]) or complaint(said)).rstrip(".")
        raise RefusedError(
            "repository",
            f"The package list of {file} cannot be read: "
            + (
                f"{cause[1]}."
                if cause
                else f"{words}. Needed is a repository that this host "
                "reaches and whose signature holds: correct the role's repository_url or key, and run again."
            ),
        )

    def install(self, options, words, names):
        """Install; a failure says what it left."""
        rc, said = self.get("--yes", *options, "install", *words)
        self.held = None
        if rc == 0:
            return
        half = self.half()
        tail = "\n".join(said.splitlines()[-30:])
        cause = known_cause(said)
        if cause:
            reason, sentence = cause
            text = f"apt did not install {' '.join(names)}: {sentence}."
            raise RefusedError(reason, text, half_configured=half, said=tail)
        raise RefusedError(
            "install",
            f"apt did not install {' '.join(names)}: {complaint(said)}. "
            + (f"Half configured now: {' '.join(half)}. " if half else "")
            + "Needed is what it names: repair that, and run again.",
            half_configured=half,
            said=tail,
        )

    def hold(self, names, *, on=True):
        """Hold these, or let them go."""
        if names:
            self.run("apt-mark", "hold" if on else "unhold", *names)
            self.held = None
