"""``gpu-verify``: record, doctor, race, report. Every command returns its exit status from ``main``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from verify.doctor import diagnose
from verify.errors import VerifyError
from verify.report.evidence import write
from verify.report.files import replace_file
from verify.report.terminal import plain, print_fleet
from verify.take import take

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, FINDINGS_FAILED, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
BROKEN_PIPE = 141  # as the shell counts SIGPIPE

_EPILOG = (
    "exit status: 0 all passed (warnings allowed), 1 findings failed, 2 usage or unreadable input, "
    "3 an error in gpu-verify itself, 130 interrupted"
)


class _Parser(argparse.ArgumentParser):
    """Raises instead of leaving the process, so that ``main`` stays the only exit."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise VerifyError(f"{message}. See `{self.prog} --help`")


def _parser() -> _Parser:
    parser = _Parser(prog="gpu-verify", description=__doc__, epilog=_EPILOG)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def where_from(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--host", metavar="USER@HOST", help="over SSH; without it, this machine")
        sub.add_argument("--ssh-config", type=Path, metavar="FILE", help="ssh_config for --host")
        sub.add_argument("--image", metavar="REF", help="image for the containers; it is never pulled")

    record = commands.add_parser("record", help="take a recording", epilog=_EPILOG)
    where_from(record)
    record.add_argument("--where", choices=("host", "container"), default="host")
    record.add_argument("--out", type=Path, metavar="FILE", help="instead of standard output")

    doctor = commands.add_parser("doctor", help="say which layer is broken, and what to do", epilog=_EPILOG)
    where_from(doctor)
    doctor.add_argument(
        "--recording", type=Path, nargs="+", metavar="FILE", help="judge these, reach no host"
    )
    doctor.add_argument(
        "--expect", action="append", default=[], metavar="ID", help="a finding that is expected"
    )
    doctor.add_argument("--json", action="store_true", help="a versioned document instead of text")

    report = commands.add_parser("report", help="write the evidence again from what it holds", epilog=_EPILOG)
    report.add_argument("--from", dest="source", type=Path, required=True, metavar="DIR")
    report.add_argument("--json", action="store_true", help="a versioned document instead of the table")

    commands.add_parser(
        "race", help="time CPU against GPU here; its options: gpu-verify race --help", add_help=False
    )
    return parser


def _record(options: argparse.Namespace) -> int:
    text = take(options.where, host=options.host, image=options.image, ssh_config=options.ssh_config)
    if options.out is None:
        sys.stdout.write(text)
        return OK
    replace_file(options.out, text)
    return OK


def _report(options: argparse.Namespace) -> int:
    fleet = write(options.source)
    if options.json:
        print(json.dumps(fleet.document(), indent=1))
    else:
        print_fleet(fleet)
    return FINDINGS_FAILED if fleet.failed else OK


def _race(arguments: Sequence[str]) -> int:
    from verify.race.__main__ import main as race  # noqa: PLC0415  # it runs without the rest

    return int(race(list(arguments)))


_COMMANDS = {"record": _record, "doctor": diagnose, "report": _report}


def _run(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] == "race":  # the race has its own parser: it runs without this package too
        return _race(arguments[1:])
    options = _parser().parse_args(arguments)
    return _COMMANDS[options.command](options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. The only place where errors become exit statuses."""
    try:
        return _flushed(_run(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        return _sorry("interrupted", INTERRUPTED)
    except SystemExit as left:  # --help
        return left.code if isinstance(left.code, int) else OK
    except BrokenPipeError:  # the reader has seen enough: `| head`
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # for the flush at the end
        return BROKEN_PIPE
    except (VerifyError, OSError) as error:
        return _sorry(_sentence(error), USAGE)
    except Exception:  # noqa: BLE001  # whatever it is, it is ours: say so, with the trace
        traceback.print_exc()
        return _sorry("this is an error in gpu-verify itself, please report it", INTERNAL)


def _flushed(status: int) -> int:
    if sys.stdout is not None:  # it was closed before we began
        sys.stdout.flush()
    return status


def _sentence(error: VerifyError | OSError) -> str:
    if isinstance(error, VerifyError):
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}: make room or give access, then try again"


def _sorry(sentence: str, status: int) -> int:
    print(f"gpu-verify: {plain(sentence)}", file=sys.stderr)
    return status


def entry() -> None:
    """Leave the process with the exit status of ``main``."""
    sys.exit(main())


if __name__ == "__main__":
    entry()
