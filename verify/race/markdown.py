"""race.md: the race as a table, from race.json alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race.lanes import RAN
from verify.race.sentence import seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD = ("contestant", "lane", "median", "fastest to slowest", "first call", "transfer", "quality")
DASH = "-"


def markdown(race: Mapping[str, Any]) -> str:
    """Return race.md."""
    host = f"{race['host']} (simulated card)" if race["simulated"] else race["host"]
    lines = [f"# The race on {host}", "", race["sentence"], "", _row(HEAD), _row(["---"] * len(HEAD))]
    for contestant in race["contestants"]:
        lines += [_row(_cells(contestant, lane)) for lane in contestant["lanes"]]
    lines.append("")
    warnings = [
        f"- {contestant['name']}, lane {lane['name']}: {warning}"
        for contestant in race["contestants"]
        for lane in contestant["lanes"]
        for warning in lane["warnings"]
    ]
    lines += ["Warnings:", *warnings, ""] if warnings else []
    return "\n".join([*lines, *_conditions(race), ""])


def _cells(contestant: Mapping[str, Any], lane: Mapping[str, Any]) -> list[str]:
    names = [contestant["name"], f"{lane['name']} ({lane['library']})"]
    if lane["status"] != RAN:
        return [*names, f"{lane['status']}: {lane['reason']}", *[DASH] * (len(HEAD) - len(names) - 1)]
    low, high = lane["interval"]
    quality = ", ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in lane["quality"].items())
    first = seconds(lane["warmups"][0]) if lane["warmups"] else DASH
    transfer = DASH if lane["transfer"] is None else seconds(lane["transfer"])
    return [*names, seconds(lane["median"]), f"{seconds(low)} to {seconds(high)}", first, transfer, quality]


def _row(cells: Any) -> str:  # noqa: ANN401  # any sequence of strings
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _conditions(race: Mapping[str, Any]) -> list[str]:
    cpu, card = race["cpu"], race["card"]
    settings = race["settings"]
    versions = ", ".join(f"{name} {value}" for name, value in race["versions"].items() if value is not None)
    shown = f"{card['name']}, driver {card['driver']}" if card else "none seen"
    image = race["image_digest"] or "not in an image"
    cores = cpu["usable_cores"] or cpu["cores"]
    counted = f"{settings['repeats']} repeats after {settings['warmups']} warm-up"
    quick = ", quick" if settings["quick"] else ""
    return [
        f"- CPU: {cpu['model']}, {cores} cores, torch threads: {cpu['threads'] or DASH}",
        f"- card: {shown}",
        f"- versions: {versions}",
        f"- image: {image}",
        f"- {counted}{quick}, the device synchronised before the clock starts and before it stops",
        f"- taken {race['taken_at']}",
    ]
