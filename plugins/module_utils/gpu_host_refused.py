"""What the package modules have in common: a refusal, and the environment of the programs that they run."""

from __future__ import annotations

ENVIRONMENT = {
    "LC_ALL": "C",
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    "NEEDRESTART_MODE": "l",  # needrestart would restart Docker, and with it the containers
    "NEEDRESTART_SUSPEND": "1",
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


class RefusedError(Exception):
    """It was not done: a reason for programs and a sentence for people."""

    def __init__(self, reason, sentence, **more):
        super().__init__(sentence)
        self.reason, self.sentence, self.more = reason, sentence, more


class Tool:
    """A package manager with what the module was given."""

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
