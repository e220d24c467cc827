"""What this machine's Python can calculate with, and why a lane cannot run."""

from __future__ import annotations

import importlib
import os
import tempfile
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from verify.race import pci
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

CPU = "cpu"
CUDA = "cuda"
# How people and their package index call what Python imports.
DISTRIBUTIONS = {"numpy": "numpy", "torch": "torch", "sklearn": "scikit-learn"}
# What has a say in the times or in what was seen of them, and is never imported here.
BESIDE = ("cuml", "nvidia-ml-py")


@dataclass(frozen=True)
class Libraries:
    """The modules that could be imported, and for the others what Python said."""

    modules: Mapping[str, ModuleType] = field(default_factory=dict)
    errors: Mapping[str, Message] = field(default_factory=dict)

    def __getitem__(self, name: str) -> ModuleType:
        return self.modules[name]

    def __contains__(self, name: object) -> bool:
        return name in self.modules

    def version(self, name: str) -> str | None:
        """Return a module's version, None where there is none."""
        found = getattr(self.modules.get(name), "__version__", None)
        return None if found is None else str(found)


def load() -> Libraries:
    """Import what there is. A library that is there and broken is not "not installed": its error is kept."""
    name_a_temporary_folder()
    modules: dict[str, ModuleType] = {}
    errors: dict[str, Message] = {}
    for name, distribution in DISTRIBUTIONS.items():
        try:
            modules[name] = importlib.import_module(name)
        except ModuleNotFoundError as error:
            missing = error.name or name
            if missing.split(".")[0] == name:
                errors[name] = message("absent-library", library=distribution)
            else:
                said = f"{missing} is not installed"
                errors[name] = message("absent-import", library=distribution, error=said)
        except Exception as error:  # noqa: BLE001  # a broken library raises anything: OSError, RuntimeError, …
            first = (str(error).splitlines() or [type(error).__name__])[0]
            errors[name] = message("absent-import", library=distribution, error=first)
    return Libraries(modules, errors)


def distribution_version(name: str) -> str | None:
    """Return the version of what is installed under this name, without importing it; None where it is not."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def name_a_temporary_folder(shared_memory: Path = Path("/dev/shm")) -> None:  # noqa: S108
    """Use shared memory where there is no other place to write, as in a container with ``--read-only``.

    torch's optimisers make a cache folder when they are first used, and fail where they cannot.
    """
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        if os.access(shared_memory, os.W_OK):
            tempfile.tempdir = str(shared_memory)


def absent_reason(library: str, device: str, libraries: Libraries) -> Message | None:
    """Return why this library cannot calculate on this device here; None where it can."""
    for name in (library, "numpy"):
        if name not in libraries:
            distribution = DISTRIBUTIONS.get(name, name)
            return libraries.errors.get(name, message("absent-library", library=distribution))
    if device == CPU:
        return None
    return absent_card(libraries)


def absent_card(libraries: Libraries) -> Message | None:
    """Return why torch has no card to calculate on; where the machine has none, no build of it would help."""
    torch, version = libraries["torch"], libraries.version("torch")
    usable = torch.version.cuda is not None and torch.cuda.is_available()
    if not usable and pci.has_card() is False:
        return message("absent-no-card")
    if torch.version.cuda is None:
        return message("absent-cpu-build", torch=version)
    if not usable:
        return message("absent-card", torch=version, cuda=torch.version.cuda)
    major, minor = torch.cuda.get_device_capability()
    built_for = list(torch.cuda.get_arch_list())
    if built_for and not any(_runs_on(architecture, major, minor) for architecture in built_for):
        capability = f"{major}.{minor}"
        return message("absent-compute", torch=version, compute_capability=capability, built_for=built_for)
    return None


def _runs_on(architecture: str, major: int, minor: int) -> bool:
    """Whether a card runs code for sm_86 (its own major number) or compute_90 (any from there on)."""
    kind, _, number = architecture.partition("_")
    digits = "".join(c for c in number if c.isdigit())
    if not digits:
        return True  # named in a way of which nothing is known: let the card say it
    its_major, its_minor = int(digits[:-1] or 0), int(digits[-1])
    if kind == "compute":
        return (its_major, its_minor) <= (major, minor)
    return its_major == major and its_minor <= minor
