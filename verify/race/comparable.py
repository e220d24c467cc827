"""Whether two races are of the same work; and what else was not the same, on purpose or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race import SCHEMA
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = dict[str, Any]

LONGEST = 200  # characters of a value in a sentence
# How long was measured, not what.
HOW_LONG = frozenset({"budget_s", "least", "most", "repeats", "precision_target", "only", "sweep"})
# Of a contestant's settings: where its file lay. What was in it is known by its sum.
WHERE = frozenset({"file"})
CONTESTANTS = frozenset({"network", "fraud", "script"})
WATCHES_ONLY = frozenset({"nvidia-ml-py"})  # has no say in a time
ON_PURPOSE = {
    "cpu": ("model", "cores", "usable_cores", "threads", "quota_cores"),
    "card": ("name", "driver", "memory_mib", "power_limit_w", "compute_capability"),
}
# Somebody or something else had a hand in a lane's times: a difference may be theirs.
DISTURBED = frozenset({"cpu-busy", "throttled", "others-on-card", "swap", "clock-changed"})
DOUBTS = DISTURBED | {"spread", "power-capped", "few-threads"}


def differs(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Message]:
    """Say in what the two are not races of the same work."""
    for letter, race in (("A", a), ("B", b)):
        if race.get("schema") != SCHEMA:
            yield message("compare-schema", race=letter, schema=show(race.get("schema")), needed=SCHEMA)
            return
    if bool(a.get("simulated")) != bool(b.get("simulated")):
        yield message("compare-simulated", race="A" if a.get("simulated") else "B")
    names = tuple([c["name"] for c in race["contestants"]] for race in (a, b))
    if set(names[0]) != set(names[1]):
        yield message("compare-contestants", a=names[0] or ["-"], b=names[1] or ["-"])
    for path, one, two in _unlike(a.get("versions") or {}, b.get("versions") or {}):
        if path not in WATCHES_ONLY:
            yield message("compare-version", what=path, a=show(one), b=show(two))
    other = CONTESTANTS - set(names[0])  # settings of what was not raced say nothing
    for path, one, two in _unlike(_work(a, other), _work(b, other)):
        yield message("compare-setting", what=path, a=show(one), b=show(two))


def _work(race: Mapping[str, Any], other: frozenset[str]) -> Json:
    return {k: v for k, v in (race.get("settings") or {}).items() if k not in HOW_LONG and k not in other}


def _unlike(a: Mapping[str, Any], b: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Return what the two do not have in common, by its path: fraud.rows."""
    where = WHERE if a.get("sha256") and b.get("sha256") else frozenset()
    for key in sorted({*a, *b} - where):
        one, two = a.get(key), b.get(key)
        if isinstance(one, dict) and isinstance(two, dict):
            yield from _unlike(one, two, f"{path}{key}.")
        elif one != two:
            yield f"{path}{key}", one, two


def show(value: Any) -> str:  # noqa: ANN401  # JSON
    return "-" if value is None else brief(value)


def brief(value: object) -> str:
    """Return what a foreign file holds on one line, and no more of it than a sentence can take."""
    said = " ".join(str(value).split())
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def warnings(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Message]:
    """Say what else is not the same, on purpose perhaps, and what makes the comparison doubtful."""
    if a.get("contestants") == b.get("contestants") and a.get("taken_at") == b.get("taken_at"):
        yield message("compare-same-race")
    if a.get("simulated"):
        yield message("compare-simulated-both")
    if (a.get("settings") or {}).get("quick"):
        yield message("compare-quick")
    yield from _others(a, b)
    for letter, race in (("A", a), ("B", b)):
        yield from _doubts(letter, race)


def disturbed(lane: Mapping[str, Any] | None) -> list[Message]:
    """Return what else had a hand in a lane's times, by its warnings."""
    found = (lane or {}).get("warnings") or ()
    return [warning for warning in found if isinstance(warning, dict) and warning.get("id") in DISTURBED]


def _others(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Message]:
    for part, keys in ON_PURPOSE.items():
        one, two = a.get(part) or {}, b.get(part) or {}
        for key in keys:
            if one.get(key) != two.get(key):
                what = f"{part}.{key}"
                yield message("compare-other", what=what, a=show(one.get(key)), b=show(two.get(key)))
    if a.get("image_digest") != b.get("image_digest"):
        one, two = show(a.get("image_digest")), show(b.get("image_digest"))
        yield message("compare-other", what="image_digest", a=one, b=two)


def _doubts(letter: str, race: Mapping[str, Any]) -> Iterator[Message]:
    for contestant in race["contestants"]:
        for lane in contestant["lanes"]:
            for doubt in lane.get("warnings") or ():
                if isinstance(doubt, dict) and doubt.get("id") in DOUBTS:
                    where = f"{contestant['name']}, {lane['name']}"
                    yield message("compare-doubt", race=letter, where=where, why=doubt)
