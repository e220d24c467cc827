#!/usr/bin/python
"""Ansible module: note, before a change, what is going to be ours; read it; forget it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_owned
short_description: Notes what a role, and not the user, is about to install or change
description:
  - Of the packages and files named, only those that are not there yet become the role's.
  - What the user had is therefore never removed.
  - Keeps /var/lib/gpu-host/owned.json, written whole or not at all.
options:
  role: {description: The role's name., type: str, required: true}
  state:
    description: present notes, query reads, absent forgets.
    type: str
    choices: [present, query, absent]
    default: present
  packages: {description: "Packages about to be installed.", type: list, elements: str, default: []}
  dependencies:
    description: Note also what apt would newly bring with the packages; the package lists have to be fresh.
    type: bool
    default: false
  files: {description: Files about to be written., type: list, elements: path, default: []}
  settings: {description: Whatever else the role needs to undo its change., type: dict, default: {}}
  extends: {description: "Settings that are lists, and what they are to hold too.", type: dict, default: {}}
  path: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: Note what will be ours
  gpu_host_owned:
    role: docker_engine
    packages: [docker.io]
    dependencies: true
"""

RETURN = r"""
packages: {description: Packages that the role owns., type: list, returned: always}
files: {description: Files that the role owns., type: list, returned: always}
settings: {description: Settings that the role noted., type: dict, returned: always}
"""

import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_apt import brought
from ansible.module_utils.gpu_host_owned_file import apt_get, have, load, save
from ansible.module_utils.gpu_host_ownership import claim, drop, dump, entry


def not_there(module: AnsibleModule) -> dict:
    """Return those of the packages and files named that this host does not have yet."""
    asked = module.params["packages"]
    names = [name.partition("=")[0] for name in asked]
    if asked and module.params["dependencies"]:
        # Where apt cannot say, the names alone are noted, and the installation itself fails with the reason.
        said = apt_get(
            module, "--simulate", "--no-install-recommends", "--allow-downgrades", "install", *asked
        )[1]
        names += brought(said)
    there = have(module, names)
    return {
        "packages": [name for name in names if name not in there],
        "files": [path for path in module.params["files"] if not os.path.lexists(path)],
    }


def extended(settings: dict, more: dict) -> dict:
    """Return the lists of ``more``, after what is noted under the same names."""
    return {name: list(dict.fromkeys([*settings.get(name, []), *words])) for name, words in more.items()}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "role": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["present", "query", "absent"], "default": "present"},
            "packages": {"type": "list", "elements": "str", "default": []},
            "dependencies": {"type": "bool", "default": False},
            "files": {"type": "list", "elements": "path", "default": []},
            "settings": {"type": "dict", "default": {}},
            "extends": {"type": "dict", "default": {}},
            "path": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
        },
        supports_check_mode=True,
    )
    role, state, path = module.params["role"], module.params["state"], Path(module.params["path"])
    before = load(module, path)
    after = before
    if state == "present":
        settings = {
            **module.params["settings"],
            **extended(entry(before, role)["settings"], module.params["extends"]),
        }
        after = claim(before, role, not_there(module), settings)
        if entry(after, role) == {"packages": [], "files": [], "holds": [], "settings": {}}:
            after = before  # nothing of it is ours: no entry either
    elif state == "absent":
        after = drop(before, role)
    changed = after != before
    if changed and not module.check_mode:
        save(module, path, after)
    diff = {
        "before": dump(before),
        "after": dump(after),
        "before_header": str(path),
        "after_header": str(path),
    }
    # After state absent the caller still wants to know what it was.
    module.exit_json(changed=changed, diff=diff, **entry(before if state == "absent" else after, role))


if __name__ == "__main__":
    main()
