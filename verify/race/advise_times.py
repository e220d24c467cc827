"""How long a training takes on a CPU and on a card: the slowest of what it waits for (a roofline)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from verify.race.advise_rates import (
    A_TREE,
    A_TREE_ON_A_CARD,
    BUS,
    LAUNCH,
    MEASURED,
    MODELLED,
    OPERATION,
    OTHER_KIND,
    OTHER_WORK,
    Device,
)
from verify.race.advise_work import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    LOGISTIC,
    MATMUL,
    NETWORKS,
    TF32,
    TREES,
    Job,
    Work,
)
from verify.race.spans import Span, longest

CPU_HAS_NO = frozenset({TF32, BFLOAT16, FLOAT16})  # or gains nothing by, for all that is known here


@dataclass(frozen=True)
class Side:
    """One side's time for all trainings, and whether its speed was measured."""

    seconds: Span
    origin: str
    limit: str  # what it waits for: arithmetic, memory, launches, trees, start

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"seconds": self.seconds.document(), "from": self.origin, "limit": self.limit}


def cpu_side(job: Job, amount: Work, cpu: Device) -> Side:
    """Return the time on the CPU, of all trainings."""
    if job.model == TREES:
        cells = float(job.rows) * job.columns * job.epochs
        seconds = Span(cells, cells) / cpu.cells + A_TREE * job.epochs
        return Side(seconds * job.trainings, MODELLED, "trees")
    known = _known(job, amount, cpu)
    if known is not None:
        return Side(known * job.trainings, MEASURED, "arithmetic" if job.model == MATMUL else "memory")
    precision = FLOAT32 if job.precision in CPU_HAS_NO else job.precision
    parts, origin = _roofline(job, amount, cpu, precision)
    parts["launches"] = amount.launches * OPERATION
    return Side(longest(*parts.values()) * job.trainings, origin, _limit(parts))


def card_side(job: Job, amount: Work, card: Device) -> Side:
    """Return the time on the card, of all trainings: its first call and the copies counted."""
    times = 1 if job.model not in NETWORKS else job.epochs  # a network's batches are copied again every epoch
    copied = Span(job.table_bytes, job.table_bytes * times) / BUS
    known = _known(job, amount, card)
    if job.model == TREES:
        cells = float(job.rows) * job.columns * job.epochs
        parts = {"trees": Span(cells, cells) / card.cells + A_TREE_ON_A_CARD * job.epochs}
        origin = MODELLED
    elif known is not None:
        parts, origin = {"arithmetic" if job.model == MATMUL else "memory": known}, MEASURED
    else:
        precision = job.precision if job.precision in card.tflops else FLOAT32
        parts, origin = _roofline(job, amount, card, precision)
        parts["launches"] = amount.launches * LAUNCH
    inside = {**parts, "start": card.start, "copy": copied}
    # woken once where all trainings are one process, else for each
    woken = card.start * Span(1, job.trainings)
    return Side(woken + (copied + longest(*parts.values())) * job.trainings, origin, _limit(inside))


def _roofline(job: Job, amount: Work, device: Device, precision: str) -> tuple[dict[str, Span], str]:
    """Return the time by arithmetic and by memory; a rate that a training reached has its memory in it.

    A rate that another kind of network reached is carried over within a wider factor.
    """
    rate = device.tflops[precision]
    if precision not in device.precisions or job.model not in NETWORKS:
        return {"arithmetic": amount.flops / rate, "memory": amount.bytes / device.bandwidth}, MODELLED
    wider = 1.0 if job.model == device.kind else OTHER_KIND / OTHER_WORK
    return {"arithmetic": amount.flops / (rate * Span(1 / wider, wider))}, MEASURED


def _known(job: Job, amount: Work, device: Device) -> Span | None:
    """Return the time by what a race measured of the same kind of work."""
    if job.model == LOGISTIC and device.regression is not None:
        cells = float(job.rows) * job.columns * job.epochs
        return Span(cells, cells) / device.regression
    if job.model == MATMUL and device.product is not None and job.precision == FLOAT32:
        return amount.flops / device.product
    return None


def _limit(parts: dict[str, Span]) -> str:
    return max(parts, key=lambda name: parts[name].likely)
