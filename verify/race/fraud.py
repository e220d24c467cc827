"""Contestant: logistic regression on a fraud table, by scikit-learn, by torch and by cuML.

All minimise the same objective by L-BFGS with the same memory: the mean logistic loss plus the same L2
penalty on the weights, none on the intercept. Nobody wins by stopping early: the optimum is known before
(Newton's method in float64, untimed), each lane runs the fewest iterations that bring its objective within
``settings.fraud.tolerance`` of it (found by trying, untimed), and what was timed is checked against it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from verify.race import cuml, fraud_data, fraud_solve
from verify.race.contestants import Contestant
from verify.race.device import Array
from verify.race.fraud_lanes import SklearnRunner, TorchRunner
from verify.race.libraries import CPU, CUDA, Libraries, absent_reason
from verify.race.outcome import Lane
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race import settings as s
    from verify.race.lanes import Runner

NAME = "fraud"


@dataclass(frozen=True)
class Data:
    """Standardised rows, ``y`` 1.0 for a fraud, and the best that can be reached on them.

    ``iterations`` remembers what a lane needed: the next one begins its search there.
    """

    x: Array
    y: Array
    test_x: Array
    test_y: Array
    optimum: fraud_solve.Optimum
    iterations: list[int] = field(default_factory=list)


def contestant(settings: s.Settings) -> Contestant:
    """Return the contestant."""
    return Contestant(
        NAME, lanes(settings.fraud.dtype), data, runner, disagreement,
        doubt=doubt, absent=absent, training=training,
    )  # fmt: skip


def lanes(precision: str) -> tuple[Lane, ...]:
    """Return the lanes. cuML's does not count: every fit of it copies the table, in a process of its own."""
    return (
        Lane("cpu", "sklearn", CPU, precision),
        Lane("cpu-torch", "torch", CPU, precision),
        Lane("cuda", "torch", CUDA, precision),
        Lane("cuml", cuml.LIBRARY, CUDA, precision, counts=False),
    )


def absent(lane: Lane, _settings: s.Settings, libraries: Libraries) -> Message | None:
    """Return why a lane cannot run here."""
    if lane.library == cuml.LIBRARY:
        return cuml.absent(libraries)
    return absent_reason(lane.library, lane.device, libraries)


def look(settings: s.Settings, np: Any) -> s.Settings:  # noqa: ANN401  # the numpy module
    """Return the settings with what the user's table is; raise ``fraud_data.Refused`` where it is none."""
    given = settings.fraud.data
    if given is None:
        return settings
    table = fraud_data.read(np, given.file, given.target)
    known = replace(
        given, sha256=table.sha256, rows=len(table.y), columns=len(table.names),
        positives=int(table.y.sum()), positive=table.positive, dropped=table.dropped,
    )  # fmt: skip
    return replace(settings, fraud=replace(settings.fraud, data=known))


def data(settings: s.Settings, libraries: Libraries) -> Data:
    """Make the table from the seed or read the user's; standardise it and find the optimum."""
    np, f = libraries["numpy"], settings.fraud
    random = np.random.default_rng(settings.seed)
    if f.data is None:
        x, y = _made(np, random, f)
    else:
        table = fraud_data.read(np, f.data.file, f.data.target)
        x, y = table.x, table.y
    train, test = _split(np, random, y, f.test_share)
    # The columns are measured on the rows that are learned from: the others are not known yet.
    mean, deviation = x[train].mean(axis=0), x[train].std(axis=0)
    deviation[deviation == 0] = 1.0
    learn, unseen = (((x[rows] - mean) / deviation).astype(f.dtype, order="C") for rows in (train, test))
    truth = y[train].astype(f.dtype)
    # The optimum of the numbers that the lanes get, in float32 too.
    return Data(learn, truth, unseen, y[test], fraud_solve.solve(np, learn, truth, f.penalty))


def runner(lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> Runner:
    """Return the lane's runner."""
    if lane.library == cuml.LIBRARY:
        return cuml.CumlRunner(data, settings, libraries)
    kind = SklearnRunner if lane.library == "sklearn" else TorchRunner
    return kind(lane, data, settings, libraries)


def training(_settings: s.Settings, data: Data) -> Mapping[str, Any]:
    """Return what one training goes through: all rows in every iteration, as many as it takes."""
    return {"rows": len(data.y), "epochs": None, "batch": None}


def doubt(quality: Mapping[str, float], settings: s.Settings) -> Message | None:
    """Say why a result has no speed: it is not close to the optimum, or nobody knows where that is."""
    if "optimum" not in quality:
        return message("no-optimum")
    if "objective" not in quality:
        return message("not-finite")
    reached, optimum = quality["objective"], quality["optimum"]
    if reached > optimum + settings.fraud.tolerance * abs(optimum):
        share = (reached - optimum) / abs(optimum)
        return message("not-reached", reached=reached, optimum=optimum, share=share)
    return None


def disagreement(one: Mapping[str, float], other: Mapping[str, float]) -> Message | None:
    """Say nothing: both are held against the same optimum, which says more than one against the other."""
    del one, other
    return None


def _made(np: Any, random: Any, f: s.Fraud) -> tuple[Array, Array]:  # noqa: ANN401
    """Make the table: columns like components, a skewed amount, exactly so many frauds."""
    x = random.standard_normal((f.rows, f.features))
    x[:, -1] = np.exp(x[:, -1])  # the amount: many small ones, few large ones
    # Two causes of fraud and chance: a straight line finds about as much of it as in the real set.
    cause = random.standard_normal((2, f.features)) / np.sqrt(f.features)
    score = np.maximum(x @ cause[0], 1.2 * (x @ cause[1])) + 1.1 * random.standard_normal(f.rows)
    y = np.zeros(f.rows)
    y[np.argpartition(score, -f.positives)[-f.positives :]] = 1.0
    return x, y


def _split(np: Any, random: Any, y: Array, share: float) -> tuple[Array, Array]:  # noqa: ANN401
    """Return the rows to learn from and those held out: of either kind a share, at least one in each."""
    held_out = []
    for kind in (0.0, 1.0):
        rows = random.permutation(np.flatnonzero(y == kind))
        held_out.append(rows[: min(max(round(len(rows) * share), 1), len(rows) - 1)])
    test = np.sort(np.concatenate(held_out))
    return np.setdiff1d(np.arange(len(y)), test, assume_unique=True), test
