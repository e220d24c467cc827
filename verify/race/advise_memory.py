"""How much of a card's memory a training takes: parameters with all that goes with them, and activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from verify.race.advise_work import (
    BYTES,
    FLOAT64,
    LOGISTIC,
    MATMUL,
    NETWORKS,
    TRANSFORMER,
    TREES,
    Job,
    transformer,
    values,
)
from verify.race.spans import Span

GIB = float(1 << 30)
# What a process needs before anything is calculated: the CUDA context, kernels, cuBLAS's and cuDNN's work
# space. Hugging Face's "Model training anatomy" saw 1.3 GB on a V100; torch loads kernels as they are
# needed now.
STARTED = Span(0.3 * GIB, 1.5 * GIB)
# torch keeps what is freed, in blocks that do not always fit again.
FRAGMENTS = Span(1.0, 1.25)
STATES = {"adam": 2, "momentum": 1, "sgd": 0}  # numbers a parameter that the optimizer keeps
VOCABULARY = 50_257  # GPT-2's; the scores of every token over it are kept in float32, with their gradient
HEAD_SIZE = 64
HALF = frozenset({"bfloat16", "float16"})
# Memory as sold, read as GiB, and what the driver leaves of it: nvidia-smi says 24564 MiB for 24 GB, and ECC
# takes a sixteenth of GDDR6 (22.5 of 24 GB).
USABLE = Span(0.92, 1.0)


@dataclass(frozen=True)
class Need:
    """What a training takes on a card, in bytes, by part."""

    parts: dict[str, Span]

    @property
    def total(self) -> Span:
        """Return all of it, with what the allocator wastes."""
        needed = Span(0, 0)
        for part in self.parts.values():
            needed = needed + part
        return needed * FRAGMENTS + STARTED

    def document(self) -> dict[str, Any]:
        """Return it as JSON, in GiB."""
        parts = {name: (part / GIB).document() for name, part in self.parts.items()}
        return {"total_gib": (self.total / GIB).document(), "parts_gib": parts}


def need(job: Job) -> Need:
    """Return what a training takes on the card.

    A network's table stays on the machine, batches are copied; the others need all of it on the card.
    """
    if job.model not in NETWORKS:
        return Need({"table": _table(job)})
    parts = {name: Span(size, size) for name, size in parameters(job).items()}
    return Need({**parts, "activations": activations(job)})


def parameters(job: Job) -> dict[str, float]:
    """Return the bytes of weights, gradients and the optimizer's states.

    float32 by Adam: 4 + 4 + 8 bytes a parameter. Mixed precision as torch.autocast does it: the weights
    stay in float32 and get a copy of 2 bytes, 6 + 4 + 8 (Hugging Face, "Model training anatomy"; ZeRO,
    arXiv 1910.02054, counts 16, with gradients in half precision).
    """
    count, size = float(job.parameters or 0), 8 if job.precision == FLOAT64 else 4
    copy = BYTES[job.precision] if job.precision in HALF else 0
    return {
        "weights": count * (size + copy),
        "gradients": count * size,
        "optimizer": count * size * STATES[job.optimizer],
    }


def activations(job: Job) -> Span:
    """Return the bytes that a batch leaves behind for the way back.

    A transformer's, without recomputation: sbh (34 + 5as/h) bytes a layer in half precision (Korthikanti et
    al. 2022, arXiv 2205.05198), 16 numbers and 2 masks generalised; without dropout and with an attention
    that keeps no scores it is half of the first part; a vocabulary's scores may come on top.
    """
    size = BYTES[job.precision]
    if job.model != TRANSFORMER:
        return values(job) * (float(size) * job.batch)
    wide, deep = transformer(job)
    tokens, sequence = float(job.batch) * job.columns, float(job.columns)
    first = (16 * size + 2) * tokens
    scores = (2 * size + 1) * tokens * sequence / HEAD_SIZE
    low = deep.low * wide.low * first / 2
    return Span(low, deep.high * wide.high * (first + scores) + tokens * VOCABULARY * 4 * 2)


def _table(job: Job) -> Span:
    """Return the bytes of the table and of what goes with it.

    Regression: the table, at most once more while it is standardised. Trees: a byte a number after binning,
    and at most the table itself beside it (LightGBM's Experiments saw 0.87 GB for Higgs, whose numbers are
    294 million; xgboost_hist 3.8 GB). A product: three matrices.
    """
    table = float(job.rows) * job.columns * BYTES[job.precision]
    if job.model == LOGISTIC:
        return Span(1, 2) * table
    if job.model == TREES:
        return Span(float(job.rows) * job.columns, 4.0 * table)
    assert job.model == MATMUL  # noqa: S101
    matrices = 2 * table + float(job.rows) ** 2 * BYTES[job.precision]
    return Span(matrices, matrices)
