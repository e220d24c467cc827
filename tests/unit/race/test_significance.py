"""Mann-Whitney's U against the published table, against counting every deal, and against itself."""

from __future__ import annotations

import math
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.race import significance

TIMES = st.lists(st.integers(1, 6).map(float), min_size=1, max_size=5)


def dealt(a: list[float], b: list[float]) -> float:
    """Count every way of dealing the pooled times, one by one."""
    pooled = [*a, *b]
    seen, below, above, deals = significance.statistic(a, b), 0, 0, 0
    for mine in combinations(range(len(pooled)), len(b)):
        theirs = [pooled[i] for i in range(len(pooled)) if i not in mine]
        u = significance.statistic(theirs, [pooled[i] for i in mine])
        below, above, deals = below + (u <= seen), above + (u >= seen), deals + 1
    return min(1.0, 2 * min(below, above) / deals)


@given(TIMES, TIMES)
@settings(max_examples=60, deadline=None)
def test_the_exact_p_is_what_counting_every_deal_gives(a: list[float], b: list[float]) -> None:
    assert significance.exact_p(a, b) == pytest.approx(dealt(a, b))


# Mann and Whitney (1947), table I: P(U <= u) for n = m = 3 and n = 4, m = 3; and the critical values of U,
# two-sided at 0.05, of every textbook: 5 and 5: 2; 8 and 8: 13; 10 and 10: 23; 20 and 20: 127.
FIRST_TABLE = [
    (3, 3, 0, 0.050),
    (3, 3, 1, 0.100),
    (3, 3, 2, 0.200),
    (4, 3, 0, 0.028),
    (4, 3, 1, 0.057),
    (4, 3, 4, 0.314),
]


@pytest.mark.parametrize(("n", "m", "u", "p"), FIRST_TABLE)
def test_the_tails_of_the_first_table(n: int, m: int, u: int, p: float) -> None:
    counts = significance._counts(n, m)
    assert sum(counts[: u + 1]) / math.comb(n + m, m) == pytest.approx(p, abs=0.0006)


@pytest.mark.parametrize(("n", "critical"), [(5, 2), (8, 13), (10, 23), (20, 127)])
def test_the_critical_values_of_the_textbooks(n: int, critical: int) -> None:
    counts, total = significance._counts(n, n), math.comb(2 * n, n)
    assert 2 * sum(counts[: critical + 1]) / total <= 0.05
    assert 2 * sum(counts[: critical + 2]) / total > 0.05


def test_all_above_all_below_and_the_same() -> None:
    low, high = [1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3]
    for a, b in ((low, high), (high, low)):
        assert significance.test(a, b).p == pytest.approx(2 / 70) == significance.least_p(4, 4)
    same = significance.test([1.0] * 6, [1.0] * 6)
    assert (same.p, same.ratio, same.low, same.high) == (1.0, 1.0, 1.0, 1.0)
    assert significance.normal_p([1.0] * 40, [1.0] * 40) == 1.0


def test_the_effect_is_the_ratio_whatever_the_unit() -> None:
    a = [1.0, 1.02, 1.05, 1.01, 1.03, 1.04]
    found = significance.test(a, [1.5 * time for time in a])
    assert found.ratio == pytest.approx(1.5)
    assert found.low < 1.5 < found.high
    assert significance.test([1e-6 * t for t in a], [1.5e-6 * t for t in a]).high == pytest.approx(found.high)


def test_turned_round_the_effect_is_turned_round() -> None:
    a, b = [1.0, 1.2, 1.1, 1.4, 1.3], [1.25, 1.5, 1.6, 1.7]
    there, back = significance.test(a, b), significance.test(b, a)
    assert there.p == pytest.approx(back.p)
    assert there.ratio == pytest.approx(1 / back.ratio)
    assert there.low == pytest.approx(1 / back.high)
    assert there.u + back.u == len(a) * len(b)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (5, 5), (6, 8), (10, 10), (20, 30)])
def test_the_interval_holds_one_exactly_where_the_test_refuses_nothing(n: int, m: int) -> None:
    """The interval is the set of ratios that the test does not refuse: move b until they touch."""
    a = [1 + 0.0137 * k for k in range(n)]
    b = [1 + 0.0171 * k + 0.0003 * k * k for k in range(m)]
    low, high, confidence = significance.interval(a, b)
    assert confidence is not None
    for ratio in (low * 0.999, low * 1.001, high * 0.999, high * 1.001):
        inside = low <= ratio <= high
        p = significance.exact_p(a, [y / ratio for y in b])
        assert (p > 1 - confidence + 1e-12) is inside, (ratio, p)


@pytest.mark.parametrize(
    ("n", "m", "confidence"), [(3, 3, 0.9), (2, 2, 1 - 2 / 6), (1, 1, 0.0), (5, 5, None)]
)
def test_too_few_repeats_have_an_interval_with_less_confidence(
    n: int, m: int, confidence: float | None
) -> None:
    a, b = [1.0 + k / 100 for k in range(n)], [2.0 + k / 100 for k in range(m)]
    low, high, found = significance.interval(a, b)
    if confidence is None:
        assert found is not None
        assert found >= 0.95
    else:
        assert found == pytest.approx(confidence)
        assert low == pytest.approx(2.0 / max(a))
        assert high == pytest.approx(max(b))


@pytest.mark.parametrize(("shift", "expected"), [(0.0, "same"), (0.004, "other")])
def test_the_approximation_agrees_with_counting(shift: float, expected: str) -> None:
    a = [1 + 0.001 * ((17 * k) % 29) for k in range(29)]
    b = [1 + 0.001 * ((13 * k) % 31) + shift for k in range(31)]
    exact, normal = significance.exact_p(a, b), significance.normal_p(a, b)
    assert exact == pytest.approx(normal, abs=0.004)
    assert (exact < 0.1) is (expected == "other")
    assert significance.test(a, b).exact
    assert not significance.test([*a, *a], b).exact


def test_the_interval_of_many_is_that_of_counting() -> None:
    a = [1 + 0.001 * ((17 * k) % 29) for k in range(29)]
    b = [1 + 0.0011 * ((13 * k) % 31) for k in range(31)]
    low, high, _ = significance.interval(a, b)
    before = significance.EXACT_PAIRS
    try:
        significance.EXACT_PAIRS = 0
        other_low, other_high, confidence = significance.interval(a, b)
    finally:
        significance.EXACT_PAIRS = before
    assert confidence is None
    assert other_low == pytest.approx(low, rel=2e-4)
    assert other_high == pytest.approx(high, rel=2e-4)


def test_holm_corrects_for_the_number_and_keeps_the_order() -> None:
    assert significance.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert significance.holm([0.6, 0.9]) == [1.0, 1.0]
    assert significance.holm([0.02]) == [0.02]
    assert significance.holm([]) == []
    for values in product([0.001, 0.02, 0.5], repeat=3):
        corrected = significance.holm(values)
        assert all(one >= two for one, two in zip(corrected, values, strict=True))
