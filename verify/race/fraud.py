"""Contestant: logistic regression on a fraud table, by scikit-learn and by torch.

Both minimise the same objective, the mean logistic loss plus the same L2 penalty, by L-BFGS with the same
memory, to the same largest component of the gradient: scikit-learn's own definition since 1.1.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.race.device import Array, to_device
from verify.race.lanes import Lane
from verify.race.libraries import CPU, CUDA, Libraries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race import settings as s

NAME = "fraud"
TITLE = "fraud regression"
LANES = (Lane("cpu", "sklearn", CPU), Lane("cpu-torch", "torch", CPU), Lane("cuda", "torch", CUDA))

OBJECTIVE_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Data:
    """Standardised rows; ``y`` is 1.0 for a fraud."""

    x: Array
    y: Array
    test_x: Array
    test_y: Array


@dataclass(frozen=True)
class Fit:
    """Weights, intercept and how many iterations they took."""

    weights: Array
    intercept: float
    iterations: int


def data(settings: s.Settings, libraries: Libraries) -> Data:
    """Make the table from the seed: columns like components, a skewed amount, exactly so many frauds."""
    np, f = libraries["numpy"], settings.fraud
    random = np.random.default_rng(settings.seed)
    x = random.standard_normal((f.rows, f.features))
    x[:, -1] = np.exp(x[:, -1])  # the amount: many small ones, few large ones
    # Two causes of fraud and chance: a straight line finds about as much of it as in the real set.
    cause = random.standard_normal((2, f.features)) / np.sqrt(f.features)
    score = np.maximum(x @ cause[0], 1.2 * (x @ cause[1])) + 1.1 * random.standard_normal(f.rows)
    y = np.zeros(f.rows)
    y[np.argpartition(score, -f.positives)[-f.positives :]] = 1.0
    x = ((x - x.mean(axis=0)) / x.std(axis=0)).astype(f.dtype)
    cut = int(f.rows * (1 - f.test_share))
    return Data(x[:cut], y[:cut].astype(f.dtype), x[cut:], y[cut:])


def objective(np: Any, fit: Fit, data: Data, penalty: float) -> float:  # noqa: ANN401  # the numpy module
    """Return what both libraries minimise, worked out by numpy for whichever found the weights."""
    margin = data.x @ fit.weights + fit.intercept
    loss = np.mean(np.logaddexp(0.0, margin) - data.y * margin)
    return float(loss + 0.5 * (fit.weights @ fit.weights) / (penalty * len(data.y)))


def average_precision(np: Any, truth: Array, score: Array) -> float:  # noqa: ANN401  # the numpy module
    """Return the average precision: the mean, over the frauds, of the precision where each is found."""
    order = np.argsort(-score, kind="stable")
    hits = truth[order] > 0
    if not hits.any():
        return float("nan")
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())


class _Common:
    """What the two libraries' runners share."""

    def __init__(self, lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> None:
        self._np = libraries["numpy"]
        self._libraries = libraries
        self._device = lane.device
        self._data = data
        self._settings = settings.fraud

    def quality(self, fit: Fit) -> dict[str, float]:
        """Return the objective reached, the iterations taken, and the average precision on unseen rows."""
        d = self._data
        return {
            "objective": objective(self._np, fit, d, self._settings.penalty),
            "average_precision": average_precision(
                self._np, d.test_y, d.test_x @ fit.weights + fit.intercept
            ),
            "iterations": fit.iterations,
        }


class SklearnRunner(_Common):
    """scikit-learn, on the CPU."""

    def load(self) -> None:
        """Do nothing: the table is where it is calculated with."""

    def fresh(self) -> Any:  # noqa: ANN401  # an estimator
        """Return an estimator that has learned nothing."""
        f = self._settings
        linear_model = importlib.import_module("sklearn.linear_model")
        return linear_model.LogisticRegression(
            C=f.penalty, solver="lbfgs", tol=f.tolerance, max_iter=f.max_iterations
        )

    def train(self, estimator: Any) -> Fit:  # noqa: ANN401
        """Fit it: the timed part."""
        estimator.fit(self._data.x, self._data.y)
        return Fit(estimator.coef_[0], float(estimator.intercept_[0]), int(estimator.n_iter_[0]))


class TorchRunner(_Common):
    """The same in torch, on either device."""

    def __init__(self, lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> None:
        super().__init__(lane, data, settings, libraries)
        self._torch = libraries["torch"]
        self._tensors: tuple[Array, ...] = ()

    def load(self) -> None:
        """Put the table where it is calculated with."""
        self._tensors = to_device(self._torch, self._device, self._data.x, self._data.y)

    def fresh(self) -> tuple[Array, Array]:
        """Return weights and intercept of zero, where scikit-learn starts too."""
        x = self._tensors[0]
        make = self._torch.zeros
        weights = make(x.shape[1], dtype=x.dtype, device=x.device, requires_grad=True)
        return weights, make((), dtype=x.dtype, device=x.device, requires_grad=True)

    def train(self, start: tuple[Array, Array]) -> Fit:
        """Minimise: the timed part. Reading the weights back at the end belongs to it."""
        torch, f = self._torch, self._settings
        x, y = self._tensors
        weights, intercept = start
        optimizer = torch.optim.LBFGS(
            [weights, intercept],
            max_iter=f.max_iterations,
            max_eval=f.max_iterations * 2,
            history_size=f.history,
            tolerance_grad=f.tolerance,
            tolerance_change=1e-14,
            line_search_fn="strong_wolfe",
        )
        strength = 0.5 / (f.penalty * len(y))
        loss_of = torch.nn.functional.binary_cross_entropy_with_logits

        def closure() -> Array:
            optimizer.zero_grad()
            value = loss_of(torch.mv(x, weights) + intercept, y) + strength * weights.dot(weights)
            value.backward()
            return value

        optimizer.step(closure)
        iterations = int(optimizer.state[weights]["n_iter"])
        return Fit(weights.detach().cpu().numpy(), float(intercept.detach()), iterations)


def runner(lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> SklearnRunner | TorchRunner:
    """Return the lane's runner."""
    kind = SklearnRunner if lane.library == "sklearn" else TorchRunner
    return kind(lane, data, settings, libraries)


def disagreement(one: Mapping[str, float], other: Mapping[str, float]) -> str | None:
    """Say how two lanes' results differ by more than rounding; None where they do not."""
    a, b = one["objective"], other["objective"]
    if abs(a - b) <= OBJECTIVE_TOLERANCE * max(abs(a), abs(b)):
        return None
    return f"objective {a:.6f} against {b:.6f}"
