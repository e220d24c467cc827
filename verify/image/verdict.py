"""Whether an image runs on a host, in which way, and why not; and whether it fits on its disk. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from verify.compat.cuda import How, minimum_driver, minor, packaged_drivers
from verify.compat.host import cuda_row
from verify.compat.requirement import DISABLE
from verify.compat.torch import builds, parse_spec, refusal
from verify.image.words import size

if TYPE_CHECKING:
    from verify.facts.version import Version
    from verify.image.estimate import Sizes
    from verify.image.host import Host
    from verify.image.inspect import Content
    from verify.image.manifest import Image


class Word(StrEnum):
    """How an image does on a host."""

    RUNS = "runs"
    MINOR = "minor"
    FORWARD = "forward"
    NO = "no"
    UNKNOWN = "unknown"


_WORDS = {How.RUNS: Word.RUNS, How.MINOR: Word.MINOR, How.FORWARD: Word.FORWARD, How.NO: Word.NO}
_WORST = (Word.RUNS, Word.MINOR, Word.FORWARD, Word.UNKNOWN, Word.NO)
_NUMBERED = {"linux/amd64": "x86_64", "linux/arm64": "aarch64"}
_ROOM = "`docker system df` shows what takes the room, `docker image prune` removes what nothing uses"
_SWITCH = f"Use an older image or a newer driver; `-e {DISABLE}=1` only switches that check off"
_UNSURE = (
    "whether the container toolkit refuses it depends on what was not recorded, mostly the brand: "
    "`nvidia-smi -q -x | grep product_brand`"
)
_DATED = "the recording does not say which driver runs: take one on the host, where nvidia-smi answers"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word, and the sentences that it rests on: what was found, what is needed, what to do."""

    word: Word
    reasons: tuple[str, ...]
    free: int | None
    store: str | None

    @property
    def runs(self) -> bool:
        """Whether it runs, by whichever way."""
        return self.word in (Word.RUNS, Word.MINOR, Word.FORWARD)


def judge(image: Image, content: Content, amount: Sizes, host: Host) -> Verdict:
    """Hold an image against a host: platform, disk, then driver and cards."""
    store = min(host.stores, key=lambda one: one.free or 0, default=None)
    said = [
        *_platform(image, host),
        *_disk(amount, host),
        *_cuda(content, host),
        *_torch(image, content, host),
        *_demand(content, host),
    ]
    word = max((word for word, _ in said), key=_WORST.index, default=Word.RUNS)
    # What settles it comes first.
    reasons = [text for one, text in said if one is word] + [text for one, text in said if one is not word]
    return Verdict(
        word, tuple(dict.fromkeys(reasons)), store.free if store else None, store.path if store else None
    )


def _platform(image: Image, host: Host) -> list[tuple[Word, str]]:
    if host.platform is None:
        return [(Word.UNKNOWN, "the recording does not say what platform the host is (docker info, uname)")]
    if image.platform.serves(host.platform):
        return []
    there = ", ".join(map(str, (image.platform, *image.others)))
    return [
        (
            Word.NO,
            f"it is built for {there}, and the host is {host.platform}: use an image for {host.platform}",
        )
    ]


def _disk(amount: Sizes, host: Host) -> list[tuple[Word, str]]:
    if not host.stores:
        return [(Word.RUNS, "how much room Docker has on its disk was not recorded")]
    for store in host.stores:
        if store.free is not None and amount.needed > store.free:
            return [
                (
                    Word.NO,
                    f"needed is {size(amount.needed)}, {store.path} has {size(store.free)} free: {_ROOM}",
                )
            ]
    return []


def _cuda(content: Content, host: Host) -> list[tuple[Word, str]]:
    if content.cuda is None:
        if content.torch is not None and content.torch.cuda is not None:
            return []
        return [(Word.RUNS, "it names no CUDA: nothing is known that it asks of the driver")]
    if host.driver is None:
        return [(Word.UNKNOWN, _DATED)]
    return _served(content.cuda, f"CUDA {content.cuda} of the image", content, host)


def _served(cuda: Version, what: str, content: Content, host: Host) -> list[tuple[Word, str]]:
    assert host.driver is not None  # noqa: S101  # for mypy
    row = cuda_row(host.driver, host.cards, cuda)
    if minimum_driver(cuda) is None and row.how is How.NO:
        return [(Word.UNKNOWN, f"{what}: {row.why}")]
    said = f"{what}: {row.why}" + (f"; {row.note}" if row.note else "")
    if row.how is How.NO:
        said = f"{said}. {_remedy(cuda, host.driver)}"
    if row.how is How.FORWARD and content.compat is None:
        return [(Word.UNKNOWN, f"{said}. Whether the image has it nothing tells: it came without a history")]
    if row.how is How.FORWARD and not content.compat:
        return [(Word.NO, f"{said}; and it is not in the image. {_remedy(cuda, host.driver)}")]
    return [(_WORDS[row.how], said)]


def _remedy(cuda: Version, driver: Version) -> str:
    own = max((known for known, packaged in packaged_drivers() if driver >= packaged), default=None)
    lowest = minimum_driver(cuda)
    older = f"Use an image for CUDA {own} or older" if own else "Use an image for an older CUDA"
    newer = f", or install driver {lowest} or newer" if lowest and driver < lowest else ""
    return f"{older}{newer}"


def _torch(image: Image, content: Content, host: Host) -> list[tuple[Word, str]]:
    torch = content.torch
    if torch is None or host.driver is None:
        return []
    if torch.cpu:
        return [(Word.RUNS, f"its torch {torch.version} is a build without CUDA: it leaves the card alone")]
    spec = parse_spec(torch.version.split("+")[0])
    machine = _NUMBERED.get(str(image.platform), "")
    found = [
        build
        for build in builds(machine)
        if spec and torch.cuda and (build.release, build.cuda) == (spec.release, torch.cuda)
    ]
    for card in host.cards if found else ():
        whys = [refusal(found[0], None, pair) for pair in card.capabilities]
        if whys and all(whys):
            return [
                (
                    Word.NO,
                    f"torch {torch.version}, {card.called}: {whys[0]}. Use an image whose torch has it",
                )
            ]
    if torch.cuda is None or (content.cuda and minor(torch.cuda) == minor(content.cuda)):
        return []
    return _served(torch.cuda, f"CUDA {torch.cuda} of its torch {torch.version}", content, host)


def _demand(content: Content, host: Host) -> list[tuple[Word, str]]:
    """Say what the toolkit's own check makes of the image; where cards come by CDI, nobody does."""
    said = [(demand, one, demand.met(one)) for demand in content.demands for one in host.machines]
    unmet = next(((demand, one) for demand, one, met in said if met is False), None)
    if unmet is None:
        unsure = host.hook and any(met is None for _, _, met in said)
        return [(Word.RUNS, _UNSURE)] if unsure else []
    demand, machine = unmet
    asks = f"CUDA {demand.cuda}" if demand.cuda else f"{demand.text[:60]!r}"
    has = f"the driver offers CUDA {machine.cuda or 'of unknown version'}"
    has += f", the card capability {machine.arch}" if machine.arch else ""
    if host.hook:
        return [(Word.NO, f"the container toolkit refuses it: it demands {asks}, and {has}. {_SWITCH}")]
    checks = "whether the toolkit checks that was not recorded"
    if host.hook is False:
        checks = "nothing checks that on this host"
    return [(Word.RUNS, f"it demands {asks}, and {has}; {checks}")]
