"""Compare the lanes of a contestant: their results first, and only then their times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race import stats
from verify.race.guard import judge as possible
from verify.race.libraries import CPU, CUDA, DISTRIBUTIONS
from verify.race.outcome import INVALID, RAN, Outcome
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.contestants import Contestant
    from verify.race.settings import Settings


def judge(
    contestant: Contestant,
    outcomes: Sequence[Outcome],
    settings: Settings,
    *,
    peak: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the contestant as race.json has it: its lanes, and the best CPU time over the best of the card.

    A card's time is its total, the copies included, as a user waits for it. No ratio without both, none where
    the lanes found different things (a fast wrong answer has no speed), none from an impossible figure, none
    from fewer than the least repeats: ``ratio_reason`` says why.
    """
    ran = [o for o in outcomes if o.status == RAN]
    doubts = _doubts(contestant, ran, settings)
    lanes = [_document(o, doubts.get(o.lane.name), peak) for o in outcomes]
    valid = {lane["name"] for lane in lanes if lane["status"] == RAN} - set(doubts)
    fair = [o for o in ran if o.lane.counts and o.lane.name in valid]
    cpu, card = (
        min((o for o in fair if (o.lane.device == CUDA) is on_card), key=_total, default=None)
        for on_card in (False, True)
    )
    reason = _no_ratio(cpu, card, settings.least)
    ratio = None if reason or not cpu or not card else _ratio(cpu, card)
    return {
        "name": contestant.name,
        "lanes": lanes,
        "ratio": ratio and ratio["ratio"],
        "ratio_interval": ratio and ratio["ratio_interval"],
        "ratio_confidence": ratio and ratio["ratio_confidence"],
        "ratio_reason": reason,
        "ratio_against": cpu.lane.name if ratio and cpu else None,
        "ratio_card": card.lane.name if ratio and card else None,
        "mixed": _mixed(card, [o for o in ran if o.lane.name in valid], settings.least),
        "training": training and dict(training),
    }


def _no_ratio(cpu: Outcome | None, card: Outcome | None, least: int) -> Message | None:
    """Return why there is no ratio; None where there is one."""
    for outcome, device in ((cpu, CPU), (card, CUDA)):
        if outcome is None:
            return message("ratio-one-sided", device=device)
    for outcome in (cpu, card):
        if outcome and len(outcome.samples) < least:
            count = len(outcome.samples)
            return message("ratio-few-samples", lane=outcome.lane.name, count=count, least=least)
    return None


def _ratio(slow: Outcome, fast: Outcome) -> dict[str, Any]:
    """Return how many times as fast the second is, copies included, and its interval with its confidence."""
    over = _whole(slow)
    low, high, confidence = stats.quotient(over, fast.intervals)
    return {
        "ratio": _total(slow) / _total(fast),
        "ratio_interval": [low, high],
        "ratio_confidence": confidence,
    }


def _whole(outcome: Outcome) -> tuple[float, float, float]:
    """Return the interval of a lane's total."""
    parts = outcome.intervals
    low, high = (sum(part[end] for part in parts) for end in (0, 1))
    return low, high, stats.joint(*(part[2] for part in parts))


def _mixed(card: Outcome | None, valid: Sequence[Outcome], least: int) -> dict[str, Any] | None:
    """Return what mixed precision gains over the card's own lane: beside the ratio, never in it."""
    for outcome in valid:
        apart = not outcome.lane.counts and outcome.lane.device == CUDA
        if card and apart and outcome.lane.library == card.lane.library:
            names = {"lane": outcome.lane.name, "against": card.lane.name}
            few = min(len(card.samples), len(outcome.samples)) < least
            return None if few else {**names, **_ratio(card, outcome)}
    return None


def _doubts(contestant: Contestant, ran: Sequence[Outcome], settings: Settings) -> dict[str, Message]:
    """Return, by lane, why its result has no speed; the first lane without a doubt is the measure."""
    found: dict[str, Message] = {}
    measure: Outcome | None = None
    for outcome in ran:
        said = contestant.doubt(outcome.quality, settings) if contestant.doubt else None
        if said is None and measure is not None:
            differs = contestant.disagreement(measure.quality, outcome.quality)
            said = differs and {**differs, "lane": measure.lane.name}
        if said is not None:
            found[outcome.lane.name] = said
        elif measure is None:
            measure = outcome
    return found


def _document(outcome: Outcome, doubt: Message | None, peak: Mapping[str, Any] | None) -> dict[str, Any]:
    library = DISTRIBUTIONS.get(outcome.lane.library, outcome.lane.library)
    lane = outcome.document(library, () if doubt is None else (doubt,))
    if outcome.status != RAN:
        return lane
    reason, notes = possible(lane, peak)
    lane["warnings"] += notes
    return lane if reason is None else {**lane, "status": INVALID, "reason": reason}


def _total(outcome: Outcome) -> float:
    return outcome.total or 0.0
