"""Contestant: a small image classifier, trained by SGD from the same start in every lane.

``mlp`` is the default: fully connected layers. Which of the two kinds has the steadier ratio cannot be said
without a card; the fully connected one has one kind of product in both libraries below torch, while for
convolutions cuDNN and oneDNN choose among algorithms, by the card, by the version and by what they try first.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from verify.race import precision
from verify.race.contestants import Contestant
from verify.race.device import Array, mixed_precision, to_device
from verify.race.libraries import CPU, CUDA, Libraries
from verify.race.network_model import Data, data, longest_sum, model, products, work
from verify.race.outcome import Lane
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race import settings as s

NAME = "network"
MIXED = "cuda-mixed"
LANES = (
    Lane("cpu", "torch", CPU, "float32"),
    Lane("cuda", "torch", CUDA, "float32"),
    Lane(MIXED, "torch", CUDA, None, counts=False),
)

ACCURACY_TOLERANCE = 0.02  # two devices add up in another order: the last percent is not the same


def contestant(settings: s.Settings) -> Contestant:
    """Return the contestant."""
    n = settings.network

    def disagreement(one: Mapping[str, float], other: Mapping[str, float]) -> Message | None:
        return _disagreement(one, other, longest_sum(n), len(products(n)))

    return Contestant(NAME, LANES, data, runner, disagreement, doubt=doubt, training=training)


def training(settings: s.Settings, _data: Data) -> dict[str, Any]:
    """Return what one training goes through."""
    n = settings.network
    return {"rows": n.rows, "epochs": n.epochs, "batch": n.batch}


class NetworkRunner:
    """The network in one lane."""

    def __init__(self, lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> None:
        self._torch = libraries["torch"]
        self._device = lane.device
        self._mixed = lane.name == MIXED
        self.precision = mixed_precision(self._torch) if self._mixed else lane.precision
        self._data = data
        self._settings = settings
        self._tensors: tuple[Array, ...] = ()

    def load(self) -> None:
        """Put the data where it is calculated with."""
        d = self._data
        self._tensors = to_device(self._torch, self._device, d.x, d.y)

    def fresh(self) -> Any:  # noqa: ANN401  # a torch module
        """Return an untrained network: made on the CPU, so that all lanes start from the same numbers."""
        self._torch.manual_seed(self._settings.seed)
        return model(self._torch, self._settings.network).to(self._device)

    def train(self, model: Any) -> Any:  # noqa: ANN401
        """Train it: the timed part. Nothing in it waits for the card, as a training loop should not."""
        torch, n = self._torch, self._settings.network
        x, y = self._tensors
        optimizer = torch.optim.SGD(model.parameters(), lr=n.learning_rate, momentum=n.momentum)
        # float16's range is too small for small gradients.
        scaler = torch.amp.GradScaler(self._device) if self.precision == "float16" else None
        loss_of = torch.nn.functional.cross_entropy
        for _ in range(n.epochs):
            for start in range(0, n.rows, n.batch):
                optimizer.zero_grad(set_to_none=True)
                with self._short():
                    loss = loss_of(model(x[start : start + n.batch]), y[start : start + n.batch])
                if scaler is not None:
                    scaler.scale(loss).backward()
                    scaler.step(optimizer)
                    scaler.update()
                else:
                    loss.backward()
                    optimizer.step()
        return model

    def unload(self, model: Any) -> Any:  # noqa: ANN401
        """Copy the trained weights back."""
        return {name: value.cpu() for name, value in model.state_dict().items()}

    def quality(self, model: Any) -> dict[str, float]:  # noqa: ANN401
        """Return loss and accuracy on unseen rows, and how far this lane's arithmetic is from float64's."""
        torch, d = self._torch, self._data
        x, y = to_device(torch, self._device, d.test_x, d.test_y)
        with torch.no_grad():
            with self._short():
                scores = model(x).float()
            loss = torch.nn.functional.cross_entropy(scores, y)
            accuracy = (scores.argmax(dim=1) == y).double().mean()
        found = {"loss": float(loss), "accuracy": float(accuracy)}
        return found if self._mixed else {**found, "rounding": self._rounding()}

    def work(self) -> dict[str, Any]:
        """Return what one training amounts to."""
        return work(self._settings.network)

    def _short(self) -> Any:  # noqa: ANN401
        """Return the context in which the forward pass is calculated."""
        if not self._mixed:
            return contextlib.nullcontext()
        return self._torch.autocast(self._device, dtype=getattr(self._torch, str(self.precision)))

    def _rounding(self) -> float:
        """Return the error of the untrained network's scores against the CPU's in float64, relatively."""
        torch, n = self._torch, self._settings.network
        x = torch.from_numpy(self._data.x[: n.batch])
        with torch.no_grad():
            here = self.fresh()(x.to(self._device)).double().cpu()
            exact = self.fresh().cpu().double()(x.double())
        return float((here - exact).abs().max() / exact.abs().max())


def runner(lane: Lane, data: Data, settings: s.Settings, libraries: Libraries) -> NetworkRunner:
    """Return the lane's runner."""
    return NetworkRunner(lane, data, settings, libraries)


def doubt(quality: Mapping[str, float], settings: s.Settings) -> Message | None:
    """Say that the network did not learn; None where it did."""
    least = settings.network.least_accuracy
    return (
        message("accuracy-low", accuracy=quality["accuracy"], least=least)
        if quality["accuracy"] < least
        else None
    )


def _disagreement(
    one: Mapping[str, float], other: Mapping[str, float], length: int, layers: int
) -> Message | None:
    """Say how two lanes' results differ by more than rounding; None where they do not."""
    a, b = one.get("rounding"), other.get("rounding")
    if a is not None and b is not None:
        found = precision.judged(max(a, b), length, layers)
        if found != precision.SAME:
            name = "differs-tf32" if found == precision.TF32 else "differs"
            return message(name, what="rounding", a=a, b=b)
    if abs(one["accuracy"] - other["accuracy"]) <= ACCURACY_TOLERANCE:
        return None
    return message("differs", what="accuracy", a=one["accuracy"], b=other["accuracy"])
