"""What a training that is not yet written amounts to: operations, bytes, launches; from its few numbers.

Models of models, each with its source; where the shape of a network is not told, the span is that of shapes
that people use. tests/race holds them against what torch counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional

from verify.race.spans import Span

LOGISTIC, TREES, MLP, CNN, TRANSFORMER, MATMUL = "logistic", "trees", "mlp", "cnn", "transformer", "matmul"
MODELS = (LOGISTIC, TREES, MLP, CNN, TRANSFORMER, MATMUL)
NETWORKS = frozenset({MLP, CNN, TRANSFORMER})
FLOAT32, FLOAT64, TF32, BFLOAT16, FLOAT16 = "float32", "float64", "tf32", "bfloat16", "float16"
BYTES = {FLOAT32: 4, TF32: 4, FLOAT64: 8, BFLOAT16: 2, FLOAT16: 2}
# scikit-learn's LogisticRegression: max_iter=100; XGBoost, LightGBM, HistGradientBoosting: 100 trees.
EPOCHS = {LOGISTIC: 100, TREES: 100, MATMUL: 1}
NETWORK_EPOCHS, BATCH = 10, 64

# A weight of a convolution is used at every position of its layer. torchvision's table of weights
# (multiply-adds, parameters): VGG 16 112 times, ResNet-50 160, MobileNet V2 86, EfficientNet B0 73,
# DenseNet-121 355; the race's own on 16 by 16 pixels 34. Networks that put out images (U-Net) are beyond:
# --operations.
REUSE = Span(30, 400)
# Width over depth of transformers: GPT-2 (768 wide, 12 deep) to GPT-3 (12288 wide, 96 deep).
ASPECT = Span(32, 128)
# Layers of a fully connected network, where nobody says.
DEPTH = (1, 2, 3, 4, 6, 8)
# Of a transformer's parameters, those that multiply: GPT-2's smallest has 31 % in embeddings.
MULTIPLYING = Span(0.69, 1.0)
# Kernels of a training step: a layer's products, bias, activation and all of that back (network_model
# counts 7 to 11); attention and its norms are some 50 more; loss and optimizer.
LAUNCHES_A_LAYER = {MLP: Span(5, 10), CNN: Span(7, 20), TRANSFORMER: Span(40, 100)}
LAUNCHES_A_STEP = Span(10, 40)
CNN_DEPTH = Span(3, 100)
LAUNCHES_AN_ITERATION = Span(15, 60)  # of L-BFGS: fraud_launches counts the race's own


@dataclass(frozen=True)
class Job:
    """What somebody means to train."""

    model: str
    rows: int
    columns: int
    parameters: Optional[int] = None  # noqa: UP045  # Python 3.9
    batch: int = BATCH
    epochs: int = 1
    precision: str = FLOAT32
    optimizer: str = "adam"
    layers: Optional[int] = None  # noqa: UP045
    operations: Optional[float] = None  # noqa: UP045  # multiply-adds of one row, forward, where known
    trainings: int = 1

    @property
    def steps(self) -> int:
        """Return how many batches a training has."""
        return math.ceil(self.rows / self.batch) * self.epochs

    @property
    def table_bytes(self) -> float:
        """Return the table's size: a token is a number of four bytes, whatever the network's precision."""
        size = 4 if self.model in NETWORKS else BYTES[self.precision]
        if self.model == MATMUL:
            return float(size * 2 * self.rows * self.columns)
        return float(size) * self.rows * self.columns


@dataclass(frozen=True)
class Work:
    """One training: arithmetic, memory traffic at the least, kernels on a card."""

    flops: Span
    bytes: Span
    launches: Span

    @property
    def least(self) -> Work:
        """Return the least that it may amount to."""
        return Work(*(Span(span.low, span.low) for span in (self.flops, self.bytes, self.launches)))

    @property
    def most(self) -> Work:
        """Return the most that it may amount to."""
        return Work(*(Span(span.high, span.high) for span in (self.flops, self.bytes, self.launches)))


def work(job: Job) -> Work:
    """Return what a training amounts to.

    Networks: a weight multiplies once forward and twice backward, two operations each: 6 a parameter and row
    (Kaplan et al. 2020, arXiv 2001.08361: C = 6ND); the first layer needs no gradient of its input, so that
    two thirds is the least. Logistic regression: two passes over the table an evaluation, one to three
    evaluations an iteration. A matrix product: rows by columns times columns by rows.
    """
    table = float(job.rows) * job.columns
    if job.model == MATMUL:
        size, square = BYTES[job.precision], float(job.rows) ** 2
        products, traffic = 2 * square * job.columns * job.epochs, size * (2 * table + square) * job.epochs
        return Work(Span(products, products), Span(traffic, 3 * traffic), Span(job.epochs, job.epochs))
    if job.model in {LOGISTIC, TREES}:
        passes = Span(1, 3) * (table * job.epochs)
        return Work(passes * 4, passes * (2 * BYTES[job.precision]), LAUNCHES_AN_ITERATION * job.epochs)
    rows = float(job.rows) * job.epochs
    states = 7 * 4.0 * (job.parameters or 0)  # weights read, gradients and states read and written
    # what layers hand on is written, and read twice on the way back, unless it stays in a cache
    between = Span(0, 3 * BYTES[job.precision] * values(job).high)
    layers = depth(job)
    launches = (LAUNCHES_A_LAYER[job.model] * layers + LAUNCHES_A_STEP) * job.steps
    moved = between * rows + Span(0, 2 * states) * job.steps + Span(1, 1) * (job.table_bytes * job.epochs)
    return Work(multiply_adds(job) * (2 * rows) * Span(2, 3), moved, launches)


def multiply_adds(job: Job) -> Span:
    """Return a network's multiply-adds for one row, forward."""
    weights = float(job.parameters or 0)
    if job.operations is not None:
        return Span(job.operations, job.operations)
    if job.model == CNN:
        return Span(1, 1) * weights * REUSE
    if job.model == MLP:
        return Span(0.95, 1) * weights  # biases do not multiply
    wide, deep = transformer(job)
    # every token with every other, twice (scores, and what they weigh), or half of it with a causal mask
    attention = Span(deep.low * wide.low, deep.high * wide.high) * Span(1, 2) * job.columns
    return (MULTIPLYING * weights + attention) * job.columns


def depth(job: Job) -> Span:
    """Return how many layers a network has."""
    if job.layers is not None:
        return Span(job.layers, job.layers)
    if job.model == TRANSFORMER:
        return transformer(job)[1]
    return CNN_DEPTH if job.model == CNN else Span(DEPTH[0], DEPTH[-1])


def transformer(job: Job) -> tuple[Span, Span]:
    """Return width and depth: P = 12 depth width^2, and width / depth as people choose it."""
    weights = float(job.parameters or 0)
    if job.layers is not None:
        wide = math.sqrt(weights / (12 * job.layers))
        return MULTIPLYING_ROOT * wide, Span(job.layers, job.layers)
    wide_low, wide_high = (((weights * part * aspect) / 12) ** (1 / 3) for part, aspect in _ASPECTS)
    deep = sorted((wide_low / ASPECT.low, wide_high / ASPECT.high))
    return Span(wide_low, wide_high), Span(max(1.0, deep[0]), max(1.0, deep[1]))


MULTIPLYING_ROOT = Span(math.sqrt(MULTIPLYING.low), 1.0)
_ASPECTS = ((MULTIPLYING.low, ASPECT.low), (MULTIPLYING.high, ASPECT.high))

# Numbers kept for the way back, for every number of an image: ResNet-50 puts out 11.1 million from its
# convolutions (mmengine's count) for 150,528 that go in, 74 each, and keeps what its norms and activations
# put out too; the race's own keeps 24 and up.
KEPT_OF_AN_IMAGE = Span(20, 250)


def values(job: Job) -> Span:
    """Return how many numbers a row leaves behind for the way back."""
    if job.model == CNN:
        return KEPT_OF_AN_IMAGE * job.columns
    if job.model == MLP:
        sums = [n * _width(job, n) for n in ((job.layers,) if job.layers else DEPTH)]
        # what goes into every layer; and with some activations what came out of it as well
        return Span(min(sums) + job.columns, 2 * max(sums) + job.columns)
    wide, deep = transformer(job)
    # 34 bytes a token, layer and unit of width in half precision, with dropout's masks (see advise_memory)
    return deep * wide * Span(8, 17) * job.columns


def _width(job: Job, layers: int) -> float:
    """Return how wide that many equal layers are: P = columns w + (layers - 1) w^2."""
    weights = float(job.parameters or 0)
    if layers == 1:
        return weights / job.columns
    inner = layers - 1
    return (math.sqrt(job.columns**2 + 4 * inner * weights) - job.columns) / (2 * inner)
