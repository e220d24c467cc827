"""Whether one thing (a CUDA, a build of torch, an image's demand) runs on a given host. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.compat.arch import shown
from verify.compat.cuda import How, beyond_table, carried
from verify.compat.host import cuda_row
from verify.compat.requirement import Machine
from verify.compat.torch import refusal
from verify.facts.version import Version

if TYPE_CHECKING:
    from verify.compat.choice import Card
    from verify.compat.image_need import ImageNeed
    from verify.compat.need import Need

_CHECK = {
    True: "the legacy runtime's check lets it pass",
    False: "its demand is not met; NVIDIA_DISABLE_REQUIRE=1 switches the legacy runtime's check off",
    None: "whether the legacy runtime refuses it depends on the card's brand, as "
    "`nvidia-smi -q -x | grep product_brand` has it; by CDI nothing refuses it",
}
_NOT_KNOWN = (
    "whether the legacy runtime refuses it depends on the driver's own CUDA, which is newer than our table; "
    "by CDI nothing refuses it"
)
_NEWER = Version.of("999999.0")  # a CUDA above all that a demand may name
_WORDS = {
    How.RUNS: "it runs",
    How.MINOR: "it runs by minor-version compatibility",
    How.FORWARD: "it runs by forward compatibility",
    How.NO: "it will not run",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """In which way one thing runs on a host, and why.

    ``refused``: the legacy runtime's check stops it before it may run; by CDI nothing does.
    """

    title: str
    how: How
    sentences: tuple[str, ...]
    refused: bool = False

    @property
    def runs(self) -> bool:
        """Whether it runs, however a card is asked for."""
        return self.how is not How.NO and not self.refused

    @property
    def word(self) -> str:
        """Say it in a few words."""
        if self.refused and self.how is not How.NO:
            return f"the legacy runtime refuses it; asked for by CDI, {_WORDS[self.how]}"
        return _WORDS[self.how]


def _machines(cuda: Version | None, driver: Version, cards: tuple[Card, ...]) -> list[Machine]:
    pairs = [pair for card in cards for pair in card.capabilities or ()]
    return [Machine(cuda, driver, Version.parse(shown(pair))) for pair in pairs] or [Machine(cuda, driver)]


def need_verdict(need: Need, driver: Version, cards: tuple[Card, ...]) -> Verdict:
    """Judge a CUDA or a build of torch."""
    row = cuda_row(driver, cards, need.cuda)
    how, said = row.how, [row.why, row.note]
    for card in cards if need.build is not None and row.how is not How.NO else ():
        older = driver if row.how is not How.FORWARD else None  # the package compiles the PTX of its own CUDA
        whys = [refusal(need.build, older, pair) for pair in card.capabilities if need.build]
        refused = [why for why in whys if why]
        said += [f"{card.called}: {why}" for why in refused[:1]]
        how = How.NO if refused and len(refused) == len(whys) else how
    return Verdict(need.title, how, tuple(dict.fromkeys(filter(None, said))))


def image_verdict(need: ImageNeed, driver: Version, cards: tuple[Card, ...]) -> Verdict:
    """Judge an image by its demand, by the check of the toolkit and by what its CUDA needs."""
    own = carried(driver)
    met, newer = (
        [need.requirement.met(machine) for machine in _machines(cuda, driver, cards)]
        for cuda in (own, _NEWER if beyond_table(driver) else own)
    )
    if met == newer:
        refused = False in met
        said = [_CHECK[False if refused else None if None in met else True]]
    else:
        refused, said = False, [_NOT_KNOWN]
    how = How.RUNS
    if need.cuda is not None:
        row = cuda_row(driver, cards, need.cuda)
        how, said = row.how, [*said, row.why, row.note]
    return Verdict("this image", how, tuple(filter(None, said)), refused=refused)
