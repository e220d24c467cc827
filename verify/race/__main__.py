"""``python -m verify.race``: run the race and write race.json, race.md, race.svg and race.html."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.race import libraries, options, table, whole
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

    from verify.race.settings import Settings

OK, FINDINGS, INTERNAL, INTERRUPTED = 0, 1, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the race; return the exit status."""
    try:
        return _main(argv)
    except UsageError as error:
        print(error, file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED


def _main(argv: Sequence[str] | None) -> int:
    try:
        given = options.parse(argv)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else USAGE
    settings, prices, out = options.settings(given), options.prices(given), given.out
    if out != STDOUT:
        _refuse(Path(out))
    race = finite(run(given, settings, prices))
    document = dumps(race)
    if out == STDOUT:
        print(document, end="")
    else:
        files = {
            "race.json": document,
            "race.md": markdown(race, given.lang),
            "race.svg": svg(race, given.lang),
        }
        files["race.html"] = race_html(race, given.lang)
        _write(Path(out), files)
        print(table.text(race, given.lang, shutil.get_terminal_size((100, 24)).columns), end="")
        written = ", ".join(str(Path(out) / name) for name in files)
        print(text(message("written", files=written), given.lang), file=sys.stderr)
    statuses = [lane["status"] for contestant in race["contestants"] for lane in contestant["lanes"]]
    return FINDINGS if {FAILED, INVALID} & set(statuses) or RAN not in statuses else OK


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


def _refuse(folder: Path) -> None:
    """Refuse where nothing could be written, before minutes are spent on what could not be kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written to ({error.strerror}): give another --out, or print with --out -"
        ) from None


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write each file whole or not at all."""
    for name, content in files.items():
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(content)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(folder / name)
        except BaseException:
            Path(temporary).unlink()
            raise


if __name__ == "__main__":
    sys.exit(main())
