"""Contestant: a small fully connected classifier, trained by SGD from the same start in every lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.race.device import Array, same_precision, to_device
from verify.race.lanes import Lane
from verify.race.libraries import CPU, CUDA, Libraries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race import settings as s

NAME = "network"
TITLE = "small network"
LANES = (Lane("cpu", "torch", CPU), Lane("cuda", "torch", CUDA))

ACCURACY_TOLERANCE = 0.02  # two devices add up in another order: the last percent is not the same


@dataclass(frozen=True)
class Data:
    """Training and test rows with their classes, as numpy arrays."""

    x: Array
    y: Array
    test_x: Array
    test_y: Array


def data(settings: s.Settings, libraries: Libraries) -> Data:
    """Make the data set from the seed: a class is several clusters, so that no line separates them."""
    np, n = libraries["numpy"], settings.network
    random = np.random.default_rng(settings.seed)
    centres = random.standard_normal((n.classes * n.clusters_per_class, n.features))
    total = n.rows + n.test_rows
    cluster = random.integers(len(centres), size=total)
    x = centres[cluster] + n.noise * random.standard_normal((total, n.features))
    x, y = x.astype(n.dtype), (cluster % n.classes).astype("int64")
    return Data(x[: n.rows], y[: n.rows], x[n.rows :], y[n.rows :])


class NetworkRunner:
    """The network in one lane."""

    def __init__(self, lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> None:
        self._torch = libraries["torch"]
        same_precision(self._torch)
        self._device = lane.device
        self._data = data
        self._settings = settings
        self._tensors: tuple[Array, ...] = ()

    def load(self) -> None:
        """Put the data where it is calculated with."""
        d = self._data
        self._tensors = to_device(self._torch, self._device, d.x, d.y, d.test_x, d.test_y)

    def fresh(self) -> Any:  # noqa: ANN401  # a torch module
        """Return an untrained network: made on the CPU, so that all lanes start from the same numbers."""
        torch, n = self._torch, self._settings.network
        torch.manual_seed(self._settings.seed)
        widths = (n.features, *n.hidden, n.classes)
        layers: list[Any] = []
        for i in range(len(widths) - 1):
            layers += [torch.nn.Linear(widths[i], widths[i + 1]), torch.nn.ReLU()]
        return torch.nn.Sequential(*layers[:-1]).to(self._device)

    def train(self, model: Any) -> Any:  # noqa: ANN401
        """Train it: the timed part. Nothing in it waits for the card, as a training loop should not."""
        torch, n = self._torch, self._settings.network
        x, y = self._tensors[:2]
        optimizer = torch.optim.SGD(model.parameters(), lr=n.learning_rate, momentum=n.momentum)
        loss_of = torch.nn.functional.cross_entropy
        for _ in range(n.epochs):
            for start in range(0, n.rows, n.batch):
                optimizer.zero_grad(set_to_none=True)
                loss_of(model(x[start : start + n.batch]), y[start : start + n.batch]).backward()
                optimizer.step()
        return model

    def quality(self, model: Any) -> dict[str, float]:  # noqa: ANN401
        """Return loss and accuracy on rows that it has not seen."""
        torch = self._torch
        x, y = self._tensors[2:]
        with torch.no_grad():
            scores = model(x)
            loss = torch.nn.functional.cross_entropy(scores, y)
            accuracy = (scores.argmax(dim=1) == y).double().mean()
        return {"loss": float(loss), "accuracy": float(accuracy)}


def runner(lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> NetworkRunner:
    """Return the lane's runner."""
    return NetworkRunner(lane, data, settings, libraries)


def disagreement(one: Mapping[str, float], other: Mapping[str, float]) -> str | None:
    """Say how two lanes' results differ by more than rounding; None where they do not."""
    if abs(one["accuracy"] - other["accuracy"]) <= ACCURACY_TOLERANCE:
        return None
    return f"accuracy {one['accuracy']:.3f} against {other['accuracy']:.3f}"
