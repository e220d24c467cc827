"""Layer framework, cards among themselves: a copy from each to each, and an all-reduce over all of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from verify.checks.check import Verdict, count, failed, not_applicable, not_recorded, passed
from verify.checks.torch_cards import smi_index
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.peers import Pair, PeerFacts
    from verify.facts.state import State

_BETWEEN = (Layer.CARD, Layer.FRAMEWORK)
_IOMMU = (
    "NCCL_P2P_DISABLE=1 for now; for good: iommu=pt on the host's kernel command line, or ACS off in its "
    "firmware; nvidia-smi topo -p2p r  # which pairs the driver allows"
)
_SHM = "docker run --shm-size=1g …, or --ipc=host: NCCL found too little of /dev/shm"
_NO_TORCH = "No module named"
_SHM_WORDS = ("shared memory segment", "/dev/shm", "No space left on device")  # noqa: S108  # words of NCCL


def peer_to_peer(state: State) -> Verdict:
    """Whether the cards can hand data to each other, and add up over all of them."""
    found = state.container.peers
    evidence = (*found.evidence, *found.topology_evidence)
    if found.count == 1:
        return not_applicable("not applicable: one card, nobody to hand data to", found.evidence)
    if not found.pairs:
        why = found.errors.get("peers")
        if why is None or found.count == 0 or _NO_TORCH in why:
            return not_recorded("copies between cards" + (f" ({why})" if why else ""))
        return failed(f"copies between cards give no answer: {why}", _IOMMU, evidence, _BETWEEN)
    wrong = [pair for pair in found.pairs if pair.right is False or pair.error]
    if wrong:
        why = wrong[0].error or "what arrives is not what was sent"
        return failed(
            f"{len(wrong)} of {len(found.pairs)} copies between cards fail, "
            f"first {_named(state, wrong[0])}: {why}",
            _IOMMU,
            evidence,
            _BETWEEN,
        )
    if found.reduced is not True:
        return _not_reduced(found, evidence)
    direct = sum(1 for pair in found.pairs if pair.access)
    return passed(
        f"{len(found.pairs)} copies between {count(found.count or 0, 'card')} are right, {direct} of them "
        f"peer to peer; an all-reduce over all is right{_topology(found)}",
        evidence,
    )


def _not_reduced(found: PeerFacts, evidence: tuple[str, ...]) -> Verdict:
    error = found.reduce_error
    if found.reduced is None and error is None:
        return not_recorded("an all-reduce over the cards")
    shm = any(word in (error or "") for word in _SHM_WORDS)
    return failed(
        f"copies between {count(found.count or 0, 'card')} are right, an NCCL all-reduce over them fails: "
        f"{error or 'no reason given'}{_topology(found)}",
        _SHM if shm else f"NCCL_DEBUG=INFO, and once with {_IOMMU}",
        evidence,
        _BETWEEN,
    )


def _named(state: State, pair: Pair) -> str:
    """Write a pair, and how nvidia-smi, which may count in another order, says that it is joined."""
    row, column = (smi_index(state, number) for number in (pair.source, pair.target))
    link = None if row is None or column is None else state.container.peers.links.get((row, column))
    return f"{pair} (joined by {link})" if link else str(pair)


def _topology(found: PeerFacts) -> str:
    """Say how the cards are joined, each pair once: ``28 pairs NV18``."""
    kinds = Counter(link for (row, column), link in found.links.items() if row < column)
    words = ", ".join(f"{count(number, 'pair')} {kind}" for kind, number in sorted(kinds.items()))
    return f"; joined by {words}" if words else ""
