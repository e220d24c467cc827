"""The regression in scikit-learn and in torch: the same start, the same memory, the same number of digits."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import TYPE_CHECKING, Any

from verify.race.device import Array, to_device
from verify.race.fraud_launches import launches
from verify.race.fraud_metrics import average_precision, roc_auc
from verify.race.fraud_solve import FIRST_GUESS, Fit, fewest, objective

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race import settings as s
    from verify.race.fraud import Data
    from verify.race.libraries import Libraries
    from verify.race.outcome import Lane

NEVER = (
    1e-14  # a tolerance that does not stop it before its iterations are over, unless nothing moves any more
)
EVALUATIONS = 25  # at most so many for an iteration: the line search's own limit
VECTORS = 12  # of the rows' length, read or written by one evaluation beside the table itself
VECTOR_FLOPS = 20  # for a row: the exponential, the logarithm and what surrounds them


class Common:
    """What all lanes' runners share: how many iterations are needed, and how good a fit is."""

    def __init__(self, lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> None:
        self._np = libraries["numpy"]
        self._lane = lane
        self._data = data
        self._settings = settings.fraud
        self._needed: int | None = None

    def needed(self) -> int:
        """Return the fewest iterations that come close enough to the optimum; the most, where none do.

        Found by trying, the first time that it is asked for: never while the clock runs.
        """
        if self._needed is None:
            known = self._data.iterations
            found = fewest(self._reaches, self._settings.max_iterations, known[-1] if known else FIRST_GUESS)
            self._needed = found or self._settings.max_iterations
            known.append(self._needed)
        return self._needed

    def run(self, iterations: int) -> Fit:
        """Fit once with so many iterations, from nothing."""
        raise NotImplementedError

    def quality(self, fit: Any) -> dict[str, float]:  # noqa: ANN401  # a fit, where the lane left it
        """Return the objective reached and the best there is, and how well it finds frauds on unseen rows."""
        fit = self.unload(fit)
        np, d = self._np, self._data
        score = d.test_x @ fit.weights + fit.intercept
        said = {
            "objective": self._objective(fit),
            "optimum": d.optimum.loss if d.optimum.found else math.nan,
            "iterations": fit.iterations,
            "average_precision": average_precision(np, d.test_y, score),
            "roc_auc": roc_auc(np, d.test_y, score),
        }
        # JSON has no NaN: what nobody found, or a lane that ran away reached, is left out.
        return {name: value for name, value in said.items() if math.isfinite(value)}

    def unload(self, fit: Any) -> Fit:  # noqa: ANN401
        """Return the fit on the host, where this lane left it."""
        return fit if isinstance(fit, Fit) else Fit(*fit)

    def modelled(self, evaluations: int, counted: int | None) -> Mapping[str, Any]:
        """Return the work of so many evaluations of objective and gradient: each reads the table twice."""
        x = self._data.x
        rows, columns = x.shape
        size = x.itemsize
        return {
            "flops": float(evaluations * rows * (4 * columns + VECTOR_FLOPS)),
            "bytes": float(evaluations * rows * (2 * columns + VECTORS) * size),
            "working_set_bytes": float(rows * (columns + VECTORS / 2) * size),
            "launches": counted,
            "from": "model",
        }

    def _objective(self, fit: Fit) -> float:
        return objective(self._np, fit, self._data.x, self._data.y, self._settings.penalty)

    def _reaches(self, iterations: int) -> bool:
        best = self._data.optimum.loss
        return self._objective(self.run(iterations)) <= best + self._settings.tolerance * abs(best)


class SklearnRunner(Common):
    """scikit-learn, on the CPU."""

    def load(self) -> None:
        """Do nothing: the table is where it is calculated with."""

    def fresh(self) -> Any:  # noqa: ANN401  # an estimator
        """Return an estimator that has learned nothing."""
        return self._estimator(self.needed())

    def train(self, estimator: Any) -> Fit:  # noqa: ANN401
        """Fit it: the timed part."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it stops after the iterations it was given
            estimator.fit(self._data.x, self._data.y)
        return Fit(estimator.coef_[0], float(estimator.intercept_[0]), int(estimator.n_iter_[0]))

    def run(self, iterations: int) -> Fit:
        """Fit once."""
        return self.train(self._estimator(iterations))

    def work(self) -> Mapping[str, Any]:
        """Return the modelled work: one evaluation an iteration and one before, for it does not say."""
        return self.modelled(self.needed() + 1, None)

    def _estimator(self, iterations: int) -> Any:  # noqa: ANN401
        linear_model = importlib.import_module("sklearn.linear_model")
        return linear_model.LogisticRegression(
            C=self._settings.penalty, solver="lbfgs", tol=NEVER, max_iter=iterations
        )


class TorchRunner(Common):
    """The same in torch, on either device, as torch's users write it: its own optimiser and loss."""

    def __init__(self, lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> None:
        super().__init__(lane, data, settings, libraries)
        self._torch = libraries["torch"]
        self._tensors: tuple[Array, ...] = ()
        self._evaluations = 0

    def load(self) -> None:
        """Put the table where it is calculated with."""
        self._tensors = to_device(self._torch, self._lane.device, self._data.x, self._data.y)

    def fresh(self) -> tuple[Array, Array]:
        """Return weights and intercept of zero, where scikit-learn starts too."""
        self.needed()
        return self._zeros()

    def train(self, start: tuple[Array, Array]) -> tuple[Array, Array, int]:
        """Minimise: the timed part."""
        return self._minimise(start, self.needed())

    def unload(self, fit: Any) -> Fit:  # noqa: ANN401
        """Copy weights and intercept back to the host."""
        if isinstance(fit, Fit):
            return fit
        weights, intercept, iterations = fit
        return Fit(weights.detach().cpu().numpy(), float(intercept.detach()), iterations)

    def run(self, iterations: int) -> Fit:
        """Fit once."""
        return self.unload(self._minimise(self._zeros(), iterations))

    def work(self) -> Mapping[str, Any]:
        """Return the modelled work; the launches are those that torch dispatches in one more, untimed fit."""
        counted = launches(lambda: self._minimise(self._zeros(), self.needed()))
        return self.modelled(self._evaluations, counted)

    def _zeros(self) -> tuple[Array, Array]:
        x, make = self._tensors[0], self._torch.zeros
        weights = make(x.shape[1], dtype=x.dtype, device=x.device, requires_grad=True)
        return weights, make((), dtype=x.dtype, device=x.device, requires_grad=True)

    def _minimise(self, start: tuple[Array, Array], iterations: int) -> tuple[Array, Array, int]:
        torch, f = self._torch, self._settings
        x, y = self._tensors
        weights, intercept = start
        optimizer = torch.optim.LBFGS(
            [weights, intercept],
            max_iter=iterations,
            max_eval=iterations * EVALUATIONS,
            history_size=f.history,
            tolerance_grad=NEVER,
            tolerance_change=NEVER,
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
        state = optimizer.state[weights]
        self._evaluations = int(state["func_evals"])
        return weights, intercept, int(state["n_iter"])
