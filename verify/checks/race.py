"""Layer race: the lanes ran. Who won is the race's own sentence, not a finding."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, count, failed, not_recorded, passed, warned
from verify.findings import Layer
from verify.race.cache import NO_BUDGET

if TYPE_CHECKING:
    from verify.facts.state import State

_RAN = "ran"
_AGAIN = "make verify RACE=always"


def lane(device: str, state: State) -> Verdict:
    """Whether every contestant ran on the device."""
    if state.race is None:
        return not_recorded("a race")
    mine = [found for found in state.race if found.name == device or found.name.startswith(f"{device}-")]
    if not mine:
        return not_recorded(f"a lane {device}")
    evidence = tuple(found.evidence for found in mine)
    ran = [found for found in mine if found.status == _RAN and found.median is not None]
    late = [found for found in mine if ran and found.reason_id in NO_BUDGET]
    bad = [found for found in mine if found not in ran and found not in late]
    if bad:
        reasons = "; ".join(
            f"{found.contestant} ({found.name}): {found.status}, {found.reason or 'no reason given'}"
            for found in bad
        )
        return failed(
            f"{len(bad)} of {count(len(mine), 'lane')} on {device} did not run: {reasons}",
            f"remove the reason, then: {_AGAIN}",
            evidence,
            (Layer.FRAMEWORK, Layer.RACE),
        )
    times = ", ".join(f"{found.contestant} ({found.name}) {found.median:.4g} s" for found in ran)
    notes = [warning for found in ran for warning in found.warnings]
    notes += [f"{found.contestant} ({found.name}): {found.reason}" for found in late]
    if notes:
        return warned(
            f"{count(len(ran), 'lane')} on {device} ran ({times}); "
            f"{count(len(notes), 'warning')}: {notes[0]}",
            _AGAIN,
            evidence,
        )
    return passed(f"{count(len(mine), 'lane')} on {device} ran: {times}", evidence)


CHECKS = (
    Check("race.cpu-lane", partial(lane, "cpu"), needs=("container.recorded", "framework.torch")),
    Check("race.cuda-lane", partial(lane, "cuda"), needs=("container.recorded", "framework.kernel")),
)
