"""Take a recording here or over SSH: the one place of the command line that starts a process."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING

from verify.errors import VerifyError
from verify.manifest import DEADLINE_S, recorder_argv, recorder_source

if TYPE_CHECKING:
    from pathlib import Path

    from verify.manifest import Where

SSH_FAILED = 255
# Passwordless sudo is used where there is one: docker and the kernel log ask for root.
_AS_ROOT = 'if [ "$(id -u)" -ne 0 ] && sudo -n true 2>/dev/null; then exec sudo -n "$@"; fi; exec "$@"'


def ssh_argv(host: str, argv: list[str], ssh_config: Path | None = None) -> list[str]:
    """Build the SSH command line; the remote shell gets every element quoted."""
    config = ["-F", str(ssh_config)] if ssh_config else []
    remote = shlex.join(["sh", "-c", _AS_ROOT, "sh", *argv])
    return ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", *config, "--", host, remote]


def take(
    where: Where, *, host: str | None = None, image: str | None = None, ssh_config: Path | None = None
) -> str:
    """Return the text of a new recording of this machine, or of ``host``."""
    if where == "container" and image is None:
        raise VerifyError("a recording in a container needs an image: give --image REF (it is never pulled)")
    argv = recorder_argv(where, image)
    if host is not None:
        argv = ssh_argv(host, argv, ssh_config)
    try:
        done = subprocess.run(
            argv,
            input=recorder_source(),
            capture_output=True,
            text=True,
            timeout=DEADLINE_S + 30,
            check=False,
        )
    except FileNotFoundError as error:
        raise VerifyError(f"{argv[0]} is not installed here: install it, or add it to PATH") from error
    except subprocess.TimeoutExpired as error:
        raise VerifyError(f"no recording from {host or 'here'} within {error.timeout:.0f} s") from error
    return _document(done, where, host)


def _document(done: subprocess.CompletedProcess[str], where: str, host: str | None) -> str:
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = None
    if isinstance(document, dict) and document.get("where") == where:
        return json.dumps(document, indent=1, sort_keys=True) + "\n"
    said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
    place = host or "this machine"
    if host is not None and done.returncode == SSH_FAILED:
        raise VerifyError(f"cannot reach {host} by SSH: {said}. Check that `ssh {host} true` works")
    raise VerifyError(f"no {where} recording from {place}: exit status {done.returncode}, it said: {said}")
