"""Layer module: the kernel's half of the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.applies import no_linux_module
from verify.checks.check import Check, Verdict, failed, not_recorded, passed, warned
from verify.checks.module_build import built
from verify.checks.module_owner import owner
from verify.checks.module_signed import signed
from verify.checks.module_supports import supports

if TYPE_CHECKING:
    from verify.facts.state import State


def reboot_needed(state: State) -> Verdict:
    """Whether the driver's role left a note that this host has to be rebooted, and it was not since."""
    mark = state.module.reboot
    if not mark.recorded:
        return not_recorded("/var/lib/gpu-host/reboot-needed.json")
    if not mark.there:
        return passed("no reboot is due", mark.evidence)
    if mark.due is None:
        return warned(
            "there is a note that a reboot is due, and nothing tells whether the host was booted since",
            "reboot, then make site LIMIT=HOST  # it takes an old note away",
            mark.evidence,
        )
    if not mark.due:
        return passed("the reboot that was due has happened", mark.evidence)
    said, remedy = f"a reboot is due: {mark.because}", "reboot  # then make verify LIMIT=HOST"
    if not mark.asked:
        return warned(f"{said}; nvidia_driver_reboot is false", remedy, mark.evidence)
    return failed(said, remedy, mark.evidence)


def loaded(state: State) -> Verdict:
    """Whether the nvidia module is loaded, and which version."""
    module = state.module
    if state.host.wsl:
        return no_linux_module(state)
    if module.loaded is None:
        return not_recorded("/proc/driver/nvidia/version, /sys/module/nvidia/version, /proc/modules")
    if module.loaded:
        flavour = {True: "open", False: "proprietary", None: "unknown flavour of"}[module.open]
        version = module.version or "of unknown version"
        return passed(f"{flavour} nvidia module {version} is loaded", module.evidence)
    if state.host.container:
        return failed(
            f"the nvidia module is not loaded; the kernel of this {state.host.container} container is "
            "the provider's",
            "ask the provider, or rent another machine: a module cannot be loaded from in here",
            module.evidence,
        )
    disk = f"; version {module.on_disk} is on the disk" if module.on_disk else ""
    return failed(
        f"the nvidia module is not loaded{disk}",
        "modprobe nvidia && dmesg | grep -i nvrm | tail  # not found? dkms status",
        module.evidence,
        because=("host.package-manager",),
    )


CHECKS = (
    Check("module.reboot-needed", reboot_needed),
    Check("module.owner", owner, needs=("card.present", "module.reboot-needed")),
    Check("module.built", built, needs=("module.reboot-needed",)),
    Check("module.signed", signed, needs=("module.reboot-needed", "module.built")),
    Check("module.supports-card", supports, needs=("card.present",)),
    Check(
        "module.loaded",
        loaded,
        needs=(
            "card.present",
            "module.reboot-needed",
            "module.owner",
            "module.built",
            "module.signed",
            "module.supports-card",
        ),
    ),
)
