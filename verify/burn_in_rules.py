"""What a burn-in asks of each card: its clocks, what held it back, its heat, its memory's errors. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.burn_in_facts import held_back
from verify.facts.throttle import HEAT, words
from verify.findings import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from verify.burn_in_facts import Course, Look

    Answer = tuple[Status, str]
    Rule = Callable[[Course], Answer]

# Ours, not a vendor's: a card that works, and says that nothing holds it back, runs far nearer to its most.
CLOCK_SHARE = 0.7
MARGIN_C = 5
BUSY_PERCENT = 50
_POWER = frozenset({"hw_slowdown", "hw_power_brake_slowdown"})
_FAN = "look at fans, filters and the air around the card: nvidia-smi -q -d TEMPERATURE,PERFORMANCE"


def was_seen(card: Course) -> bool:
    """Whether its use was told at all while it should have worked."""
    return any(look.busy_percent is not None for look in card.during)


def working(card: Course) -> list[Look]:
    """Return the looks at which it worked, or does not tell."""
    return [look for look in card.during if look.busy_percent is None or look.busy_percent >= BUSY_PERCENT]


def power(card: Course) -> str:
    """Say what it drew."""
    most = max((look.power_w for look in card.during if look.power_w is not None), default=None)
    if most is None:
        return f"{card.title} does not tell its power"
    before, limit = card.before.power_w, card.before.power_limit_w
    return (
        f"{card.title} drew up to {most:.0f} W"
        + (f" (before {before:.0f} W" if before is not None else " (before not told")
        + (f", limit {limit:.0f} W)" if limit is not None else ")")
    )


def _clock(card: Course) -> Answer:
    rows = [look for look in working(card) if look.clock_mhz is not None and look.clock_most_mhz]
    if not rows:
        return Status.SKIP, f"{card.title} does not tell its clocks"
    free = [look for look in rows if look.throttle is not None and not held_back(look)]
    low = [look for look in free if (look.clock_mhz or 0) < CLOCK_SHARE * (look.clock_most_mhz or 0)]
    clocks = [look.clock_mhz or 0 for look in rows]
    said = f"{card.title} at {min(clocks):.0f} to {max(clocks):.0f} of {rows[0].clock_most_mhz:.0f} MHz"
    if low:
        return Status.FAIL, f"{said}, and {len(low)} time(s) nothing that it tells holds it back"
    reasons = sorted({reason for look in rows for reason in held_back(look)})
    return Status.PASS, said + (f"; {', '.join(map(words, reasons))}" if reasons else "")


def _throttle(card: Course) -> Answer:
    told = [look.throttle for look in card.during if look.throttle is not None]
    if not told:
        return Status.SKIP, f"{card.title} does not tell what holds it back"
    seen = {reason for reasons in told for reason in reasons}
    hard = sorted(seen & (_POWER | {"hw_thermal_slowdown"}))
    if hard:
        return Status.FAIL, f"{card.title}: {', '.join(map(words, hard))}"
    if seen & HEAT:
        return Status.WARN, f"{card.title}: {', '.join(map(words, sorted(seen & HEAT)))}"
    return Status.PASS, f"{card.title} was slowed down by neither heat nor the power supply"


def _heat(card: Course) -> Answer:
    hottest = max(
        (look.temperature_c for look in card.during if look.temperature_c is not None), default=None
    )
    margins = [look.margin_c for look in card.during if look.margin_c is not None]
    if hottest is None or not margins:
        return Status.SKIP, f"{card.title} does not tell its temperature, or its limit"
    said = f"{card.title} reached {hottest:.0f} °C, {min(margins):.0f} below where it slows itself down"
    return (
        Status.FAIL if min(margins) <= 0 else Status.WARN if min(margins) <= MARGIN_C else Status.PASS
    ), said


def _ecc(card: Course) -> Answer:
    last = card.after
    if last is None or card.before.uncorrected is None or last.uncorrected is None:
        return Status.SKIP, f"{card.title} does not count memory errors"
    bad = last.uncorrected - card.before.uncorrected
    if bad > 0:
        return Status.FAIL, f"{card.title}: {bad} memory error(s) that could not be corrected"
    fixed = (
        (last.corrected or 0) - (card.before.corrected or 0)
        if None not in (last.corrected, card.before.corrected)
        else 0
    )
    rows = (
        (last.remapped or 0) - (card.before.remapped or 0)
        if None not in (last.remapped, card.before.remapped)
        else 0
    )
    if fixed > 0 or rows > 0:
        return (
            Status.WARN,
            f"{card.title}: {fixed} memory error(s) corrected, {rows} row(s) or page(s) replaced",
        )
    return Status.PASS, f"{card.title} counted no new memory error"


RULES: Mapping[str, tuple[Rule, str]] = {
    "clock": (
        _clock,
        "nvidia-smi -q -d CLOCK,PERFORMANCE; a clock that was locked: nvidia-smi --reset-gpu-clocks",
    ),
    "throttle": (_throttle, f"{_FAN}; power cables and supply, where it names them"),
    "heat": (_heat, _FAN),
    "ecc": (
        _ecc,
        "nvidia-smi -q -d ECC,ROW_REMAPPER; if it comes back after a reset, the card is to be replaced",
    ),
}
