"""Which hosts differ from the lock file or, without one, from most of the others.

Simulated hosts are compared with one another, and never with real ones. What is not known does not differ,
and where two values are equally common there is no majority: that is said, and nobody is blamed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.fleet.versions import FIELDS, Versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from verify.fleet.lock import Lock


@dataclass(frozen=True, slots=True)
class Member:
    """A host among others."""

    simulated: bool
    versions: Versions


@dataclass(frozen=True, slots=True)
class Reference:
    """What a field should be: ``value`` is None where nothing says so; ``said`` is where it comes from."""

    field: str
    value: str | None
    said: str

    def differs(self, found: str | None) -> bool:
        """Whether a host's value is another."""
        return self.value is not None and found is not None and found != self.value


@dataclass(frozen=True, slots=True)
class Comparison:
    """The references of real and of simulated hosts; a kind of which there is no host has none."""

    real: tuple[Reference, ...]
    simulated: tuple[Reference, ...]

    def of(self, member: Member) -> dict[str, Reference]:
        """Return what a host differs from, by field."""
        references = self.simulated if member.simulated else self.real
        return {one.field: one for one in references if one.differs(member.versions.get(one.field))}


def compare(members: Iterable[Member], lock: Lock | None = None) -> Comparison:
    """Find what each kind of hosts is compared with."""
    everyone = list(members)
    kinds = {kind: [one.versions for one in everyone if one.simulated is kind] for kind in (False, True)}
    return Comparison(*(_references(kinds[kind], _for_kind(lock, simulated=kind)) for kind in (False, True)))


def _for_kind(lock: Lock | None, *, simulated: bool) -> Lock | None:
    return lock if lock and lock.simulated is simulated else None


def _references(found: Sequence[Versions], lock: Lock | None) -> tuple[Reference, ...]:
    if not found:
        return ()
    if lock:
        return tuple(
            Reference(field, lock.versions.get(field), f"the lock file, from {lock.host}") for field in FIELDS
        )
    return tuple(_most(field, [one.get(field) for one in found]) for field in FIELDS)


def _most(field: str, values: Sequence[str | None]) -> Reference:
    counted = Counter(value for value in values if value is not None)
    if not counted:
        return Reference(field, None, "not known of any host")
    most = max(counted.values())
    first = sorted(value for value, times in counted.items() if times == most)
    if len(first) > 1:
        return Reference(field, None, f"no majority: {_listed(first)}, on {most} {_hosts(most)} each")
    unknown = len(values) - counted.total()
    of = f"{most} of {counted.total()} {_hosts(counted.total())}"
    return Reference(field, first[0], of + (f", not known of {unknown}" if unknown else ""))


_LISTED = 3


def _listed(values: Sequence[str]) -> str:
    more = len(values) - _LISTED
    return " and ".join(values[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _hosts(number: int) -> str:
    return "host" if number == 1 else "hosts"
