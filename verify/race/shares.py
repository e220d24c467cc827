"""What a card lane's time went to: shares of it, and of what the card could do, from what was measured.

A share whose parts were not measured is None, and no sentence rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.race.guard import CUDA, memory_limit, tflops_peak
from verify.race.phrases import significant
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]

# Fewer readings say nothing about a lane: NVML itself averages over up to a second.
ENOUGH_READINGS = 5
# Below it an interval of repeats is none: five repeats reach 0.94, two no more than a half, one nothing.
LEAST_CONFIDENCE = 0.9
# What launching one kernel costs the host where nobody measured it: a round figure between the few
# microseconds of a bare launch and the ten and more of a framework's operation. A model, and called one
# wherever it is shown.
LAUNCH_SECONDS = 5e-6


@dataclass(frozen=True)
class Shares:
    """What a card lane's time went to, each as a part of 1, None where it was not measured."""

    copy: float | None = None
    launch: float | None = None  # at most: what is launched beneath running kernels makes nobody wait
    launch_from: str | None = None  # "profiler", or "model": a count of launches
    busy: float | None = None  # by the sampler: at least one kernel ran
    kernels: float | None = None  # by the profiler: the sum of what the kernels took
    arithmetic: float | None = None  # of the card's peak in the lane's precision
    memory: float | None = None  # of the bandwidth; None for work that may lie in the cache


def shares(lane: Mapping[str, Any], peak: Mapping[str, Any] | None) -> Shares:
    """Return what a lane's time went to; nothing of a lane on the CPU."""
    median = lane.get("median")
    if lane.get("device") != CUDA or not median:
        return Shares()
    copied, total = copy_seconds(lane), lane.get("total")
    work = lane.get("work") or {}
    launch, launch_from = _launch(lane)
    limit = tflops_peak(lane.get("precision"), peak or {})
    carried = memory_limit(work, peak or {})
    flops, moved = work.get("flops"), work.get("bytes")
    timed = lane.get("time") or {}
    device = timed.get("device_s")
    return Shares(
        copy=copied / total if copied is not None and total else None,
        launch=min(1.0, launch / median) if launch is not None else None,
        launch_from=launch_from,
        busy=_busy(lane.get("usage") or {}),
        kernels=min(1.0, device / median) if device is not None else None,
        arithmetic=flops / median / 1e12 / limit if flops and limit else None,
        memory=moved / median / 1e9 / carried if moved and carried else None,
    )


def facts(lane: Mapping[str, Any], peak: Mapping[str, Any] | None) -> list[Message]:
    """Return a card lane's shares as messages."""
    share = shares(lane, peak)
    found = []
    if share.copy is not None:
        found.append(message("share-copy", share=share.copy))
    if share.launch is not None:
        found.append(message(f"share-launch-{share.launch_from}", share=share.launch))
    if share.busy is not None:
        found.append(message("share-busy", share=share.busy))
    if share.kernels is not None:
        found.append(message("share-kernels", share=share.kernels))
    if share.arithmetic is not None:
        found.append(
            message("share-arithmetic", percent=percent(share.arithmetic), precision=lane["precision"])
        )
    if share.memory is not None:
        found.append(message("share-memory", percent=percent(share.memory)))
    return found


def percent(share: float) -> float:
    """Return a share in percent with two digits that mean something, for shares of a peak may be tiny."""
    return significant(100 * share)


def copy_seconds(lane: Mapping[str, Any]) -> float | None:
    """Return the seconds of copying to the card and back; None where neither was timed."""
    parts = [lane.get("transfer_in"), lane.get("transfer_out")]
    known = [float(part) for part in parts if part is not None]
    return sum(known) if known else None


def lane_of(contestant: Mapping[str, Any], name: str | None) -> Json | None:
    """Return a contestant's lane by its name."""
    return next((lane for lane in contestant["lanes"] if name and lane["name"] == name), None)


def interval_of(contestant: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the interval of a contestant's ratio; None where too few repeats stand behind it."""
    found = contestant.get("ratio_interval")
    if contestant.get("ratio") is None or not found:
        return None
    if any(confidence < LEAST_CONFIDENCE for confidence in _confidences(contestant)):
        return None
    return float(found[0]), float(found[1])


def shown_interval(contestant: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the ratio's interval as it may be printed: any that has its confidence beside it."""
    found = contestant.get("ratio_interval")
    if contestant.get("ratio_confidence") is None or contestant.get("ratio") is None or not found:
        return interval_of(contestant)
    return float(found[0]), float(found[1])


def sure(contestant: Mapping[str, Any]) -> Message | str:
    """Return with which confidence the ratio lies in its interval, to stand behind it; nothing if unknown."""
    confidence = contestant.get("ratio_confidence")
    return "" if confidence is None else message("sure", share=confidence)


def _confidences(contestant: Mapping[str, Any]) -> list[float]:
    """Return the ratio's own confidence; of an older race, that has none, those of its two lanes."""
    own = contestant.get("ratio_confidence")
    if own is not None:
        return [float(own)]
    names = (contestant.get("ratio_against"), contestant.get("ratio_card"))
    found = [(lane_of(contestant, name) or {}).get("confidence") for name in names]
    return [float(one) for one in found if one is not None]


def _launch(lane: Mapping[str, Any]) -> tuple[float | None, str | None]:
    timed = lane.get("time") or {}
    if timed.get("launch_s") is not None:
        return float(timed["launch_s"]), str(timed.get("from") or "model")
    launches = (lane.get("work") or {}).get("launches")
    return (None, None) if launches is None else (launches * LAUNCH_SECONDS, "model")


def _busy(usage: Mapping[str, Any]) -> float | None:
    readings = [point[1] for point in usage.get("points") or () if point[1] is not None]
    median = (usage.get("utilisation") or {}).get("median")
    return None if median is None or len(readings) < ENOUGH_READINGS else float(median) / 100
