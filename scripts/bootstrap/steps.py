"""The table at the end of bootstrap.sh: seconds by step since its first start, and the money that they cost.

usage: python steps.py FILE [--price N] [--currency CUR] [--not-ready]

FILE has a line (time, a tab, a step's name) wherever a step began or went on. ``start`` begins a run and
``end`` ends it; what lies between a run that was killed and the next one counts as interrupted.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from pathlib import Path

NAMES = {
    "waiting": "waiting for locks",
    "setup": "set-up of Ansible",
    "look": "preflight",
    "storage": "storage",
    "packages": "packages at once",
    "driver": "driver",
    "engine": "engine",
    "toolkit": "toolkit and runtime",
    "image": "image",
    "sharing": "sharing",
    "verification": "verification",
    "race": "race",
    "workload": "workload",
    "interrupted": "interrupted",
}
# What came after the proof is no part of the time to ready.
AFTER = ("race", "workload")
START, END, INTERRUPTED = "start", "end", "interrupted"
SECONDS_PER_HOUR = 3600
SHOWN_S = 0.05
NUMBER = re.compile(r"\d+(\.\d+)?")


def read(text: str) -> list[tuple[float, str]]:
    """Return the events; a line that was cut off when a run was killed is left out."""
    found = []
    for line in text.splitlines():
        time, _, step = line.partition("\t")
        if step in (START, END, *NAMES) and NUMBER.fullmatch(time):
            found.append((float(time), step))
    return found


def durations(events: list[tuple[float, str]]) -> dict[str, float]:
    """Return seconds by step, summed over all runs, in the order in which the steps first ran."""
    total: dict[str, float] = {}
    for (begun, step), (next_begun, next_step) in itertools.pairwise(events):
        if step == END:
            step = INTERRUPTED  # noqa: PLW2901  # nothing runs between the end of a run and the next one
        elif next_step == START:
            # It was killed at some time after its last sign of life: when exactly nobody knows.
            step = INTERRUPTED  # noqa: PLW2901
        elif step == START:
            step = "look"  # noqa: PLW2901
        total[step] = total.get(step, 0.0) + max(0.0, next_begun - begun)
    return total


def table(events: list[tuple[float, str]], price: float | None, currency: str, *, proven: bool) -> list[str]:
    """Return the lines."""
    spent = durations(events)
    whole = sum(spent.values())
    ready = whole - sum(spent.get(step, 0.0) for step in AFTER)
    lines = [f"{'step':<24}{'seconds':>9}{'share':>8}"]
    # A step that had nothing to do, as the race where none was asked for, is no line.
    for step in sorted((step for step in spent if spent[step] >= SHOWN_S), key=list(NAMES).index):
        share = spent[step] / whole if whole else 0.0
        lines.append(f"{NAMES[step]:<24}{spent[step]:>9.1f}{share:>8.0%}")
    runs = sum(step == START for _, step in events)
    again = f", in {runs} runs" if runs > 1 else ""
    said = "from the first start to the proof" if proven else "and not ready yet"
    lines.append(f"{'time to ready' if proven else 'time so far':<24}{ready:>9.1f}{'':>8}  {said}{again}")
    if price is not None:
        cost = whole * price / SECONDS_PER_HOUR
        lines.append(
            f"cost so far: {cost:.4f} {currency}, which is {whole:.0f} s at {price:g} {currency} an hour"
        )
    return lines


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--price", type=float)
    parser.add_argument("--currency", default="EUR")
    parser.add_argument("--not-ready", action="store_true")
    options = parser.parse_args(argv)
    events = read(options.file.read_text(encoding="utf-8"))
    sys.stdout.write(
        "\n".join(table(events, options.price, options.currency, proven=not options.not_ready)) + "\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
