"""Look at the host: cards, users, docker's group, what is dealt out already. Prints one JSON object."""

# ruff: noqa: INP001, T201
from __future__ import annotations

import grp
import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

FIELDS = "index,uuid,pci.bus_id,name,memory.total,mig.mode.current"
LIMIT_S = 30


def cards() -> tuple[str, str]:
    """Return what nvidia-smi lists, and what it says where it cannot."""
    argv = ["nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except OSError:
        return "", "nvidia-smi is not there"
    except subprocess.TimeoutExpired:
        return "", f"nvidia-smi did not answer within {LIMIT_S} s"
    return done.stdout, (done.stderr or done.stdout).strip()[:300]


def known(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def docker_group() -> str:
    try:
        return f"docker:{','.join(grp.getgrnam('docker').gr_mem)}"
    except KeyError:
        return ""


def document(path: str) -> dict[str, object]:
    """Return the deal that is there; one that cannot be read is no deal."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def main(sharing: str, files: str, users: str) -> None:
    listed, said = cards()
    print(
        json.dumps(
            {
                "cards": listed,
                "said": said,
                "users": [user for user in users.split(",") if user and known(user)],
                "docker_group": docker_group(),
                "document": document(sharing),
                "there": [path for path in files.split(",") if os.path.lexists(path)],
            }
        )
    )


main(*sys.argv[1:4])
