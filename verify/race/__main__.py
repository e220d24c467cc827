"""``python -m verify.race``: run the race and write race.json and race.md."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.race import SCHEMA, libraries, machine
from verify.race.contestants import CONTESTANTS
from verify.race.lanes import FAILED, RAN
from verify.race.markdown import markdown
from verify.race.running import judge, run_contestant
from verify.race.sentence import sentence
from verify.race.settings import Settings, settings_for

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, FINDINGS, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
STDOUT = "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the race; return the exit status."""
    try:
        return _main(argv)
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED


def _main(argv: Sequence[str] | None) -> int:
    arguments = _parse(argv)
    if isinstance(arguments, int):
        return arguments
    out = arguments.out
    if out != STDOUT:
        refused = _refuse(Path(out))
        if refused:
            print(refused, file=sys.stderr)
            return USAGE
    settings = settings_for(arguments.repeats, quick=arguments.quick)
    started = time.monotonic()
    race = run(settings, arguments.host, arguments.image_digest)
    _progress(f"the race took {time.monotonic() - started:.1f} s")
    text = json.dumps(race, indent=2, ensure_ascii=False) + "\n"
    if out == STDOUT:
        print(text, end="")
    else:
        _write(Path(out), {"race.json": text, "race.md": markdown(race)})
        print(markdown(race), end="")
        _progress(f"written: {Path(out) / 'race.json'}, {Path(out) / 'race.md'}")
    statuses = [lane["status"] for contestant in race["contestants"] for lane in contestant["lanes"]]
    return FINDINGS if FAILED in statuses or RAN not in statuses else OK


def run(settings: Settings, host: str, image_digest: str | None) -> dict[str, Any]:
    """Run every contestant and return the document."""
    _progress("importing numpy, torch and scikit-learn")
    found = libraries.load()
    race: dict[str, Any] = {
        "schema": SCHEMA,
        "host": host,
        "simulated": machine.simulated(),
        "image_digest": image_digest,
        "taken_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": machine.versions(found),
        "cpu": machine.cpu(found),
        "card": machine.card(),
        "settings": settings.document(),
    }
    race["contestants"] = [judge(c, run_contestant(c, settings, found, _progress)) for c in CONTESTANTS]
    race["sentence"] = sentence(race)
    return race


def _parse(argv: Sequence[str] | None) -> argparse.Namespace | int:
    parser = argparse.ArgumentParser(prog="python -m verify.race", description=__doc__)
    parser.add_argument(
        "--out", default=".", metavar="DIR|-", help="folder for race.json and race.md; - prints race.json"
    )
    parser.add_argument(
        "--repeats", type=int, default=5, metavar="N", help="timed repeats of each lane (default 5)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, to try it out; the numbers say little"
    )
    parser.add_argument(
        "--host", default="here", metavar="NAME", help="the name that the evidence gives this machine"
    )
    parser.add_argument("--image-digest", default=None, metavar="SHA256", help="the image this runs in")
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else USAGE
    if arguments.repeats < 1:
        print(
            f"--repeats {arguments.repeats}: a race needs at least 1 repeat, 5 for an interval",
            file=sys.stderr,
        )
        return USAGE
    return arguments


def _refuse(folder: Path) -> str | None:
    """Return why nothing could be written there, before minutes are spent on what could not be kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"{folder} cannot be written to ({error.strerror}): give another --out, or print with --out -"


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write each file whole or not at all."""
    for name, text in files.items():
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(folder / name)
        except BaseException:
            Path(temporary).unlink()
            raise


def _progress(text: str) -> None:
    print(f"race: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
