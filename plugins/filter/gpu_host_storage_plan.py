"""Ansible filter: from one look to what becomes of Docker's data-root, the folders and the files. Pure."""

from __future__ import annotations

from typing import Any

PROFILE = "/etc/profile.d/gpu-host-storage.sh"
DROPIN = "/etc/systemd/system/docker.service.d/gpu-host-storage.conf"
ROOM = 1.05  # what the copy may take more than what it is made from
SHOWN = 12
NOTHING = "Nothing was changed."


def storage_files(path: str, settings: dict[str, Any]) -> dict[str, str]:
    """Return the files that this role writes, by their place."""
    files, names = {}, settings["folders"]
    lines = []
    if "huggingface" in names:
        # The token is a person's own, whoever shares the models.
        lines += [
            f'  export HF_HOME="${{HF_HOME:-{path}/huggingface}}"',
            '  export HF_TOKEN_PATH="${HF_TOKEN_PATH:-$HOME/.cache/huggingface/token}"',
        ]
    if "pip" in names:
        # A wheel that another user put there would be installed unseen: one folder each.
        lines.append(f'  export PIP_CACHE_DIR="${{PIP_CACHE_DIR:-{path}/pip/$(id -un)}}"')
    if lines:
        head = "# Written by gpu-host (role gpu_storage). Where the volume is not mounted nothing is set.\n"
        folder = f"{path}/{'huggingface' if 'huggingface' in names else 'pip'}"
        files[PROFILE] = f'{head}if [ -w "{folder}" ]; then\n' + "\n".join(lines) + "\nfi\n"
    if settings["docker"]:
        files[DROPIN] = (
            "# Written by gpu-host (role gpu_storage): without its volume Docker would fill the system's disk.\n"
            f"[Unit]\nRequiresMountsFor={path}\n"
        )
    return files


def storage_plan(found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return refusal (a sentence, or empty), notes, due, docker, folders, files."""
    plan: dict[str, Any] = {
        "refusal": "",
        "notes": [],
        "docker": {"do": "nothing"},
        "folders": {},
        "files": {},
    }
    path = found["path"]["real"]
    wanted = storage_files(path, settings)
    strange = [name for name in wanted if found["files"].get(name) and name not in found["owned_files"]]
    if strange and any(found["files"][name] != wanted[name] for name in strange):
        return {**plan, "due": False, "refusal": (
            f"{strange[0]} is there already and was not written by this role; needed is that name. Move the file "
            f"away, and run again. {NOTHING}"
        )}  # fmt: skip
    if settings["docker"]:
        plan["refusal"] = against(found)
        if not plan["refusal"]:
            plan = {**plan, **data_root(found, settings)}
    plan["files"] = {name: text for name, text in wanted.items() if found["files"].get(name) != text}
    plan["folders"] = {
        name: {"path": f"{path}/{name}", **rights}
        for name, rights in settings["folders"].items()
        if not as_wanted(found["folders"].get(name), rights)
    }
    broken = [name for name, seen in found["folders"].items() if seen and not seen["folder"]]
    if broken and not plan["refusal"]:
        plan["refusal"] = f"{path}/{broken[0]} is no folder; move it away, and run again. {NOTHING}"
    due = bool(plan["files"] or plan["folders"] or plan["docker"]["do"] != "nothing")
    return {**plan, "due": due and not plan["refusal"]}


def as_wanted(seen: dict[str, Any] | None, rights: dict[str, str]) -> bool:
    same = seen is not None and all(seen[key] == rights[key] for key in ("owner", "group"))
    return same and seen is not None and int(seen["mode"], 8) == int(rights["mode"], 8)


def against(found: dict[str, Any]) -> str:
    """Say why this engine's data-root is not this role's to set; empty where it is."""
    docker, target = found["docker"], found["target"]["path"]
    root, owned = docker["root"], found["owned"]
    if docker["stranger"]:
        return f"{docker['stranger'][:1].upper()}{docker['stranger'][1:]}. {NOTHING}"
    if docker["damage"]:
        return str(docker["damage"])
    if docker["flag"] and docker["flag"].rstrip("/") != target:
        return (
            f"dockerd is started with its data-root as a flag ({docker['flag']}); needed for {target} is none: take "
            "it out of the unit (`systemctl edit docker`), or set gpu_storage_docker: false to leave Docker where it "
            f"is. {NOTHING}"
        )
    ours = (owned.get("data_root") or {}).get("set")
    named = (docker["file"] or "").rstrip("/")
    if named and named not in (target, ours):
        return (
            f"{docker['config_file']} says that Docker keeps its data in {named}, and this role did not write that; "
            f"needed for {target} is no data-root in the file. Take it out, or set gpu_storage_docker: false to "
            f"leave Docker where it is. {NOTHING}"
        )
    if named == target and docker["active"] and root != target and not owned.get("moving"):
        return (
            f"{docker['config_file']} says {target}, and the Docker that runs keeps its data in {root}: the file was "
            f"changed since it started. Needed is that both say the same: `systemctl restart docker`, or take the "
            f"line out, and run again. {NOTHING}"
        )
    if nested(root, target):
        return (
            f"Docker keeps its data in {root}, and {target} would lie within it, or the other way round; needed is a "
            f"volume beside it. {NOTHING}"
        )
    return ""


def nested(one: str, other: str) -> bool:
    return one != other and (one.startswith(f"{other}/") or other.startswith(f"{one}/"))


def data_root(found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what is done with Docker's data-root: nothing, set, adopt, move or continue; or why not."""
    docker, old, target = found["docker"], found["old"], found["target"]
    steps = {
        "from": docker["root"], "to": target["path"], "config": docker["config_file"], "old_mount": old["mount"],
        "running": docker["running"], "graph": False, "volume": found["path"]["given"],
    }  # fmt: skip
    if found["owned"].get("moving"):
        return answer("continue", steps, refusal=busy(docker, settings) if docker["active"] else "")
    if docker["flag"] or (docker["file"] or "").rstrip("/") == target["path"]:
        return answer("nothing", steps)
    if target["entries"] and not target["dockers"]:
        return answer("nothing", steps, refusal=(
            f"{target['path']} is not empty ({target['entries']} entries) and is no data-root of Docker's; needed is "
            f"that name. Move it away, and run again. {NOTHING}"
        ))  # fmt: skip
    full = any(old[kind] for kind in ("images", "containers", "volumes", "swarm"))
    if docker["containerd"] and (docker["images"] or docker["all_containers"]):
        return answer("nothing", steps, refusal=in_containerd(docker))
    if full and target["dockers"]:
        return answer("nothing", steps, refusal=both(old, target))
    # An engine from 29 on that starts with nothing would keep its images in /var/lib/containerd.
    steps["graph"] = (
        not full and not docker["features_flag"] and (docker["containerd"] or not docker["program"])
    )
    if full:
        refusal = busy(docker, settings) or mounted_below(old) or too_big(found)
        return answer("move", steps, refusal=refusal, notes=[not_moved(old, target)])
    if not docker["program"]:
        return answer("set", steps)
    return answer("adopt" if target["dockers"] else "fresh", steps, refusal=busy(docker, settings))


def answer(
    do: str, steps: dict[str, Any], *, refusal: str = "", notes: list[str] | None = None
) -> dict[str, Any]:
    return {"refusal": refusal, "notes": notes or [], "docker": {"do": do, **steps}}


def busy(docker: dict[str, Any], settings: dict[str, Any]) -> str:
    names = docker["running"]
    if not names or settings["stop_containers"]:
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (
        f"Docker has to be stopped to move its data, and containers run: {', '.join(names[:SHOWN])}{more}. Stop them, "
        "or set gpu_storage_stop_containers: true, which stops them and starts them again afterwards. "
        f"{NOTHING}"
    )


def mounted_below(old: dict[str, Any]) -> str:
    # What running containers mount goes with them; what is left after them is looked at again by the move.
    other = [place for place in old["below"] if "/overlay2/" not in place and "/containers/" not in place]
    if not other:
        return ""
    return (
        f"Something is mounted within {old['path']} ({', '.join(other[:SHOWN])}), which a copy would take along. "
        f"Unmount it, and run again. {NOTHING}"
    )


def too_big(found: dict[str, Any]) -> str:
    weight, space, path = found["old"]["weight"], found["space"], found["path"]["real"]
    if not weight or not space:
        return ""
    lacks = space["free"] < weight["bytes"] * ROOM
    few = space["inodes"] and space["inodes_free"] < weight["inodes"] * ROOM
    if not lacks and not few:
        return ""
    what = (
        f"{size(weight['bytes'])} of disk and free there are {size(space['free'])}"
        if lacks
        else f"{weight['inodes']} inodes and free there are {space['inodes_free']}"
    )
    return (
        f"{found['old']['path']} takes {what} on {path}. Needed is room for all of it: `docker system prune`, or a "
        f"bigger volume. {NOTHING}"
    )


def both(old: dict[str, Any], target: dict[str, Any]) -> str:
    def told(each: dict[str, Any]) -> str:
        weight = f"{size(each['weight']['bytes'])}, " if each["weight"] else ""
        return f"{each['path']} ({weight}images {each['images']}, containers {each['containers']})"

    return (
        f"Docker has data in {told(old)}, and {told(target)} is a data-root too; one is never copied over the other. "
        "Needed is one of them: to use the volume's, stop Docker and move "
        f"{old['path']} away; to move this host's there, move {target['path']} away. Then run again. {NOTHING}"
    )


def in_containerd(docker: dict[str, Any]) -> str:
    return (
        f"This Docker keeps its images ({docker['images']}) and containers ({docker['all_containers']}) in containerd's "
        "own store, /var/lib/containerd, which a data-root does not move. Needed is an engine with Docker's own store "
        '("features": {"containerd-snapshotter": false}, and the images pulled again), or gpu_storage_docker: false. '
        f"{NOTHING}"
    )


def not_moved(old: dict[str, Any], target: dict[str, Any]) -> str:
    weight = f", {size(old['weight']['bytes'])}" if old["weight"] else ""
    return (
        f"{old['path']} ({old['images']} images, {old['containers']} containers, {old['volumes']} volumes{weight}) goes "
        f"to {target['path']}; Docker stands still meanwhile. What containerd keeps in /var/lib/containerd is not moved."
    )


def size(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"


class FilterModule:
    """The filters, by name."""

    def filters(self) -> dict[str, Any]:
        """Return them."""
        return {"gpu_host_storage_plan": storage_plan, "gpu_host_storage_files": storage_files}
