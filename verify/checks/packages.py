"""Layer toolkit: who holds its packages, who built them, and where the next upgrade leads (case B7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verify.checks.check import Verdict, not_recorded, passed, warned
from verify.facts.source import cite
from verify.facts.toolkit import PACKAGES
from verify.facts.version import Version

if TYPE_CHECKING:
    from verify.facts.state import State

VERSIONS = "the versions of the toolkit's four packages"
_FOREIGN = (
    (re.compile(r"pop\d|~pop|\.pop"), "System76"),
    (re.compile(r"lambda"), "Lambda"),
)


def held(state: State) -> Verdict:
    """Whether some of the four are held: the others move on without them."""
    toolkit = state.toolkit
    if toolkit.held is None or not toolkit.packages:
        return not_recorded("which packages are held")
    free = [name for name in toolkit.packages if name not in toolkit.held]
    if toolkit.held and free:
        names = " ".join(toolkit.held)
        return warned(
            f"held: {names}; not held: {', '.join(free)}: the next upgrade sets them apart, or apt says "
            '"you have held broken packages"',
            f"apt-mark hold {' '.join(free)}  # or let all move: apt-mark unhold {names}",
            toolkit.held_evidence,
        )
    if toolkit.held:
        return passed("all packages of the toolkit are held: they move by hand only", toolkit.held_evidence)
    return passed("no package of the toolkit is held", toolkit.held_evidence)


def origin(state: State) -> Verdict:
    """Whether they are NVIDIA's own, beside nothing obsolete, and stay of one version at the next upgrade."""
    toolkit = state.toolkit
    if toolkit.packages is None or not (toolkit.packages or toolkit.obsolete):
        return not_recorded(VERSIONS)
    if toolkit.obsolete:
        names = " ".join(row.split()[0] for row in toolkit.obsolete)
        return warned(
            f"obsolete beside the toolkit: {', '.join(toolkit.obsolete)}: it brings old versions along, and "
            "a daemon.json of its own",
            f"apt-get remove {names}  # then look at /etc/docker/daemon.json",
            toolkit.evidence,
        )
    for name, version in toolkit.packages.items():
        builder = next((whose for pattern, whose in _FOREIGN if pattern.search(version)), None)
        if builder:
            return warned(
                f"{name} {version} is a build of {builder}'s, not NVIDIA's: its versions follow that source",
                f"apt-cache policy {name}  # NVIDIA's own: make site LIMIT=HOST",
                toolkit.evidence,
            )
    return _next(state) or passed(
        "the packages are NVIDIA's own builds, nothing obsolete beside them", toolkit.evidence
    )


def _next(state: State) -> Verdict | None:
    """Say where the next upgrade would take the four to different versions."""
    offers = {name: offer for name, offer in (state.toolkit.offers or {}).items() if name in PACKAGES}
    if len({offer.candidate for offer in offers.values()}) < 2:  # noqa: PLR2004  # one version
        return None
    told = ", ".join(f"{name} {offer.candidate}" for name, offer in offers.items())
    homes = sorted({offer.origin for offer in offers.values() if offer.origin})
    newest = max(offers.values(), key=lambda offer: (Version.parse(offer.candidate) or Version.of("0")).parts)
    return warned(
        f"apt offers the toolkit's packages in different versions: {told}"
        + (f" (from {' and '.join(homes)})" if homes else ""),
        "apt-get install " + " ".join(f"{name}={newest.candidate}" for name in PACKAGES),
        tuple(cite("apt-policy", f"{name}: Candidate: {offer.candidate}") for name, offer in offers.items()),
    )
