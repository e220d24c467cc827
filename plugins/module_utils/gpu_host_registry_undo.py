"""A login taken back: what was noted goes, what was there before comes back, what changed since stays."""

from __future__ import annotations

import contextlib
from pathlib import Path

from .gpu_host_daemon_json import dump, indent_of
from .gpu_host_docker_config import entry as credentials
from .gpu_host_docker_config import marked, parse, put, take
from .gpu_host_owned_file import load, save
from .gpu_host_ownership import claim, drop, entry
from .gpu_host_registry_change import acting, content, digest, put_file


def log_out(module):
    """Take out what was noted, and nothing else."""
    role, path = module.params["role"], Path(module.params["owned"])
    before = load(module, path)
    owned = entry(before, role)
    registries = owned["settings"].get("registries", {})
    asked = module.params["registry"]
    gone = {name: noted for name, noted in registries.items() if not asked or name == asked}
    if not gone:
        return {"changed": False, "notes": []}
    notes = []
    if not module.check_mode:
        for name, noted in gone.items():
            notes += [*forget_credentials(noted, owned["files"], name), *forget_ca(noted, owned["files"])]
        folders = owned["settings"].get("folders", [])
        for folder in sorted(folders, reverse=True):
            # Not empty: another login of ours needs it, or somebody put something else there.
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
        left = {name: noted for name, noted in registries.items() if name not in gone}
        after = drop(before, role)
        if left:
            still = {noted.get(kind) for noted in left.values() for kind in ("config", "ca_path")}
            files = [file for file in owned["files"] if file in still]
            still_there = [folder for folder in folders if Path(folder).is_dir()]
            after = claim(after, role, {"files": files}, {"registries": left, "folders": still_there})
        save(module, path, after)
    return {"changed": True, "notes": notes}


def forget_credentials(noted, files, registry):
    """Take the entry out of config.json, or put back what was there before it."""
    if "config" not in noted:
        return []
    path, said = Path(noted["config"]), []
    holder = path if path.exists() else path.parent
    if holder.exists():
        about = holder.stat()
        with acting(about.st_uid, about.st_gid):
            said = edit(path, noted, registry, ours=str(path) in files)
            for copy in noted.get("copies", []):
                Path(copy).unlink(missing_ok=True)
    return said


def edit(path, noted, registry, *, ours):
    """Write the user's file without our entry; return what a person should know."""
    before = content(path)
    document = parse(before, str(path))
    found = credentials(document, noted["key"])
    if found is None:
        return []
    if not marked(found, noted["mark"]):
        return [f"{path}: the credentials of {registry} were changed since, so they are yours now: kept."]
    said, earlier = [], None
    if noted.get("before"):
        copy = content(Path(noted["before"]))
        earlier = credentials(parse(copy, noted["before"]), noted["key"]) if copy is not None else None
        if copy is None:
            said.append(f"{noted['before']} is gone, so what {path} had before is not put back.")
    after = (
        put(document, noted["key"], earlier)
        if earlier is not None
        else take(document, noted["key"], made=noted["made"])
    )
    if ours and not after:
        path.unlink()
    else:
        put_file(path, dump(after, indent_of(before)))
    return said


def forget_ca(noted, files):
    """Remove the CA that was put there, unless somebody changed it."""
    path = Path(noted.get("ca_path", "/"))
    data = content(path) if "ca_path" in noted else None
    if data is None or str(path) not in files:
        return []
    if digest(data) != noted["ca"]:
        return [f"{path} was changed since, so it is yours now: kept."]
    path.unlink()
    return []
