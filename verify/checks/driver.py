"""Layer driver: the user space answers and agrees with the module; its branch is alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, count, failed, not_applicable, not_recorded, passed, warned
from verify.checks.driver_versions import version_mismatch
from verify.checks.fabric import fabric_manager
from verify.checks.module_owner import KEEPERS
from verify.compat.driver import below_floor, end_of_life, has_floor, known_branch
from verify.facts.trouble import Trouble
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.state import State

_LINUX_DRIVER = (
    "libnvidia-compute",
    "libnvidia-ml",
    "libcuda1",
    "nvidia-driver",
    "nvidia-utils",
    "nvidia-dkms",
)
# What it means, and the next command.
TROUBLES = {
    Trouble.NOT_INSTALLED: (
        "nvidia-smi is not installed: the driver's user space is missing",
        "make site LIMIT=HOST  # role nvidia_driver installs it",
    ),
    Trouble.TIMED_OUT: (
        "nvidia-smi does not answer",
        "dmesg | grep -i -e nvrm -e xid | tail  # a card that hangs needs a reboot; slow? nvidia-smi -pm 1",
    ),
    Trouble.MISMATCH: ("library and module differ in version", "reboot"),
    Trouble.NO_MODULE: (
        "nvidia-smi cannot reach the kernel module",
        "modprobe nvidia && dmesg | grep -i nvrm | tail",
    ),
    Trouble.NO_LIBRARY: (
        "nvidia-smi cannot load libnvidia-ml.so: the library is missing or damaged",
        "apt-get install --reinstall libnvidia-ml1 && ldconfig  # other systems: the package that holds it",
    ),
    Trouble.NO_PERMISSION: (
        "nvidia-smi may not open the device nodes",
        "ls -l /dev/nvidia*  # mode 0666 is usual; see NVreg_DeviceFileMode in /etc/modprobe.d",
    ),
    Trouble.LOST: (
        "a card has fallen off the bus",
        "dmesg | grep -i xid, then power off and on  # hardware: installing software again will not help",
    ),
    Trouble.BLOCKED_BY_OS: (
        "the operating system blocks the access to the cards",
        "under WSL: wsl --shutdown and update the Windows driver; in a container: look at its device cgroup",
    ),
    Trouble.NO_CARD: (
        "nvidia-smi finds no card",
        "dmesg | grep -i nvrm | tail  # 'not supported by open nvidia.ko'? Install the proprietary module",
    ),
    Trouble.UNKNOWN: ("nvidia-smi fails", "nvidia-smi; dmesg | grep -i nvrm | tail"),
}


def answers(state: State) -> Verdict:
    """Whether nvidia-smi answers for at least one card."""
    driver = state.driver
    if not driver.recorded:
        return not_recorded("nvidia-smi")
    if not driver.answers:
        meaning, remedy = TROUBLES[driver.trouble or Trouble.UNKNOWN]
        said = f': it says "{driver.said}"' if driver.said else ""
        left = f"; {count(len(driver.cards), 'card')} still in its list" if driver.cards else ""
        if state.host.wsl:
            meaning, remedy = _under_wsl(state, meaning, remedy)
        return failed(f"{meaning}{said}{left}", remedy, driver.evidence)
    names = ", ".join(card.name or "a card without a name" for card in driver.cards)
    served = count(len(driver.cards), "card")
    summary = f"driver {driver.version or 'of unknown version'} answers for {served}: {names}"
    if driver.origin:
        summary += f"; it is {driver.origin}, left as it is"
    if driver.inforom:
        which = ", ".join(driver.inforom_cards) or "a card"
        return warned(
            f"{summary}; it warns that an infoROM is corrupted: {which}",
            f"nvidia-smi -q | grep -i inforom  # have the vendor look at {which}",
            driver.evidence,
        )
    if driver.partial:
        return warned(
            f"{summary}; but {', '.join(driver.partial)}: facts come from the forms that worked",
            "ln -s /usr/lib/wsl/lib/nvidia-smi /usr/local/bin/"
            if state.host.wsl
            else "nvidia-smi -q  # see which question fails",
            driver.evidence,
        )
    return passed(summary, driver.evidence)


def _under_wsl(state: State, meaning: str, remedy: str) -> tuple[str, str]:
    """Say what is different under WSL: the driver is Windows', and one of Linux inside breaks it."""
    own = [name for name in state.driver.packages or () if name.startswith(_LINUX_DRIVER)]
    if own:
        return (
            f"{meaning}; this is WSL, where the driver is Windows', and one of Linux is installed ({own[0]})",
            f"apt-get remove {own[0].partition(' ')[0]}  # and all of that driver; then wsl --shutdown",
        )
    if state.driver.trouble is Trouble.NOT_INSTALLED:
        return (
            "nvidia-smi is neither on PATH nor in /usr/lib/wsl/lib: Windows has no NVIDIA driver",
            "install NVIDIA's driver for Windows, then wsl --shutdown; never install one in here",
        )
    return meaning, f"update NVIDIA's driver for Windows, then wsl --shutdown  # not: {remedy}"


def every_card(state: State) -> Verdict:
    """Whether the driver serves every card that is on the bus."""
    pci, cards = [one for one in state.card.pci or () if one.driver not in KEEPERS], state.driver.cards
    if state.host.container:
        return not_applicable(
            f"not applicable: a {state.host.container} container gets the cards that it was given",
            state.host.evidence,
        )
    if not pci or not state.driver.answers:
        return not_recorded("both the PCI bus and the driver's list of cards")
    evidence = (*state.card.evidence[: len(pci)], state.driver.evidence[0])
    if len(cards) < len(pci):
        return failed(
            f"{count(len(pci), 'card')} on the PCI bus, the driver serves {len(cards)}",
            "dmesg | grep -i -e nvrm -e xid | tail  # lost, or not supported by this module?",
            evidence,
            (Layer.CARD, Layer.DRIVER),
        )
    return passed(f"the driver serves {count(len(cards), 'card')}, {len(pci)} on the PCI bus", evidence)


def security(state: State) -> Verdict:
    """Whether the driver is below its branch's security floor: a warning, with the bulletin."""
    if state.host.wsl:
        return not_applicable(
            "not applicable: under WSL the driver is Windows', the floors of our table are Linux'",
            state.host.evidence,
        )
    version = state.driver.version
    if version is None:
        return not_recorded("the driver's version")
    evidence = state.driver.evidence[-1:]
    below = below_floor(version)
    if below:
        return warned(
            f"driver {version} is below {below.floor}, the security floor of branch {version.major} "
            f"({below.source})",
            f"update the driver to {below.floor} or newer within its branch, then reboot",
            evidence,
        )
    if not has_floor(version):
        return not_applicable(
            f"no security bulletin that was read names a floor for branch {version.major}", evidence
        )
    return passed(f"driver {version} is not below the security floor of branch {version.major}", evidence)


def branch(state: State) -> Verdict:
    """Whether the driver's branch is past its end of life: a warning."""
    version, month = state.driver.version, state.host.month
    if version is None:
        return not_recorded("the driver's version")
    evidence = state.driver.evidence[-1:]
    ended = end_of_life(version, month)
    if ended:
        return warned(
            f"branch {version.major} of the driver ({version}) is {ended}",
            "plan a change to a long-term branch (580 for cards before Turing, else 580 or 620)",
            evidence,
        )
    if not known_branch(version):
        return not_applicable(f"branch {version.major} is not in our table", evidence)
    if month is None:
        return not_recorded("the date of the recording")
    return passed(f"branch {version.major} of the driver is alive", evidence)


CHECKS = (
    Check("driver.version-mismatch", version_mismatch, needs=("module.loaded",)),
    Check(
        "driver.answers", answers, needs=("driver.version-mismatch", "module.loaded", "card.lost", "card.xid")
    ),
    Check("driver.every-card", every_card, needs=("driver.answers", "card.present")),
    Check("driver.fabric-manager", fabric_manager, needs=("driver.answers",)),
    Check("driver.security-floor", security, needs=("driver.answers",)),
    Check("driver.branch", branch, needs=("driver.answers",)),
)
