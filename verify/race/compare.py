"""Two races of the same work held against each other: over time, or over hosts. Pure: documents in, one out.

What was raced must be the same in both, to the last setting, and with the same versions: otherwise the times
say nothing about each other, and the comparison is refused with all that differs. CPU, card, driver and image
may differ on purpose: that is said, and compared. The test speaks of these repeats: what else was different
when the two were taken, it cannot know, and so a significant difference must also be larger than a tolerance;
and where a side was disturbed (others used its CPU or card, its clock changed), neither is called slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race import significance
from verify.race.comparable import differs, disturbed, show, warnings
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Json = dict[str, Any]

DOCUMENT = 2  # 2: disturbed
SIGNIFICANT = 0.05
# Two races of one quiet machine may differ by so much (the project's own aim): less is nobody's fault.
TOLERANCE = 0.05
RAN = "ran"


class NotComparableError(Exception):
    """The two races are not of the same work: ``differs`` says in what, as messages."""

    def __init__(self, differs: Sequence[Message]) -> None:
        super().__init__(", ".join(str(one["id"]) for one in differs))
        self.differs = tuple(differs)


def compare(a: Mapping[str, Any], b: Mapping[str, Any], tolerance: float = TOLERANCE) -> Json:
    """Return the comparison; raise ``NotComparableError`` where there is nothing to compare."""
    found = list(differs(a, b))
    if found:
        raise NotComparableError(found)
    lanes = [lane for pair in _contestants(a, b) for lane in _lanes(*pair)]
    tested = [lane for lane in lanes if lane["p"] is not None]
    for lane, p in zip(tested, significance.holm([lane["p"] for lane in tested])):  # noqa: B905  # Python 3.9
        lane["p_holm"] = p
        lane["said"] = _said(lane, tolerance, len(tested))
    return {
        "schema": DOCUMENT,
        "a": _named(a),
        "b": _named(b),
        "tolerance": tolerance,
        "significant_below": SIGNIFICANT,
        "warnings": list(warnings(a, b)),
        "lanes": lanes,
    }


def slower(comparison: Mapping[str, Any], beyond: float) -> list[Json]:
    """Return the lanes that take longer in the second race: beyond chance, beyond this share, undisturbed."""
    return [
        lane
        for lane in comparison["lanes"]
        if lane["p"] is not None
        and lane["p_holm"] < SIGNIFICANT
        and lane["ratio"] > 1 + beyond
        and not lane["disturbed"]
    ]


def _named(race: Mapping[str, Any]) -> Json:
    return {key: race.get(key) for key in ("host", "taken_at", "simulated", "image_digest")}


def _contestants(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[tuple[Json, Json]]:
    others = {contestant["name"]: contestant for contestant in b["contestants"]}
    return [(contestant, others[contestant["name"]]) for contestant in a["contestants"]]


def _lanes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Json]:
    ones, twos = ({lane["name"]: lane for lane in contestant["lanes"]} for contestant in (a, b))
    for name in dict.fromkeys([*ones, *twos]):
        yield _lane(a["name"], name, ones.get(name), twos.get(name))


def _lane(
    contestant: str,
    name: str,
    a: Mapping[str, Any] | None,
    b: Mapping[str, Any] | None,
) -> Json:
    found: Json = {
        "contestant": contestant,
        "lane": name,
        "a": _measured(a),
        "b": _measured(b),
        "reason": _not_tested(a, b),
        "disturbed": [
            {"race": race, "why": why} for race, side in (("A", a), ("B", b)) for why in disturbed(side)
        ],
        **dict.fromkeys(("u", "p", "p_holm", "exact", "ratio", "interval", "confidence", "said")),
    }
    if found["reason"] is None and a is not None and b is not None:
        result = significance.test(a["samples"], b["samples"])
        found.update(u=result.u, p=result.p, exact=result.exact, ratio=result.ratio)
        found.update(interval=[result.low, result.high], confidence=result.confidence)
    return found


def _measured(lane: Mapping[str, Any] | None) -> Json | None:
    if lane is None:
        return None
    known = {key: lane.get(key) for key in ("status", "library", "precision", "median", "interval")}
    return {**known, "repeats": len(lane.get("samples") or ())}


def _not_tested(a: Mapping[str, Any] | None, b: Mapping[str, Any] | None) -> Message | None:
    for letter, lane in (("A", a), ("B", b)):
        if lane is None:
            return message("compare-no-lane", race=letter)
        if lane.get("status") != RAN or not lane.get("samples"):
            why = lane.get("reason")
            return message("compare-not-ran", race=letter, status=show(lane.get("status")), why=why or "-")
        if min(lane["samples"]) <= 0:
            return message("compare-not-ran", race=letter, status="invalid", why=message("no-time"))
    for key in ("library", "device", "precision"):
        if a is not None and b is not None and a.get(key) != b.get(key):
            return message("compare-other-lane", what=key, a=show(a.get(key)), b=show(b.get(key)))
    return None


def _said(lane: Mapping[str, Any], tolerance: float, tests: int) -> Message:
    times = lane["ratio"]
    if lane["p_holm"] >= SIGNIFICANT:
        if tests * significance.least_p(lane["a"]["repeats"], lane["b"]["repeats"]) >= SIGNIFICANT:
            return message("compare-too-few", a=lane["a"]["repeats"], b=lane["b"]["repeats"], tests=tests)
        return message("compare-same")
    if 1 / (1 + tolerance) <= times <= 1 + tolerance:
        return message("compare-small", tolerance=tolerance)
    said = message("compare-slower", times=times) if times > 1 else message("compare-faster", times=1 / times)
    if not lane["disturbed"]:
        return said
    sides = list(dict.fromkeys(one["race"] for one in lane["disturbed"]))
    return message("compare-disturbed", said=said, races=sides)
