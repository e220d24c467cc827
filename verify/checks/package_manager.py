"""Layer host: the package manager is in the middle of nothing, so that a remedy can be installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, count, failed, not_recorded, passed, warned

if TYPE_CHECKING:
    from verify.facts.package_manager import ManagerFacts
    from verify.facts.state import State

_BUSY = frozenset({"running", "not started", "not run"})
_CONFIGURE = "dpkg --configure -a && apt-get install -f"


def package_manager(state: State) -> Verdict:
    """Whether packages are half done (then every later run fails), or somebody else is at work."""
    manager = state.manager
    if not manager.recorded and not manager.interrupted:
        return not_recorded("dpkg --audit, the locks of the package manager, cloud-init")
    half = _half(state)
    if half is not None:
        return half
    return _busy(manager) or passed("the package manager is in the middle of nothing", manager.evidence)


def _half(state: State) -> Verdict | None:
    manager = state.manager
    if manager.half:
        names = ", ".join(f"{name} ({how})" for name, how in manager.half)
        summary = f"dpkg left {count(len(manager.half), 'package')} half done: {names}; every later run fails"
        if state.build.error and all("nvidia" in name or name == "libcuda1" for name, _ in manager.half):
            # The build of the module is why, and module.built says so.
            return warned(
                f"{summary}, until the module builds", f"{_CONFIGURE}  # after module.built", manager.evidence
            )
        return failed(summary, _CONFIGURE, manager.evidence)
    if manager.interrupted:
        return failed("dpkg was interrupted; every later run fails", _CONFIGURE, manager.evidence)
    return None


def _busy(manager: ManagerFacts) -> Verdict | None:
    if manager.locks:
        held = ", ".join(f"{lock.path} by {lock.holder} (process {lock.pid})" for lock in manager.locks)
        first = manager.locks[0]
        wait = f"ps -fp {first.pid}" if first.pid > 0 else "ps -ef | grep -e apt -e dpkg -e dnf"
        return warned(
            f"locks of the package manager are held: {held}",
            f"{wait}  # let it end, then apt-get -o DPkg::Lock::Timeout=300 …; never delete a lock file",
            manager.evidence,
        )
    says = f": {manager.cloud_says}" if manager.cloud_says else ""
    if manager.cloud_init in _BUSY:
        return warned(
            f"cloud-init has not ended (status: {manager.cloud_init}){says}; it may install packages",
            "cloud-init status --wait",
            manager.evidence,
        )
    if manager.cloud_init in ("error", "degraded"):
        return warned(
            f"cloud-init ended with errors (status: {manager.cloud_init}){says}",
            "cloud-init status --long; less /var/log/cloud-init-output.log",
            manager.evidence,
        )
    return None
