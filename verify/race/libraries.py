"""What this machine's Python can calculate with, and why a lane cannot run."""

from __future__ import annotations

import importlib
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

CPU = "cpu"
CUDA = "cuda"
# How people and their package index call what Python imports.
DISTRIBUTIONS = {"numpy": "numpy", "torch": "torch", "sklearn": "scikit-learn"}


@dataclass(frozen=True)
class Libraries:
    """The modules that could be imported, and for the others what Python said."""

    modules: Mapping[str, ModuleType] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)

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
    errors: dict[str, str] = {}
    for name, distribution in DISTRIBUTIONS.items():
        try:
            modules[name] = importlib.import_module(name)
        except ModuleNotFoundError as error:
            missing = error.name or name
            if missing.split(".")[0] == name:
                errors[name] = f"{distribution} is not installed for this Python"
            else:
                errors[name] = f"{distribution} cannot be imported: {missing} is not installed"
        except Exception as error:  # noqa: BLE001  # a broken library raises anything: OSError, RuntimeError, …
            first = (str(error).splitlines() or [type(error).__name__])[0]
            errors[name] = f"{distribution} cannot be imported: {first}"
    return Libraries(modules, errors)


def name_a_temporary_folder(shared_memory: Path = Path("/dev/shm")) -> None:  # noqa: S108
    """Use shared memory where there is no other place to write, as in a container with ``--read-only``.

    torch's optimisers make a cache folder when they are first used, and fail where they cannot.
    """
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        if os.access(shared_memory, os.W_OK):
            tempfile.tempdir = str(shared_memory)


def absent_reason(library: str, device: str, libraries: Libraries) -> str | None:
    """Return why this library cannot calculate on this device here; None where it can."""
    for name in (library, "numpy"):
        if name not in libraries:
            return libraries.errors.get(name, f"{DISTRIBUTIONS[name]} is not installed for this Python")
    if device == CPU:
        return None
    torch = libraries["torch"]
    version = libraries.version("torch")
    if torch.version.cuda is None:
        return f"torch {version} is a CPU build: install a CUDA build of it"
    if not torch.cuda.is_available():
        return (
            f"torch {version} is built for CUDA {torch.version.cuda} but finds no card it can use: "
            "torch.cuda.is_available() is False"
        )
    return None
