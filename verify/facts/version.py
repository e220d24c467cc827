"""Versions as integer tuples: ``570.86`` is newer than ``570.9``, whatever wrote them down."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

# Package versions carry an epoch in front and a release behind: 3:580.65.06-1.el10
_EPOCH = re.compile(r"^[0-9]+:")
_NUMBERS = re.compile(r"^v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,4})(?![0-9.]*[0-9])")


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """An upstream version: the numbers to compare, and the text as it was found."""

    parts: tuple[int, ...]
    text: str

    @classmethod
    def parse(cls, text: str | None) -> Version | None:
        """Read the upstream number out of any spelling; None where there is none."""
        found = _NUMBERS.match(_EPOCH.sub("", (text or "").strip()))
        if found is None:
            return None
        return cls(tuple(int(part) for part in found.group(1).split(".")), found.group(1))

    @classmethod
    def typed(cls, text: str) -> Version | None:
        """Read what a person typed: the number and nothing behind it; None for anything else."""
        version = cls.parse(text)
        return version if version and version.text == text.strip().removeprefix("v") else None

    @classmethod
    def of(cls, text: str) -> Version:
        """Read a version that must be one: our own tables."""
        version = cls.parse(text)
        if version is None:
            raise ValueError(f"{text!r} is not a version")
        return version

    @property
    def major(self) -> int:
        """The first number: a driver's branch, CUDA's major."""
        return self.parts[0]

    def starts_with(self, other: Version) -> bool:
        """Whether ``other`` is this version with fewer parts: 550.163 and 550.163.01."""
        return self.parts[: len(other.parts)] == other.parts

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __lt__(self, other: Version) -> bool:
        return self._key < other._key

    @property
    def _key(self) -> tuple[int, ...]:
        """1.20 and 1.20.0 are the same version."""
        parts = self.parts
        while len(parts) > 1 and parts[-1] == 0:
            parts = parts[:-1]
        return parts
