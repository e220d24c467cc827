"""What apt and dnf have in common here: waiting, secrets off the command line, what may not be done."""

from __future__ import annotations

import os
import tempfile
import time

from .gpu_host_locks import wait
from .gpu_host_refused import RefusedError

ENVIRONMENT = {
    "LC_ALL": "C",
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    "NEEDRESTART_MODE": "l",  # needrestart would restart Docker, and with it the containers
    "NEEDRESTART_SUSPEND": "1",
}
# What a module that installs is given of how that is done.
ARGUMENTS = {
    "repositories": {"type": "list", "elements": "str", "default": []},
    "proxy": {"type": "str", "default": "", "no_log": True},
    "ca_file": {"type": "str", "default": ""},
    "lock_timeout": {"type": "int", "default": 300},
    "path": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
}
# What a module that only removes is not given.
DEFAULTS = {
    "proxy": "",
    "ca_file": "",
    "lock_timeout": 300,
    "folder": "",
    "replaces": [],
    "modules": [],
    "repositories": [],
    "allow_downgrade": False,
}


class Tool:
    """A package manager with what the module was given."""

    NAME = ""  # as a person calls it
    LOCKS = ()
    LOCKED = ""  # what it says where somebody else has its lock

    def __init__(self, module):
        self.module, self.given = module, {**DEFAULTS, **module.params}
        self.warnings = []

    def run(self, program, *arguments):
        """Return exit status and both outputs in one text."""
        found = self.module.get_bin_path(program)
        if not found:
            return 127, f"E: there is no {program} on this host"
        rc, out, error = self.module.run_command([found, *arguments], environ_update=ENVIRONMENT)
        return rc, out + error

    def warn(self, line):
        """Keep a warning, once."""
        if line not in self.warnings:
            self.warnings.append(line)

    def show_warnings(self):
        """Hand the warnings to the person who runs the module."""
        for line in self.warnings:
            self.module.warn(line)

    def refuse(self, refused):
        """End the module with a refusal's reason and sentence."""
        self.show_warnings()
        self.module.fail_json(msg=refused.sentence, reason=refused.reason, **refused.more)

    def wait(self):
        """Wait for its locks."""
        wait(self.LOCKS, self.given["lock_timeout"], self.warn)

    def patiently(self, program, *arguments):
        """Run it; where somebody took a lock since it was looked at, wait and run it again."""
        until = time.monotonic() + self.given["lock_timeout"]
        while True:
            rc, said = self.run(program, *arguments)
            left = until - time.monotonic()
            if rc == 0 or left <= 0 or self.LOCKED not in said:
                return rc, said
            wait(self.LOCKS, left, self.warn)
            time.sleep(1)

    def private(self, text):
        """Return the option for a configuration file: a command line would show its password to everybody."""
        handle, path = tempfile.mkstemp(dir=self.module.tmpdir, suffix=".conf")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        self.module.add_cleanup_file(path)
        return ["-c", path]

    def allowed(self, names, would):
        """Refuse what would be removed or taken back beside what was asked for."""
        other = sorted(set(would["removed"]) - set(self.given["replaces"]))
        if other:
            raise RefusedError(
                "removal",
                f"{self.NAME} would remove {', '.join(other)} to install {', '.join(names)}. Needed is that "
                "nothing of yours goes: remove these yourself if you want that, and run again.",
            )
        if would["older"] and not self.given["allow_downgrade"]:
            raise RefusedError(
                "downgrade",
                f"An older version would come of {', '.join(would['older'])}, to install {', '.join(names)}. "
                "Needed is that nothing of yours goes back: set the version that is there, or remove these "
                "yourself, and run again.",
            )
