"""Take a recording here or over SSH: the target's Python gets the recorder, and prints the recording."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.commands import OK, add_command, add_machine, some_path
from verify.errors import VerifyError
from verify.files import replace_file
from verify.json_values import json_object
from verify.recording import Recording

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from verify.commands import Commands
    from verify.manifest import Where

SSH_FAILED = 255
PYTHONS = ("python3", "python")
_LONGEST = 300  # of what a host said
_NAME = re.compile(r"[^\s-]\S*")  # a leading dash would be an option of the program that gets it
# Passwordless sudo is used where there is one: docker and the kernel log ask for root.
_AS_ROOT = 'if [ "$(id -u)" -ne 0 ] && sudo -n true 2>/dev/null; then exec sudo -n "$@"; fi; exec "$@"'


def add(commands: Commands) -> None:
    """Add ``record`` to the command line."""
    parser = add_command(commands, "record", "take a recording", record)
    add_machine(parser)
    parser.add_argument(
        "--where",
        choices=("host", "container"),
        default="host",
        help="of the machine itself (host), or from inside a container of --image",
    )
    parser.add_argument("--out", type=some_path, metavar="FILE", help="instead of standard output")
    parser.add_argument(
        "--raw",
        action="store_true",
        help="keep names, addresses, serial numbers and UUIDs; secrets never enter a recording",
    )


def record(options: argparse.Namespace) -> int:
    """Take one recording, fit to be shown unless it is asked for as it is; a file is replaced whole."""
    text = take(options.where, host=options.host, image=options.image, ssh_config=options.ssh_config)
    if not options.raw:
        from verify.redact import redact  # noqa: PLC0415  # what no other command needs is not loaded

        text = _text(redact(json.loads(text), verbatim=False))
    if options.out is None:
        sys.stdout.write(text)
    else:
        replace_file(options.out, text)
    return OK


def ssh_argv(
    host: str, argv: list[str], ssh_config: Path | None = None, options: Sequence[str] = ()
) -> list[str]:
    """Build the SSH command line; the remote shell gets every element quoted."""
    config = ["-F", str(ssh_config)] if ssh_config else []
    remote = shlex.join(["sh", "-c", _AS_ROOT, "sh", *argv])
    return ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", *config, *options, "--", host, remote]


def take(
    where: Where,
    *,
    host: str | None = None,
    image: str | None = None,
    ssh_config: Path | None = None,
    ssh_options: Sequence[str] = (),
    content: dict[str, Any] | None = None,
) -> str:
    """Return the text of a new recording of this machine, or of ``host``; ``content`` is a part of it."""
    from verify.manifest import DEADLINE_S, recorder_argv, recorder_source  # noqa: PLC0415  # likewise

    if where == "container" and image is None:
        raise VerifyError("a recording in a container needs an image: give --image REF (it is never pulled)")
    if image is not None and not _NAME.fullmatch(image):
        raise VerifyError(f"{image!r} is not an image: give --image NAME:TAG, as `docker images` shows it")
    if host is not None and not _NAME.fullmatch(host):
        raise VerifyError(f"{host!r} is not a host: give --host USER@HOST, or a name of your ssh_config")
    for python in PYTHONS:
        argv = recorder_argv(where, image, content=content, python=python)
        if host is not None:
            argv = ssh_argv(host, argv, ssh_config, ssh_options)
        done = _ran(argv, recorder_source(), DEADLINE_S + 30, host)
        if where == "host" or f'exec: "{python}": executable file not found' not in done.stderr:
            return _document(done, where, host)
    raise VerifyError(
        f"image {image} has neither python3 nor python: give an image with Python 3.6 or newer; "
        "`gpu-verify doctor --image` asks nvidia-smi alone in the others"
    )


def _ran(argv: list[str], text: str, limit: float, host: str | None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            argv,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit,
            check=False,
        )
    except FileNotFoundError as error:
        raise VerifyError(f"{argv[0]} is not installed here: install it, or add it to PATH") from error
    except subprocess.TimeoutExpired as error:
        raise VerifyError(f"no recording from {host or 'here'} within {error.timeout:.0f} s") from error


def record_both(
    *, host: str | None, image: str | None, ssh_config: Path | None, ssh_options: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """Record one machine, and a container on it where there is one."""

    def one(where: Where) -> dict[str, Any]:
        text = take(where, host=host, image=image, ssh_config=ssh_config, ssh_options=ssh_options)
        return dict(json.loads(text))

    documents = {"host": one("host")}
    # Without an engine or the image there is no container: the host's recording says why.
    if documents["host"].get("commands", {}).get("image-inspect", {}).get("rc") == 0:
        with contextlib.suppress(VerifyError):  # the run-* commands of the host's recording hold the reason
            documents["container"] = one("container")
    return documents


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def _document(done: subprocess.CompletedProcess[str], where: str, host: str | None) -> str:
    # The recording is the last line: a host's shell may greet first.
    document = json_object(done.stdout) or json_object((done.stdout.splitlines() or [""])[-1])
    if document is not None and document.get("where") == where:
        Recording.from_document(document)
        return _text(document)
    said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1][:_LONGEST]
    place = host or "this machine"
    if host is not None and done.returncode == SSH_FAILED:
        raise VerifyError(f"cannot reach {host} by SSH: {said}. Check that `ssh {host} true` works")
    raise VerifyError(f"no {where} recording from {place}: exit status {done.returncode}, it said: {said}")
