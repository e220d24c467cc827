"""A check: its id, what it depends on, and the pure function that judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from verify.facts.state import State
from verify.findings import Layer, Status


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check makes of the facts, before anything it depends on is looked at."""

    status: Status
    summary: str
    remedy: str | None = None
    evidence: tuple[str, ...] = ()
    between: tuple[Layer, Layer] | None = None
    final: bool = False
    """A skip that no failure elsewhere explains: it does not apply to this kind of host."""
    because: tuple[str, ...] = ()
    """Checks below that explain this failure where they fail too: then it is blocked, as by its needs."""
    blocks: bool = True
    """Whether this failure spoils what rests on it; a fault of the next start spoils nothing that runs."""


Judge: TypeAlias = Callable[[State], Verdict]


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the stack. A failed or blocked check in ``needs`` blocks this one."""

    id: str
    judge: Judge
    needs: tuple[str, ...] = ()

    @property
    def layer(self) -> Layer:
        """The layer that its id begins with."""
        return Layer(self.id.partition(".")[0])


def count(number: int, thing: str) -> str:
    """Write ``1 card`` and ``2 cards``."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def passed(summary: str, evidence: tuple[str, ...]) -> Verdict:
    """Say that it is as it must be."""
    return Verdict(Status.PASS, summary, evidence=evidence)


def warned(summary: str, remedy: str | None, evidence: tuple[str, ...]) -> Verdict:
    """Say that it works, and what a person should know about it."""
    return Verdict(Status.WARN, summary, remedy, evidence)


def failed(
    summary: str,
    remedy: str,
    evidence: tuple[str, ...],
    between: tuple[Layer, Layer] | None = None,
    because: tuple[str, ...] = (),
) -> Verdict:
    """Say that it is not as it must be, and what the next step is."""
    return Verdict(Status.FAIL, summary, remedy, evidence, between, because=because)


def not_recorded(what: str) -> Verdict:
    """Say that nobody looked."""
    return Verdict(Status.SKIP, f"not recorded: {what}")


def not_applicable(why: str, evidence: tuple[str, ...] = ()) -> Verdict:
    """Say that there is nothing of the kind here."""
    return Verdict(Status.SKIP, why, evidence=evidence, final=True)
