"""Ansible filter: from the probe's findings to what is done about CDI and device nodes. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load  # by libyaml where it is there: ten times as fast

COMPAT = Path(__file__).resolve().parents[2] / "verify/compat"
# What nvidia-cdi-refresh makes at every boot, and what outlives a boot where a toolkit has no such unit.
REFRESHED, KEPT = "/var/run/cdi/nvidia.yaml", "/etc/cdi/nvidia.yaml"
RULE = "/etc/udev/rules.d/71-nvidia-dev-char.rules"
REFRESH_ENV = "/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env"
FLAGS = "NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS"
NOT_NEEDED = "Docker {docker} knows no CDI, so this does not matter to it."
BY_HAND = (
    "{path} was made by hand and does not fit this machine: {because}. It is left alone. Bring it "
    "up to date, or move it away, and look at `nvidia-ctk cdi list`."
)
ENV_TAKEN = (
    "{env} lacks {flags}: at the next boot nvidia-cdi-refresh makes a specification that Docker {docker} "
    "does not read. The file is yours, so it is left alone: add that line."
)


@lru_cache
def table(name: str, section: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml_load((COMPAT / f"{name}.yml").read_text(encoding="utf-8"))[section]
    return rows


def numbers(version: str | None) -> tuple[int, ...]:
    """Return the numbers that a version begins with, none for none."""
    found = re.match(r"(\d+(?:\.\d+)*)", version or "")
    return tuple(int(part) for part in found.group(1).split(".")) if found else ()


def knows_cdi(docker: str | None) -> bool:
    """Tell whether the engine can use a specification; one that is not known may."""
    since = next(row["since"] for row in table("engine", "features") if row["name"] == "cdi")
    return not docker or numbers(docker) >= numbers(since)


def unread(docker: str | None) -> dict[str, Any] | None:
    """Return the schema that is too new for this engine, None where it reads what the toolkit writes."""
    row = table("toolkit", "cdi_schemas")[0]
    return row if docker and knows_cdi(docker) and numbers(docker) < numbers(row["docker"]) else None


def redundant(twins: list[dict[str, Any]]) -> list[str]:
    """Return which of nvidia-ctk's files for the same devices step aside; beside a person's none does."""
    if any(spec["made"] == "by hand" for spec in twins):
        return []
    paths = [spec["path"] for spec in twins]
    stays = next((path for path in paths if path.endswith("/nvidia.yaml")), paths[0] if paths else None)
    return [path for path in paths if path != stays]


def toolkit_cdi(found: dict[str, Any], version: str, *, changed: bool = False) -> dict[str, Any]:
    """Return due, because, spec, flags, again, aside, rule, env, notes; ``version`` is the toolkit's."""
    judged, docker, toolkit = found["cdi"], found["engine"]["version"], found["toolkit"]
    specs, newer = judged["specs"], unread(docker)
    counting: dict[str, Any] = next((spec for spec in specs if spec["path"] == judged["path"]), {})
    because = judged["because"] or ""
    if not because and newer and numbers(counting.get("schema")) >= numbers(newer["schema"]):
        because = f"it is of CDI {counting['schema']}, which Docker {docker} does not read"
    twins = [spec for spec in specs if spec["path"] in judged["twins"]]
    aside = redundant(twins)
    refreshed = numbers(version) >= numbers(table("toolkit", "cdi_refresh")[0]["since"])
    spec = REFRESHED if refreshed else KEPT
    mine = counting.get("made") == "by hand" and counting["path"] == spec == KEPT
    # A person's file in the place of nvidia-ctk's own or beside it: nothing that is done here would end that.
    stuck = bool(because) and (mine or (bool(twins) and not aside))
    stale = [each for each in specs if each["because"] and each["path"] not in aside]
    again = [each["path"] for each in stale if each["made"] != "by hand" and each["path"] != spec]
    flags = f"{FLAGS}={newer['feature_flag']}" if newer else ""
    theirs = [each for each in stale if each["made"] == "by hand" and each["path"] != REFRESHED]
    notes = [BY_HAND.format(**each) for each in theirs]
    if flags and refreshed and flags not in (toolkit["refresh_env"] or flags):
        notes.append(ENV_TAKEN.format(env=REFRESH_ENV, flags=flags, docker=docker))
    if because and not knows_cdi(docker):
        notes.append(NOT_NEEDED.format(docker=docker))
    works = bool(found["driver"]["works"])
    wanted = (changed or because) and not stuck
    due = works and bool(wanted or again or aside or judged["unlinked"])
    return {
        "due": due,
        "because": because,
        "needed": knows_cdi(docker),
        "stuck": stuck,
        "spec": spec,
        "flags": newer["feature_flag"] if newer else "",
        "again": again,
        "aside": aside,
        # It does so at every load of the module; newer drivers do it by themselves and leave none unlinked.
        "rule": RULE if due and judged["unlinked"] and toolkit["udev"] and not toolkit["rule"] else "",
        "env_path": REFRESH_ENV,
        "env": flags if due and refreshed and toolkit["refresh_env"] is None else "",
        "notes": notes,
    }


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, Any]:
        """Return it."""
        return {"gpu_host_toolkit_cdi": toolkit_cdi}
