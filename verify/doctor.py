"""``gpu-verify doctor``: recordings in, the stack with its culprit out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.commands import FINDINGS_FAILED, OK, add_command, add_machine
from verify.errors import VerifyError
from verify.recording import load
from verify.report.evidence import judge_host
from verify.report.terminal import print_doctor
from verify.take import take

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from verify.commands import Commands

Json = dict[str, Any]


def add(commands: Commands) -> None:
    """Add ``doctor`` to the command line."""
    parser = add_command(commands, "doctor", "say which layer is broken, and what to do", diagnose)
    add_machine(parser)
    parser.add_argument(
        "--recording", type=Path, nargs="+", metavar="FILE", help="judge these, reach no host"
    )
    parser.add_argument(
        "--expect", action="append", default=[], metavar="ID", help="a finding that is expected"
    )
    parser.add_argument("--json", action="store_true", help="a versioned document instead of text")


def diagnose(options: argparse.Namespace) -> int:
    """Judge recordings, print the view or the document, and return the exit status."""
    if options.recording and (options.host or options.image):
        raise VerifyError("--recording judges files: it goes with neither --host nor --image")
    documents = read(options.recording) if options.recording else _record(options)
    run = {"host": _title(options), "expected": options.expect}
    report = judge_host(run, documents, None)
    if options.json:
        print(json.dumps(report.document(), indent=1))  # noqa: T201
    else:
        print_doctor(report)
    return FINDINGS_FAILED if report.failed else OK


def _title(options: argparse.Namespace) -> str:
    if options.recording:
        return str(options.recording[0])
    return options.host or "this machine"


def read(paths: Sequence[Path]) -> dict[str, Json]:
    """Read recordings: at most one of a host and one of a container."""
    documents: dict[str, Json] = {}
    for path in paths:
        recording = load(path)
        if recording.where in documents:
            raise VerifyError(
                f"{path} is a second {recording.where} recording: give one of a host and one of a container"
            )
        documents[recording.where] = dict(recording.document)
    return documents


def _record(options: argparse.Namespace) -> dict[str, Json]:
    host = json.loads(take("host", host=options.host, image=options.image, ssh_config=options.ssh_config))
    documents: dict[str, Json] = {"host": host}
    # Without an engine or the image there is no container: the host's recording says why.
    if host.get("commands", {}).get("image-inspect", {}).get("rc") == 0:
        try:
            text = take("container", host=options.host, image=options.image, ssh_config=options.ssh_config)
        except VerifyError:
            return documents  # the run-* commands of the host's recording hold the reason
        documents["container"] = json.loads(text)
    return documents
