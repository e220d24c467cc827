"""Our own keys in Docker's daemon.json: put in, taken out again, nothing else touched. Pure."""

from __future__ import annotations

import json
import re

from .gpu_host_daemon_json import LINE, DaemonJsonError, quoted, written

NAME = "nvidia"
PROGRAM = "nvidia-container-runtime"
ENTRY = {"path": PROGRAM, "args": []}
NO_CDI_BEFORE = (25, 0)
CDI_BY_DEFAULT = (28, 2)


def version_of(text: str) -> tuple[int, int] | None:
    """Return major and minor version from what `dockerd --version` prints."""
    shown = re.search(r"version (\d+)\.(\d+)", text)
    return (int(shown.group(1)), int(shown.group(2))) if shown else None


def needs_cdi(version: tuple[int, int] | None) -> bool:
    """Tell whether an engine knows CDI and has it switched off unless told otherwise."""
    return version is not None and NO_CDI_BEFORE <= version < CDI_BY_DEFAULT


def one_line(value: object) -> str:
    return written(value, "").replace("\n", " ")


def section(document: dict, key: str, path: str) -> dict:
    """Return an object of the file, {} where it is not there (or null, which dockerd takes for the same)."""
    value = document.get(key)
    if value is not None and not isinstance(value, dict):
        raise DaemonJsonError(
            f'{path}: "{key}" is {one_line(value)[:LINE]}, not an object in braces as dockerd needs it. '
            "Nothing was changed and Docker was not restarted: correct it, and run again."
        )
    return dict(value or {})


def same(entry: object) -> bool:
    """Tell whether an entry is ours, however its path and its lack of arguments are written."""
    if not isinstance(entry, dict) or set(entry) - {"path", "args", "runtimeArgs"}:
        return False
    plain = not entry.get("args") and not entry.get("runtimeArgs")
    return plain and entry.get("path") in (PROGRAM, f"/usr/bin/{PROGRAM}")


def register(document: dict, path: str, *, default: str | None, cdi: bool) -> tuple[dict, dict, list]:
    """Return the document with our keys in it, what is ours of it, and what the user should know."""
    after, ours, notes = dict(document), {}, []
    runtimes = section(document, "runtimes", path)
    if runtimes.get(NAME) is None:
        runtimes[NAME] = dict(ENTRY)
        ours[f"runtimes.{NAME}"] = {"set": dict(ENTRY), "made": document.get("runtimes") is None}
        after["runtimes"] = runtimes
    elif not same(runtimes[NAME]):
        notes.append(
            f"{path} has a runtimes.{NAME} of its own, {one_line(runtimes[NAME])}: kept as it is. "
            f"This role would write {json.dumps(ENTRY)}; take the entry out and run again if you want that."
        )
    if default and document.get("default-runtime") != default:
        before = document.get("default-runtime")
        after["default-runtime"] = default
        ours["default-runtime"] = {"set": default, "before": before}
        if before is not None:
            notes.append(
                f"{path}: default-runtime changes from {one_line(before)} to {quoted(default)}, as asked for."
            )
    features = section(document, "features", path)
    if cdi and features.get("cdi") is None:
        features["cdi"] = True
        ours["features.cdi"] = {"set": True, "made": document.get("features") is None}
        after["features"] = features
    elif features.get("cdi") is False:
        notes.append(
            f"{path} switches CDI off (features.cdi is false): kept; `--device nvidia.com/gpu=…` cannot work."
        )
    return after, ours, notes


def unregister(document: dict, path: str, ours: dict) -> tuple[dict, list]:
    """Return the document without what is ours; what was changed since is the user's, and stays."""
    after, notes = dict(document), []
    for name, noted in ours.items():
        above, _, key = name.partition(".")
        holder = section(document, above, path) if key else after
        key = key or above
        if key not in holder:
            continue
        if holder[key] != noted["set"]:
            notes.append(f"{path}: {name} was changed since, so it is yours now: kept.")
            continue
        before = noted.get("before")
        if before is None:
            del holder[key]
        else:
            holder[key] = before
        if holder is after:
            continue
        if holder or not noted["made"]:
            after[above] = holder
        else:
            del after[above]
    return after, notes
