"""Whether a training that is not yet written needs a card: its time on either side, its memory, the answer.

Every figure is a span (see spans.py), and the answer is given only where the whole span agrees with it;
otherwise it is that a model cannot decide this, and what would: a race.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Optional

from verify.race.advise_memory import GIB, Need, need
from verify.race.advise_rates import OTHER_KIND, Device
from verify.race.advise_times import CPU_HAS_NO, Side, card_side, cpu_side
from verify.race.advise_work import LOGISTIC, MATMUL, NETWORKS, TREES, Job, Work, work
from verify.race.phrases import duration, significant
from verify.race.spans import Span
from verify.race.words import Message, message

CPU_IS_ENOUGH, GPU, NO_FIT, UNDECIDED = "cpu", "gpu", "will-not-fit", "undecided"
FITS, FITS_NOT, FITS_PERHAPS, FITS_UNKNOWN = "yes", "no", "perhaps", "unknown"
PATIENCE_SECONDS = 600.0
WORTH_IT = 1.5  # so many times as fast at least, and nobody asks whether the card was needed
DOCUMENT = 1


@dataclass(frozen=True)
class Advice:
    """The answer and all that it rests on."""

    job: Job
    verdict: str
    said: Message
    reasons: tuple[Message, ...]
    cpu: Side
    card: Side
    card_name: str
    ratio: Span
    need: Need
    memory: Optional[Span]  # noqa: UP045  # Python 3.9; bytes
    fits: str
    patience_s: float

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "schema": DOCUMENT,
            "job": asdict(self.job),
            "patience_s": self.patience_s,
            "verdict": self.verdict,
            "said": self.said,
            "reasons": list(self.reasons),
            "cpu": self.cpu.document(),
            "card": {"name": self.card_name, **self.card.document()},
            "ratio": self.ratio.document(),
            "memory": {
                "fits": self.fits,
                **self.need.document(),
                "card_gib": None if self.memory is None else (self.memory / GIB).document(),
            },
        }


def advise(job: Job, cpu: Device, card: Device, patience_s: float = PATIENCE_SECONDS) -> Advice:
    """Return the answer for a job on these two."""
    amount = work(job)
    here, there = cpu_side(job, amount, cpu), card_side(job, amount, card)
    ratio, needed = _ratio(job, amount, cpu, card), need(job)
    fits = fit(needed.total, card.memory)
    verdict, said = _by_time(here.seconds, ratio, patience_s)
    if verdict != CPU_IS_ENOUGH and fits == FITS_NOT:  # what the CPU does soon enough need not fit
        verdict, said = NO_FIT, _no_fit(job, needed, card)
    reasons = (
        _time("advise-time-cpu", here),
        _time("advise-time-card", there, card=card.name),
        message("advise-ratio", **_digits(ratio), factor=significant(ratio.factor or 0)),
        _memory(needed, card, fits),
        *_notes(job, cpu, card),
    )
    return Advice(
        job, verdict, said, reasons, here, there, card.name, ratio, needed, card.memory, fits, patience_s
    )


def _ratio(job: Job, amount: Work, cpu: Device, card: Device) -> Span:
    """Return how many times as fast the card is: for both it is the same work, whatever it amounts to."""
    sides = [
        (cpu_side(job, one, cpu).seconds, card_side(job, one, card).seconds)
        for one in (amount.least, amount.most)
    ]
    return Span(min(c.low / g.high for c, g in sides), max(c.high / g.low for c, g in sides))


def fit(needed: Span, memory: Span | None) -> str:
    """Whether what is needed fits: only where both whole spans agree."""
    if memory is None:
        return FITS_UNKNOWN
    if needed.low > memory.high:
        return FITS_NOT
    return FITS if needed.high <= memory.low else FITS_PERHAPS


def batch_that_fits(job: Job, memory: Span) -> int | None:
    """Return the largest batch, a power of two, that should fit; None where not even one row does."""
    size = 1
    while size <= job.batch and need(_with_batch(job, size)).total.likely <= memory.low:
        size *= 2
    return size // 2 or None


def _with_batch(job: Job, batch: int) -> Job:
    return Job(**{**asdict(job), "batch": batch})


def _by_time(cpu: Span, ratio: Span, patience_s: float) -> tuple[str, Message]:
    patience = duration(patience_s)
    if cpu.high <= patience_s:
        return CPU_IS_ENOUGH, message("advise-cpu-soon", high=duration(cpu.high), patience=patience)
    if ratio.high <= 1:
        return CPU_IS_ENOUGH, message("advise-cpu-no-faster", high=significant(ratio.high))
    if cpu.low > patience_s and ratio.low >= WORTH_IT:
        return GPU, message("advise-gpu", low=duration(cpu.low), least=significant(ratio.low))
    times = {"times_low": significant(ratio.low), "times_high": significant(ratio.high)}
    ends = {"low": duration(cpu.low), "high": duration(cpu.high), "patience": patience, **times}
    if cpu.likely <= patience_s or ratio.likely <= 1:
        return UNDECIDED, message("advise-undecided-cpu", **ends)
    return UNDECIDED, message("advise-undecided-gpu", **ends)


def _no_fit(job: Job, needed: Need, card: Device) -> Message:
    assert card.memory is not None  # noqa: S101
    values = {"low": significant(needed.total.low / GIB, 3), "have": significant(card.memory.high / GIB, 3)}
    if job.model not in NETWORKS:
        return message("advise-no-fit-table", card=card.name, **values)
    batch = batch_that_fits(job, card.memory)
    if batch is None or batch >= job.batch:
        return message("advise-no-fit", card=card.name, **values)
    return message("advise-no-fit-batch", card=card.name, batch=batch, **values)


def _time(name: str, side: Side, **more: Any) -> Message:  # noqa: ANN401
    ends = {key: duration(getattr(side.seconds, key)) for key in ("low", "likely", "high")}
    factor = significant(side.seconds.factor or 0)
    limit, origin = message(f"advise-limit-{side.limit}"), message(f"advise-{side.origin}")
    return message(name, **ends, factor=factor, limit=limit, origin=origin, **more)


def _digits(span: Span) -> dict[str, float]:
    return {key: significant(getattr(span, key)) for key in ("low", "likely", "high")}


def _memory(needed: Need, card: Device, fits: str) -> Message:
    ends = {key: significant(getattr(needed.total, key) / GIB) for key in ("low", "likely", "high")}
    if card.memory is None:
        return message("advise-memory-unknown", **ends)
    have = {f"have_{key}": significant(getattr(card.memory, key) / GIB, 3) for key in ("low", "high")}
    return message(f"advise-memory-{fits}", card=card.name, **ends, **have)


def _raced(job: Job, cpu: Device) -> list[Message]:
    """Say what the race lacks of the kind of work that is asked for; or that there is none."""
    if not cpu.raced:
        return [message("advise-race")]
    if job.model in NETWORKS and "network" in cpu.measured:
        values = {"raced": cpu.kind or "-", "asked": job.model, "factor": OTHER_KIND}
        return [] if cpu.kind == job.model else [message("advise-other-kind", **values)]
    part = {LOGISTIC: "regression", MATMUL: "product"}.get(job.model, "network")
    return [] if part in cpu.measured else [message("advise-not-raced", asked=job.model)]


def _notes(job: Job, cpu: Device, card: Device) -> list[Message]:
    found = []
    if job.model != TREES and job.precision not in card.tflops:
        found.append(message("advise-no-precision", precision=job.precision, card=card.name))
    if job.precision in CPU_HAS_NO:
        found.append(message("advise-cpu-float32", precision=job.precision))
    if job.model == TREES:
        found.append(message("advise-trees"))
    else:
        found += _raced(job, cpu)
    return found
