"""Ways to a host that testinfra does not have: this machine under a host's name, sudo with a password.

``here://NAME`` is the controller itself, where the inventory has it as a GPU host with
``ansible_connection: local``. Passwords come as JSON in the environment, one a host name, and go to sudo over
its standard input: they are on no command line.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import testinfra.backend
from testinfra.backend.base import CommandResult
from testinfra.backend.local import LocalBackend
from testinfra.backend.ssh import SshBackend

PASSWORDS = "GPU_HOST_SUDO_PASSWORDS"


def password_of(name: str) -> str | None:
    """Return the password that sudo asks for on a host, None where there is none."""
    passwords = json.loads(os.environ.get(PASSWORDS) or "{}")
    found = passwords.get(name)
    return None if found is None else str(found)


class _SudoPassword:
    """For a backend: sudo reads its password from standard input, and the command itself reads nothing."""

    hostname: str

    def get_sudo_command(self, command: str, sudo_user: str | None) -> str:
        if password_of(self.hostname) is None:
            return str(super().get_sudo_command(command, sudo_user))  # type: ignore[misc]
        # -k: a password that sudo still remembers would leave ours to be read by the command.
        quoted: str = self.quote("sudo -k -S -p '' /bin/sh -c %s", f"exec < /dev/null; {command}")  # type: ignore[attr-defined]
        return quoted

    def run_local(self, command: str, *args: str) -> CommandResult:
        password = password_of(self.hostname)
        if password is None:
            return super().run_local(command, *args)  # type: ignore[misc]
        encoded: bytes = self.encode(self.quote(command, *args))  # type: ignore[attr-defined]
        done = subprocess.run(  # noqa: S602  # testinfra's own way: it has quoted every word
            encoded, shell=True, input=f"{password}\n".encode(), capture_output=True, check=False
        )
        return self.result(done.returncode, encoded, done.stdout, done.stderr)  # type: ignore[attr-defined]


class HereBackend(_SudoPassword, LocalBackend):  # type: ignore[misc]
    """The controller, by its name in the inventory."""

    NAME = "here"

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # testinfra has no types
        super().__init__(*args, **kwargs)
        self.hostname = name

    def get_pytest_id(self) -> str:
        return f"{self.NAME}://{self.hostname}"


class PasswordSshBackend(_SudoPassword, SshBackend):  # type: ignore[misc]
    """SSH as testinfra has it, and sudo with a password where there is one."""


def register() -> None:
    """Make both known to testinfra."""
    testinfra.backend.BACKENDS["here"] = f"{__name__}.HereBackend"
    testinfra.backend.BACKENDS["ssh"] = f"{__name__}.PasswordSshBackend"
