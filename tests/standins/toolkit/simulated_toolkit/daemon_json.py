"""What ``nvidia-ctk runtime configure --runtime=docker`` does to daemon.json, with its faults. Pure."""

from __future__ import annotations

from typing import Any

from . import go_json
from .errors import ToolkitError


class GoPanicError(Exception):
    """The real one ends in a Go panic here, exit status 2."""


_KINDS: dict[type, str] = {list: "array", str: "string", float: "number", bool: "bool"}


def load(text: str | None) -> dict[str, Any]:
    """Decode daemon.json; None where there is no file."""
    if text is None:
        return {}
    try:
        found = go_json.loads(text)
    except go_json.GoJsonError as error:
        raise ToolkitError(f"unable to load config for runtime docker: {error}") from error
    if found is None:
        raise GoPanicError("assignment to entry in nil map")
    if not isinstance(found, dict):
        kind = _KINDS[type(found)]
        said = f"json: cannot unmarshal {kind} into Go value of type docker.Config"
        raise ToolkitError(f"unable to load config for runtime docker: {said}")
    return found


def configured(
    config: dict[str, Any], *, name: str, path: str, set_as_default: bool, enable_cdi: bool
) -> dict[str, Any]:
    """Return the configuration with the runtime replaced whole; so is ``features`` where CDI is asked for."""
    runtimes = config.get("runtimes", {})
    if not isinstance(runtimes, dict):
        raise GoPanicError("interface conversion: interface {} is not map[string]interface {}")
    result = {**config, "runtimes": {**runtimes, name: {"path": path, "args": []}}}
    if set_as_default:
        result["default-runtime"] = name
    if enable_cdi:
        result["features"] = {"cdi": True}
    return result
