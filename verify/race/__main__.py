"""``python -m verify.race``: run the race and write race.json, race.md, race.svg and race.html."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.race import leaving, libraries, options, table, whole, written
from verify.race.budget import Budget
from verify.race.finite import dumps, finite
from verify.race.fraud import look
from verify.race.fraud_raw import Refused
from verify.race.markdown import markdown
from verify.race.options import STDOUT, USAGE, UsageError
from verify.race.outcome import FAILED, INVALID, RAN
from verify.race.page import page as race_html
from verify.race.progress import Progress
from verify.race.svg import svg
from verify.race.words import message, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import TextIO

    from verify.race.settings import Settings

OK, FINDINGS, INTERNAL, INTERRUPTED = 0, 1, 3, 130
BROKEN_PIPE = 141  # as the shell counts SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the race; return the exit status."""
    try:
        with leaving.as_interrupt():
            return _main(argv)
    except UsageError as error:
        return _sorry(str(error), USAGE)
    except KeyboardInterrupt:
        return _sorry("interrupted; nothing was written", INTERRUPTED)
    except Exception:  # noqa: BLE001  # whatever it is, it is ours: say so, with the trace
        return _sorry(
            f"{traceback.format_exc()}this is an error in the race itself, please report it", INTERNAL
        )
    finally:
        _settle()


def entry() -> None:
    """Leave the process with the exit status of ``main``; what nobody reads goes nowhere."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file to be opened would stand in its place
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what a terminal cannot show is no error of the machine's
    sys.exit(main())


def _main(argv: Sequence[str] | None) -> int:
    if sys.stderr is None:
        sys.stderr = _nowhere()
    try:
        given = options.parse(argv)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else USAGE
    settings, prices, out = options.settings(given), options.prices(given), given.out
    written.refuse(out)
    race = finite(run(given, settings, prices))
    document = dumps(race)
    statuses = [lane["status"] for contestant in race["contestants"] for lane in contestant["lanes"]]
    status = FINDINGS if {FAILED, INVALID} & set(statuses) or RAN not in statuses else OK
    if out == STDOUT:
        return _printed(document, status)
    files = {
        "race.json": document,
        "race.md": markdown(race, given.lang),
        "race.svg": svg(race, given.lang),
        "race.html": race_html(race, given.lang),
    }
    try:
        written.write(Path(out), files)
    except OSError as error:
        _sorry(f"{out} cannot be written to ({error.strerror or error}): printing race.json instead", USAGE)
        _printed(document, status)
        return USAGE
    names = ", ".join(str(Path(out) / name) for name in files)
    _sorry(text(message("written", files=names), given.lang), status)
    return _told(table.text(race, given.lang, shutil.get_terminal_size((100, 24)).columns), status)


def _printed(document: str, status: int) -> int:
    """Print race.json; where it cannot be, it is kept elsewhere: minutes were spent on it."""
    try:
        written.show(document)
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        kept = written.keep(document)
        where = f"it is kept in {kept}" if kept else "and it could be kept nowhere"
        return _sorry(
            f"race.json cannot be printed ({error.strerror or error}), {where}: give --out DIR", USAGE
        )
    return status


def _told(said: str, status: int) -> int:
    """Print the table: the files are written, so whatever stops it loses nothing."""
    try:
        print(said, end="", flush=True)
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        return _sorry(f"the table cannot be printed ({error.strerror or error}): see race.md", USAGE)
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _sorry(said: str, status: int) -> int:
    with contextlib.suppress(OSError):  # nobody to tell: the status stays
        print(said, file=sys.stderr, flush=True)
    return status


def _settle() -> None:
    """Leave no output that Python would fail to write on its way out."""
    for name in ("stdout", "stderr"):
        try:
            if getattr(sys, name) is not None:
                getattr(sys, name).flush()
        except OSError:
            setattr(sys, name, _nowhere())


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def run(given: argparse.Namespace, settings: Settings, prices: dict[str, Any] | None) -> dict[str, Any]:
    """Run the race that the options ask for; its budget counts from here, the libraries' import included."""
    budget = Budget(settings.budget_s)
    progress = Progress(sys.stderr, budget, given.lang)
    try:
        progress.said(text(message("importing"), given.lang))
        found = libraries.load()
        if "numpy" in found:
            settings = _with_table(settings, found)
        race = whole.run(
            settings, found, budget, progress,
            host=given.host, image_digest=given.image_digest, prices=prices,
            others=given.others, lang=given.lang,
        )  # fmt: skip
        progress.said(text(message("took", seconds=budget.elapsed()), given.lang))
    finally:
        progress.close()
    return race


def _with_table(settings: Settings, found: libraries.Libraries) -> Settings:
    """Return the settings with what the user's table is, before minutes are spent on what cannot be read."""
    try:
        return look(settings, found["numpy"])
    except Refused as error:
        raise UsageError(str(error)) from None


if __name__ == "__main__":
    entry()
