"""``gpu-verify`` and its commands. Every command returns its exit status from ``main``."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from verify import advise, again, doctor, take
from verify.commands import EXIT_STATUS, OK, Parser
from verify.compat import command as compatibility
from verify.errors import VerifyError
from verify.image import command as images
from verify.offer import command as offers
from verify.report import command as evidence
from verify.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verify.commands import Run

USAGE, INTERNAL, INTERRUPTED = 2, 3, 130
BROKEN_PIPE = 141  # as the shell counts SIGPIPE
_ABOUT = (
    "Is this machine's NVIDIA card ready for containers, which layer is broken where it is not, and is the "
    "card worth its price for this work?"
)
_START = """examples:
  gpu-verify doctor                     what is wrong with this machine
  gpu-verify doctor --host user@lab-1   or with one that SSH reaches
  gpu-verify COMMAND --help             every option of a command"""


def parser() -> Parser:
    """Return what reads the command line, but for the race's, which reads its own."""
    top = Parser(prog="gpu-verify", description=_ABOUT, epilog=f"{_START}\n\n{EXIT_STATUS}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    take.add(commands)
    doctor.add(commands)
    commands.add_parser(
        "race",
        help="time CPU against GPU here (options: gpu-verify race --help); race compare A B: two races",
        add_help=False,
    )
    advise.add(commands)
    evidence.add(commands)
    again.add(commands)
    compatibility.add(commands)
    images.add(commands)
    offers.add(commands)
    return top


def _race(arguments: Sequence[str]) -> int:
    from verify.race.__main__ import main as race  # noqa: PLC0415  # it runs without the rest

    return int(race(list(arguments)))


def _run(arguments: Sequence[str]) -> int:
    if list(arguments[:2]) == ["race", "compare"]:
        from verify import compare  # noqa: PLC0415  # not loaded by the other commands

        return compare.main(arguments[2:])
    if arguments and arguments[0] == "race":  # the race has its own parser: it runs without this package too
        return _race(arguments[1:])
    options = parser().parse_args(arguments)
    run: Run = options.run
    return run(options)


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
    with contextlib.suppress(OSError):  # nobody to tell: the status stays
        print(f"gpu-verify: {plain(sentence)}", file=sys.stderr, flush=True)
    return status


def entry() -> None:
    """Leave the process with the exit status of ``main``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what a terminal cannot show is no error of the machine's
    status = main()
    if status == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C on the way out prints no trace
    sys.exit(status)


if __name__ == "__main__":
    entry()
