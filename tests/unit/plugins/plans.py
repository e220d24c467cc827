"""The plan that host_preflight prints for each recorded host: `python -m tests.unit.plugins.plans` keeps it.

The recorded hosts are hosts/*.json: what the probe found. The text beside each is what a person sees.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from plugins.filter.gpu_host_driver_cards import driver_cards
from plugins.filter.gpu_host_driver_choice import driver_choice
from plugins.filter.gpu_host_driver_parts import driver_parts
from plugins.filter.gpu_host_driver_plan import driver_plan
from plugins.filter.gpu_host_engine_plan import engine_plan
from plugins.filter.gpu_host_host_obstacles import host_obstacles
from plugins.filter.gpu_host_host_plan import host_plan, host_table
from plugins.filter.gpu_host_host_refusals import host_refusals
from plugins.filter.gpu_host_toolkit_plan import toolkit_plan

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(__file__).resolve().parent / "hosts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def recorded(name: str) -> dict[str, Any]:
    """Return what the probe found on a host."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def defaults(role: str) -> dict[str, Any]:
    """Return a role's settings without the role's name before them."""
    text = (ROOT / "roles" / role / "defaults/main.yml").read_text(encoding="utf-8")
    return {name.removeprefix(f"{role}_"): value for name, value in yaml.safe_load(text).items()}


def wanted(found: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """Return what roles/host_preflight/vars makes of the roles' defaults; by_ansible says if so."""
    own = {**defaults("host_preflight"), **settings}
    race = yaml.safe_load((ROOT / "roles/race_image/vars/main.yml").read_text(encoding="utf-8"))
    return {
        "supported": own["supported"],
        "architectures": own["architectures"],
        "require_card": own["require_card"],
        "plans": {
            "driver": driver_plan_of(
                found, {**defaults("nvidia_driver"), "require_card": own["require_card"]}
            ),
            "engine": engine_plan(found, defaults("docker_engine")),
            "toolkit": toolkit_plan(found, defaults("nvidia_container_toolkit")),
        },
        "kernel_module": True,
        "desktop": False,
        "runtime_default": None,
        "runtime_restart": "auto",
        "image": race["__race_image_latest"],
        "image_source": "build",
        "image_bytes": 0 if found["image"] else race["__race_image_build_bytes"],
        "proxy": False,
        "folders": {},
        **settings,
    }


def driver_plan_of(found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what the role nvidia_driver makes of it, filter by filter."""
    concluded = driver_parts(driver_choice(driver_cards(found, settings), settings), settings)
    made: dict[str, Any] = driver_plan(concluded, settings)
    return made


def concluded(found: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Return the plan as the role exports it."""
    plan = host_plan(found, asked)
    obstacles = host_obstacles(found, asked, plan)
    return {
        "text": host_table(plan, obstacles),
        "lines": plan["lines"],
        "stops": plan["stops"],
        "waits": obstacles["waits"],
        "warnings": obstacles["warnings"],
        "refusals": host_refusals(found, asked, plan) + obstacles["refusals"],
    }


def by_ansible(names: list[str]) -> dict[str, dict[str, Any]]:
    """Return the plans that the role's own variables make, by one run of Ansible; nothing is connected to."""
    with tempfile.TemporaryDirectory() as folder:
        plans, given = Path(folder) / "plans.json", Path(folder) / "given.json"
        hosts = {name: recorded(name) for name in names}
        given.write_text(json.dumps({"recorded": hosts, "plans": str(plans)}), encoding="utf-8")
        done = subprocess.run(
            [
                Path(sys.executable).with_name("ansible-playbook"), FOLDER / "plan.yml",
                "--inventory", "localhost,", "--extra-vars", f"@{given}",
            ],
            cwd=ROOT, capture_output=True, text=True, check=False,
            env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        )  # fmt: skip
        assert plans.exists(), done.stdout + done.stderr
        document: dict[str, dict[str, Any]] = json.loads(plans.read_text(encoding="utf-8"))
    return document


def text(plan: dict[str, Any]) -> str:
    """Return one host's plan as it is kept."""
    if plan["refusals"]:
        return "\n".join(f"refused: {said}" for said in plan["refusals"]) + "\n"
    return "\n".join(plan["text"]) + "\n"


def main() -> int:
    """Write the text of each."""
    for name in NAMES:
        found = recorded(name)
        (FOLDER / f"{name}.txt").write_text(text(concluded(found, wanted(found))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
