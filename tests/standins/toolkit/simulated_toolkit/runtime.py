"""nvidia-container-runtime: adds the cards asked for to the bundle's config.json, then becomes runc."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any, NoReturn

from . import cdi, choose, driver, inject, nvml, oci, settings
from .errors import ToolkitError

MODIFIER = 'failed to create the automatic CDI modifier: failed to generate CDI spec for mode "auto"'
# Since 1.18 the runtime makes its specification on the fly (jit-cdi); before, auto meant the legacy hook.
JIT_CDI_SINCE = (1, 18)


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


def is_legacy(mode: str, version: str) -> bool:
    """Whether the cards come by the hook instead of a specification."""
    if mode == "auto":
        return tuple(int(part) for part in version.split(".")[:2]) < JIT_CDI_SINCE
    return mode == "legacy"


def modified(config: dict[str, Any], words: tuple[str, ...]) -> dict[str, Any]:
    """Return the container's config with the cards it asked for."""
    try:
        found = driver.look()
        cards = choose.chosen(words, found.cards)
    except nvml.NvmlError as error:
        raise ToolkitError(f"{MODIFIER}: failed to initialize NVML: {error}") from error
    except choose.UnknownDeviceError as error:
        raise ToolkitError(
            f"failed to inject CDI devices: unresolvable CDI devices runtime.nvidia.com/gpu={error}"
        ) from error
    return oci.apply(config, cdi.common_edits(found), [card.node for card in cards], inject.numbers_of)


def edit_bundle(bundle: Path, mode: str, version: str) -> None:
    """Rewrite config.json where the container asked for cards; else leave it alone."""
    file = bundle / "config.json"
    config = json.loads(file.read_text())
    words = choose.words(choose.variable(config.get("process", {}).get("env") or []))
    if words is None:
        return
    if is_legacy(mode, version):
        hook = shutil.which(oci.PRESTART_HOOK) or f"/usr/bin/{oci.PRESTART_HOOK}"
        config = oci.with_prestart_hook(config, hook)
    else:
        config = modified(config, words)
    file.write_text(json.dumps(config))


def become_low_level(names: list[str], arguments: list[str]) -> NoReturn:
    """Become the first runtime of the list that is on PATH."""
    for name in names:
        if program := shutil.which(name):
            os.execv(program, [name, *arguments])  # noqa: S606 - replaces this process
    raise ToolkitError(f"error locating runtime: no runtime binary found from candidate list: {names}")


def log_error(arguments: list[str], error: ToolkitError) -> None:
    """Leave the reason where containerd looks for it: it shows that file's last error, never our stderr."""
    if path := option(arguments, "--log"):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with Path(path).open("a") as file:
            file.write(json.dumps({"level": "error", "msg": str(error), "time": now}) + "\n")


def main(arguments: list[str], version: str) -> int:
    """Never returns but by an error: the low-level runtime takes this process over."""
    if "--version" in arguments:
        print(f"NVIDIA Container Runtime version {version} (simulated)\ncommit: simulated\n", flush=True)
    # A broken file is noticed before there is a log: containerd then has no reason to show.
    config = settings.load()
    names = settings.get(config, "nvidia-container-runtime.runtimes", ["runc", "crun"])
    if bundle := bundle_of(arguments):
        try:
            edit_bundle(bundle, settings.get(config, "nvidia-container-runtime.mode", "auto"), version)
        except ToolkitError as error:
            log_error(arguments, error)
            raise
    become_low_level(names, arguments)
