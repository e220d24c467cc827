"""``gpu-verify doctor``: recordings in, the stack with its culprit out, then the cards as a dashboard."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.commands import FINDINGS_FAILED, OK, add_command, add_machine, print_document, some_path
from verify.errors import VerifyError
from verify.recording import Recording, load
from verify.take import record_both

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verify.commands import Commands

Json = dict[str, Any]
_SLOWEST_S, _FASTEST_S = 86400.0, 0.5


def add(commands: Commands) -> None:
    """Add ``doctor`` to the command line."""
    parser = add_command(commands, "doctor", "say which layer is broken, and what to do", diagnose)
    add_machine(parser)
    parser.add_argument(
        "--recording", type=some_path, nargs="+", metavar="FILE", help="judge these, reach no host"
    )
    parser.add_argument(
        "--inventory",
        type=some_path,
        metavar="PATH",
        help="every host of an Ansible inventory, several at once",
    )
    parser.add_argument("--limit", metavar="PATTERN", help="with --inventory: these hosts only")
    parser.add_argument(
        "--watch",
        type=_interval,
        nargs="?",
        const=2.0,
        metavar="SECONDS",
        help="the cards alone, refreshed (every 2 s) until Ctrl-C",
    )
    parser.add_argument(
        "--expect", action="append", default=[], metavar="ID", help="a finding that is expected"
    )
    parser.add_argument("--json", action="store_true", help="a versioned document instead of text")


def _interval(text: str) -> float:
    """Read the seconds between two looks; argparse turns the error into its sentence."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = float("nan")
    if not _FASTEST_S <= seconds <= _SLOWEST_S:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time between two looks: give seconds from {_FASTEST_S:g} to {_SLOWEST_S:g}"
        )
    return seconds


def diagnose(options: argparse.Namespace) -> int:
    """Judge recordings, print the view or the document, and return the exit status."""
    _check(options)
    # What a command does not need is not loaded: most of its time would be that.
    if options.inventory:
        from verify.inventory import diagnose_fleet  # noqa: PLC0415

        return diagnose_fleet(options)
    if options.watch is not None:
        from verify.watch import watch  # noqa: PLC0415

        return watch(options)
    documents = (
        read(options.recording)
        if options.recording
        else record_both(host=options.host, image=options.image, ssh_config=options.ssh_config)
    )
    return _judge(options, documents)


def _check(options: argparse.Namespace) -> None:
    if options.recording and (options.host or options.image or options.inventory):
        raise VerifyError("--recording judges files: it goes with none of --host, --image and --inventory")
    if options.inventory and options.host:
        raise VerifyError("--inventory names the hosts: give --limit PATTERN instead of --host")
    if options.limit and not options.inventory:
        raise VerifyError("--limit chooses among the hosts of an inventory: give --inventory PATH too")
    others = (options.recording, options.inventory, options.image, options.json)
    if options.watch is not None and any(others):
        raise VerifyError(
            "--watch looks at the cards of one machine again and again: it goes with none of --recording, "
            "--inventory, --image and --json"
        )


def _judge(options: argparse.Namespace, documents: dict[str, Json]) -> int:
    from verify.facts.usage import usage_facts  # noqa: PLC0415
    from verify.report.board import documents as board_documents  # noqa: PLC0415
    from verify.report.board import print_board  # noqa: PLC0415
    from verify.report.findings import judge_host  # noqa: PLC0415

    run = {"host": _title(options), "expected": options.expect}
    # Somebody's recording comes alone, of a host or of a container; a machine that we reach owes us both.
    reached = not options.recording
    report = judge_host(run, documents, None, container_due=reached, host_due=reached)
    recording = Recording.from_document(documents.get("host") or documents["container"])
    usage = usage_facts(recording)
    if options.json:
        print_document({**report.document(), **board_documents(usage)})
    else:
        from verify.console import console  # noqa: PLC0415
        from verify.report.stack_view import print_doctor  # noqa: PLC0415

        out = console()
        print_doctor(report, out)
        print_board(usage, recording.taken_at, out)
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
