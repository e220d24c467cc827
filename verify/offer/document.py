"""An offer as a versioned JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.offer.interruption import interruption
from verify.offer.pull import first_pull

if TYPE_CHECKING:
    from verify.offer.answer import Answer
    from verify.offer.facts import OfferFacts
    from verify.offer.places import Place
    from verify.offer.pull import Price
    from verify.offer.verdict import Judgement, Use, Verdict

SCHEMA = 1
Json = dict[str, Any]


def document(offer: OfferFacts, judged: Judgement, price: Price, wanted: tuple[Use, ...]) -> Json:
    """Return it with names that stay; what is not known is null."""
    pull = first_pull(offer, price)
    machine = offer.machine
    return {
        "schema": SCHEMA,
        "simulated": offer.simulated,
        "wanted": [use.value for use in wanted],
        "passes": judged.passes(wanted),
        "answers": [_answer(answer) for answer in judged.answers],
        "verdicts": [_verdict(verdict) for verdict in judged.verdicts],
        "places": [_place(place) for place in offer.places],
        "first_pull": pull
        and {
            "image": pull.reference,
            "bytes": pull.bytes,
            "mbit_per_s": pull.cost.mbit if pull.cost else None,
            "measured": pull.measured if pull.cost else None,
            "seconds": round(pull.cost.seconds, 1) if pull.cost else None,
            "price_per_hour": price.per_hour,
            "currency": price.currency,
            "money": round(pull.cost.money, 4) if pull.cost and pull.cost.money is not None else None,
        },
        "price_per_hour": price.per_hour,
        "spot": interruption(offer.metadata).spot,
        "cores": machine.cores,
        "cores_quota": machine.quota,
        "memory_bytes": machine.memory,
        "memory_limit_bytes": machine.limit,
        "shm_bytes": machine.shm,
        "cards": [card.name for card in offer.state.driver.cards],
        "pci_express": [
            {
                "width": link.width,
                "most": link.most,
                "generation": link.generation,
                "most_generation": link.most_generation,
            }
            for link in machine.links
        ],
        "nvlink": machine.nvlink,
        "left_behind": list(offer.tries.left),
    }


def _answer(answer: Answer) -> Json:
    return {
        "id": answer.id,
        "number": answer.number,
        "question": answer.question,
        "answer": answer.word.value,
        "value": answer.value,
        "summary": answer.summary,
        "remedy": answer.remedy,
        "evidence": list(answer.evidence),
    }


def _verdict(verdict: Verdict) -> Json:
    return {
        "use": verdict.use.value,
        "answer": verdict.word.value,
        "reasons": list(verdict.reasons),
        "but": list(verdict.but),
    }


def _place(place: Place) -> Json:
    return {
        "path": place.path,
        "kind": place.kind,
        "network": place.network,
        "total_bytes": place.total,
        "free_bytes": place.free,
        "write_bytes_per_s": None if place.write is None else round(place.write),
        "read_bytes_per_s": None if place.read is None else round(place.read),
        "survival": place.survival.value,
        "trouble": place.trouble,
    }
