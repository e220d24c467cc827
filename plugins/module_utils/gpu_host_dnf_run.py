"""dnf on this host: the same steps as with apt, in its words."""

from __future__ import annotations

import re

from .gpu_host_dnf_ask import DnfAsked, forget_stream
from .gpu_host_dnf_state import complaint, known_cause
from .gpu_host_refused import RefusedError


class Dnf(DnfAsked):
    """What changes something."""

    def repair(self, ours):
        """Take away the older of two versions, which an interrupted transaction of ours left."""
        found = self.twice(sorted(ours))
        if not found:
            return
        self.warn(f"Finished an interrupted installation: {' '.join(sorted(found))}.")
        # By rpm itself: dnf refuses as long as the rest of that transaction is missing.
        _, said = self.run("rpm", "-e", "--nodeps", *(one for those in found.values() for one in those))
        left = sorted(self.twice(sorted(found)))
        if left:
            raise RefusedError(
                "half-configured",
                f"{' '.join(left)} is installed twice, and rpm cannot take away the older one: "
                f"{complaint(said)}. Needed is one version: run `dnf remove --duplicates`, "
                "read what it says, and run again.",
                half_configured=left,
            )

    def refresh(self):
        """Read the lists of our own repositories anew, and switch on the streams that are wanted."""
        for name in self.given["repositories"]:
            alone = (f"--repo={name}", f"--setopt={name}.skip_if_unavailable=False")
            rc, said = self.dnf("-q", "-y", "makecache", "--refresh", *alone)
            if rc != 0 or re.search(r"^Ignoring repositories:", said, re.MULTILINE):
                cause = known_cause(said)
                raise RefusedError(
                    "repository",
                    f"The repository {name} cannot be read: {cause[1] if cause else complaint(said)}. Needed "
                    "is a repository that this host reaches and whose signature holds: correct the role's "
                    "repository_url or key, and run again.",
                )
        wanted = dict(word.partition(":")[::2] for word in self.given["modules"])
        for name, there in self.streams().items():
            self.switch(name, wanted[name], there)

    def switch(self, name, wanted, there):
        """Switch a module's stream on; dnf refuses where another one is on, until that is reset."""
        if there:
            self.dnf("-y", "-q", "module", "reset", name)
        if not wanted:
            forget_stream(name)
            return
        rc, said = self.dnf("-y", "-q", "module", "enable", f"{name}:{wanted}")
        if rc != 0:
            if there:
                self.dnf("-y", "-q", "module", "enable", f"{name}:{there}")
            raise RefusedError(
                "unavailable",
                f"dnf cannot enable the module stream {name}:{wanted}: {complaint(said)}. Needed is a "
                f"repository that has it (`dnf module list {name}`): correct the branch or the repository, "
                "and run again.",
            )

    def switch_back(self, streams):
        """Give back the streams that were on before."""
        for name, there in streams.items():
            self.switch(name, there, "ours")

    def install(self, options, words, names):
        """Install; rpm takes back what it began, and says why."""
        rc, said = self.dnf("-y", *options, *words)
        if rc == 0:
            return
        cause = known_cause(said)
        what = (
            f"{cause[1]}."
            if cause
            else f"{complaint(said)}. Needed is what it names: repair that, and run again."
        )
        raise RefusedError(
            cause[0] if cause else "install",
            f"dnf did not install {' '.join(names)}: {what}",
            said="\n".join(said.splitlines()[-30:]),
        )

    def hold(self, names, *, on=True):
        """Lock the versions of these, or let them go."""
        if not names:
            return
        rc, said = self.dnf("-q", "versionlock", "add" if on else "delete", *names)
        if rc != 0 and on:
            raise RefusedError(
                "install",
                f"dnf cannot lock the versions of {' '.join(names)}: {complaint(said)}. Needed is its "
                "versionlock plugin: look whether `dnf versionlock list` works, and run again.",
            )
