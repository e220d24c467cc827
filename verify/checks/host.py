"""Layer host: what kind of machine was recorded, and how completely."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, count, not_recorded, passed, warned
from verify.checks.package_manager import package_manager
from verify.checks.sources import package_sources

if TYPE_CHECKING:
    from verify.facts.state import State

_KNOWN = frozenset(
    {"debian", "ubuntu", "rhel", "fedora", "centos", "rocky", "almalinux", "ol", "amzn", "suse"}
)


def recorded(state: State) -> Verdict:
    """Whether the recorder could see all that it was to see."""
    host = state.host
    if not state.recorded:
        return not_recorded("the host")
    evidence = (f"recording-host.json: taken_at {host.taken_at}, uid {host.uid}",)
    if host.timed_out:
        late = ", ".join(host.timed_out)
        return warned(
            f"{count(len(host.timed_out), 'command')} did not end within the time limit: {late}",
            f"run the first by hand on the host and see why it hangs: {host.timed_out[0]}",
            evidence,
        )
    if host.uid is None:
        return not_recorded("as whom it was taken, and so whether it saw what root alone may read")
    if host.uid != 0:
        return warned(
            f"recorded as uid {host.uid}: what root alone may read is missing",
            "record as root: `sudo gpu-verify record`, or --host with a user that has passwordless sudo",
            evidence,
        )
    return passed("recorded as root, every command ended within its limit", evidence)


def system(state: State) -> Verdict:
    """Whether the operating system is one that NVIDIA's stack is packaged for."""
    host = state.host
    if host.os_id is None:
        return not_recorded("/etc/os-release")
    summary = f"{host.os_name}, kernel {host.kernel or 'unknown'}" + (" (WSL)" if host.wsl else "")
    if not _KNOWN.intersection(host.os_family):
        return warned(
            f"{summary}: no package of NVIDIA's is made for {host.os_id}",
            "use a release of Debian, Ubuntu, RHEL or one like them, or expect to install by hand",
            host.evidence,
        )
    return passed(summary, host.evidence)


CHECKS = (
    Check("host.recorded", recorded),
    Check("host.system", system),
    Check("host.package-manager", package_manager),
    Check("host.package-sources", package_sources),
)
