"""The ownership file: what the roles, and not the user, installed or changed. Pure functions."""

from __future__ import annotations

import json

SCHEMA = 1
PATH = "/var/lib/gpu-host/owned.json"
KINDS = ("packages", "files", "holds")


class OwnershipError(Exception):
    """The file is there and is not what this module wrote."""


def parse(text: str, path: str = PATH) -> dict:
    """Return the document; a file that cannot be read is never treated as an empty one."""
    try:
        document = json.loads(text)
        roles = document["roles"]
        fits = document["schema"] == SCHEMA and all(isinstance(entry, dict) for entry in roles.values())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OwnershipError(
            f"{path} cannot be read ({error!r}); needed is the record of what these roles installed. "
            "Repair it, or move it away: then nothing that is there now will be removed by state absent."
        ) from error
    if not fits:
        raise OwnershipError(
            f"{path} is of schema {document['schema']!r}, this version reads {SCHEMA}: "
            "update gpu-host, or move it away."
        )
    return document


def empty() -> dict:
    return {"schema": SCHEMA, "roles": {}}


def entry(document: dict, role: str) -> dict:
    """Return what a role owns, every kind present."""
    owned = document["roles"].get(role, {})
    return {
        "packages": list(owned.get("packages", [])),
        "files": list(owned.get("files", [])),
        "holds": list(owned.get("holds", [])),
        "settings": dict(owned.get("settings", {})),
    }


def claim(document: dict, role: str, new: dict, settings: dict) -> dict:
    """Return the document with ``new`` packages and files, and settings, added to the role's."""
    owned = entry(document, role)
    for kind in KINDS:
        owned[kind] = sorted(set(owned[kind]) | set(new.get(kind, [])))
    owned["settings"].update(settings)
    return {**document, "roles": {**document["roles"], role: owned}}


def settle(document: dict, role: str, setting: str) -> dict:
    """Return the document without a setting that said what was being done."""
    owned = entry(document, role)
    if setting not in owned["settings"]:
        return document
    owned["settings"] = {name: value for name, value in owned["settings"].items() if name != setting}
    return {**document, "roles": {**document["roles"], role: owned}}


def release(document: dict, role: str, holds: list) -> dict:
    """Return the document without these holds."""
    if not set(holds) & set(entry(document, role)["holds"]):
        return document
    owned = entry(document, role)
    owned["holds"] = sorted(set(owned["holds"]) - set(holds))
    return {**document, "roles": {**document["roles"], role: owned}}


def drop(document: dict, role: str) -> dict:
    return {**document, "roles": {name: owned for name, owned in document["roles"].items() if name != role}}


def installed(dpkg_status: str) -> set[str]:
    """Return the names that are there, wholly or in part, from lines of ``name status``."""
    pairs = (line.split() for line in dpkg_status.splitlines())
    return {pair[0] for pair in pairs if len(pair) > 1 and pair[1] not in ("not-installed", "config-files")}


def dump(document: dict) -> str:
    return json.dumps(document, indent=2, sort_keys=True) + "\n"
