"""The answers of ``gpu-verify compat`` as JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.compat.arch import shown
from verify.compat.cuda import beyond_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from verify.compat.card import CardAnswer
    from verify.compat.choice import Card
    from verify.compat.host import HostAnswer
    from verify.compat.image_need import ImageNeed
    from verify.compat.need import Need
    from verify.compat.torch import Build
    from verify.compat.verdict import Verdict

SCHEMA = 1
Json = dict[str, Any]


def host_document(answer: HostAnswer) -> Json:
    """Return what a host can run."""
    branch = answer.branch
    return {
        "schema": SCHEMA,
        "question": "what can this host run",
        "driver": str(answer.driver),
        "carries_cuda": str(answer.carried) if answer.carried else None,
        "carries_at_least": beyond_table(answer.driver),
        "branch": branch
        and {
            "number": branch.number,
            "kind": branch.kind,
            "end": branch.end,
            "ended": branch.ended,
            "source": branch.source,
        },
        "security": answer.security,
        "cards": _cards(answer.cards),
        "warnings": list(answer.warnings),
        "cuda": [
            {"cuda": str(row.cuda), "how": row.how.value, "why": row.why, "note": row.note or None}
            for row in answer.cudas
        ],
        "torch": [_build(build) for build in answer.builds],
        "plain_pip_install": answer.plain,
    }


def card_document(answer: CardAnswer) -> Json:
    """Return what one card can run, whatever its driver."""
    return {
        "schema": SCHEMA,
        "question": "what can this card run",
        "card": _cards([answer.card])[0],
        "module": answer.module,
        "last_branch": answer.card.architecture.last_branch,
        "first_cuda": str(answer.first_cuda) if answer.first_cuda else None,
        "first_driver": str(answer.first_driver) if answer.first_driver else None,
        "last_cuda": str(answer.last_cuda) if answer.last_cuda else None,
        "torch": [_build(build) for build in answer.builds],
        "peaks": list(answer.peaks),
    }


def _cards(cards: Iterable[Card]) -> list[Json]:
    return [
        {
            "asked": card.asked,
            "name": card.name,
            "architecture": card.architecture.name,
            "compute_capabilities": [shown(pair) for pair in card.capabilities],
            "kind": card.kind,
            "forward_compatibility": card.forward,
        }
        for card in cards
    ]


def _build(build: Build) -> Json:
    return {
        "release": str(build.release),
        "newest": build.newest,
        "index": build.index,
        "cuda": str(build.cuda),
        "status": build.status,
        "on_pypi": build.on_pypi,
        "cudnn": build.cudnn,
        "nccl": build.nccl,
        "python": build.python,
        "machine": build.machine,
        "arch_list": list(build.archs) if build.archs else None,
        "install": build.command,
        "source": build.source,
    }


def need_document(need: Need) -> Json:
    """Return what a CUDA or a build of torch needs."""
    return {
        "schema": SCHEMA,
        "question": "what does this need",
        "of": need.title,
        "cuda": str(need.cuda),
        "lowest_driver": str(need.lowest),
        "full_driver": str(need.full) if need.full else None,
        "forward_compatibility_branches": list(need.forward_branches),
        "oldest_compute_capability": shown(need.oldest) if need.oldest else None,
        "newest_compute_capability": shown(need.newest) if need.newest else None,
        "architectures": [
            {
                "architecture": row.title,
                "compute_capability": shown(row.capability),
                "runs": row.code.value if row.code else None,
            }
            for row in need.cards
        ],
        "build": _build(need.build) if need.build else None,
        "install": need.command,
        "notes": list(need.notes),
    }


def image_document(need: ImageNeed, cuda: Need | None) -> Json:
    """Return what an image's demand comes to."""
    return {
        "schema": SCHEMA,
        "question": "what does this need",
        "of": need.text,
        "cuda": str(need.cuda) if need.cuda else None,
        "alternatives": [
            [
                {"name": condition.name, "operator": condition.operator, "value": condition.value}
                for condition in alternative
            ]
            for alternative in need.requirement.alternatives
        ],
        "sentences": list(need.sentences),
        "cuda_need": need_document(cuda) if cuda else None,
    }


def verdict_document(verdict: Verdict, cards: Iterable[Card]) -> Json:
    """Return whether it runs on the host that was asked about too."""
    return {
        "host": {
            "cards": _cards(cards),
            "how": verdict.how.value,
            "runs": verdict.runs,
            "refused": verdict.refused,
            "sentences": list(verdict.sentences),
        }
    }
