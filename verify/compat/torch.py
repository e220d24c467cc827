"""PyTorch's releases and their CUDA builds: which of them a driver and its cards can run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from verify.compat.arch import Code, runs, shown
from verify.compat.cuda import How, carried, serves, toolkit_cards
from verify.compat.table import cited, rows
from verify.facts.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection

    from verify.compat.arch import Capability
    from verify.compat.table import Row

INDEX = "https://download.pytorch.org/whl/"
_SPEC = re.compile(r"^(?:torch==)?(\d{1,9}\.\d{1,9})(\.\d{1,9})?(?:\+(\w+))?$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Build:
    """One CUDA build of one release; ``archs`` is None where no source names its arch list."""

    release: Version
    newest: str
    index: str
    cuda: Version
    status: str
    on_pypi: bool
    cudnn: str | None
    nccl: str | None
    python: str
    machine: str
    archs: tuple[str, ...] | None
    source: str

    @property
    def command(self) -> str:
        """Return the command that installs the newest patch of exactly this build."""
        return self.command_for("")

    def command_for(self, patch: str) -> str:
        """Return the command that installs one patch of this build (``.1``); without one, the newest."""
        version = f"torch=={self.release}{patch}" if patch else f'"torch=={self.release}.*"'
        return f"pip install {version} --index-url {INDEX}{self.index}"

    @property
    def name(self) -> str:
        """Return what people call it: 2.14 cu126."""
        return f"{self.release} {self.index}"

    def code_for(self, capability: Capability) -> Code | None:
        """Say what of the build runs on a card of this capability."""
        return runs(self.archs or (), capability)


@cache
def builds(machine: str = "x86_64") -> tuple[Build, ...]:
    """Return every build for a kind of machine, newest release first, PyPI's own first within it."""
    releases = {row["release"]: row for row in rows("torch", "releases")}
    made = [_build(row, releases[row["release"]], machine) for row in rows("torch", "builds")]
    return tuple(sorted(made, key=_rank, reverse=True))


def _build(row: Row, release: Row, machine: str) -> Build:
    return Build(
        Version.of(row["release"]),
        release["newest"],
        row["index"],
        Version.of(row["cuda"]),
        row["status"],
        # On aarch64 the plain wheel was a CPU build for long: which one it is now is not in the table.
        machine == "x86_64" and release["pypi"] == row["index"],
        row["cudnn"],
        row["nccl"],
        release["python"],
        machine,
        _archs(row, machine),
        cited(row),
    )


def _archs(build: Row, machine: str) -> tuple[str, ...] | None:
    release = Version.of(build["release"])
    for row in rows("torch", "arch_lists"):
        if (row["index"], row["machine"]) == (build["index"], machine) and (
            Version.of(row["from"]) <= release <= Version.of(row["to"])
        ):
            return tuple(name for text in row["archs"] for name in _names(text))
    return None


def _names(text: str) -> tuple[str, ...]:
    """Write ``12.0+PTX`` as torch's arch list does: sm_120, compute_120."""
    number = text.removesuffix("+PTX").replace(".", "")
    return (f"sm_{number}", f"compute_{number}") if text.endswith("+PTX") else (f"sm_{number}",)


def _rank(build: Build) -> tuple[Version, bool, bool, Version]:
    return build.release, build.on_pypi, build.status == "stable", build.cuda


def builds_for(
    driver: Version | None, capabilities: Collection[Capability], machine: str = "x86_64"
) -> tuple[Build, ...]:
    """Return the builds that this driver and every one of these cards can run, newest first.

    A driver or cards that nobody knows rule nothing out; a build whose arch list nobody knows is left out.
    """
    return tuple(
        build
        for build in builds(machine)
        if build.archs is not None
        and all(refusal(build, driver, card) is None for card in capabilities or (None,))
    )


def refusal(build: Build, driver: Version | None, card: Capability | None) -> str | None:
    """Say why a build does not run on this driver and card; None where it does."""
    way = serves(driver, build.cuda) if driver is not None else None
    if way is not None and not way.starts:
        return way.why
    return None if card is None else _no_code(build, card, driver if way and way.how is How.MINOR else None)


def _no_code(build: Build, card: Capability, older: Version | None) -> str | None:
    """Say why nothing of a build runs on a card; ``older``: a driver that compiles no PTX of its CUDA."""
    mine = shown(card)
    toolkit = toolkit_cards(build.cuda)
    if toolkit is not None and card < toolkit.oldest:
        return (
            f"CUDA {build.cuda} begins with compute capability {shown(toolkit.oldest)}, the card has {mine}"
        )
    code = build.code_for(card)
    if build.archs is not None and code is None:
        return f"{build.name} has no code for compute capability {mine} (it has {' '.join(build.archs)})"
    if code is Code.PTX and older is not None:
        return (
            f"{build.name} has only PTX of CUDA {build.cuda} for compute capability {mine}, "
            f"and driver {older} compiles PTX up to CUDA {carried(older) or 'of an older release'}"
        )
    return None


@dataclass(frozen=True, slots=True)
class Spec:
    """What somebody wrote: torch 2.9.1+cu128."""

    release: Version
    patch: str
    index: str | None


def parse_spec(text: str) -> Spec | None:
    """Read ``2.9.1+cu128``, ``2.9`` or ``torch==2.9.1``; None for anything else."""
    found = _SPEC.match(text.strip())
    if found is None:
        return None
    release, patch, index = found.groups()
    return Spec(Version.of(release), patch or "", index)


def default_build() -> Build:
    """Return what a plain ``pip install torch`` takes on Linux x86_64."""
    return next(build for build in builds() if build.on_pypi)
