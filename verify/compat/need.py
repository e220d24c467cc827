"""What a CUDA or a build of torch needs: driver, compute capability, architectures. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.compat.arch import Code
from verify.compat.cards import architectures, jetsons
from verify.compat.cuda import minimum_driver, minor, newest_cuda, packaged_drivers, toolkit_cards
from verify.compat.forward import compat_branches
from verify.compat.torch import builds, default_build, parse_spec
from verify.errors import VerifyError
from verify.facts.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable

    from verify.compat.arch import Capability
    from verify.compat.torch import Build


@dataclass(frozen=True, slots=True)
class ArchitectureRow:
    """One architecture's capability, and what of the thing runs on it: machine code, PTX or nothing."""

    title: str
    capability: Capability
    code: Code | None


@dataclass(frozen=True, slots=True)
class Need:
    """What something needs. ``lowest`` starts it, ``full`` has all of its features; None where not known."""

    title: str
    cuda: Version
    lowest: Version
    full: Version | None
    forward_branches: tuple[int, ...]
    oldest: Capability | None
    newest: Capability | None
    cards: tuple[ArchitectureRow, ...]
    build: Build | None
    command: str | None
    notes: tuple[str, ...]


def cuda_need(text: str) -> Need:
    """Say what a program or an image for this CUDA needs."""
    cuda = Version.typed(text)
    if cuda is None or len(cuda.parts) < 2:  # noqa: PLR2004  # 12.8 has two
        raise VerifyError(f"--cuda {text} is no version of CUDA: write it as 12.8 or 12.8.1")
    cuda, known = minor(cuda), _known()
    if minimum_driver(cuda) is None or cuda > known[-1]:
        raise VerifyError(f"--cuda {text} is not in our table, which has {known[0]} to {known[-1]}")
    if cuda not in known:
        raise VerifyError(
            f"--cuda {text}: there is no CUDA {cuda}; its neighbours are {_around(cuda, known)}"
        )
    return _need(f"CUDA {cuda}", cuda, _by_toolkit(cuda), [])


def _known() -> list[Version]:
    return sorted({*(one for one, _ in packaged_drivers()), newest_cuda()})


def in_table(cuda: Version) -> bool:
    """Whether the tables have this CUDA."""
    return minor(cuda) in _known()


def _around(cuda: Version, known: list[Version]) -> str:
    return f"{max(one for one in known if one < cuda)} and {min(one for one in known if one > cuda)}"


def torch_need(text: str, machine: str) -> Need:
    """Say what a build of torch needs: 2.9.1+cu128, or 2.9.1 for the one on PyPI."""
    spec = parse_spec(text)
    if spec is None:
        raise VerifyError(f"--torch {text} is no version of torch: write it as 2.9.1+cu128 or 2.9.1")
    of_release = [build for build in builds(machine) if build.release == spec.release]
    releases = sorted({build.release for build in builds(machine)})
    if not of_release:
        raise VerifyError(
            f"--torch {text}: our table has no release {spec.release}, it has {releases[0]} to {releases[-1]}"
        )
    wanted = [
        build for build in of_release if build.index == spec.index or (spec.index is None and build.on_pypi)
    ]
    if not wanted:
        offered = ", ".join(sorted(build.index for build in of_release))
        what = f"no build {spec.index}" if spec.index else f"no build on PyPI for {machine}"
        raise VerifyError(f"--torch {text}: our table has {what} of {spec.release}; it has {offered}")
    build = wanted[0]
    notes = [] if spec.index else [f"on PyPI {build.release} is the build for CUDA {build.cuda}"]
    patch = spec.patch
    if patch and Version.of(f"{build.release}{patch}") > Version.of(build.newest):
        notes.append(
            f"our table does not know {build.release}{patch}: the newest patch in it is {build.newest}"
        )
        patch = ""
    command = build.command_for(patch)
    if build.status != "stable":
        notes.append(f"PyTorch calls this build {build.status}")
    if build.archs is None:
        notes.append("its arch list is in no source that was read: the cards are those of its CUDA")
        return _need(
            f"torch {text}", build.cuda, _by_toolkit(build.cuda), notes, build=build, command=command
        )
    if build.release == default_build().release:
        notes.append("it is the newest release of our table")
    return _need(f"torch {text}", build.cuda, build.code_for, notes, build=build, command=command)


def _by_toolkit(cuda: Version) -> Callable[[Capability], Code | None]:
    toolkit = toolkit_cards(cuda)

    def code(capability: Capability) -> Code | None:
        if toolkit is None or capability < toolkit.oldest:
            return None
        return Code.MACHINE_CODE if capability[0] <= toolkit.newest[0] else Code.PTX

    return code


def _need(
    title: str,
    cuda: Version,
    code: Callable[[Capability], Code | None],
    notes: list[str],
    *,
    build: Build | None = None,
    command: str | None = None,
) -> Need:
    lowest = minimum_driver(cuda)
    assert lowest is not None  # noqa: S101  # for mypy: every CUDA of the tables has one
    cards = tuple(
        ArchitectureRow(kind.title, capability, code(capability))
        for kind in architectures().values()
        for capability in kind.capabilities
        if build is None or build.machine != "x86_64" or capability not in jetsons()
    )
    served = [row.capability for row in cards if row.code is not None]
    machine = [row.capability for row in cards if row.code is Code.MACHINE_CODE]
    return Need(
        title=title,
        cuda=cuda,
        lowest=lowest,
        full=dict(packaged_drivers()).get(cuda),
        forward_branches=compat_branches(cuda),
        oldest=min(served, default=None),
        newest=max(machine, default=None),
        cards=cards,
        build=build,
        command=command,
        notes=tuple(notes),
    )
