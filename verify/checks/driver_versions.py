"""Layer driver: the library in user space is of the loaded module's version (four numbers tell)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, failed, not_applicable, not_recorded, passed, warned
from verify.facts.trouble import Trouble
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.state import State
    from verify.facts.version import Version

_BETWEEN = (Layer.MODULE, Layer.DRIVER)
_REBOOT = (
    "reboot, so that the kernel loads the module that is installed (nothing needs to be installed again)"
)
_UNATTENDED = (
    '  # and keep unattended-upgrades off it: Unattended-Upgrade::Package-Blacklist { "^nvidia-"; '
    '"^libnvidia-"; } in /etc/apt/apt.conf.d/51no-nvidia'
)


def version_mismatch(state: State) -> Verdict:
    """Whether the library in user space is of the loaded module's version."""
    if state.host.wsl:
        return not_applicable("not applicable: under WSL tool and driver may differ", state.host.evidence)
    driver, module = state.driver, state.module.version
    spoken = driver.trouble is Trouble.MISMATCH
    agreeing = [one for one in driver.libraries if module is not None and _agree(module, one)]
    if spoken or (module is not None and driver.libraries and not agreeing):
        return _mismatch(state)
    if module is None or not driver.libraries:
        return not_recorded("the versions of both the module and the NVML library")
    # Old libraries stay beside the new one: one that fits is enough.
    return _next_boot(state, agreeing) or passed(
        f"module and NVML library are both {module}", _evidence(state)
    )


def _mismatch(state: State) -> Verdict:
    driver, module, disk = state.driver, state.module.version, state.module.on_disk
    said = state.log.mismatch
    others = [one for one in driver.libraries if module is None or not _agree(module, one)]
    library = " or ".join(map(str, others or driver.libraries)) or (said[0] if said else "of another version")
    loaded = module or (said[1] if said else "of unknown version")
    on_disk = f", on the disk is {disk}" if disk else ""
    because, upgrade = "", state.upgrade
    if upgrade:
        who = "unattended-upgrades" if upgrade.unattended else "apt"
        because = f"; {who} took {upgrade.package} from {upgrade.before} to {upgrade.after} on {upgrade.date}"
    remedy = _REBOOT
    if disk and others and not any(_agree(disk, one) for one in others):
        remedy = (
            f"install the module in the library's version {others[-1]} (a reboot alone brings {disk} again), "
            "then reboot"
        )
    if upgrade and upgrade.unattended:
        remedy += _UNATTENDED
    return failed(
        f"the loaded module is {loaded}, the NVML library is {library}{on_disk}{because}",
        remedy,
        (*_evidence(state), *((said[2],) if said else ()), *(upgrade.evidence if upgrade else ())),
        _BETWEEN,
    )


def _next_boot(state: State, agreeing: list[Version]) -> Verdict | None:
    """Warn of the next boot, which loads what is on the disk."""
    disk = state.module.on_disk
    if disk is None or any(_agree(disk, one) for one in state.driver.libraries):
        return None
    return warned(
        f"module and NVML library are both {agreeing[0]}, but {disk} is on the disk: the next boot loads it",
        f"install module and library in one version before the next boot: {agreeing[0]} or {disk}",
        _evidence(state),
    )


def _evidence(state: State) -> tuple[str, ...]:
    driver = state.driver
    spoken = driver.evidence if driver.trouble is Trouble.MISMATCH else ()
    disk = (f"modinfo-nvidia: version: {state.module.on_disk}",) if state.module.on_disk else ()
    return (*state.module.evidence[:2], *disk, *driver.library_evidence, *spoken)


def _agree(one: Version, other: Version) -> bool:
    """Whether they are the same; nvidia-smi names 550.163 where the file is 550.163.01."""
    return one.starts_with(other) or other.starts_with(one)
