"""The verdict for each use: train here, serve here, build images here, CI here. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from verify.offer.answer import Answer, Word
from verify.offer.interruption import interruption
from verify.offer.questions import answers
from verify.offer.questions.cards import cuda_refuses
from verify.offer.questions.daemon import Kind, kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.offer.facts import OfferFacts

_GIB = 2**30


class Use(StrEnum):
    """What somebody wants the machine for."""

    TRAIN = "train"
    SERVE = "serve"
    BUILD = "build"
    CI = "ci"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``word`` is yes only where every need is a yes; ``but`` is what to know all the same."""

    use: Use
    word: Word
    reasons: tuple[str, ...]
    but: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything that is said of one offer."""

    answers: tuple[Answer, ...]
    verdicts: tuple[Verdict, ...]

    def passes(self, wanted: tuple[Use, ...]) -> bool:
        """Whether every wanted use passes; where none is named, whether any does."""
        good = {verdict.use for verdict in self.verdicts if verdict.word is Word.YES}
        return set(wanted) <= good if wanted else bool(good)


def judge(offer: OfferFacts) -> Judgement:
    """Answer the questions, and say for what the offer is fit."""
    found = answers(offer)
    by_id = {answer.id: answer for answer in found}
    made = tuple(_verdict(use, by_id, offer) for use in Use)
    return Judgement(found, made)


def _needs(use: Use, by_id: Mapping[str, Answer], offer: OfferFacts) -> list[Answer]:
    """Return the answers that have to be a yes."""
    if use is Use.BUILD:
        names = ["builds"]
    elif use is Use.CI:
        names = ["daemon", "builds", "several", "compose", "cards"]
    elif kind(offer) is Kind.CONTAINER:
        # The container is the workload: it needs no Docker, but the card.
        names = ["cards", "driver"] if use is Use.TRAIN else ["cards", "driver", "image"]
    elif _bare(use, offer):
        names = ["driver"]
    else:
        names = ["image", "cards", "driver"]
    needed = [by_id[name] for name in names]
    mine = by_id.get("your-image")
    return [*needed, mine] if mine is not None and use in (Use.TRAIN, Use.SERVE, Use.CI) else needed


def _bare(use: Use, offer: OfferFacts) -> bool:
    """Whether one trains on the machine itself: its card answers, and there is no Docker yet."""
    works = offer.state.driver.answers and cuda_refuses(offer) is None
    return use is Use.TRAIN and kind(offer) is Kind.MACHINE and works


def _verdict(use: Use, by_id: Mapping[str, Answer], offer: OfferFacts) -> Verdict:
    needs = _needs(use, by_id, offer)
    short = [answer for answer in needs if answer.word is Word.NO] or [
        answer for answer in needs if answer.word is Word.UNKNOWN
    ]
    word = short[0].word if short else Word.YES
    reasons = tuple(f"{answer.question}: {answer.value}" for answer in short)
    return Verdict(use, word, reasons, tuple(_buts(use, by_id, offer)) if word is Word.YES else ())


def _buts(use: Use, by_id: Mapping[str, Answer], offer: OfferFacts) -> list[str]:
    said = ["on the machine itself: there is no Docker yet"] if _bare(use, offer) else []
    spot = interruption(offer.metadata)
    if use in (Use.TRAIN, Use.SERVE) and (spot.spot or spot.soon):
        said.append("it may be taken away at any time: keep checkpoints")
    if use is Use.TRAIN and by_id["volumes"].word is Word.NO:
        said.append("no volume stays: copy checkpoints elsewhere")
    if use is Use.TRAIN and by_id["volumes"].word is Word.UNKNOWN:
        said.append("whether a volume stays is not yet known")
    shm = offer.machine.shm
    if use is Use.TRAIN and kind(offer) is Kind.CONTAINER and shm is not None and shm < _GIB:
        said.append("less than 1 GiB of /dev/shm: data loaders with workers fail")
    if use in (Use.BUILD, Use.CI) and by_id["registry"].word is Word.NO:
        said.append(f"the registry: {by_id['registry'].value}")
    return said
