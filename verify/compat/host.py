"""What a host can run: its driver and its cards, held against every CUDA and every build of torch. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.compat.arch import shown
from verify.compat.cuda import How, carried, first_cuda, newest_cuda, packaged_drivers, serves, toolkit_cards
from verify.compat.driver import below_floor, branch, has_floor
from verify.compat.torch import Build, builds_for, default_build, refusal

if TYPE_CHECKING:
    from verify.compat.choice import Card
    from verify.compat.driver import Branch
    from verify.facts.version import Version


@dataclass(frozen=True, slots=True)
class CudaRow:
    """One CUDA on this host: in which way it runs, and why."""

    cuda: Version
    how: How
    why: str
    note: str


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """Everything that the tables say of one driver with these cards."""

    driver: Version
    cards: tuple[Card, ...]
    carried: Version | None
    branch: Branch | None
    security: str
    below_floor: bool
    warnings: tuple[str, ...]
    cudas: tuple[CudaRow, ...]
    builds: tuple[Build, ...]
    plain: str
    """What a plain ``pip install torch`` comes to, and whether it runs; None where that is not known."""
    plain_runs: bool | None


def host_answer(driver: Version, cards: tuple[Card, ...], machine: str) -> HostAnswer:
    """Hold a driver and its cards against the tables."""
    capabilities = tuple(dict.fromkeys(pair for card in cards for pair in card.capabilities))
    known = [cuda for cuda, _ in packaged_drivers()]
    newest = newest_cuda()
    plain, plain_runs = _plain(driver, capabilities, machine)
    return HostAnswer(
        driver=driver,
        cards=cards,
        carried=carried(driver),
        branch=branch(driver),
        security=_security(driver),
        below_floor=below_floor(driver) is not None,
        warnings=tuple(
            filter(None, (not_driven(driver, card) or perhaps_not_driven(driver, card) for card in cards))
        ),
        cudas=tuple(
            cuda_row(driver, cards, cuda) for cuda in [*known, *([newest] if newest not in known else [])]
        ),
        builds=()
        if any(not_driven(driver, card) for card in cards)
        else builds_for(driver, capabilities, machine),
        plain=plain,
        plain_runs=plain_runs,
    )


def _security(driver: Version) -> str:
    below = below_floor(driver)
    if below:
        return f"below {below.floor}, the floor of its branch ({below.source}): update within the branch"
    if has_floor(driver):
        return "not below the floor of its branch"
    return "no bulletin that was read names a floor for this branch"


def not_driven(driver: Version, card: Card) -> str | None:
    """Say that a driver does not know a card any more, whatever a program needs; None where it may."""
    last = card.architecture.last_branch
    if not card.architecture.served:
        return f"{card.called}: no driver branch of our table knows it"
    if last is not None and driver.major > last:
        return f"{card.called}: R{last} is the last branch that knows it, driver {driver} does not drive it"
    return None


def perhaps_not_driven(driver: Version, card: Card) -> str | None:
    """Say that a driver is older than what first knew a card, whichever of its capabilities it has."""
    own = carried(driver)
    firsts = [first for pair in card.capabilities if (first := first_cuda(pair))]
    if own is None or not firsts or len(firsts) < len(card.capabilities) or min(firsts) <= own:
        return None
    needed = dict(packaged_drivers()).get(min(firsts))
    return (
        f"{card.called}: the first CUDA that knows it is {min(firsts)} (driver {needed}), and driver "
        f"{driver} carries {own}: most likely it does not drive this card at all"
    )


def cuda_row(driver: Version, cards: tuple[Card, ...], cuda: Version) -> CudaRow:
    """Say in which way one CUDA runs on a driver with these cards, and what to know about it."""
    lost = next((said for card in cards if (said := not_driven(driver, card))), None)
    if lost:
        return CudaRow(cuda, How.NO, lost, "")
    found = serves(driver, cuda, bool(cards) and all(card.forward for card in cards))
    how, why = found.how or How.NO, found.why
    notes = []
    toolkit = toolkit_cards(cuda)
    for card in cards if toolkit else ():
        assert toolkit is not None  # noqa: S101  # for mypy: the loop is empty otherwise
        old = [pair for pair in card.capabilities if pair < toolkit.oldest]
        new = [pair for pair in card.capabilities if pair[0] > toolkit.newest[0]]
        if old and how is not How.NO:
            sure = len(old) == len(card.capabilities)
            notes.append(
                f"its compiler and libraries begin with compute capability {shown(toolkit.oldest)}; "
                f"{card.called} {'has' if sure else 'may have'} {shown(max(old))}"
            )
            how, why = (How.NO, notes.pop()) if sure else (how, why)
        elif new and how is not How.NO:
            notes.append(f"older than {card.called}: only what brings PTX along runs on it")
    if (
        found.how is How.NO
        and any(card.forward is None for card in cards)
        and not any(card.forward is False for card in cards)
    ):
        with_package = serves(driver, cuda, True)  # noqa: FBT003  # as its signature has it
        if with_package.how is How.FORWARD:
            notes.append(
                "forward compatibility may serve: some cards of this kind have it, the name does not say"
            )
    return CudaRow(cuda, how, why, "; ".join(dict.fromkeys(notes)))


def _plain(
    driver: Version, capabilities: tuple[tuple[int, int], ...], machine: str
) -> tuple[str, bool | None]:
    """Say what a plain ``pip install torch`` comes to, and whether that runs."""
    build = default_build()
    if machine != "x86_64":
        return f"`pip install torch`: which build it takes on {machine} is not in our table", None
    start = f"`pip install torch` takes {build.newest} for CUDA {build.cuda}"
    found = next((why for card in capabilities or (None,) if (why := refusal(build, driver, card))), None)
    if found:
        return f"{start}, which does not run here: {found}", False
    if build.archs is None:
        return (
            f"{start}; the driver starts it, which cards it has code for is in no source that was read",
            None,
        )
    return f"{start}, which runs here", True
