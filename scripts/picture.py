"""Draw the README's picture: the table that ``make site`` ends with, from evidence that a run has left."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich.console import Console

from verify.report.evidence import write
from verify.report.terminal import print_fleet

WIDTH = 120


def main(evidence: str, picture: str) -> int:
    """``picture.py EVIDENCE-FOLDER FILE.svg``."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False)
    print_fleet(write(Path(evidence)), console)
    # Without an id of its own rich names the styles at random: the file would never be the same twice.
    text = console.export_svg(title="make site", unique_id="site")
    Path(picture).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
