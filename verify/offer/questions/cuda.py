"""Question 5: the driver and its CUDA, which images of CUDA that allows, and the user's own image on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.compat.cuda import How, carried
from verify.compat.host import host_answer
from verify.facts.source import cite
from verify.image.estimate import sizes
from verify.image.inspect import content
from verify.image.verdict import Word as ImageWord
from verify.image.verdict import judge
from verify.offer.answer import Answer, Word
from verify.offer.manifest import REGISTRY
from verify.offer.questions.daemon import TRY

if TYPE_CHECKING:
    from verify.compat.host import CudaRow
    from verify.facts.version import Version
    from verify.offer.facts import OfferFacts

_ID, _TITLE = "driver", "the driver and its CUDA"
_OLDER = "rent an offer with a newer driver, or use an image for an older CUDA"


def driver_version(offer: OfferFacts) -> tuple[Version | None, tuple[str, ...]]:
    """Return the driver that runs, by nvidia-smi's word, else by its module's."""
    seen = offer.state
    if seen.driver.answers and seen.driver.version:
        return seen.driver.version, seen.driver.evidence
    if seen.module.version is not None:
        return seen.module.version, seen.module.evidence
    return None, ()


def cuda(offer: OfferFacts) -> Answer:
    """Answer which driver runs, and which CUDA images it starts."""
    version, evidence = driver_version(offer)
    if version is None:
        return _without(offer)
    machine = offer.host.platform.architecture if offer.host.platform else None
    rows = host_answer(version, offer.host.cards, {"amd64": "x86_64"}.get(machine or "", machine or "")).cudas
    by = {how: [row for row in rows if row.how is how] for how in How}
    words = [
        f"images for CUDA {_span(by[How.RUNS])} run" if by[How.RUNS] else "",
        f"{_span(by[How.MINOR])} by minor-version compatibility" if by[How.MINOR] else "",
        f"{_span(by[How.FORWARD])} with cuda-compat in the image" if by[How.FORWARD] else "",
        f"{_span(by[How.NO])} not" if by[How.NO] else "",
    ]
    says = offer.state.driver.cuda or carried(version)
    offers = f", CUDA {says}" if says else ""
    origin = f" ({offer.state.driver.origin})" if offer.state.driver.origin else ""
    summary = f"driver {version}{origin}{offers}: {'; '.join(filter(None, words)) or 'older than our tables'}"
    starts = bool(by[How.RUNS] or by[How.MINOR] or by[How.FORWARD])
    value = f"{version}{f' (CUDA {says})' if says else ''}"
    if not starts:
        return Answer(_ID, 5, _TITLE, Word.NO, value, summary, _OLDER, evidence)
    return Answer(_ID, 5, _TITLE, Word.YES, value, summary, None, evidence)


def _span(rows: list[CudaRow]) -> str:
    found = sorted(row.cuda for row in rows)
    return str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"


def _without(offer: OfferFacts) -> Answer:
    driver, module, inside = offer.state.driver, offer.state.module, offer.inside
    if inside.init == 0 and inside.cuda is not None:
        summary = (
            f"CUDA {inside.cuda} opens the card: its images run, and older ones; the driver is not named"
        )
        return Answer(_ID, 5, _TITLE, Word.YES, f"CUDA {inside.cuda}", summary, None, inside.evidence)
    evidence = (*driver.evidence, *module.evidence)
    if driver.recorded and module.loaded is False and evidence:
        todo = "`./bootstrap.sh` installs one on a machine; in a container only the provider can"
        return Answer(_ID, 5, _TITLE, Word.NO, "none", "no driver runs here", todo, evidence)
    summary = "which driver runs was not recorded, or nvidia-smi does not say"
    return Answer(_ID, 5, _TITLE, Word.UNKNOWN, "not known", summary, f"`gpu-verify doctor`; {TRY}", evidence)


def image(offer: OfferFacts) -> Answer | None:
    """Answer whether the user's image runs on this driver and these cards; None where none is named."""
    title, found = "your image on this driver", offer.registry
    if found is None or found.image is None:
        return None
    if offer.image is None:
        why = f": {found.image_trouble}" if found.image_trouble else ""
        summary = f"{found.image} was not described by its registry{why}"
        todo = "check its name, and the login: `gpu-verify image REF` says more"
        return Answer("your-image", 5, title, Word.UNKNOWN, "not known", summary, todo)
    known = content(offer.image)
    verdict = judge(offer.image, known, sizes(offer.image, offer.host.layers), offer.host)
    words = {ImageWord.NO: Word.NO, ImageWord.UNKNOWN: Word.UNKNOWN}
    word = words.get(verdict.word, Word.YES)
    said = "; ".join(verdict.reasons[:2]) or "nothing stands against it"
    evidence = (cite(REGISTRY, f"{found.image}: CUDA {known.cuda or 'not named'}"), *driver_version(offer)[1])
    advice = None if word is Word.YES else "the sentence says what to do; `gpu-verify image REF` says more"
    return Answer(
        "your-image", 5, title, word, verdict.word.value, f"{found.image}: {said}", advice, evidence
    )
