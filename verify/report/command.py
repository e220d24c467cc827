"""``gpu-verify report``: the evidence written again, from what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.commands import FINDINGS_FAILED, OK, add_command, print_document, some_path
from verify.race.words import LANGUAGES

if TYPE_CHECKING:
    import argparse

    from verify.commands import Commands


def add(commands: Commands) -> None:
    """Add ``report`` to the command line."""
    parser = add_command(commands, "report", "write the evidence again from what it holds", report)
    parser.add_argument(
        "--from",
        dest="source",
        type=some_path,
        required=True,
        metavar="DIR",
        help="the evidence: a folder a host, as make verify leaves it",
    )
    parser.add_argument(
        "--lang",
        choices=sorted(LANGUAGES),
        help="language of race.md, race.svg and race.html (default: the one that the race was run in)",
    )
    parser.add_argument(
        "--lock",
        metavar="HOST",
        help="first write fleet.lock.json from this host, which must be proven; all are compared with it",
    )
    parser.add_argument(
        "--prometheus",
        type=some_path,
        metavar="DIR",
        help="also put every host's gpu-host.prom into node_exporter's textfile folder",
    )
    parser.add_argument("--json", action="store_true", help="a versioned document instead of the table")


def report(options: argparse.Namespace) -> int:
    """Judge everything again, write the reports, and return the exit status."""
    from verify.fleet.write import write_lock, write_prometheus  # noqa: PLC0415
    from verify.report.evidence import write  # noqa: PLC0415  # not loaded by the other commands
    from verify.report.terminal import print_fleet  # noqa: PLC0415

    if options.lock is not None:
        write_lock(options.source, options.lock)
    fleet = write(options.source, options.lang)
    if options.prometheus is not None:
        write_prometheus(options.source, options.prometheus)
    if options.json:
        print_document(fleet.document())
    else:
        print_fleet(fleet)
    return FINDINGS_FAILED if fleet.failed else OK
