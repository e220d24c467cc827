"""What the race ran on, and how a card felt about it: lines below the tables."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from verify.race.phrases import duration
from verify.race.words import Message, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping

SHOWN_OF_DIGEST = 12


def conditions(race: Mapping[str, Any], lang: str) -> list[str]:
    """Return the machine, the versions and the budget: all without which the figures mean nothing."""
    lines = [_joined(_cpu(race["cpu"]), lang), _joined(_card(race.get("card")), lang)]
    versions = ", ".join(f"{name} {value}" for name, value in race["versions"].items() if value is not None)
    lines.append(text(message("race-versions", versions=versions), lang))
    digest = race.get("image_digest")
    image = message("race-image", digest=digest) if digest else message("race-image-none")
    lines.append(text(image, lang))
    if (race.get("settings") or {}).get("quick"):
        lines.append(text(message("race-quick"), lang))
    lines += [text(said, lang) for said in _own_table(race)]
    return [*lines, text(_taken(race), lang)]


def _own_table(race: Mapping[str, Any]) -> list[Message]:
    """Return what the regression learned from, where it was the user's own table."""
    data = ((race.get("settings") or {}).get("fraud") or {}).get("data")
    if not data or data.get("rows") is None:
        return []
    named = {key: data.get(key) for key in ("target", "rows", "columns", "positives", "positive")}
    digest = str(data.get("sha256"))[:SHOWN_OF_DIGEST]
    found = [message("race-own-table", file=PurePath(data["file"]).name, sha256=digest, **named)]
    if data.get("dropped"):
        found.append(message("race-own-dropped", columns=list(data["dropped"])))
    return found


def usage_line(lane: Mapping[str, Any], lang: str) -> str:
    """Return what the sampler saw of a card during a lane; empty where it saw nothing."""
    usage = lane.get("usage") or {}
    parts: list[Message] = []
    busy = usage.get("utilisation")
    if busy and busy.get("median") is not None:
        parts.append(message("share-busy", share=busy["median"] / 100))
    for name, key, value in (
        ("race-memory", "mib", usage.get("memory_mib_max")),
        ("race-power", "watts", usage.get("power_w_mean")),
        ("race-energy", "joules", usage.get("energy_j")),
        ("race-temperature", "celsius", usage.get("temperature_c_max")),
        ("race-sampler", "share", usage.get("cost_share")),
    ):
        if value is not None:
            parts.append(message(name, **{key: value}))
    clock = usage.get("clock_mhz")
    if clock and None not in clock:
        parts.insert(1, message("race-clock", low=clock[0], high=clock[1]))
    return _joined(parts, lang)


def _cpu(cpu: Mapping[str, Any]) -> list[Message]:
    usable = cpu.get("usable_cores") or cpu.get("cores")
    found = [message("race-cpu", model=cpu["model"], usable=usable, cores=cpu.get("cores"))]
    if cpu.get("quota_cores") is not None:
        found.append(message("race-quota", cores=cpu["quota_cores"]))
    if cpu.get("threads"):
        found.append(message("race-threads", threads=cpu["threads"]))
    if cpu.get("load_1m") is not None:
        found.append(message("race-load", load=cpu["load_1m"]))
    return found


def _card(card: Mapping[str, Any] | None) -> list[Message]:
    if not card:
        return [message("race-card-none")]
    found = [message("race-card", model=card["name"], driver=card.get("driver"))]
    for name, key, value in (
        ("race-card-memory", "mib", card.get("memory_mib")),
        ("race-card-capability", "capability", card.get("compute_capability")),
        ("race-card-power", "watts", card.get("power_limit_w")),
    ):
        if value is not None:
            found.append(message(name, **{key: value}))
    if card.get("wake_s") is not None:
        found.append(message("race-card-wake", time=duration(card["wake_s"])))
    peak = card.get("peak") or {}
    if peak.get("float32_tflops") is not None:
        values = {"tflops": peak["float32_tflops"], "source": peak.get("source")}
        found.append(message("race-card-peak", precision="float32", **values))
    return found


def _taken(race: Mapping[str, Any]) -> Message:
    elapsed, budget = race.get("elapsed_s"), race.get("budget_s")
    if elapsed is None or budget is None:
        return message("race-taken-only", taken_at=race["taken_at"])
    times = {"elapsed": duration(elapsed), "budget": duration(budget)}
    return message("race-taken", taken_at=race["taken_at"], **times)


def _joined(parts: list[Message], lang: str) -> str:
    return ", ".join(text(part, lang) for part in parts)
