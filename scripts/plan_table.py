"""The table of `make plan`: what would change on each host, from what the dry run kept (plugins/callback)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from verify.console import console
from verify.text import plain

Hosts = dict[str, dict[str, Any]]
CHANGES = "would change"
NO_PYTHON = "There is no Python on this host yet: `make site` installs it, and nothing can be seen before."


def verdict(entry: dict[str, Any]) -> tuple[str, str]:
    """Return one word on a host, and its sentence where it needs one."""
    plan = entry["plan"] or {}
    if entry["unreachable"]:
        return "not reached", entry["unreachable"]
    if plan.get("refusals"):
        return "refused", " ".join(plan["refusals"])
    if entry["failed"]:
        return "would fail", f"{entry['failed'][0]}: {entry['failed'][1]}"
    if not plan:
        return "no Python", NO_PYTHON
    return (CHANGES, "") if entry["changes"] else ("stays as it is", "")


def one_line(text: str) -> str:
    return " ".join(plain(text.replace("Task failed: ", "")).split())


def table(hosts: Hosts) -> Table:
    """Return one row a layer of each host that could be looked at, one row for each that could not."""
    made = Table(title="What `make site` would do", title_justify="left")
    for heading in ("host", "layer", "now", "will be", "restart, reboot"):
        made.add_column(heading, overflow="fold")
    for name, entry in sorted(hosts.items()):
        word, said = verdict(entry)
        first = Text(plain(f"{name}\n{word}"), style="green" if word == "stays as it is" else "yellow")
        if said:
            first.stylize("bold red" if word != "no Python" else "yellow")
            made.add_row(first, "", Text(one_line(said)), "", "", end_section=True)
            continue
        lines = entry["plan"]["lines"]
        for number, (layer, now, will, then) in enumerate(lines):
            last = number == len(lines) - 1
            cells = [Text(plain(str(cell))) for cell in (layer, now, will, then)]
            cells[3].stylize("bold yellow")
            made.add_row(first if number == 0 else "", *cells, end_section=last)
    return made


def summary(hosts: Hosts) -> list[str]:
    """Return the sentences below the table."""
    said = []
    for name, entry in sorted(hosts.items()):
        plan = entry["plan"] or {}
        said += [f"{name}: {note}" for note in plan.get("warnings") or []]
        said += [f"{name}: `make site` would wait for {what}." for what in plan.get("waits") or []]
        if plan.get("stops"):
            said.append(f"{name}: Docker's restart would stop {', '.join(plan['stops'])}.")
        if verdict(entry)[0] == CHANGES:
            roles = [task.partition(" : ")[0] for task in entry["changes"]]
            counted = ", ".join(f"{role} {roles.count(role)}" for role in dict.fromkeys(roles))
            said.append(f"{name}: {len(roles)} tasks would change something ({counted}).")
    words = [verdict(entry)[0] for entry in hosts.values()]
    counted = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    return [*said, f"{len(words)} host{'' if len(words) == 1 else 's'}: {counted}. Nothing was changed."]


def main(argv: list[str], out: Console | None = None) -> int:
    """Print the table of a file."""
    path = Path(argv[0])
    try:
        hosts: Hosts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        hosts = {}
    if not hosts:
        print("error: the dry run said nothing of any host; its log says why.", file=sys.stderr)
        return 1
    out = out or console()
    out.print(table(hosts))
    for line in summary(hosts):
        out.print(Text(plain(line)))
    failed = {"not reached", "refused", "would fail"}
    return 1 if failed & {verdict(entry)[0] for entry in hosts.values()} else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
