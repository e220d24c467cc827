"""What evidence/index.html of many hosts weighs, and what it costs to draw and to open.

usage: fleet_page.py [HOSTS…]; 500 without any. The hosts are generated from tests/recordings: fifteen of
twenty healthy, one simulated, three broken, one gone; a second fleet has the longest nvidia-smi of the
recordings on every host. Opening is measured in headless Chromium, as a ratio against an empty page: the
median of several runs. The goal is a page under 5 MB; nothing fails where it is missed.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.unit.fleet.generated import RECORDINGS, write_fleet
from tests.unit.race import browser
from verify.report.evidence import nvidia_smi_text, write

GOAL_BYTES = 5_000_000
RUNS = 5
EMPTY = '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>empty</title><body></body></html>\n'
# The frame's load is part of the window's: what is between is reading, its script and its layout, no start.
_MEASURE = """<!doctype html><meta charset="utf-8"><body><script>const began = performance.now();</script>
<iframe width="1600" height="1000" src="{address}"></iframe><script>addEventListener("load", () => {{
document.body.innerHTML = "<pre>" + (performance.now() - began) + "</pre>"; }});</script>"""


def longest_smi() -> str:
    """Return the longest table of the recordings."""
    found = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(RECORDINGS.glob("*.json")))
    return max((nvidia_smi_text(document) or "" for document in found), key=len)


def lengthen(evidence: Path, text: str) -> None:
    """Give every host's container this table."""
    for path in evidence.glob("*/recording-container.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        document["commands"]["nvidia-smi"] = {"argv": ["nvidia-smi"], "rc": 0, "stdout": text}
        path.write_text(json.dumps(document), encoding="utf-8")


def draw(evidence: Path) -> tuple[int, float]:
    """Write the reports; return the page's size and the processor seconds of all that was written."""
    began = time.process_time()
    write(evidence)
    return (evidence / "index.html").stat().st_size, time.process_time() - began


def opened(chromium: str, folder: Path, page: Path) -> tuple[float, float]:
    """Return the milliseconds until it is loaded, and the seconds until a browser has drawn it and ended."""
    driver = folder / "driver.html"
    driver.write_text(_MEASURE.format(address=page.as_uri()), encoding="utf-8")
    loads, draws = [], []
    for _ in range(RUNS):
        shown = browser._run(chromium, folder, "--dump-dom", driver.as_uri())  # noqa: SLF001
        found = re.search(r"<pre>([0-9.]+)</pre>", shown)
        if found is None:
            raise SystemExit(f"error: {chromium} did not say when {page} was loaded: {shown[:200]}")
        loads.append(float(found.group(1)))
        began = time.perf_counter()
        picture = f"--screenshot={folder / 'page.png'}"
        browser._run(chromium, folder, "--window-size=1600,1000", picture, page.as_uri())  # noqa: SLF001
        draws.append(time.perf_counter() - began)
    return statistics.median(loads), statistics.median(draws)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("hosts", metavar="HOSTS", type=int, nargs="*")
    options = parser.parse_args()
    table = Table(title="evidence/index.html", title_justify="left")
    heads = (
        "page",
        "size",
        f"under {GOAL_BYTES / 1e6:g} MB",
        "all reports, CPU s",
        "loaded",
        "drawn, with the start",
    )
    for heading in heads:
        table.add_column(heading)
    chromium, text = browser.find(), longest_smi()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        empty = folder / "empty.html"
        empty.write_text(EMPTY, encoding="utf-8")
        none = opened(chromium, folder, empty) if chromium else None
        told = "" if none is None else f"{none[0]:.1f} ms"
        table.add_row("empty", f"{len(EMPTY)} B", "", "", told, "" if none is None else f"{none[1]:.2f} s")
        for number in options.hosts or [500]:
            evidence = write_fleet(folder / str(number), number)
            for kind in ("", f", nvidia-smi of {len(text)} B"):
                if kind:
                    lengthen(evidence, text)
                size, cpu = draw(evidence)
                row = [
                    f"{number} hosts{kind}",
                    f"{size / 1e6:.2f} MB",
                    "met" if size < GOAL_BYTES else "MISSED",
                ]
                row.append(f"{cpu:.1f}")
                if chromium and none:
                    load, drawn = opened(chromium, folder, evidence / "index.html")
                    row += [
                        f"{load:.0f} ms, {load / none[0]:.0f} times",
                        f"{drawn:.2f} s, {drawn / none[1]:.1f} times",
                    ]
                table.add_row(*row)
    out = Console(highlight=False, width=120)
    out.print(table)
    if chromium is None:
        out.print("no Chromium here, so nothing was opened: scripts/browser.sh installs it on Debian")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.SubprocessError as error:
        sys.exit(f"error: the browser failed: {error}")
