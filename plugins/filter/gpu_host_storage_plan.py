"""Ansible filter: from one look to what becomes of Docker's data-root, the folders and the files. Pure."""

from __future__ import annotations

from typing import Any

PROFILE = "/etc/profile.d/gpu-host-storage.sh"
DROPIN = "/etc/systemd/system/docker.service.d/gpu-host-storage.conf"
ROOM = 1.05  # what the copy may take more than what it is made from
SHOWN = 12
MEGA, GIGA = 1_000_000, 1_000_000_000
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
            "# Written by gpu-host (role gpu_storage): without its volume Docker would fill the system's "
            f"disk.\n[Unit]\nRequiresMountsFor={path}\n"
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
            f"{strange[0]} is there already and was not written by this role; needed is that name. Move the "
            f"file away, and run again. {NOTHING}"
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
    stranger, file, flag = docker["stranger"] or "", docker["config_file"], docker["flag"] or ""
    named, root = (docker["file"] or "").rstrip("/"), docker["root"]
    ours = (found["owned"].get("data_root") or {}).get("set")
    elsewhere = named == target and docker["active"] and root != target and not found["owned"].get("moving")
    rows = (
        (stranger, f"{stranger[:1].upper()}{stranger[1:]}. {NOTHING}"),
        (docker["damage"], docker["damage"]),
        (
            flag and flag.rstrip("/") != target,
            (
                f"dockerd is started with its data-root as a flag ({flag}); needed for {target} is none: "
                "take it out of the unit (`systemctl edit docker`), or set gpu_storage_docker: false to "
                f"leave Docker where it is. {NOTHING}"
            ),
        ),
        (
            named and named not in (target, ours),
            (
                f"{file} says that Docker keeps its data in {named}, and this role did not write that; "
                f"needed for {target} is no data-root in the file. Take it out, or set gpu_storage_docker: "
                f"false to leave Docker where it is. {NOTHING}"
            ),
        ),
        (
            elsewhere,
            (
                f"{file} says {target}, and the Docker that runs keeps its data in {root}: the file was "
                "changed since it started. Needed is that both say the same: `systemctl restart docker`, or "
                f"take the line out, and run again. {NOTHING}"
            ),
        ),
        (
            nested(root, target),
            (
                f"Docker keeps its data in {root}, and {target} would lie within it, or the other way round; "
                f"needed is a volume beside it. {NOTHING}"
            ),
        ),
    )
    return next((sentence for so, sentence in rows if so), "")


def nested(one: str, other: str) -> bool:
    return one != other and (one.startswith(f"{other}/") or other.startswith(f"{one}/"))


def data_root(found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what is done with Docker's data-root, and the steps' own words; or why nothing is."""
    docker, old, target = found["docker"], found["old"], found["target"]
    full = any(old[kind] for kind in ("images", "containers", "volumes", "swarm"))
    steps = {
        "from": docker["root"],
        "to": target["path"],
        "config": docker["config_file"],
        "running": docker["running"],
        "volume": found["path"]["given"],
        # An engine from 29 on that starts with nothing would keep its images in /var/lib/containerd.
        "graph": not full and not docker["features_flag"] and (docker["containerd"] or not docker["program"]),
    }
    stop = busy(docker, settings)
    if found["owned"].get("moving"):
        return answer("continue", steps, stop if docker["active"] else "")
    if docker["flag"] or (docker["file"] or "").rstrip("/") == target["path"]:
        return answer("nothing", steps)
    refusal = cannot(found, full=full)
    if refusal:
        return answer("nothing", steps, refusal)
    if full:
        return answer("move", steps, stop or mounted_below(old) or too_big(found), not_moved(old, target))
    if not docker["program"]:
        return answer("set", steps)
    return answer("adopt" if target["dockers"] else "fresh", steps, stop)


def cannot(found: dict[str, Any], *, full: bool) -> str:
    """Say why the two places do not go together; empty where they do."""
    docker, old, target = found["docker"], found["old"], found["target"]
    if target["entries"] and not target["dockers"]:
        return (
            f"{target['path']} is not empty ({target['entries']} entries) and is no data-root of Docker's; "
            f"needed is that name. Move it away, and run again. {NOTHING}"
        )
    if docker["containerd"] and (docker["images"] or docker["all_containers"]):
        return in_containerd(docker)
    return both(old, target) if full and target["dockers"] else ""


def answer(do: str, steps: dict[str, Any], refusal: str = "", note: str = "") -> dict[str, Any]:
    return {"refusal": refusal, "notes": [note] if note else [], "docker": {"do": do, **steps}}


def busy(docker: dict[str, Any], settings: dict[str, Any]) -> str:
    names = docker["running"]
    if not names or settings["stop_containers"]:
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (
        f"Docker has to be stopped to move its data, and containers run: {', '.join(names[:SHOWN])}{more}. "
        "Stop them, or set gpu_storage_stop_containers: true, which stops them and starts them again "
        f"afterwards. {NOTHING}"
    )


def mounted_below(old: dict[str, Any]) -> str:
    # What running containers mount goes with them; what is left after them is looked at again by the move.
    other = [place for place in old["below"] if "/overlay2/" not in place and "/containers/" not in place]
    if not other:
        return ""
    return (
        f"Something is mounted within {old['path']} ({', '.join(other[:SHOWN])}), which a copy would take "
        f"along. Unmount it, and run again. {NOTHING}"
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
        f"{found['old']['path']} takes {what} on {path}. Needed is room for all of it: `docker system "
        f"prune`, or a bigger volume. {NOTHING}"
    )


def both(old: dict[str, Any], target: dict[str, Any]) -> str:
    def told(each: dict[str, Any]) -> str:
        weight = f"{size(each['weight']['bytes'])}, " if each["weight"] else ""
        return f"{each['path']} ({weight}images {each['images']}, containers {each['containers']})"

    return (
        f"Docker has data in {told(old)}, and {told(target)} is a data-root too; one is never copied over "
        f"the other. Needed is one of them: to use the volume's, stop Docker and move {old['path']} away; to "
        f"move this host's there, move {target['path']} away. Then run again. {NOTHING}"
    )


def in_containerd(docker: dict[str, Any]) -> str:
    return (
        f"This Docker keeps its images ({docker['images']}) and containers ({docker['all_containers']}) in "
        "containerd's own store, /var/lib/containerd, which a data-root does not move. Needed is an engine "
        'with Docker\'s own store ("features": {"containerd-snapshotter": false}, and the images pulled '
        f"again), or gpu_storage_docker: false. {NOTHING}"
    )


def not_moved(old: dict[str, Any], target: dict[str, Any]) -> str:
    weight = f", {size(old['weight']['bytes'])}" if old["weight"] else ""
    return (
        f"{old['path']} ({old['images']} images, {old['containers']} containers, {old['volumes']} "
        f"volumes{weight}) goes to {target['path']}; Docker stands still meanwhile. What containerd keeps in "
        "/var/lib/containerd is not moved."
    )


def size(count: float) -> str:
    return f"{count / GIGA:.1f} GB" if count >= GIGA / 10 else f"{count / MEGA:.1f} MB"


class FilterModule:
    """The filters, by name."""

    def filters(self) -> dict[str, Any]:
        """Return them."""
        return {"gpu_host_storage_plan": storage_plan, "gpu_host_storage_files": storage_files}
