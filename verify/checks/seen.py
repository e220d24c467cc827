"""Layer container, what CUDA is shown there: which of its libraries, and which of the cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.applies import STAND_IN
from verify.checks.check import Verdict, count, failed, not_applicable, not_recorded, passed, warned
from verify.compat.cuda import minimum_driver
from verify.compat.cuda_errors import number_in
from verify.compat.forward import forward_compatible
from verify.compat.requirement import all_known
from verify.facts.visible import visible
from verify.findings import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from verify.facts.card import Card
    from verify.facts.state import State
    from verify.facts.version import Version

NOT_SUPPORTED = 804
_BETWEEN = (Layer.DRIVER, Layer.CONTAINER)


def compat(state: State) -> Verdict:
    """Whether the image's compatibility libraries are in use, and whether these cards allow that."""
    inside, container, host = state.container.inside, state.container.driver, state.driver
    ours = container.cuda or inside.cuda
    evidence = (*container.evidence[:1], *host.evidence[:1], *inside.evidence)
    in_path = "/compat/" in (inside.library or "")
    newer = ours is not None and host.cuda is not None and ours > host.cuda
    refused = NOT_SUPPORTED in (inside.init, *map(number_in, state.container.framework.reasons))
    if state.container.simulated:
        return not_applicable(STAND_IN)
    if not (in_path or newer or refused):
        if inside.library is None and (ours is None or host.cuda is None):
            return not_recorded("CUDA's version in the container and on the host")
        shown = f"CUDA {ours} in the container and on the host" if ours and host.cuda else inside.library
        return passed(f"no compatibility library is in use: {shown}", evidence)
    what = _found(inside.library if in_path else None, ours, host.cuda)
    allowed = _allowed(container.cards or host.cards)
    if refused or (allowed is False and inside.init != 0):
        names = ", ".join(sorted({card.name or "?" for card in container.cards or host.cards})) or "this card"
        said = ": error 804, forward compatibility was attempted on non supported HW" if refused else ""
        return failed(
            f"{what}; {names} cannot use them, only data-centre cards can{said}",
            _without(state, ours),
            (*evidence, *(state.container.framework.evidence if refused and not inside.init else ())),
            _BETWEEN,
        )
    if allowed or inside.init == 0:
        return passed(f"{what}, which {'data-centre cards' if allowed else 'these cards'} allow", evidence)
    return warned(
        f"{what}; only data-centre cards and some others allow that, and nobody tried cuInit here",
        _without(state, ours),
        evidence,
    )


def _found(library: str | None, ours: Version | None, host: Version | None) -> str:
    where = f" ({library})" if library else ""
    against = f": CUDA {ours} in the container, {host} on the host" if ours and host else ""
    return f"the image's compatibility libraries are in use{where}{against}"


def _without(state: State, ours: Version | None) -> str:
    """Say how to do without them: by minor-version compatibility, an older image, or a newer driver."""
    minimum = minimum_driver(ours) if ours else None
    driver, cuda = state.driver.version or state.container.driver.version, state.driver.cuda
    without = "docker run -e LD_LIBRARY_PATH= … (without …/compat)"
    if ours and minimum and driver and driver >= minimum:
        return f"{without}: driver {driver} runs programs of any CUDA {ours.major} by itself"
    older = f"CUDA {cuda} or older" if cuda else "a CUDA not newer than the driver's"
    newer = f"driver {minimum} or newer" if minimum else "a newer driver"
    return f"an image of {older}, or {newer} on the host; {without}"


def _allowed(cards: Iterable[Card]) -> bool | None:
    """Whether all of the cards may use them; False where one may not."""
    answers = [forward_compatible(card.name) for card in cards]
    return all_known(answers) if answers else None


def visible_devices(state: State) -> Verdict:
    """Whether CUDA_VISIBLE_DEVICES hides cards: nvidia-smi ignores it and shows them all the same."""
    inside, torch = state.container.inside, state.container.framework
    if inside.env is None:
        return not_recorded("the environment of the container")
    value = inside.env.get("CUDA_VISIBLE_DEVICES")
    nvidia = f"NVIDIA_VISIBLE_DEVICES {_words(inside.env.get('NVIDIA_VISIBLE_DEVICES'))}"
    evidence = (f"container env: CUDA_VISIBLE_DEVICES {_words(value)}, {nvidia}", *torch.clean_evidence)
    if value is None:
        return passed(f"CUDA_VISIBLE_DEVICES is unset, {nvidia}", evidence)
    cards = state.container.driver.cards
    shown = visible(value, [card.uuid for card in cards])
    again = f"; without it torch sees {count(torch.clean_count, 'device')}" if torch.clean_count else ""
    none = shown.count == 0 and (bool(cards) or _hides(value))
    if none or (torch.clean_count and torch.device_count == 0):
        listed = f" (nvidia-smi ignores it and lists {count(len(cards), 'card')})" if cards else ""
        return failed(
            f"CUDA_VISIBLE_DEVICES {_words(value)}: it hides every card from CUDA{listed}{again}",
            "take CUDA_VISIBLE_DEVICES out of the container's environment: docker run without -e, "
            "and no ENV of it in the image",
            evidence,
            (Layer.CONTAINER, Layer.FRAMEWORK),
        )
    if not cards or shown.count is None:
        return not_recorded(f"what CUDA_VISIBLE_DEVICES={value} leaves visible")
    summary = f"CUDA_VISIBLE_DEVICES {_words(value)}: it shows {shown.count} of {count(len(cards), 'card')}"
    if shown.ended_by is not None:
        return warned(
            f"{summary}: its entry {shown.ended_by!r} names no card, and hides itself and the rest{again}",
            "name the cards by UUID (nvidia-smi -L), or take CUDA_VISIBLE_DEVICES out",
            evidence,
        )
    return passed(f"{summary}, {nvidia}", evidence)


def _words(value: str | None) -> str:
    return "is unset" if value is None else "is set but empty" if not value else f"is {value!r}"


def _hides(value: str) -> bool:
    """Whether a value hides every card, however many there are."""
    return value.strip() in ("", "NoDevFiles") or value.strip().startswith("-")
