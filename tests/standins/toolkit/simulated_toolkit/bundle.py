"""What nvidia-container-runtime does to a bundle before runc creates the container from it."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from . import cdi, choose, driver, inject, nvml, oci
from .errors import ToolkitError

MODIFIER = 'failed to create the automatic CDI modifier: failed to generate CDI spec for mode "auto"'
# Since 1.18 the runtime makes its specification on the fly (jit-cdi); before, auto meant the legacy hook.
JIT_CDI_SINCE = (1, 18)


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


def edit(folder: Path, mode: str, version: str) -> None:
    """Rewrite config.json where the container asked for cards; else leave it alone."""
    file = folder / "config.json"
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


def log_error(path: str | None, error: ToolkitError) -> None:
    """Leave the reason where containerd looks for it: it shows that file's last error, never our stderr."""
    if path is None:
        return
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with Path(path).open("a") as file:
        file.write(json.dumps({"level": "error", "msg": str(error), "time": now}) + "\n")
