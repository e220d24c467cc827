"""The whole race: every contestant, the sweep, and what is said of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from verify.race import SCHEMA, contestants, cores, judging, machine, running, sweep, wake
from verify.race.course import Course
from verify.race.device import card_uuid, tf32
from verify.race.libraries import CUDA
from verify.race.sampler import Sampler
from verify.race.sentence import sentence
from verify.race.words import message, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race.budget import Budget
    from verify.race.libraries import Libraries
    from verify.race.progress import Progress
    from verify.race.settings import Settings

SWEEP = "sweep"
# The name in the evidence, which may be published: never the machine's own unless somebody gives it.
THIS_MACHINE = "this machine"
SWEEP_CLAIMS = 1  # its points are few and short: as much as a lane


def run(
    settings: Settings,
    libraries: Libraries,
    budget: Budget,
    progress: Progress,
    *,
    host: str = THIS_MACHINE,
    image_digest: str | None = None,
    prices: Mapping[str, Any] | None = None,
    others: int | None = None,
    lang: str = "en",
) -> dict[str, Any]:
    """Run it and return the document."""
    wake_s = _wake(libraries, budget, progress, lang)  # first: from then on this process keeps the card awake
    card = machine.card(uuid=card_uuid(libraries))
    if card is not None:
        card["wake_s"] = wake_s
    race: dict[str, Any] = {
        "schema": SCHEMA,
        "host": host,
        "simulated": machine.simulated(),
        "image_digest": image_digest,
        "taken_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "elapsed_s": None,
        "budget_s": budget.seconds,
        "versions": machine.versions(libraries),
        "cpu": machine.cpu(libraries),
        "card": card,
        "lang": lang,  # of what is drawn from it, unless another is asked for
        "settings": settings.document(),
        "prices": None if prices is None else dict(prices),
    }
    chosen = contestants.chosen(settings)
    ready = [
        lane
        for contestant in chosen
        for lane in contestant.lanes
        if running.why_absent(contestant, lane, settings, libraries) is None
    ]
    swept = SWEEP in settings.only
    course = Course(
        settings, libraries, budget, progress, len(ready) + (SWEEP_CLAIMS if swept else 0), lang=lang
    )
    on_card = any(lane.device == CUDA for lane in ready)
    course.sampler = Sampler(card=card["uuid"] if card else None, others=others) if on_card else None
    try:
        if course.sampler is not None:
            course.sampler.start()
        peak = (card or {}).get("peak")
        race["contestants"] = []
        for contestant in chosen:
            outcomes, training = running.run_contestant(contestant, course)
            judged = judging.judge(contestant, outcomes, settings, peak=peak, training=training)
            race["contestants"].append(judged)
        race["sweep"] = _sweep(course, peak) if swept else None
    finally:
        if course.sampler is not None:
            course.sampler.close()
    race["elapsed_s"] = budget.elapsed()
    race["sentence"] = sentence(race)
    return race


def _wake(libraries: Libraries, budget: Budget, progress: Progress, lang: str) -> float | None:
    """Return how long the card takes to wake; None without one that torch can use."""
    if "torch" not in libraries or libraries["torch"].version.cuda is None or not machine.listed():
        return None
    progress.said(text(message("progress-wake"), lang))
    return wake.seconds(budget.left())


def _sweep(course: Course, peak: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the sweep, calculated with as many cores and digits as the lanes."""
    libraries = course.libraries
    with cores.all_cores(libraries, course.threads), tf32(libraries, allowed=False):
        return sweep.run(course.settings, libraries, course.budget, course.progress, peak=peak)
