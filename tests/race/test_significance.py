"""The race's own test of significance against scipy's, which the image has because scikit-learn needs it."""

from __future__ import annotations

import importlib
import math
import unittest
from typing import Any

from verify.race import significance

np: Any = importlib.import_module("numpy")
stats: Any = importlib.import_module("scipy.stats")


class SignificanceTest(unittest.TestCase):
    def setUp(self) -> None:
        self.random = np.random.default_rng(20_261_202)

    def times(self, count: int, shift: float, digits: int) -> list[float]:
        return [float(value) for value in np.round(1 + shift + 0.05 * self.random.random(count), digits)]

    def test_exact_without_ties(self) -> None:
        for a, b in [(3, 3), (4, 7), (10, 10), (25, 30)]:
            for shift in (0.0, 0.01, 0.03):
                one, two = self.times(a, 0.0, 12), self.times(b, shift, 12)
                theirs = stats.mannwhitneyu(two, one, alternative="two-sided", method="exact")
                with self.subTest(a=a, b=b, shift=shift):
                    assert significance.statistic(one, two) == theirs.statistic
                    assert math.isclose(significance.exact_p(one, two), theirs.pvalue, abs_tol=1e-10)

    def test_exact_with_ties_is_the_permutation_test(self) -> None:
        for a, b in [(4, 5), (6, 5)]:
            one, two = self.times(a, 0.0, 2), self.times(b, 0.02, 2)
            assert len({*one, *two}) < a + b

            def u(x: Any, y: Any) -> float:
                return float(stats.mannwhitneyu(x, y).statistic)

            theirs = stats.permutation_test(
                (two, one), u, permutation_type="independent", n_resamples=np.inf, alternative="two-sided"
            )
            with self.subTest(a=a, b=b):
                assert math.isclose(significance.exact_p(one, two), theirs.pvalue, abs_tol=1e-10)

    def test_the_approximation_with_ties_and_continuity(self) -> None:
        for a, b, digits in [(40, 60, 12), (50, 45, 2), (100, 100, 3)]:
            one, two = self.times(a, 0.0, digits), self.times(b, 0.006, digits)
            theirs = stats.mannwhitneyu(two, one, alternative="two-sided", method="asymptotic")
            with self.subTest(a=a, b=b):
                assert math.isclose(significance.normal_p(one, two), theirs.pvalue, abs_tol=1e-9)
                assert significance.test(one, two).p == significance.normal_p(one, two)

    def test_holm(self) -> None:
        for values in ([0.01, 0.04, 0.03, 0.2], [0.5], [0.001, 0.001]):
            theirs, running = [], 0.0
            for step, value in enumerate(np.sort(values)):
                running = max(running, min(1.0, (len(values) - step) * float(value)))
                theirs.append(running)
            assert sorted(significance.holm(values)) == theirs

    def test_the_interval_covers_the_true_ratio_as_often_as_it_says(self) -> None:
        """A thousand pairs of races whose true ratio is known: the confidence is a frequency."""
        for a, b in [(6, 6), (40, 40)]:
            held, confidence = 0, significance.CONFIDENCE
            rounds = 1000 if a * b < 100 else 150
            for _ in range(rounds):
                one, two = (self.random.lognormal(0, 0.1, size) for size in (a, b))
                low, high, known = significance.interval(list(one), list(1.2 * two))
                confidence = confidence if known is None else known
                held += low <= 1.2 <= high
            with self.subTest(a=a, b=b):
                # four standard errors of a frequency
                margin = 4 * (confidence * (1 - confidence) / rounds) ** 0.5
                assert held / rounds > confidence - margin
                assert held / rounds < confidence + margin + 0.005


if __name__ == "__main__":
    unittest.main()
