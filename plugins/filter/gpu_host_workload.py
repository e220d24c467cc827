"""Ansible filter: from the workload that is wanted to docker's arguments, and what is to be done. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from verify.errors import VerifyError
from verify.launch import gpus_value

LABEL = "gpu-host.workload"
NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]+")
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Docker's own short lengths of an identity: enough to tell two definitions apart.
DIGITS = 16
NO_CARD = "none"


def refusal(wanted: dict[str, Any]) -> str:
    """Say what cannot be run as it stands; empty where it can."""
    name = str(wanted["name"])
    if not NAME.fullmatch(name):
        return (
            f"gpu_workload_name is {name!r}; needed is what Docker takes as a container's name: letters, "
            "digits, dots, dashes and underscores, beginning with a letter or digit."
        )
    for volume in map(str, wanted["volumes"]):
        source, colon, _ = volume.partition(":")
        if not colon or not (source.startswith("/") or NAME.fullmatch(source)):
            return (
                f"gpu_workload_volumes has {volume!r}; needed is /folder/on/the/host:/folder/in/the/container"
                " or a volume's name in the place of the first, with :ro behind it where nothing is written."
            )
    for key, value in wanted["env"].items():
        if not KEY.fullmatch(str(key)) or "\n" in str(value):
            return (
                f"gpu_workload_env has {key!r}, which cannot stand in a file of variables: needed are a name "
                "of letters, digits and underscores, and a value of one line."
            )
    return ""


def cards(gpus: str) -> list[str]:
    """Return ``--gpus`` and its value; nothing where no card is wanted."""
    if gpus == NO_CARD:
        return []
    named = "all" if gpus == "all" else [card.strip() for card in gpus.split(",")]
    return ["--gpus", gpus_value(named)]


def env_text(env: dict[str, Any]) -> str:
    """Return the file of variables; it is read by Docker alone, so that no value stands on a command line."""
    return "".join(f"{key}={value}\n" for key, value in env.items())


def arguments(wanted: dict[str, Any]) -> list[str]:
    """Return docker's arguments without the label that names this definition."""
    argv = ["--detach", f"--name={wanted['name']}", f"--restart={wanted['restart']}", "--init"]
    argv += cards(str(wanted["gpus"]))
    argv += [f"--user={wanted['user']}"] if wanted["user"] else []
    argv += [f"--volume={volume}" for volume in wanted["volumes"]]
    argv += [f"--env-file={wanted['env_file']}"] if wanted["env"] else []
    return [*argv, f"--pull={wanted['pull']}", *map(str, wanted["options"])]


def act(wanted: dict[str, Any], inspected: str, digest: str) -> tuple[str, str]:
    """Return keep, start, create, recreate or refuse, and why."""
    found = [json.loads(line) for line in inspected.splitlines() if line.strip()]
    if not found:
        return "create", "there is no such container"
    labels, state = found[0] or {}, found[1]
    if LABEL not in labels:
        return "refuse", (
            f"There is a container {wanted['name']} on this host that this role did not start. Give the "
            f"workload another gpu_workload_name, or remove that one: docker rm -f {wanted['name']}"
        )
    if labels[LABEL] != digest:
        return "recreate", "its definition has changed"
    if state.get("Running") or state.get("Restarting"):
        return "keep", "it runs as it is defined"
    done = state.get("Status") == "exited" and state.get("ExitCode") == 0
    if done and wanted["restart"] != "unless-stopped":
        return "keep", "it has done its work"
    return "start", f"it is {state.get('Status', 'not running')}"


def workload(wanted: dict[str, Any], inspected: str) -> dict[str, Any]:
    """Return refusal, action, because, argv, env (the file's text) and paths (what has to be there)."""
    said = refusal(wanted)
    try:
        argv = arguments(wanted) if not said else []
    except VerifyError as error:
        said = f"gpu_workload_gpus is {wanted['gpus']}: {error}."
    if said:
        return {"refusal": said}
    env, command = env_text(wanted["env"]), [str(word) for word in wanted["command"]]
    whole = json.dumps([argv, env, wanted["image"], command])
    digest = hashlib.sha256(whole.encode()).hexdigest()[:DIGITS]
    action, because = act(wanted, inspected, digest)
    return {
        "refusal": because if action == "refuse" else "",
        "action": action,
        "because": because,
        "argv": ["docker", "run", *argv, f"--label={LABEL}={digest}", str(wanted["image"]), *command],
        "env": env,
        "paths": [
            str(volume).partition(":")[0] for volume in wanted["volumes"] if str(volume).startswith("/")
        ],
    }


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, Any]:
        """Return it."""
        return {"gpu_host_workload": workload}
