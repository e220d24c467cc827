"""What gpu_host_removed does with apt and with dnf: asks what would go along, removes, lets go of holds."""

from __future__ import annotations

from .gpu_host_apt import complaint as apt_complaint
from .gpu_host_apt_run import Apt
from .gpu_host_dnf_run import Dnf
from .gpu_host_dnf_state import complaint as dnf_complaint
from .gpu_host_dnf_state import transaction
from .gpu_host_refused import RefusedError


def cannot(name, what, complaint, check):
    """Say that nothing could be removed."""
    return RefusedError(
        "removal",
        f"{name} cannot remove what {what} installed: {complaint}. Needed is a {name} that can remove "
        f"packages: repair what it names (`{check}`), and run again.",
    )


class AptRemoval(Apt):
    """Removal with apt."""

    def checked(self, *arguments):
        """Return what apt says; without an answer nothing may be removed."""
        rc, said = self.get(*arguments)
        if rc != 0:
            raise cannot("apt", self.given["role"], apt_complaint(said), "apt-get check")
        return said

    def would(self, names):
        """Return what apt would do, asked to remove these."""
        return self.checked("--simulate", "remove", *names)

    def remove(self, names, *, purge):
        """Remove exactly these."""
        self.checked("--yes", "purge" if purge else "remove", *names)

    def automatic(self, names):
        """Leave these to the package manager: it takes them once nothing needs them."""
        self.run("apt-mark", "auto", *names)


class DnfRemoval(Dnf):
    """Removal with dnf. rpm has no purge: it keeps changed configuration as .rpmsave."""

    def checked(self, *arguments):
        """Return what dnf says; without an answer nothing may be removed."""
        rc, said = self.dnf(*arguments)
        if rc != 0 and not any(transaction(said).values()):
            raise cannot("dnf", self.given["role"], dnf_complaint(said), "dnf check")
        return said

    def would(self, names):
        """Return what dnf would do, asked to remove these, in the words of apt."""
        would = transaction(self.checked("-C", "--assumeno", "remove", *names))
        return "".join(f"Remv {name} []\n" for name in would["removed"])

    def remove(self, names, *, purge):  # noqa: ARG002
        """Remove exactly these."""
        rc, said = self.dnf("-C", "-y", "remove", *names)
        if rc != 0:
            raise cannot("dnf", self.given["role"], dnf_complaint(said), "dnf check")

    def automatic(self, names):
        """Leave these to the package manager: it takes them once nothing needs them."""
        self.dnf("-C", "-q", "-y", "mark", "remove", *names)
