#!/usr/bin/python
"""Ansible module: one read-only look at a machine, for preflight and the NVIDIA roles."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_probe
short_description: Looks at a machine before and after provisioning
description:
  - Reads files and runs commands that change nothing; the same in check mode.
options:
  subset:
    description: What to look at.
    type: list
    elements: str
    choices: [machine, pending, cards, engine, driver, toolkit, cdi]
    default: [machine, pending, cards, engine, driver, toolkit, cdi]
  packages:
    description: Package names whose installed versions are wanted.
    type: list
    elements: str
    default: []
  files:
    description: Small files whose text is wanted.
    type: list
    elements: path
    default: []
  needed:
    description: Those of C(packages) without which something will have to be brought.
    type: list
    elements: str
    default: []
  names:
    description:
      - Host names that packages may come from. They are resolved, with those of the host's own sources, only
        where one of C(needed), an engine or a driver is missing, since only then they are needed.
    type: list
    elements: str
    default: []
  images:
    description: Names of one image of the running engine that are looked for; none asks for nothing.
    type: list
    elements: str
    default: []
  repository:
    description: What M(gpu_host_repository) would be given, by family of systems; none asks for nothing.
    type: dict
    default: {}
  runtime:
    description: What M(docker_daemon_config) would be given; none asks for nothing.
    type: dict
    default: {}
  epoch:
    description: The controller's clock as the task starts, in seconds; it comes back beside the host's.
    type: float
    default: 0.0
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: Look at the driver
  gpu_host_probe:
    subset: [driver]
    packages: [nvidia-smi]
  register: probe
"""

RETURN = r"""
machine: {description: "Kind and why, system, kernel, init.", type: dict, returned: when asked for}
pending: {description: "What stands in the way of a change.", type: dict, returned: when asked for}
cards: {description: NVIDIA cards by PCI address and id., type: list, returned: when asked for}
engine: {description: "Docker: client, daemon, version.", type: dict, returned: when asked for}
driver: {description: "Answer, versions, origin, DKMS.", type: dict, returned: when asked for}
toolkit: {description: The toolkit's programs., type: dict, returned: when asked for}
cdi: {description: "CDI specification, and if it fits.", type: dict, returned: when asked for}
image: {description: "If it is there, by every name; null: not known.", type: bool, returned: when asked for}
settled: {description: "Of repository and runtime, if no change is due.", type: dict, returned: always}
packages: {description: Installed versions by name., type: dict, returned: always}
files: {description: Text by path; null where unreadable., type: dict, returned: always}
"""

import os
import platform

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_cards import cards
from ansible.module_utils.gpu_host_driver import driver
from ansible.module_utils.gpu_host_engine import engine
from ansible.module_utils.gpu_host_installed import packages
from ansible.module_utils.gpu_host_look import Look
from ansible.module_utils.gpu_host_machine import machine
from ansible.module_utils.gpu_host_pending import pending
from ansible.module_utils.gpu_host_settled import repository_settled, runtime_settled
from ansible.module_utils.gpu_host_toolkit import cdi, toolkit

LOOKS = {
    "machine": lambda look: machine(look, uid=os.geteuid(), architecture=platform.machine()),
    "pending": pending,
    "cards": cards,
    "engine": engine,
    "driver": driver,
    "toolkit": toolkit,
}
SUBSETS = [*LOOKS, "cdi"]


def image(look: Look, names: list[str], engine: dict) -> bool | None:
    """Look for an image where a daemon runs anyway: the socket of one that is stopped would start it."""
    if not engine.get("active"):
        return None
    docker = ["docker", "-H", "unix:///var/run/docker.sock"]
    rc, said = look.run([*docker, "image", "inspect", "--format", "{{.Id}}", *names], 10.0)
    return rc == 0 and len(set(said.split())) == 1


def lacks(result: dict, wanted: list[str], found: dict) -> bool:
    """Tell whether something will have to be brought."""
    driver, engine = result.get("driver", {}), result.get("engine", {})
    return bool(set(wanted) - set(found)) or not driver.get("tool") or not engine.get("client")


def settled(module: AnsibleModule, found: dict) -> dict:
    """Ask in this look what would cost one of its own: if repository and runtime are as they should be."""
    family = found.get("machine", {}).get("family")
    repository, runtime = module.params["repository"].get(family), module.params["runtime"]
    return {
        **({"repository": repository_settled(module, repository)} if repository else {}),
        **({"runtime": runtime_settled(module, runtime)} if runtime else {}),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "subset": {"type": "list", "elements": "str", "choices": SUBSETS, "default": SUBSETS},
            "packages": {"type": "list", "elements": "str", "default": []},
            "files": {"type": "list", "elements": "path", "default": []},
            "needed": {"type": "list", "elements": "str", "default": []},
            "names": {"type": "list", "elements": "str", "default": []},
            "images": {"type": "list", "elements": "str", "default": []},
            "repository": {"type": "dict", "default": {}},
            "runtime": {"type": "dict", "default": {}},
            "epoch": {"type": "float", "default": 0.0},
        },
        supports_check_mode=True,
    )
    wanted = set(module.params["subset"])
    if "cdi" in wanted:
        wanted.add("driver")
    look = Look()
    result = {name: function(look) for name, function in LOOKS.items() if name in wanted}
    if "cdi" in wanted:
        result["cdi"] = cdi(look, result["driver"]["version"])
    if module.params["images"]:
        result["image"] = image(look, module.params["images"], result.get("engine", {}))
    result["settled"] = settled(module, result)
    installed = packages(look, module.params["packages"])
    if "pending" in result:
        result["pending"]["controller_epoch"] = module.params["epoch"] or None
        # A run that has nothing to bring asks no name service.
        wanted_names = module.params["names"] + result["pending"]["source_hosts"]
        due = module.params["names"] and lacks(result, module.params["needed"], installed)
        result["pending"]["names"] = look.resolves(wanted_names) if due else {}
    module.exit_json(
        changed=False,
        packages=installed,
        files={path: look.text(path) for path in module.params["files"]},
        **result,
    )


if __name__ == "__main__":
    main()
