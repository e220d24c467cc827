"""Question 2: a Docker daemon with root, a rootless one, or a container that only looks like a machine."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from verify.facts.engine import Stranger
from verify.offer.answer import Answer, Word
from verify.offer.facts import cite_step

if TYPE_CHECKING:
    from verify.offer.facts import OfferFacts

INSTALL = "`./bootstrap.sh` installs Docker and NVIDIA's toolkit where there is root"
RENT = "to run containers here, rent a machine (a VM, or bare metal) in the place of a container"
TRY = "`gpu-verify offer` without --no-tries tries it"


class Kind(StrEnum):
    """What there is of Docker."""

    ROOT = "daemon with root"
    ROOTLESS = "rootless daemon"
    SILENT = "daemon without an answer"
    DENIED = "daemon not for this user"
    CONTAINER = "container, no Docker"
    MACHINE = "machine, no Docker"
    UNKNOWN = "not recorded"


def kind(offer: OfferFacts) -> Kind:
    """Say what there is of Docker."""
    engine, host = offer.state.engine, offer.state.host
    if engine.described:
        return Kind.ROOTLESS if engine.rootless else Kind.ROOT
    if not engine.recorded:
        return Kind.UNKNOWN
    if engine.denied:
        return Kind.DENIED
    if engine.client or engine.daemon_installed:
        return Kind.SILENT
    if offer.container:
        return Kind.CONTAINER
    return Kind.MACHINE if host.kernel or host.os_id else Kind.UNKNOWN


def where(offer: OfferFacts) -> tuple[str, ...]:
    """Return the lines that show what kind of machine this is."""
    return (offer.container.evidence,) if offer.container else offer.state.host.evidence


def absent(offer: OfferFacts) -> str | None:
    """Say why nothing here runs containers; None where something may."""
    found = kind(offer)
    if found is Kind.CONTAINER:
        return "there is no Docker in this container"
    if found is Kind.MACHINE:
        return "there is no Docker on this machine yet"
    return None


def remedy(offer: OfferFacts) -> str:
    """Say what brings Docker here, or where to go."""
    return RENT if kind(offer) is Kind.CONTAINER else INSTALL


def daemon(offer: OfferFacts) -> Answer:
    """Answer which daemon there is."""
    word, summary, todo = _judged(offer)
    evidence = (*offer.state.engine.evidence, *where(offer))
    if word is not Word.UNKNOWN and not evidence:
        word, summary, todo = Word.UNKNOWN, "what there is of Docker was not recorded", TRY
    return Answer("daemon", 2, "a real Docker daemon", word, kind(offer).value, summary, todo, evidence)


def _judged(  # noqa: PLR0911  # one a kind
    offer: OfferFacts,
) -> tuple[Word, str, str | None]:
    engine, host = offer.state.engine, offer.state.host
    version = f"Docker {engine.version}" if engine.version else "Docker"
    named = offer.container.container if offer.container else ""
    inside = f", inside a {named} container" if named else ""
    match kind(offer):
        case Kind.ROOT:
            others = {Stranger.DESKTOP: ", Docker Desktop's", Stranger.SNAP: ", installed as a snap"}
            strange = others.get(engine.stranger, "") if engine.stranger else ""
            return Word.YES, f"{version}, a daemon with root{strange}{inside}", None
        case Kind.ROOTLESS:
            limits = "no ports below 1024, limits and cards only as far as the host has set them up"
            return Word.YES, f"{version}, a rootless daemon{inside}: {limits}", None
        case Kind.DENIED:
            todo = "run this as root, or `sudo usermod -aG docker $USER` and log in again"
            return Word.NO, "there is a daemon, and it does not let this user in", todo
        case Kind.SILENT if engine.timed_out:
            return (
                Word.UNKNOWN,
                "there is a daemon, and it gave no answer in time",
                "`gpu-verify doctor` says why",
            )
        case Kind.SILENT:
            said = f": {engine.said}" if engine.said else ""
            return Word.NO, f"Docker is installed and does not answer{said}", "`gpu-verify doctor` says why"
        case Kind.CONTAINER:
            return (
                Word.NO,
                f"only a container ({named}) that looks like a machine: no Docker in it",
                RENT,
            )
        case Kind.MACHINE:
            return Word.NO, f"a machine ({host.os_name or host.os_id}) without Docker", INSTALL
        case _:
            return Word.UNKNOWN, "what there is of Docker was not recorded", TRY


def builds(offer: OfferFacts) -> Answer:
    """Answer whether an image can be built here: one was, from nothing, with a step that runs."""

    def said(word: Word, value: str, summary: str, todo: str | None, evidence: tuple[str, ...]) -> Answer:
        return Answer("builds", 2, "builds images", word, value, summary, todo, evidence)

    tries = offer.tries
    done = [entry for name in ("build", "build-buildkit") if (entry := tries.step(name))]
    good = next((entry for entry in done if entry.ok), None)
    if good is not None:
        how = "by BuildKit" if good.name == "build-buildkit" else "by the classic builder"
        return said(
            Word.YES,
            "yes",
            f"an image was built from nothing here, {how}, and removed",
            None,
            (cite_step(good),),
        )
    if done:
        words = [line.strip() for line in done[-1].stderr.splitlines() if line.strip()]
        summary = f"a build from nothing failed: {words[-1][:200] if words else done[-1].ended}"
        evidence = tuple(cite_step(entry) for entry in done)
        return said(Word.NO, "no", summary, "build elsewhere, push, and pull here", evidence)
    missing, evidence = absent(offer), offer.state.engine.evidence
    if missing and evidence:
        return said(Word.NO, "no", f"{missing}: nothing builds", remedy(offer), evidence)
    begun = tries.steps.command("build")
    if begun is not None:
        return said(
            Word.UNKNOWN, "not finished", f"a build was begun and was not finished: {begun.ended}", TRY, ()
        )
    why = f": {tries.why_not}" if tries.why_not else ""
    return said(Word.UNKNOWN, "not tried", f"no build was tried{why}", TRY, ())
