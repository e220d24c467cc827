"""Compare the lanes of a contestant: their results first, and only then their times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from verify.race import stats
from verify.race.guard import judge as possible
from verify.race.lanes import INVALID, RAN, Outcome
from verify.race.libraries import CUDA, DISTRIBUTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.contestants import Contestant
    from verify.race.settings import Settings
    from verify.race.words import Message


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
    the lanes found different things (a fast wrong answer has no speed), none from an impossible figure.
    """
    ran = [o for o in outcomes if o.status == RAN]
    doubts = _doubts(contestant, ran, settings)
    lanes = [_document(o, doubts.get(o.lane.name), peak) for o in outcomes]
    valid = {lane["name"] for lane in lanes if lane["status"] == RAN}
    fair = [o for o in ran if o.lane.counts and o.lane.name in valid and o.lane.name not in doubts]
    cpu, card = (
        min((o for o in fair if (o.lane.device == CUDA) is on_card), key=_total, default=None)
        for on_card in (False, True)
    )
    found: dict[str, Any] = {"ratio": None, "ratio_interval": None, "ratio_against": None, "ratio_card": None}
    if cpu and card:
        found = {
            "ratio": _total(cpu) / _total(card),
            "ratio_interval": _interval(cpu, card),
            "ratio_against": cpu.lane.name,
            "ratio_card": card.lane.name,
        }
    return {"name": contestant.name, "lanes": lanes, **found, "training": training and dict(training)}


def _interval(cpu: Outcome, card: Outcome) -> list[float] | None:
    """Return the ratio's interval; None where a single repeat stands for a side: that is no interval."""
    if min(len(cpu.samples), len(card.samples)) == 1:
        return None
    return list(stats.ratio_interval(cpu.samples, card.samples, card.copies))


def _doubts(contestant: Contestant, ran: Sequence[Outcome], settings: Settings) -> dict[str, Message]:
    """Return, by lane, why its result has no speed; the first lane without a doubt is the measure."""
    found: dict[str, Message] = {}
    measure: Optional[Outcome] = None  # noqa: UP045  # Python 3.9
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
