"""``NVIDIA_REQUIRE_CUDA`` and its kin: what an image demands of the driver and the card.

Alternatives are separated by blanks, the conditions of one by commas: ``cuda>=12.8 brand=tesla,driver>=535,
driver<536``. The words and the comparison are libnvidia-container's (src/cli/dsl.c): a version is compared
number by number, a brand without regard to case, and whatever it does not know makes the whole invalid.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

PREFIX = "NVIDIA_REQUIRE_"
_CUDA, _JETPACK = f"{PREFIX}CUDA", f"{PREFIX}JETPACK"
DISABLE = "NVIDIA_DISABLE_REQUIRE"
_CONDITION = re.compile(r"^([^<>=!]+)(=|!=|<|<=|>|>=)([^<>=!]+)$")
_VERSIONS = ("cuda", "driver", "arch")
_COMPARE: Mapping[str, Callable[[Version, Version], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Machine:
    """What conditions are held against; None where it is not known. ``arch`` is the compute capability."""

    cuda: Version | None = None
    driver: Version | None = None
    arch: Version | None = None
    brand: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison; ``name`` is cuda, driver, arch or brand, or a word that nobody knows."""

    name: str
    operator: str
    value: str

    def met(self, machine: Machine) -> bool | None:
        """Whether the machine meets it; None where that is not known."""
        if self.name == "brand":
            same = None if machine.brand is None else machine.brand.lower() == self.value.lower()
            return {"=": same, "!=": None if same is None else not same}.get(self.operator)
        have = getattr(machine, self.name) if self.name in _VERSIONS else None
        want = Version.parse(self.value)
        if have is None or want is None or self.operator not in _COMPARE:
            return None
        return _COMPARE[self.operator](have, want)

    @property
    def known(self) -> bool:
        """Whether the toolkit can judge it: a name, an operator and a value of its kind."""
        if self.name == "brand":
            return self.operator in ("=", "!=") and bool(self.value)
        return self.name in _VERSIONS and self.operator in _COMPARE and Version.parse(self.value) is not None

    def __str__(self) -> str:
        return f"{self.name}{self.operator}{self.value}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One variable: one of the alternatives must be met whole."""

    text: str
    alternatives: tuple[tuple[Condition, ...], ...]

    def met(self, machine: Machine) -> bool | None:
        """Whether one alternative is met; None where none is and one may be."""
        said = [all_known([condition.met(machine) for condition in one]) for one in self.alternatives]
        if not said or any(said):
            return True
        return None if None in said else False

    @property
    def cuda(self) -> Version | None:
        """The CUDA that it asks for at least, as its first alternative says in images of NVIDIA's."""
        asked = (
            Version.parse(c.value if "." in c.value else f"{c.value}.0")
            for one in self.alternatives
            for c in one
            if c.name == "cuda" and c.operator in ("=", ">", ">=")
        )
        return next(filter(None, asked), None)


def parse(text: str) -> Requirement:
    """Read a variable's value; a condition that is none is kept as one that nobody can judge."""
    return Requirement(
        text=text,
        alternatives=tuple(
            tuple(_condition(word) for word in alternative.split(",") if word)
            for alternative in text.split(" ")
            if alternative.strip(",")
        ),
    )


def of_environment(env: Mapping[str, str]) -> tuple[Requirement, ...]:
    """Return every demand of an image; all of them must be met. None where it switches the check off.

    As the toolkit does (internal/config/image/cuda_image.go, GetRequirements): those of Jetpack are left out,
    and an image of before these variables, with CUDA_VERSION alone, demands that CUDA.
    """
    if env.get(DISABLE, "").lower() in ("1", "t", "true"):
        return ()
    named = [
        value
        for name, value in sorted(env.items())
        if name.startswith(PREFIX) and not name.startswith(_JETPACK) and value
    ]
    old = None if env.get(_CUDA) else Version.parse(env.get("CUDA_VERSION"))
    if old is not None:
        named.append(f"cuda>={'.'.join(str(part) for part in (*old.parts, 0)[:2])}")
    return tuple(map(parse, named))


def _condition(word: str) -> Condition:
    found = _CONDITION.match(word)
    return Condition(found[1].lower(), found[2], found[3]) if found else Condition(word, "", "")


def all_known(said: Collection[bool | None]) -> bool | None:
    """Return whether all is true: one that is false decides, one that is not known leaves it open."""
    if False in said:
        return False
    return None if None in said else True
