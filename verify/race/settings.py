"""What is raced: sizes, seeds and repeats. Part of the evidence, and of whether it can be reused."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Network:
    """A small classifier on a synthetic data set: noisy clusters, several to a class."""

    rows: int = 40_960
    test_rows: int = 8_192
    features: int = 64
    classes: int = 10
    clusters_per_class: int = 6
    noise: float = 1.6
    hidden: tuple[int, ...] = (512, 256)
    batch: int = 512
    epochs: int = 4
    learning_rate: float = 0.05
    momentum: float = 0.9
    dtype: str = "float32"


@dataclass(frozen=True)
class Fraud:
    """A logistic regression on a table shaped like the well-known card-fraud set (0.17 % positives)."""

    rows: int = 284_807
    features: int = 30
    positives: int = 492
    test_share: float = 0.2
    penalty: float = 1.0  # scikit-learn's C: the inverse strength of the L2 penalty
    tolerance: float = 1e-5  # on the largest component of the gradient of the mean objective
    max_iterations: int = 200
    history: int = 10  # corrections that L-BFGS remembers, the same in both libraries
    dtype: str = "float64"


@dataclass(frozen=True)
class Settings:
    """One race's settings."""

    repeats: int = 5
    warmups: int = 1
    seed: int = 20_261_201
    quick: bool = False
    tf32: bool = False  # both lanes calculate in the same precision
    network: Network = field(default_factory=Network)
    fraud: Fraud = field(default_factory=Fraud)

    def document(self) -> dict[str, Any]:
        """Return what race.json says of them, in JSON's own types: it compares equal when read back."""
        document = asdict(self)
        document["network"]["hidden"] = list(self.network.hidden)
        return document


def settings_for(repeats: int = 5, *, quick: bool = False) -> Settings:
    """Return the settings of a race; a quick one is for trying things out, and says so."""
    settings = Settings(repeats=repeats, quick=quick)
    if not quick:
        return settings
    return replace(
        settings,
        network=replace(settings.network, rows=4_096, test_rows=1_024, epochs=2),
        fraud=replace(settings.fraud, rows=20_000, positives=100),
    )
