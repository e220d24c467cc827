"""What is raced: sizes, seeds and how long. Part of the evidence, and of whether it can be reused."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

BUDGET_SECONDS = 60.0
NAMES = ("network", "fraud", "sweep")


@dataclass(frozen=True)
class Network:
    """A small classifier on a synthetic data set: noisy clusters, several to a class."""

    kind: str = "mlp"
    rows: int = 20_480
    test_rows: int = 8_192
    features: int = 64
    classes: int = 10
    clusters_per_class: int = 6
    noise: float = 1.6
    hidden: tuple[int, ...] = (1024, 512)
    side: int = 16  # of the convolutional network's images
    channels: tuple[int, ...] = (16, 32)
    batch: int = 512
    epochs: int = 3
    learning_rate: float = 0.05
    momentum: float = 0.9
    least_accuracy: float = 0.6  # one in ten by chance; both kinds reach more, in every lane
    dtype: str = "float32"


@dataclass(frozen=True)
class FraudData:
    """The user's own table; what is only known once it is read stays None until then."""

    file: str
    target: str
    sha256: str | None = None
    rows: int | None = None
    columns: int | None = None  # that it learns from
    positives: int | None = None
    positive: str | None = None  # the value of the target that is the positive one
    dropped: tuple[str, ...] = ()  # constant columns: nothing can be learned from them


@dataclass(frozen=True)
class Fraud:
    """A logistic regression on a table shaped like the well-known card-fraud set (0.17 % positives)."""

    rows: int = 284_807
    features: int = 30
    positives: int = 492
    test_share: float = 0.2
    penalty: float = 1.0  # scikit-learn's C: the inverse strength of the L2 penalty
    tolerance: float = 1e-6  # a lane is through when it is so close to the optimum, as a share of it
    max_iterations: int = 500
    history: int = 10  # corrections that L-BFGS remembers, the same in both libraries
    dtype: str = "float64"
    data: FraudData | None = None


@dataclass(frozen=True)
class Sweep:
    """The same operation over sizes: a matrix product of n by n, a training step of a batch."""

    matmul: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048)
    step: tuple[int, ...] = (16, 64, 256, 1024, 4096, 16384)
    repeats: int = 7
    dtype: str = "float32"


@dataclass(frozen=True)
class Script:
    """A training script of the user's own, told by an argument which device to use."""

    file: str
    device_arg: str = "--device"
    args: tuple[str, ...] = ()
    sha256: str | None = None  # of the file: another script under the same name is another race


@dataclass(frozen=True)
class Settings:
    """One race's settings."""

    budget_s: float | None = BUDGET_SECONDS
    least: int = 3
    most: int = 100
    repeats: int | None = None  # exactly so many, whatever the precision: for tests and for trying it out
    precision_target: float = 0.05
    warmups: int = 1
    seed: int = 20_261_201
    quick: bool = False
    only: tuple[str, ...] = NAMES
    network: Network = field(default_factory=Network)
    fraud: Fraud = field(default_factory=Fraud)
    sweep: Sweep = field(default_factory=Sweep)
    script: Script | None = None

    def document(self) -> dict[str, Any]:
        """Return what race.json says of them, in JSON's own types: it compares equal when read back."""
        return {key: _plain(value) for key, value in asdict(self).items()}


def settings_for(
    repeats: int | None = None,
    *,
    quick: bool = False,
    budget_s: float | None = None,
    **more: Any,  # noqa: ANN401
) -> Settings:
    """Return the settings of a race; a quick one is for trying things out, and says so.

    An exact number of repeats has no budget unless one is given, for it could not keep both.
    """
    if budget_s is None and repeats is None:
        budget_s = BUDGET_SECONDS
    settings = Settings(repeats=repeats, quick=quick, budget_s=budget_s, **more)
    if not quick:
        return settings
    return replace(
        settings,
        network=replace(settings.network, rows=4_096, test_rows=1_024, epochs=2, least_accuracy=0.2),
        fraud=replace(settings.fraud, rows=20_000, positives=100),
        sweep=replace(settings.sweep, matmul=(64, 256), step=(16, 256)),
    )


def _plain(value: Any) -> Any:  # noqa: ANN401  # JSON's own types
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value
