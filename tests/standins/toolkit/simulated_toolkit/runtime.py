"""nvidia-container-runtime: adds the cards asked for to the bundle's config.json, then becomes runc.

containerd calls it five times for each container, and only ``create`` has work for it: the modules for that
are imported there.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from . import settings
from .errors import ToolkitError


def option(arguments: list[str], *names: str) -> str | None:
    """Return the value of one of runc's options, in either spelling."""
    for word, following in zip(arguments, [*arguments[1:], None], strict=True):
        if word in names:
            return following
        name, equals, value = word.partition("=")
        if equals and name in names:
            return value
    return None


def bundle_of(arguments: list[str]) -> Path | None:
    """Return the bundle of a ``create`` call; None for any other, which is runc's business alone."""
    if "create" not in arguments:
        return None
    return Path(option(arguments, "--bundle", "-b") or Path.cwd())


def become_low_level(names: list[str], arguments: list[str]) -> None:
    """Become the first runtime of the list that is on PATH; returns only by an error."""
    for name in names:
        if program := shutil.which(name):
            os.execv(program, [name, *arguments])  # noqa: S606 - replaces this process
    raise ToolkitError(f"error locating runtime: no runtime binary found from candidate list: {names}")


def main(arguments: list[str], version: str) -> int:
    """Never returns but by an error: the low-level runtime takes this process over."""
    if "--version" in arguments:
        print(f"NVIDIA Container Runtime version {version} (simulated)\ncommit: simulated\n", flush=True)
    # A broken file is noticed before there is a log: containerd then has no reason to show.
    config = settings.load()
    if folder := bundle_of(arguments):
        from . import bundle  # noqa: PLC0415 - see above

        mode = settings.get(config, "nvidia-container-runtime.mode", "auto")
        try:
            bundle.edit(folder, mode, version)
        except ToolkitError as error:
            bundle.log_error(option(arguments, "--log"), error)
            raise
    become_low_level(settings.get(config, "nvidia-container-runtime.runtimes", ["runc", "crun"]), arguments)
    return 0
