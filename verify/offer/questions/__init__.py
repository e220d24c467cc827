"""The seven questions, one module each, in their order; pure functions over the facts of an offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.offer.questions import cards, containers, cuda, daemon, images, registry, volumes

if TYPE_CHECKING:
    from verify.offer.answer import Answer
    from verify.offer.facts import OfferFacts

_QUESTIONS = (
    images.custom_image,
    daemon.daemon,
    daemon.builds,
    registry.registry,
    cards.cards,
    cuda.cuda,
    cuda.image,
    volumes.volumes,
    containers.several,
    containers.compose,
)


def answers(offer: OfferFacts) -> tuple[Answer, ...]:
    """Answer every question; one that was not put (no image named) has no answer."""
    return tuple(answer for question in _QUESTIONS if (answer := question(offer)) is not None)
