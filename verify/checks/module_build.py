"""Layer module: it is built for the kernel that runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from verify.checks.applies import no_linux_module
from verify.checks.check import Verdict, failed, not_applicable, not_recorded, passed, warned
from verify.facts.build import kernel_order, newest
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.build import BuildFacts
    from verify.facts.state import State

BETWEEN = (Layer.HOST, Layer.MODULE)
_HEADERS = "apt-get install linux-headers-{kernel} && dkms autoinstall -k {kernel}"


def elsewhere(state: State) -> Verdict | None:
    """Say that the kernel is not this machine's to fill: WSL's, or the provider's of a container."""
    if state.host.wsl:
        return no_linux_module(state)
    if state.host.container and not state.module.loaded:
        return not_applicable(
            f"not applicable: the kernel of this {state.host.container} container is the provider's",
            state.host.evidence,
        )
    return None


def built(state: State) -> Verdict:
    """Whether there is a module for the running kernel; if not, what stopped its build."""
    build = state.build
    verdict = elsewhere(state)
    if verdict is not None:
        return verdict
    if state.module.loaded:
        return _next_boot(state)
    kernel = build.kernel
    if not build.recorded or kernel is None:
        return not_recorded("the running kernel, dkms status, modinfo, and the headers")
    if kernel in build.built_for:
        return passed(f"a module for kernel {kernel} is on the disk", build.evidence)
    if build.error and build.headers is not False:
        return failed(
            f"the module does not build for kernel {kernel}: {build.error}",
            f"less {build.error_path}  # a newer driver branch, or an older kernel; then dpkg --configure -a",
            build.evidence,
            BETWEEN,
        )
    # Where nothing else explains it, a package that was left half done does.
    return replace(_unbuilt(build, kernel), because=("host.package-manager",))


def _unbuilt(build: BuildFacts, kernel: str) -> Verdict:
    """Say why there is none for this kernel: another kernel has it, no headers, or DKMS stopped half-way."""
    others = tuple(one for one in build.built_for if one != build.kernel)
    other = newest(others)
    if other and build.headers is not True and _is_next(build, other):
        return failed(
            f"the module is built for kernel {other}, and {kernel} runs: a reboot is needed",
            f"reboot  # into {other}; to stay: {_HEADERS.format(kernel=kernel)}",
            build.evidence,
            BETWEEN,
        )
    if build.headers is False:
        kept = f"; it is built for {', '.join(others)}" if others else ""
        return failed(
            f"headers of kernel {kernel} are missing, /lib/modules/{kernel}/build: nothing was built{kept}",
            f"{_HEADERS.format(kernel=kernel)}  # RHEL: kernel-devel-{kernel}",
            build.evidence,
            BETWEEN,
        )
    if build.rows:
        rows = ((f"{row.module}/{row.version} {row.state}", row.kernel) for row in build.rows)
        states = ", ".join(f"{said} for {kernel_}" if kernel_ else said for said, kernel_ in rows)
        return failed(
            f"the module is not installed for kernel {kernel}: DKMS has {states}",
            f"dkms autoinstall -k {kernel} && modprobe nvidia",
            build.evidence,
            BETWEEN,
        )
    return not_recorded(f"whether a module for kernel {kernel} was ever built")


def _is_next(build: BuildFacts, other: str) -> bool:
    """Whether the next boot runs the other kernel: it is newer, or the running one is no longer there."""
    gone = build.kernels is not None and build.kernel not in build.kernels
    return gone or kernel_order(other) > kernel_order(build.kernel or "")


def _next_boot(state: State) -> Verdict:
    """Say whether the next boot finds a module too, where DKMS builds them."""
    build = state.build
    evidence = (*state.module.evidence, *build.evidence)
    mine = [row for row in build.rows or () if row.kernel == build.kernel and row.state == "installed"]
    coming = newest((*build.boot_kernels, *((build.kernel,) if build.kernel else ())))
    asked = bool(mine) or build.newest == coming  # somebody knows whether there is one
    if asked and coming and coming != build.kernel and coming not in build.built_for:
        return warned(
            f"the next boot runs kernel {coming}, which has no module; {build.kernel} has one",
            _HEADERS.format(kernel=coming),
            evidence,
        )
    differing = next((row for row in mine if row.differs), None)
    if differing:
        return warned(
            f"the installed {differing.module} differs from the one that DKMS built",
            f"dkms install --force {differing.module}/{differing.version} -k {build.kernel}",
            evidence,
        )
    return passed("the module is loaded, so it is there for this kernel", evidence)
