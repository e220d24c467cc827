"""Drift: against a lock, or against most of the others; real and simulated hosts apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from verify.fleet.drift import Member, compare
from verify.fleet.lock import Lock
from verify.fleet.versions import FIELDS, Versions

VALUES = st.none() | st.sampled_from(["1", "2", "3"])
MEMBERS = st.builds(
    Member, simulated=st.booleans(), versions=st.builds(Versions, VALUES, VALUES, VALUES, VALUES)
)
LOCKS = st.none() | st.builds(
    Lock, st.just("lab-1"), st.booleans(), st.builds(Versions, *[st.sampled_from("123")] * 4)
)


def real(driver: str | None) -> Member:
    return Member(simulated=False, versions=Versions(driver=driver))


def drifting(members: list[Member], lock: Lock | None = None) -> list[list[str]]:
    found = compare(members, lock)
    return [list(found.of(member)) for member in members]


def test_the_odd_one_out_drifts() -> None:
    assert drifting([real("1"), real("2"), real("1")]) == [[], ["driver"], []]


def test_a_tie_blames_nobody_and_is_said() -> None:
    members = [real("1"), real("2"), real("1"), real("2"), real("3")]
    assert drifting(members) == [[]] * 5
    assert compare(members).real[0].said == "no majority: 1 and 2, on 2 hosts each"


def test_the_most_common_value_says_on_how_many() -> None:
    assert compare([real("1"), real("1"), real("2"), real(None)]).real[0].said == (
        "2 of 3 hosts, not known of 1"
    )
    assert compare([real(None)]).real[0].said == "not known of any host"


def test_a_lock_outvotes_everybody_of_its_kind_and_nobody_else() -> None:
    lock = Lock("lab-1", simulated=False, versions=Versions("2", "1", "1", "1"))
    simulated = Member(simulated=True, versions=Versions(driver="1"))
    assert drifting([real("1"), real("1"), simulated], lock) == [["driver"], ["driver"], []]
    assert compare([real("1")], lock).real[0].said == "the lock file, from lab-1"


def test_simulated_hosts_do_not_outvote_real_ones() -> None:
    simulated = [Member(simulated=True, versions=Versions(driver="9")) for _ in range(3)]
    assert drifting([real("1"), *simulated]) == [[], [], [], []]


@given(st.lists(MEMBERS), LOCKS, st.randoms(use_true_random=False))
def test_the_order_of_hosts_never_matters(members: list[Member], lock: Lock | None, random: object) -> None:
    mixed = list(members)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert compare(mixed, lock) == compare(members, lock)


@given(MEMBERS)
def test_one_host_never_drifts_against_itself(member: Member) -> None:
    assert drifting([member]) == [[]]


@given(MEMBERS, st.integers(2, 6))
def test_hosts_that_are_alike_never_drift(member: Member, number: int) -> None:
    assert drifting([member] * number) == [[]] * number


@given(st.lists(MEMBERS), LOCKS)
def test_what_drifts_is_known_and_differs(members: list[Member], lock: Lock | None) -> None:
    found = compare(members, lock)
    for member in members:
        for field, reference in found.of(member).items():
            assert field in FIELDS
            assert member.versions.get(field) not in (None, reference.value)
            assert reference.value is not None


@given(st.lists(MEMBERS, min_size=1))
def test_without_a_lock_fewer_hosts_drift_than_agree(members: list[Member]) -> None:
    found = compare(members)
    for simulated, references in ((False, found.real), (True, found.simulated)):
        mine = [one.versions for one in members if one.simulated is simulated]
        for one in references:
            values = [value for versions in mine if (value := versions.get(one.field)) is not None]
            if one.value is not None:
                assert all(values.count(one.value) > values.count(v) for v in set(values) - {one.value})
