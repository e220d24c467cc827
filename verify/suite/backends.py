"""Ways to a host that testinfra does not have: this machine under a host's name, sudo with a password.

``here://NAME`` is the controller itself, where the inventory has it as a GPU host with
``ansible_connection: local``. Passwords come as JSON in the environment, one a host name, and go to sudo over
its standard input: they are on no command line.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from contextlib import suppress
from typing import Any

import testinfra.backend
from testinfra.backend.base import CommandResult
from testinfra.backend.local import LocalBackend
from testinfra.backend.ssh import SshBackend

from verify.suite.limit import KILLED_S, NoAnswer, turn_of

PASSWORDS = "GPU_HOST_SUDO_PASSWORDS"


def password_of(name: str) -> str | None:
    """Return the password that sudo asks for on a host, None where there is none."""
    passwords = json.loads(os.environ.get(PASSWORDS) or "{}")
    found = passwords.get(name)
    return None if found is None else str(found)


class _Asked:
    """For a backend: the host's time is limited; sudo reads its password, and the command itself nothing."""

    hostname: str

    def get_sudo_command(self, command: str, sudo_user: str | None) -> str:
        if password_of(self.hostname) is None:
            return str(super().get_sudo_command(command, sudo_user))  # type: ignore[misc]
        # -k: a password that sudo still remembers would leave ours to be read by the command.
        quoted: str = self.quote("sudo -k -S -p '' /bin/sh -c %s", f"exec < /dev/null; {command}")  # type: ignore[attr-defined]
        return quoted

    def run_local(self, command: str, *args: str) -> CommandResult:
        password = password_of(self.hostname)
        given = b"" if password is None else f"{password}\n".encode()
        encoded: bytes = self.encode(self.quote(command, *args))  # type: ignore[attr-defined]
        try:
            status, out, err = turn_of(self.hostname).run(encoded, given)
        except NoAnswer as error:
            if error.asked:
                self.let_go()
            raise
        return self.result(status, encoded, out, err)  # type: ignore[attr-defined]

    def let_go(self) -> None:
        """Close what is still open to a host that does not answer."""


class HereBackend(_Asked, LocalBackend):  # type: ignore[misc]
    """The controller, by its name in the inventory."""

    NAME = "here"

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # testinfra has no types
        super().__init__(*args, **kwargs)
        self.hostname = name

    def get_pytest_id(self) -> str:
        return f"{self.NAME}://{self.hostname}"


class LimitedSshBackend(_Asked, SshBackend):  # type: ignore[misc]
    """SSH as testinfra has it, within the host's time, and sudo with a password where there is one."""

    def get_command(self, command: str, *args: str) -> str:
        # A connection that is closed ends nothing on the host: what hangs there ends by itself, a bit later.
        limit = str(math.ceil(turn_of(self.hostname).left_s + KILLED_S))
        line = self.quote(command, *args)
        return str(super().get_command("timeout -k 5 %s sh -c %s", limit, line))

    def run_ssh(self, command: str) -> CommandResult:
        try:
            return super().run_ssh(command)
        except RuntimeError as error:
            # 255 is ssh's own: nothing that is asked here ends so.
            said = (str(error.args[0].stderr).strip().splitlines() or ["ssh says nothing"])[-1]
            sentence = "it was recorded, and then ssh could not reach it"
            raise turn_of(self.hostname).gone(sentence, said) from None

    def let_go(self) -> None:
        # The connection that is shared outlives the one that was killed, and the command on the host with it.
        config = ["-F", self.ssh_config] if self.ssh_config else []
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                ["ssh", *config, "-O", "exit", self.host.name],
                capture_output=True,
                check=False,
                timeout=KILLED_S,
            )


def register() -> None:
    """Make both known to testinfra."""
    testinfra.backend.BACKENDS["here"] = f"{__name__}.HereBackend"
    testinfra.backend.BACKENDS["ssh"] = f"{__name__}.LimitedSshBackend"
