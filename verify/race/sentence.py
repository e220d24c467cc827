"""The one honest sentence, drawn from race.json's numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race.contestants import TITLES
from verify.race.lanes import RAN
from verify.race.libraries import CUDA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def sentence(race: Mapping[str, Any]) -> str:
    """Say what was measured; about the card only where it ran and found the same as the CPU."""
    contestants = race["contestants"]
    compared = [c for c in contestants if c["ratio"] is not None]
    measured = [c for c in contestants if _best_cpu(c)]
    parts = [_against(c) for c in compared]
    alone = [_cpu_alone(c) for c in measured if c not in compared]
    threads = race["cpu"].get("threads")
    on = f"on the CPU ({threads} thread{'' if threads == 1 else 's'})" if threads else "on the CPU"
    if alone:
        parts.append(f"{_join(alone)} {on}")
    if not parts:
        return f"Nothing was measured: {_reasons(contestants)}."
    text = _join(parts) if len(parts) == 1 or not compared else "; ".join(parts)
    if len(compared) < len(contestants):
        text += (
            f"; about {'a' if not compared else 'the'} card nothing more is said"
            if compared
            else ("; about a card nothing is said")
        )
        text += f", because {_why_no_card(c for c in contestants if c['ratio'] is None)}"
    return f"{text[0].upper()}{text[1:]}."


def seconds(value: float) -> str:
    """Return seconds with three digits that mean something."""
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"


def _against(contestant: Mapping[str, Any]) -> str:
    card = next(lane for lane in _ran(contestant) if lane["device"] == CUDA)
    cpu = next(lane for lane in _ran(contestant) if lane["name"] == contestant["ratio_against"])
    low, high = contestant["ratio_interval"]
    times = f"{seconds(card['median'])} against {seconds(cpu['median'])}"
    title = TITLES.get(contestant["name"], contestant["name"])
    if low <= 1 <= high:
        return f"for the {title} card and CPU cannot be told apart ({times})"
    if low > 1:
        return f"the card trains the {title} {contestant['ratio']:.2g} times as fast as the CPU ({times})"
    return f"the CPU trains the {title} {1 / contestant['ratio']:.2g} times as fast as the card ({times})"


def _cpu_alone(contestant: Mapping[str, Any]) -> str:
    lane = _best_cpu(contestant)
    title = TITLES.get(contestant["name"], contestant["name"])
    return f"the {title} takes {seconds(lane['median'])}" if lane else ""


def _ran(contestant: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [lane for lane in contestant["lanes"] if lane["status"] == RAN]


def _best_cpu(contestant: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return min((x for x in _ran(contestant) if x["device"] != CUDA), key=lambda x: x["median"], default=None)


def _why_no_card(contestants: Any) -> str:  # noqa: ANN401  # an iterable of JSON objects
    reasons: list[str] = []
    for contestant in contestants:
        for lane in contestant["lanes"]:
            if lane["device"] == CUDA:
                reasons += [lane["reason"]] if lane["reason"] else lane["warnings"]
    return _join(list(dict.fromkeys(reasons))) or "there was nothing to compare it with"


def _reasons(contestants: Sequence[Mapping[str, Any]]) -> str:
    found = [lane["reason"] for c in contestants for lane in c["lanes"] if lane["reason"]]
    return _join(list(dict.fromkeys(found))) or "no lane ran"


def _join(parts: Sequence[str]) -> str:
    return (
        " and ".join(parts)
        if len(parts) < len(("a", "b", "c"))
        else f"{', '.join(parts[:-1])} and {parts[-1]}"
    )
