"""How good a score finds the few: average precision and the area under the ROC curve, by numpy alone.

scikit-learn has both; the torch lanes must be judged where it is not installed, by the same ruler.
"""

from __future__ import annotations

from typing import Any

from verify.race.device import Array


def average_precision(np: Any, truth: Array, score: Array) -> float:  # noqa: ANN401  # the numpy module
    """Return the sum over the thresholds of precision times the recall gained; NaN without positives.

    Equal scores are one threshold: an order among them would be an accident of the sorting.
    """
    found, flagged = _at_thresholds(np, truth, score)
    if not found[-1:].any():
        return float("nan")
    gained = np.diff(found, prepend=0.0) / found[-1]
    return float((gained * found / flagged).sum())


def roc_auc(np: Any, truth: Array, score: Array) -> float:  # noqa: ANN401
    """Return the chance that a positive scores above a negative, a tie half; NaN with one kind only."""
    found, flagged = _at_thresholds(np, truth, score)
    if not len(found) or found[-1] == 0 or found[-1] == flagged[-1]:
        return float("nan")
    wrong = flagged - found
    across, up = np.diff(wrong, prepend=0.0), found + np.concatenate(([0.0], found[:-1]))
    return float(0.5 * (across * up).sum() / (found[-1] * wrong[-1]))


def _at_thresholds(np: Any, truth: Array, score: Array) -> tuple[Array, Array]:  # noqa: ANN401
    """Return, at each different score from the highest down, how many positives and rows lie above it."""
    order = np.argsort(-score, kind="stable")
    ranked = score[order]
    last = np.concatenate((np.flatnonzero(np.diff(ranked)), [len(ranked) - 1])) if len(ranked) else order
    return np.cumsum((truth[order] > 0).astype("float64"))[last], (last + 1).astype("float64")
