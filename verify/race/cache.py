"""Whether a race that was run before still says something about this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race import RACE_VERSION, SCHEMA
from verify.race.outcome import FAILED, INVALID, RAN

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_BUDGET = frozenset({"no-budget", "no-budget-share"})


def reusable(
    old_race: Mapping[str, Any],
    *,
    card: str | None,
    driver: str | None,
    image_digest: str | None,
    settings: Mapping[str, Any],
) -> bool:
    """Whether card (its name), driver, image, race version and settings are the same, and the race was whole.

    A race with a lane that failed, was invalid or had no budget left is run again: what was in its way may be
    gone. Any other absent lane stays absent for as long as card, driver and image are the same.
    """
    try:
        lanes = [lane for contestant in old_race["contestants"] for lane in contestant["lanes"]]
        then = old_race["card"] or {}
        same = (
            old_race["schema"] == SCHEMA
            and old_race["versions"]["race"] == RACE_VERSION
            and then.get("name") == card
            and then.get("driver") == driver
            and old_race["image_digest"] == image_digest
            and dict(old_race["settings"]) == dict(settings)
        )
        statuses = {lane["status"] for lane in lanes}
        reasons = {(lane.get("reason") or {}).get("id") for lane in lanes}
    except (KeyError, TypeError, AttributeError, ValueError):
        return False  # an older or a damaged file
    return same and RAN in statuses and not {FAILED, INVALID} & statuses and not NO_BUDGET & reasons
