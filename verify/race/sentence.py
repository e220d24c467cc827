"""The one honest sentence, drawn from race.json's numbers alone, in the language that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race.phrases import capital, duration, joined, sentences, shown, significant, title
from verify.race.price import waited
from verify.race.shares import interval_of, lane_of
from verify.race.why import WRONG, reasons
from verify.race.words import Message, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RAN = "ran"
CUDA = "cuda"


def sentence(race: Mapping[str, Any], lang: str = "en") -> str:
    """Say what was measured and what explains it; of the card only where it ran, and found the same."""
    contestants = race["contestants"]
    compared = [c for c in contestants if c.get("ratio") is not None]
    alone = [c for c in contestants if c not in compared and best_cpu(c)]
    why = reasons(race)
    parts = [_explained(c, why[c["name"]], lang) for c in compared]
    if alone:
        parts.append(_alone(alone, race.get("cpu") or {}, lang))
    if not parts:
        return f"{text(message('nothing-measured', why=_reasons(contestants, lang)), lang)}."
    missing = [c for c in contestants if c not in compared]
    if missing:
        name = "no-more-of-card" if compared else "nothing-of-card"
        parts.append(text(message(name, why=_why_no_card(missing, lang)), lang))
    return f"{capital(sentences(parts, lang))}."


def seconds(value: float, lang: str = "en") -> str:
    """Return a time in the unit in which a person would say it."""
    return text(duration(value), lang)


def clause(contestant: Mapping[str, Any]) -> Message | None:
    """Say who won a contestant, and by how much; None where no card was compared."""
    cpu = lane_of(contestant, contestant.get("ratio_against"))
    card = lane_of(contestant, contestant.get("ratio_card"))
    ratio = contestant.get("ratio")
    if ratio is None or cpu is None or card is None:
        return None
    values = {
        "title": title(contestant["name"]),
        "card": duration(waited(card)),
        "cpu": duration(waited(cpu)),
    }
    found = interval_of(contestant)
    if found is None:
        return message("clause-unsure", **values)
    low, high = found
    if low <= 1 <= high:
        return message("clause-even", **values)
    if low > 1:
        return message("clause-won", times=significant(ratio), **values)
    return message("clause-lost", times=significant(1 / ratio), **values)


def best_cpu(contestant: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the fastest lane on the CPU that ran and found what was asked for; None where none did."""
    ran = (x for x in contestant["lanes"] if x["status"] == RAN and x["device"] != CUDA and not wrong(x))
    return min(ran, key=lambda lane: float(lane["median"]), default=None)


def no_card(contestant: Mapping[str, Any]) -> list[Message]:
    """Return why a contestant was not compared on the card: what its first card lane said."""
    lane = next((x for x in contestant["lanes"] if x["device"] == CUDA and x.get("counts", True)), None)
    if lane is None:
        return []
    if lane["reason"]:
        return [lane["reason"]]
    on_cpu = [w for x in contestant["lanes"] if x["device"] != CUDA for w in wrong(x)]
    told = contestant.get("ratio_reason")
    return wrong(lane) or on_cpu or ([told] if told else [])


def wrong(lane: Mapping[str, Any]) -> list[Message]:
    """Return why a lane's result is not the one asked for."""
    return [w for w in lane["warnings"] if isinstance(w, dict) and w.get("id") in WRONG]


def _explained(contestant: Mapping[str, Any], why: Sequence[Message], lang: str) -> str:
    """Say the result with what is most telling of it: what repeats it in other words is left out."""
    said = text(clause(contestant) or {}, lang)
    first = next(
        (reason for reason in why if reason["id"] not in {"not-significant", "gpu-lost", "no-interval"}), None
    )
    return f"{said}{text(message('colon'), lang)}{text(first, lang)}" if first else said


def _alone(contestants: Sequence[Mapping[str, Any]], cpu: Mapping[str, Any], lang: str) -> str:
    said = []
    for contestant in contestants:
        lane = best_cpu(contestant)
        if lane:
            time = duration(float(lane["median"]))
            said.append(text(message("takes", title=title(contestant["name"]), time=time), lang))
    threads = cpu.get("threads")
    what = joined(said, lang)
    if not threads:
        return text(message("on-cpu", what=what), lang)
    return text(message("on-cpu-threads", what=what, threads=threads), lang)


def _why_no_card(contestants: Sequence[Mapping[str, Any]], lang: str) -> str:
    said = [shown(reason, lang) for contestant in contestants for reason in no_card(contestant)]
    return joined(list(dict.fromkeys(said)), lang) or text(message("nothing-to-compare"), lang)


def _reasons(contestants: Sequence[Mapping[str, Any]], lang: str) -> str:
    found = [shown(x["reason"], lang) for c in contestants for x in c["lanes"] if x["reason"]]
    return joined(list(dict.fromkeys(found)), lang) or text(message("no-lane-ran"), lang)
