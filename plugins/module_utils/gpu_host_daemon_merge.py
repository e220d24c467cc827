"""Our own keys in Docker's daemon.json: put in, taken out again, nothing else touched. Pure."""

from __future__ import annotations

import json
import re

from .gpu_host_daemon_flags import by_key, cdi_by_flag, runtime_by_flag, values
from .gpu_host_daemon_json import LINE, DaemonJsonError, quoted, written

NAME = "nvidia"
PROGRAM = "nvidia-container-runtime"
ENTRY = {"path": PROGRAM, "args": []}
NO_CDI_BEFORE = (25, 0)
CDI_BY_DEFAULT = (28, 2)
GPUS_BY_CDI = (29, 2)


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


def register(
    document: dict, path: str, *, default: str | None, cdi: bool, flags: list | None = None
) -> tuple[dict, dict, list]:
    """Return the document with our keys in it, what is ours of it, and what the user should know.

    What a flag of dockerd's says already is not said in the file: dockerd starts with one of the two only.
    """
    after, ours, notes = dict(document), {}, []
    flags = flags or []
    runtimes = section(document, "runtimes", path)
    by_flag = runtime_by_flag(flags, NAME)
    if by_flag is not None:
        notes.append(
            f"dockerd's command line registers the runtime {NAME} already ({by_flag}): "
            f"{path} is left without it."
        )
    elif runtimes.get(NAME) is None:
        runtimes[NAME] = dict(ENTRY)
        ours[f"runtimes.{NAME}"] = {"set": dict(ENTRY), "made": document.get("runtimes") is None}
        after["runtimes"] = runtimes
    elif not same(runtimes[NAME]):
        notes.append(
            f"{path} has a runtimes.{NAME} of its own, {one_line(runtimes[NAME])}: kept as it is. "
            f"This role would write {json.dumps(ENTRY)}; take the entry out and run again if you want that."
        )
    default_by_flag = values(flags, "default-runtime")
    if default and default_by_flag:
        notes += default_is_a_flag(default, default_by_flag[-1], path)
    elif default and document.get("default-runtime") != default:
        before = document.get("default-runtime")
        after["default-runtime"] = default
        ours["default-runtime"] = {"set": default, "before": before}
        if before is not None:
            notes.append(
                f"{path}: default-runtime changes from {one_line(before)} to {quoted(default)}, as asked for."
            )
    features = section(document, "features", path)
    if "features" in by_key(flags):
        notes += [NO_CDI_BY_FLAG] if cdi and not cdi_by_flag(flags) else []
    elif cdi and features.get("cdi") is None:
        features["cdi"] = True
        ours["features.cdi"] = {"set": True, "made": document.get("features") is None}
        after["features"] = features
    elif features.get("cdi") is False:
        notes.append(
            f"{path} switches CDI off (features.cdi is false): kept; `--device nvidia.com/gpu=…` cannot work."
        )
    return after, ours, notes


def default_is_a_flag(asked: str, given: str, path: str) -> list:
    """Return the note that a flag says it already; refuse where it says something else."""
    if given == asked:
        return [f"dockerd's command line says --default-runtime={given} already: {path} is left without it."]
    raise DaemonJsonError(
        f"dockerd's command line says --default-runtime={given}, and {asked} is asked for in {path}; "
        "dockerd starts only where it is said once. Nothing was changed and Docker was not restarted: take "
        "the flag out of the unit (`systemctl edit docker`), or leave docker_nvidia_runtime_default out, "
        "and run again."
    )


NO_CDI_BY_FLAG = (
    "dockerd's command line has --feature, so the file may have no features: CDI stays off until "
    "--feature cdi=true is there too (`systemctl edit docker`)."
)


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
