"""Whether a card's figure can be true: held against what it can calculate and what its memory can carry.

A clock that stops before the card has finished gives figures that no card can have; they are refused, not
admired. What a limit does not refuse is not thereby confirmed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race.phrases import significant
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CUDA = "cuda"

# Over the table's peak at the clock that was seen: the sampler may miss the highest clock of a short lane,
# and NVIDIA's tables count tensor cores at another boost clock than the rest (H100: 1830 and 1980 MHz).
ALLOWANCE = 1.10
# Where no clock was seen: GeForce cards run up to a sixth above the boost clock that is written on the box.
ALLOWANCE_UNSEEN = 1.25
_GIGA, _TERA, _MIB = 1e9, 1e12, 2**20


def judge(lane: Mapping[str, Any], peak: Mapping[str, Any] | None) -> tuple[Message | None, list[Message]]:
    """Return why a lane's figure is impossible, None where it is not; and what else to say of it.

    The fastest repeat is judged: one that cannot be true throws doubt on the clock, and so on all of them.
    No peak, no count of the work, or a precision that the table has no figure for: no judgement. Bytes above
    what the memory carries are a note where the working set fits the L2 cache, and without judgement where
    the size of either is not known. ``work`` must not count more than is done: an algorithm that multiplies
    less than the textbook's (Winograd's, for convolutions) would be taken for an impossible card.
    """
    samples = [float(seconds) for seconds in lane.get("samples") or ()]
    work = lane.get("work") or {}
    if not peak or not samples or lane.get("device") != CUDA:
        return None, []
    fastest = min(samples)
    if fastest <= 0:
        return message("no-time"), []
    limit = tflops_peak(lane.get("precision"), peak)
    if limit is not None and work.get("flops"):
        tflops = work["flops"] / fastest / _TERA
        if tflops > limit * allowance(lane, peak):
            found = message(
                "over-peak", tflops=significant(tflops, 3), peak_tflops=limit, precision=lane["precision"]
            )
            return found, []
    return _memory(work, fastest, peak)


def tflops_peak(precision: str | None, peak: Mapping[str, Any]) -> float | None:
    """Return a precision's peak in TFLOPS; None where the table does not say."""
    value = peak.get(f"{precision}_tflops") if precision else None
    return None if value is None else float(value)


def allowance(lane: Mapping[str, Any], peak: Mapping[str, Any]) -> float:
    """Return how far above the table's arithmetic peak a figure may lie: peaks grow with the clock."""
    boost, seen = peak.get("boost_mhz"), _highest_clock((lane.get("usage") or {}).get("clock_mhz"))
    if not boost or not seen:
        return ALLOWANCE_UNSEEN
    return ALLOWANCE * max(1.0, seen / float(boost))


def in_cache(work: Mapping[str, Any], peak: Mapping[str, Any]) -> bool | None:
    """Whether the working set fits the card's L2 cache; None where the size of either is not known."""
    working_set, l2_mib = work.get("working_set_bytes"), peak.get("l2_mib")
    if working_set is None or l2_mib is None:
        return None
    return bool(working_set <= float(l2_mib) * _MIB)


def memory_limit(work: Mapping[str, Any], peak: Mapping[str, Any]) -> float | None:
    """Return the bandwidth in GB/s that a work may be held against: None unless it is known to need it.

    What lies in the cache does not; what may lie in it, nobody knows.
    """
    limit = peak.get("memory_gbs")
    return float(limit) if limit and in_cache(work, peak) is False else None


def _highest_clock(clocks: Sequence[float | None] | None) -> float | None:
    return max((float(clock) for clock in clocks or () if clock), default=None)


def _memory(
    work: Mapping[str, Any], fastest: float, peak: Mapping[str, Any]
) -> tuple[Message | None, list[Message]]:
    carried, limit = work.get("bytes"), peak.get("memory_gbs")
    if not carried or not limit:
        return None, []
    gbs = carried / fastest / _GIGA
    if gbs <= float(limit) * ALLOWANCE:
        return None, []
    cached = in_cache(work, peak)
    if cached is None:
        return None, []
    if cached:
        return None, [message("cache-bound", gbs=gbs, peak_gbs=float(limit))]
    return message("over-bandwidth", gbs=gbs, peak_gbs=float(limit)), []
