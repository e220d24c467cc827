"""Layer module: the kernel lets it in, whatever Secure Boot asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, failed, not_recorded, passed
from verify.checks.module_build import BETWEEN, elsewhere

if TYPE_CHECKING:
    from verify.facts.state import State

_THREE = (
    "one of three: install the distribution's signed module (Ubuntu: linux-modules-nvidia-…); or enrol the "
    "key (mokutil --import /var/lib/dkms/mok.pub, reboot, confirm at the console); or turn Secure Boot off"
)


def signed(state: State) -> Verdict:
    """Whether the kernel refuses the module for its signature."""
    verdict = elsewhere(state)
    if verdict is not None:
        return verdict
    if state.module.loaded:
        signer = f", signed by {state.build.signer}" if state.build.signer else ""
        return passed(
            f"the kernel let the module in{signer}", (*state.module.evidence, *state.signing.evidence)
        )
    return _refused(state) or _allowed(state)


def _refused(state: State) -> Verdict | None:
    build, signing, said = state.build, state.signing, state.log.refused_module
    why = "Secure Boot is on" if signing.secure_boot else f"lockdown is {signing.lockdown}"
    if said:
        cause = f" ({why})" if signing.demanded else ""
        summary = f"the kernel refused the module for its signature{cause}"
        return failed(summary, _THREE, (said, *signing.evidence), BETWEEN)
    if signing.demanded and build.on_disk and not build.signer:
        summary = f"{why}, and the module on the disk is not signed"
        return failed(summary, _THREE, (*signing.evidence, *build.evidence), BETWEEN)
    return None


def _allowed(state: State) -> Verdict:
    signing, signer = state.signing, state.build.signer
    if signing.demanded is False:
        return passed("the kernel takes unsigned modules: Secure Boot is off", signing.evidence)
    if signing.demanded and signer and state.log.whole:
        return passed(
            f"signatures are asked for, and the module is signed by {signer}",
            (*signing.evidence, *state.build.evidence),
        )
    return not_recorded("Secure Boot, and who signed the module")
