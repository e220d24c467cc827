"""The regression's objective, its optimum found beforehand, and how few iterations come close enough to it.

Everything here is numpy in float64, whatever the lanes calculate in: the ruler is the same for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.race.device import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GRADIENT = 1e-10  # the largest component of the gradient at which the optimum counts as found
MOST_STEPS = 200
CHUNK = 4_096  # rows at a time: they stay in the cache, and a large table is not copied
FIRST_GUESS = 16
ROUNDING = 1e-14
LARGEST_DAMPING = 1e12


@dataclass(frozen=True)
class Fit:
    """Weights, intercept and how many iterations they took."""

    weights: Array
    intercept: float
    iterations: int


@dataclass(frozen=True)
class Optimum:
    """The best that this objective allows, and the slope that was left there."""

    fit: Fit
    loss: float
    gradient: float

    @property
    def found(self) -> bool:
        """Whether Newton's method came to its end: what it did not find is nothing to measure by."""
        return self.gradient <= GRADIENT


def objective(np: Any, fit: Fit, x: Array, y: Array, penalty: float) -> float:  # noqa: ANN401  # numpy
    """Return the mean logistic loss plus the L2 penalty on the weights; the intercept costs nothing."""
    weights = np.asarray(fit.weights, dtype="float64")
    total = 0.0
    for rows, truth in _chunks(x, y):
        margin = rows @ weights + fit.intercept
        total += float((np.logaddexp(0.0, margin) - truth * margin).sum())
    return total / len(y) + 0.5 * float(weights @ weights) / (penalty * len(y))


def solve(np: Any, x: Array, y: Array, penalty: float, most: int = MOST_STEPS) -> Optimum:  # noqa: ANN401
    """Return the optimum by Newton's method, damped where a full step would not go down.

    Where the curvature is singular (equal columns, hardly any penalty) the step is the shortest of the least
    squares solutions, so that it ends there too. What it could not find, it does not claim: see ``found``.
    """
    count = x.shape[1]
    # The penalty does not hold the intercept: the log odds are where it would be without columns.
    share = float(y.mean(dtype="float64"))
    point = np.zeros(count + 1)
    point[-1] = np.log(share / (1.0 - share))
    value, slope, curvature = _derivatives(np, point, x, y, penalty)
    damping, steps = 0.0, 0
    while float(np.abs(slope).max()) > GRADIENT and steps < most and damping < LARGEST_DAMPING:
        steps += 1
        tried = point - _step(np, curvature + damping * np.eye(count + 1), slope)
        there = _derivatives(np, tried, x, y, penalty)
        if _lower(np, there, value, slope):
            point, (value, slope, curvature) = tried, there
            damping = damping / 10 if damping > ROUNDING else 0.0
        else:
            damping = max(damping * 10, 1e-6 * float(np.trace(curvature)) / (count + 1), ROUNDING)
    fit = Fit(point[:-1], float(point[-1]), steps)
    return Optimum(fit, value, float(np.abs(slope).max()))


def fewest(reaches: Callable[[int], bool], most: int, guess: int = FIRST_GUESS) -> int | None:
    """Return the smallest number of iterations that reaches it; None where ``most`` do not.

    Strides from the guess, doubling, until one side reaches and the other does not; then halves what is left.
    L-BFGS repeats itself: a run of k iterations is the beginning of every longer one. A guess that is right,
    as another lane's number mostly is, costs two runs.
    """
    guess = max(1, min(guess, most))
    stride = 1
    if reaches(guess):
        low, high = guess - 1, guess
        while low > 0 and reaches(low):
            stride *= 2
            low, high = max(0, low - stride), low
    else:
        low, high = guess, min(guess + 1, most)
        while high == low or not reaches(high):
            if high == most:
                return None
            stride *= 2
            low, high = high, min(high + stride, most)
    while high - low > 1:
        middle = (low + high) // 2
        if reaches(middle):
            high = middle
        else:
            low = middle
    return high


def _chunks(x: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    for start in range(0, len(y), CHUNK):
        stop = start + CHUNK
        yield x[start:stop].astype("float64", copy=False), y[start:stop].astype("float64", copy=False)


def _derivatives(np: Any, point: Array, x: Array, y: Array, penalty: float) -> tuple[float, Array, Array]:  # noqa: ANN401
    """Return value, gradient and curvature at a point: weights first, the intercept last."""
    weights, count = point[:-1], len(point) - 1
    value, slope, curvature = 0.0, np.zeros(count + 1), np.zeros((count + 1, count + 1))
    for rows, truth in _chunks(x, y):
        margin = rows @ weights + point[-1]
        value += float((np.logaddexp(0.0, margin) - truth * margin).sum())
        # tanh never overflows, where 1 / (1 + exp(-margin)) does
        chance = 0.5 * (1.0 + np.tanh(0.5 * margin))
        error, weight = chance - truth, chance * (1.0 - chance)
        slope[:-1] += rows.T @ error
        slope[-1] += error.sum()
        curvature[:-1, :-1] += rows.T @ (weight[:, None] * rows)
        curvature[:-1, -1] += rows.T @ weight
        curvature[-1, -1] += weight.sum()
    curvature[-1, :-1] = curvature[:-1, -1]
    strength = 1.0 / penalty
    value += 0.5 * strength * float(weights @ weights)
    slope[:-1] += strength * weights
    curvature[:-1, :-1] += strength * np.eye(count)
    return value / len(y), slope / len(y), curvature / len(y)


def _step(np: Any, curvature: Array, slope: Array) -> Array:  # noqa: ANN401
    try:
        step = np.linalg.solve(curvature, slope)
    except np.linalg.LinAlgError:
        step = None
    if step is None or not np.isfinite(step).all():
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0]
    return step


def _lower(np: Any, there: tuple[float, Array, Array], value: float, slope: Array) -> bool:  # noqa: ANN401
    """Whether a step went down; near the end the values are equal to rounding, and the slope decides."""
    if not np.isfinite(there[0]):
        return False
    if there[0] < value - ROUNDING * abs(value):
        return True
    level = there[0] <= value + ROUNDING * abs(value)
    return bool(level and np.abs(there[1]).max() < np.abs(slope).max())
