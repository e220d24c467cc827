"""Layer driver: the Fabric Manager, which CUDA waits for on machines with an NVSwitch (error 802)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, count, failed, not_recorded, passed
from verify.compat.table import rows
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.fabric import FabricFacts, FabricState
    from verify.facts.state import State

# An NVSwitch's ids begin here; the chipsets of old mainboards have the same class and ids far below.
_FIRST = int(rows("cards", "switches")[0]["first"], 16)
_BETWEEN = (Layer.CARD, Layer.DRIVER)
_START = "systemctl enable --now nvidia-fabricmanager; then nvidia-smi -q | grep -A 2 -i fabric"
_LOG = "journalctl -u nvidia-fabricmanager -b | tail -n 20"


def fabric_manager(state: State) -> Verdict:
    """Whether the fabric is set up, where there is one; CUDA says 802, nvidia-smi says nothing."""
    fabric = state.fabric
    switches = [address for address, device in state.card.bridges if _number(device) >= _FIRST]
    evidence = (*fabric.evidence, *(f"/sys/bus/pci/devices/{one}/class: NVSwitch" for one in switches))
    if state.host.container and not fabric.states:
        return not_recorded("the fabric's state; the Fabric Manager is the provider's")
    if not switches and not fabric.states:
        return _none(state)
    bad = _unregistered(fabric.states or ())
    return (
        _version(state, evidence)
        or (_not_ready(state, bad, evidence) if bad else None)
        or _ready(fabric, len(switches), evidence)
    )


def _ready(fabric: FabricFacts, switches: int, evidence: tuple[str, ...]) -> Verdict:
    """Say that every card is in, or, where they do not tell (an A100), whether the service runs."""
    if fabric.states:
        done = f"{count(len(fabric.states), 'card')} registered with the fabric"
        return passed(f"{done}: state Completed, status {fabric.states[0].status or 'not said'}", evidence)
    if fabric.unit_state is None:
        return not_recorded("the Fabric Manager's service")
    if fabric.unit_state != "active":
        return _stopped(fabric, f"{switches} NVSwitches on the PCI bus", evidence)
    return passed(f"the Fabric Manager runs, {switches} NVSwitches on the PCI bus", evidence)


def _none(state: State) -> Verdict:
    """Say that nothing needs one, where somebody looked."""
    if state.card.pci is None:
        return not_recorded("whether there is an NVSwitch")
    return passed(
        "nothing here needs a Fabric Manager: 0 NVSwitches, no card has a fabric",
        state.card.evidence or state.driver.evidence,
    )


def _version(state: State, evidence: tuple[str, ...]) -> Verdict | None:
    """Say that it is of another version than the driver: it must be the same to the last number."""
    own, driver = state.fabric.version, state.driver.version or state.module.version
    if state.fabric.mismatch and state.fabric.unit_state != "active":
        said_own, said_driver = state.fabric.mismatch
        summary = f"the Fabric Manager is {said_own}, the driver {said_driver}: it does not start"
        goal = said_driver
    elif own and driver and own != driver:
        summary = f"the Fabric Manager is {own}, the driver {driver}: they must be the same"
        goal = str(driver)
    else:
        return None
    package = state.fabric.package or "nvidia-fabricmanager"
    remedy = (
        f"apt-get install '{package}={goal}-*' && systemctl restart nvidia-fabricmanager  # then hold both: "
        f"apt-mark hold {package}"
    )
    return failed(summary, remedy, evidence, _BETWEEN)


def _unregistered(states: tuple[FabricState, ...]) -> FabricState | None:
    """Return the first card that is not through, an error before one that still waits."""
    completed = [one for one in states if one.state.lower() == "completed"]
    errors = [one for one in completed if (one.status or "success").lower() not in ("success", "n/a")]
    waiting = [one for one in states if one.state.lower() != "completed"]
    return next(iter([*errors, *waiting]), None)


def _not_ready(state: State, bad: FabricState, evidence: tuple[str, ...]) -> Verdict:
    fabric = state.fabric
    shown = f"card {bad.card}: fabric state {bad.state}, status {bad.status or 'not said'}"
    if bad.state.lower() == "completed":
        return failed(
            f"{shown}: it did not get into the fabric",
            f"{_LOG}; then systemctl restart nvidia-fabricmanager",
            evidence,
            _BETWEEN,
        )
    if fabric.unit_state is not None and fabric.unit_state != "active" and not state.host.container:
        return _stopped(fabric, shown, evidence)
    return failed(
        f"{shown}; CUDA says 802 (system not yet initialized) until it is Completed",
        f"wait two minutes and look again: nvidia-smi -q | grep -A 2 -i fabric; still so? {_LOG}",
        evidence,
        _BETWEEN,
    )


def _stopped(fabric: FabricFacts, shown: str, evidence: tuple[str, ...]) -> Verdict:
    if fabric.unit_there is False:
        return failed(
            f"{shown}, and nvidia-fabricmanager is not installed: CUDA will say 802",
            f"install the Fabric Manager in the driver's version (make site LIMIT=HOST), then {_START}",
            evidence,
            _BETWEEN,
        )
    said = f' and says "{fabric.said}"' if fabric.said else ""
    return failed(
        f"{shown}, and nvidia-fabricmanager is {fabric.unit_state}{said}: CUDA will say 802",
        f"{_START}; failed? {_LOG}",
        evidence,
        _BETWEEN,
    )


def _number(device: str) -> int:
    try:
        return int(device.removeprefix("0x"), 16)
    except ValueError:
        return 0
