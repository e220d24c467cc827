"""What of a host's recording an image is held against. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from verify.compat.choice import card_of
from verify.compat.engine import gpus_come_by_cdi
from verify.compat.requirement import Machine
from verify.errors import VerifyError
from verify.facts.state import state
from verify.facts.version import Version
from verify.image.estimate import SHORT
from verify.image.manifest import Platform
from verify.json_values import as_text, json_object

if TYPE_CHECKING:
    from verify.compat.choice import Card
    from verify.facts.disk import Store
    from verify.facts.state import State
    from verify.recording import Recording

LAYERS = "image-layers"
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "amd64": "amd64", "arm64": "arm64", "ppc64le": "ppc64le"}


@dataclass(frozen=True, slots=True)
class Host:
    """One host: what is None was not recorded. ``hook``: whether the toolkit looks at the demand."""

    platform: Platform | None
    driver: Version | None
    cards: tuple[Card, ...]
    named: tuple[str, ...]
    machines: tuple[Machine, ...]
    hook: bool | None
    stores: tuple[Store, ...]
    layers: tuple[tuple[str, ...], ...] | None
    simulated: bool


def host(recording: Recording) -> Host:
    """Read a host's recording."""
    if recording.where != "host":
        raise VerifyError(
            "this recording was taken in a container: an image is held against its host's, "
            "`gpu-verify record --host USER@HOST --out host.json`"
        )
    seen = state(recording, None, None)
    return Host(
        platform=_platform(recording),
        driver=seen.driver.version if seen.driver.answers else None,
        cards=_cards(seen),
        named=tuple(card.name or "a card" for card in seen.driver.cards),
        machines=_machines(seen),
        hook=_hook(seen),
        stores=seen.stores,
        layers=_layers(recording),
        simulated=recording.simulated,
    )


def _platform(recording: Recording) -> Platform | None:
    info, uname = recording.command("docker-info"), recording.command("uname")
    document = (json_object(info.stdout) if info and info.ok else None) or {}
    words = uname.stdout.split() if uname and uname.ok else []
    name = as_text(document.get("Architecture")) or next((word for word in words if word in _MACHINES), None)
    return Platform(as_text(document.get("OSType")) or "linux", _MACHINES.get(name, name)) if name else None


def _cards(seen: State) -> tuple[Card, ...]:
    """Return the kinds of cards that our tables know; the driver's word on a capability goes before them."""
    ids = [card.device for card in seen.card.pci or () if card.device and not card.gone]
    found = {}
    for device in ids:
        try:
            found[device] = card_of(f"10de:{device.lower().removeprefix('0x')}")
        except VerifyError:
            continue  # newer than our tables: then only the driver counts
    said = {Version.parse(card.compute_capability) for card in seen.driver.cards}
    known = [(one.parts[0], (*one.parts, 0)[1]) for one in said if one]
    return tuple(
        replace(card, capabilities=tuple(known)) if len(known) == 1 and len(found) == 1 else card
        for card in found.values()
    )


def _machines(seen: State) -> tuple[Machine, ...]:
    driver = seen.driver
    if not driver.answers:
        return ()
    brands = seen.brands if len(seen.brands) == len(driver.cards) else (None,) * len(driver.cards)
    pairs = zip(driver.cards, brands, strict=True)
    made = [
        Machine(driver.cuda, driver.version, Version.parse(card.compute_capability), brand)
        for card, brand in pairs
    ]
    return tuple(made) or (Machine(driver.cuda, driver.version),)


def _hook(seen: State) -> bool | None:
    """Whether the toolkit's hook looks at the demand of whatever asks for a card by ``--gpus``."""
    engine = seen.engine
    if not engine.described or engine.version is None:
        return None
    return not gpus_come_by_cdi(engine.version, engine.cdi_devices) and not seen.runtime.disable_require


def _layers(recording: Recording) -> tuple[tuple[str, ...], ...] | None:
    entry = recording.command(LAYERS)
    if entry is None or not entry.ran:
        return None
    rows = []
    for line in entry.stdout.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # the last line, where it was cut
        if isinstance(row, list):
            rows.append(tuple(str(one).partition(":")[2][:SHORT] or str(one)[:SHORT] for one in row))
    return tuple(rows) if rows or entry.ok else None
