"""The mounts that data could be kept on: their kind, size and speed, and what a marker proves. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from verify.facts.source import cite
from verify.json_values import as_list, as_number, as_object, as_text, as_whole
from verify.offer.manifest import TRIES

if TYPE_CHECKING:
    from collections.abc import Mapping

_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "beegfs", "gpfs", "9p", "virtiofs", "wekafs"}
)


class Survival(StrEnum):
    """Whether a mount's data was there after a restart."""

    YES = "survived a restart"
    NO = "lost"
    LAYER = "goes with the container"
    UNKNOWN = "not yet known"


@dataclass(frozen=True, slots=True)
class Place:
    """One mount; rates in bytes a second. What is None was not measured."""

    path: str
    kind: str | None
    network: bool
    total: int | None
    free: int | None
    write: float | None
    read: float | None
    cold: bool
    survival: Survival
    trouble: str | None
    evidence: tuple[str, ...]

    @property
    def layer(self) -> bool:
        """Whether it is a container's own layer: it goes when the container does."""
        return self.kind == "overlay"


def places(answer: Mapping[str, object]) -> tuple[Place, ...]:
    """Read the mounts of the tries."""
    rows = [as_object(row) for row in as_list(answer.get("places"))]
    markers = {path: _marker(row) for row in rows if (path := as_text(row.get("path")))}
    now = _identity(as_object(answer.get("identity")))
    return tuple(_place(row, path, markers, now) for row in rows if (path := as_text(row.get("path"))))


_Identity = tuple[str | None, int | None]


def _identity(value: Mapping[str, object]) -> _Identity | None:
    found = (as_text(value.get("boot")), as_whole(value.get("init")))
    return found if found[0] is not None and found[1] is not None else None


def _marker(row: Mapping[str, object]) -> Mapping[str, object]:
    return as_object(as_object(row.get("marker")).get("found"))


def _place(
    row: Mapping[str, object],
    path: str,
    markers: Mapping[str, Mapping[str, object]],
    now: _Identity | None,
) -> Place:
    kind = as_text(row.get("kind"))
    speed = as_object(row.get("speed"))
    write, read = as_object(speed.get("write")), as_object(speed.get("read"))
    survival, line = _survival(path, kind, markers, now)
    trouble = as_text(row.get("error")) or ("no answer" if row.get("timed_out") is True else None)
    trouble = trouble or as_text(speed.get("error")) or as_text(speed.get("skipped"))
    if trouble is None and speed.get("timed_out") is True:
        trouble = "it was too slow to be measured within the limit"
    return Place(
        path=path,
        kind=kind,
        network=kind is not None and (kind in _NETWORK or kind.startswith("fuse.")),
        total=_bytes(row.get("total")),
        free=_bytes(row.get("free")),
        write=_rate(write),
        read=_rate(read),
        cold=read.get("cold") is True,
        survival=survival,
        trouble=trouble,
        evidence=(cite(TRIES, f"{path} ({kind}): {line}"),),
    )


def _survival(
    path: str, kind: str | None, markers: Mapping[str, Mapping[str, object]], now: _Identity | None
) -> tuple[Survival, str]:
    """Say what the marker of an earlier run proves: that the data is there, or that it went."""
    mine = markers.get(path, {})
    then = _identity(mine)
    again = then is not None and now is not None and then != now
    if again and kind != "overlay":
        return Survival.YES, f"the marker of {mine.get('at')} is there, and the machine started since"
    for other, marker in markers.items():
        named = path in [str(one) for one in as_list(marker.get("mounts"))]
        then = _identity(marker)
        restarted = then is not None and now is not None and then != now
        if other != path and named and restarted and mine.get("id") != marker.get("id"):
            return (
                Survival.NO,
                f"{other} still has the marker of {marker.get('at')} that names it; here it is gone",
            )
    if kind == "overlay":
        kept = "its marker outlived a restart, and yet it is " if again else ""
        return Survival.LAYER, f"{kept}the layer of a container, which goes when the container is made anew"
    if mine:
        return Survival.UNKNOWN, f"the marker of {mine.get('at')} is there; nothing was restarted since"
    return Survival.UNKNOWN, "no marker of an earlier run"


def _rate(value: Mapping[str, object]) -> float | None:
    amount, seconds = as_number(value.get("bytes")), as_number(value.get("seconds"))
    if amount is None or seconds is None or amount <= 0 or seconds <= 0:
        return None
    rate = amount / seconds
    return rate if rate < float("inf") else None


def _bytes(value: object) -> int | None:
    number = as_whole(value)
    return number if number is not None and 0 <= number < 2**63 else None
