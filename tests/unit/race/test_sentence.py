from __future__ import annotations

from typing import Any

from tests.unit.race import fakes
from verify.race.lanes import Outcome
from verify.race.markdown import markdown
from verify.race.running import judge
from verify.race.sentence import sentence

REASON = "torch 2.13.0+cpu is a CPU build: install a CUDA build of it"


def judged(*outcomes: Outcome, name: str = "network") -> dict[str, Any]:
    lanes = tuple(o.lane for o in outcomes)
    return {**judge(fakes.contestant(None, lanes), outcomes), "name": name}  # type: ignore[arg-type]


def absent(reason: str = REASON) -> Outcome:
    return Outcome(fakes.CUDA_LANE, "absent", reason=reason)


def test_about_a_card_that_did_not_run_nothing_is_said() -> None:
    race = fakes.race(
        [
            judged(fakes.ran(fakes.CPU_LANE, 2.0), absent()),
            judged(fakes.ran(fakes.CPU_LANE, 0.5), absent(), name="fraud"),
        ]
    )
    assert sentence(race) == (
        "The small network takes 2 s and the fraud regression takes 500 ms on the CPU (2 threads); "
        f"about a card nothing is said, because {REASON}."
    )


def test_the_card_wins() -> None:
    race = fakes.race([judged(fakes.ran(fakes.CPU_LANE, 2.0), fakes.ran(fakes.CUDA_LANE, 0.5))])
    assert (
        sentence(race) == "The card trains the small network 4 times as fast as the CPU (500 ms against 2 s)."
    )


def test_the_cpu_wins() -> None:
    race = fakes.race([judged(fakes.ran(fakes.CPU_LANE, 2.0), fakes.ran(fakes.CUDA_LANE, 4.0))])
    assert sentence(race) == "The CPU trains the small network 2 times as fast as the card (4 s against 2 s)."


def test_overlapping_samples_are_no_victory() -> None:
    race = fakes.race([judged(fakes.ran(fakes.CPU_LANE, 2.0, 3.0), fakes.ran(fakes.CUDA_LANE, 1.9, 2.1))])
    assert "cannot be told apart" in sentence(race)


def test_one_compared_and_one_not() -> None:
    race = fakes.race([
        judged(fakes.ran(fakes.CPU_LANE, 2.0), fakes.ran(fakes.CUDA_LANE, 0.5)),
        judged(fakes.ran(fakes.CPU_LANE, 0.5), absent("RuntimeError: out of memory"), name="fraud"),
    ])  # fmt: skip
    assert sentence(race) == (
        "The card trains the small network 4 times as fast as the CPU (500 ms against 2 s); "
        "the fraud regression takes 500 ms on the CPU (2 threads); "
        "about the card nothing more is said, because RuntimeError: out of memory."
    )


def test_nothing_ran() -> None:
    race = fakes.race([judged(absent("torch is not installed for this Python"))])
    assert sentence(race) == "Nothing was measured: torch is not installed for this Python."


def test_the_page_has_a_row_a_lane_and_no_number_for_an_absent_one() -> None:
    race = fakes.race([judged(fakes.ran(fakes.CPU_LANE, 2.0, 2.5, 2.0), absent())], simulated=True)
    page = markdown(race)
    assert "# The race on here (simulated card)" in page
    assert "| network | cpu (torch) | 2 s | 2 s to 2.5 s | 9 s | - | accuracy 0.9 |" in page
    assert f"| network | cuda (torch) | absent: {REASON} | - | - | - | - |" in page
    assert "- network, lane cpu: only 3 repeats" in page
    assert markdown(race) == page
