"""Why the result is what it is: what explains each contestant's ratio, by measurement, not by folklore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race.few_cores import few_cores
from verify.race.guard import tflops_peak
from verify.race.phrases import duration, significant
from verify.race.price import waited
from verify.race.shares import Shares, copy_seconds, interval_of, lane_of, percent, shares, sure
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping

# The card asleep, or busy: the share of the time in which at least one kernel ran, which is all NVML counts.
ASLEEP, BUSY = 0.30, 0.90
# Busy is not work: from this share of a peak on, of arithmetic or of memory, the card is called at work.
AT_WORK = 0.25
# A part of the time that is worth a sentence.
WORTH_SAYING = 0.25
# From this share of a peak on, it is the peak that limits.
AT_PEAK = HALF = 0.50
# float64 slower than float32 by at least this: a card made for pictures, not for double precision.
SLOW_FLOAT64 = 16
# Nobody waits for a training that takes less.
SOON_SECONDS = 1.0
# A card that is so many times as fast is worth having for whoever trains often, however short it is.
FAR_AHEAD = 3
# A result that is not the one asked for: its time is compared with nothing.
WRONG = frozenset({"differs", "differs-tf32", "accuracy-low", "not-reached", "no-optimum", "not-finite"})


def reasons(race: Mapping[str, Any]) -> dict[str, list[Message]]:
    """Return what explains each contestant's result, the most telling first; nothing without a ratio."""
    return {contestant["name"]: _reasons(contestant, race) for contestant in race["contestants"]}


def _reasons(contestant: Mapping[str, Any], race: Mapping[str, Any]) -> list[Message]:
    cpu = lane_of(contestant, contestant.get("ratio_against"))
    card = lane_of(contestant, contestant.get("ratio_card"))
    if contestant.get("ratio") is None or cpu is None or card is None:
        return []
    peak = (race.get("card") or {}).get("peak")
    share = shares(card, peak)
    found = [
        _even_or_lost(contestant),
        _before_woken(contestant, cpu, race.get("card") or {}),
        _asleep(share, contestant),
        _copy_bound(share, card),
        _flatters(race.get("cpu") or {}, cpu),
        _float64(card, peak),
        _launch_bound(share),
        _at_work(share),
        _at_peak(share, card),
        _mixed(contestant, card),
    ]
    return [reason for reason in found if reason is not None]


def _even_or_lost(contestant: Mapping[str, Any]) -> Message | None:
    ratio, found = contestant["ratio"], interval_of(contestant)
    if found is None:
        return message("no-interval")
    low, high = found
    if low <= 1 <= high:
        return message("not-significant", low=low, high=high, sure=sure(contestant))
    return message("gpu-lost", times=significant(1 / ratio)) if high < 1 else None


def _before_woken(
    contestant: Mapping[str, Any], cpu: Mapping[str, Any], card: Mapping[str, Any]
) -> Message | None:
    """Hold the CPU's whole training against the time that waking the card took, where that was measured.

    A lane's first call is no such time: it holds a whole training too. Not said of a card that is far ahead
    once it is awake: whoever trains often may want it.
    """
    woken, done = card.get("wake_s"), waited(cpu)
    if woken is None or done >= min(SOON_SECONDS, woken) or contestant["ratio"] >= FAR_AHEAD:
        return None
    name = "before-woken-fraud" if contestant["name"] == "fraud" else "before-woken"
    return message(name, cpu=duration(done), woken=duration(woken))


def _asleep(share: Shares, contestant: Mapping[str, Any]) -> Message | None:
    busy = share.kernels if share.busy is None else share.busy
    if busy is None or busy >= ASLEEP:
        return None
    training = contestant.get("training") or {}
    if training.get("batch"):
        return message("slept-batch", busy=busy, batch=training["batch"])
    if training.get("rows"):
        return message("slept-rows", busy=busy, rows=training["rows"])
    return message("slept", busy=busy)


def _copy_bound(share: Shares, card: Mapping[str, Any]) -> Message | None:
    copied = copy_seconds(card)
    if share.copy is None or copied is None:
        return None
    if copied > card["median"]:
        return message("copy-bound", copied=duration(copied), computed=duration(card["median"]))
    return message("copy-heavy", share=share.copy) if share.copy >= WORTH_SAYING else None


def _flatters(cpu: Mapping[str, Any], lane: Mapping[str, Any]) -> Message | None:
    """Go by the threads that the lane calculated with, where its library said so."""
    few = few_cores({**cpu, "threads": lane.get("threads") or cpu.get("threads")})
    return message("flatters", used=few[0], cores=few[1]) if few else None


def _float64(card: Mapping[str, Any], peak: Mapping[str, Any] | None) -> Message | None:
    single, double = (tflops_peak(name, peak or {}) for name in ("float32", "float64"))
    if card.get("precision") != "float64" or not single or not double or single / double < SLOW_FLOAT64:
        return None
    return message("float64-gaming", of=round(single / double))


def _launch_bound(share: Shares) -> Message | None:
    if share.launch is None or share.launch < WORTH_SAYING:
        return None
    return message(f"launch-bound-{share.launch_from}", share=share.launch)


def _at_work(share: Shares) -> Message | None:
    """Do not take NVML at its word alone: it calls a card busy while one kernel of a few threads runs."""
    if share.busy is None or share.busy < BUSY or (1.0 if share.kernels is None else share.kernels) < HALF:
        return None
    done = max((part for part in (share.arithmetic, share.memory) if part is not None), default=None)
    if done is None:
        return message("busy-untold", busy=share.busy)
    name = "at-work" if done >= AT_WORK else "busy-for-little"
    return message(name, busy=share.busy, percent=percent(done))


def _at_peak(share: Shares, card: Mapping[str, Any]) -> Message | None:
    if share.arithmetic is not None and share.arithmetic >= AT_PEAK:
        return message("near-arithmetic-peak", share=share.arithmetic, precision=card["precision"])
    if share.memory is not None and share.memory >= AT_PEAK:
        return message("near-memory-peak", share=share.memory)
    return None


def _mixed(contestant: Mapping[str, Any], card: Mapping[str, Any]) -> Message | None:
    """Say what mixed precision would give: apart from the ratio, for the CPU calculated with more digits.

    Where the race gives the interval of that gain, one that holds 1 is no gain and no loss.
    """
    apart = (x for x in contestant["lanes"] if x["status"] == "ran" and not x.get("counts", True))
    mixed = next((x for x in apart if x.get("precision") != card["precision"]), None)  # and not cuML's lane
    if mixed is None or not mixed.get("median") or WRONG & {w.get("id") for w in mixed.get("warnings") or ()}:
        return None
    times = significant(card["median"] / mixed["median"])
    low, high = (contestant.get("mixed") or {}).get("ratio_interval") or (times, times)
    if low <= 1 <= high:
        return message("mixed-even", precision=mixed["precision"])
    return message("mixed-faster" if times > 1 else "mixed-slower", times=times, precision=mixed["precision"])
