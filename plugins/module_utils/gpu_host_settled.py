"""Whether a change is still due, asked within the one look: what another module's check mode would say.

Whatever cannot be told counts as due. The module itself is then run, and says why.
"""

from __future__ import annotations

from .gpu_host_daemon_change import ARGUMENTS as RUNTIME
from .gpu_host_daemon_change import Change
from .gpu_host_daemon_json import DaemonJsonError
from .gpu_host_keyring_file import KeyRefusedError
from .gpu_host_ownership import OwnershipError
from .gpu_host_repository_files import ARGUMENTS as REPOSITORY
from .gpu_host_repository_places import AptFiles, DnfFiles


class CannotTellError(Exception):
    """The other module would have ended here."""


class Asked:
    """A module as another one's code knows it: with that one's parameters, and in check mode."""

    check_mode = True

    def __init__(self, module, arguments, given):
        self.module = module
        self.params = {**{name: row.get("default") for name, row in arguments.items()}, **given}

    def __getattr__(self, name):
        return getattr(self.module, name)

    def fail_json(self, **said):
        """End what is asked, not the look."""
        raise CannotTellError(said.get("msg"))


def repository_settled(module, given):
    """Tell whether gpu_host_repository would change nothing, and has nothing to report."""
    asked = Asked(module, REPOSITORY, given)
    try:
        files = (AptFiles if module.get_bin_path("apt-get") else DnfFiles)(asked)
        ring = files.keyring()
        found, reported = files.look()
        trusted = ring.present() and files.trusted(ring.needed)
    except (CannotTellError, KeyRefusedError, OSError, UnicodeDecodeError):
        return False
    return bool(trusted and not found and not reported and not files.differs())


def runtime_settled(module, given):
    """Tell whether docker_daemon_config would change nothing, and has nothing to say."""
    try:
        change = Change(Asked(module, RUNTIME, given))
        if not change.present or not change.docker.program:
            return False
        change.info = change.docker.info()
        return not (change.changed or change.reasons() or change.notes or change.clashes) and (
            change.owned_after == change.owned_before
        )
    except (CannotTellError, DaemonJsonError, OwnershipError, OSError, UnicodeDecodeError):
        return False
