#!/usr/bin/python
"""Ansible module: take away what a role brought, by the ownership file, and nothing else; then forget it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_removed
short_description: Removes the packages and files that a role brought, and none that it did not
description:
  - Asks apt first what would go along.
  - A package that something of the user's needs stays.
  - It is marked as automatically installed, so that C(apt-get autoremove) takes it once nothing needs it.
  - The role's entry in the ownership file is dropped afterwards.
options:
  role: {description: The role's name., type: str, required: true}
  purge: {description: Remove the packages' configuration too., type: bool, default: true}
  path: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: Remove what this role installed
  gpu_host_removed:
    role: docker_engine
    purge: false
"""

RETURN = r"""
packages: {description: "Packages removed, or to be removed in check mode.", type: list, returned: success}
files: {description: "Files removed, or to be removed in check mode.", type: list, returned: success}
kept: {description: Packages that stay, each with those that need it., type: dict, returned: success}
"""

import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_apt import complaint, removable
from ansible.module_utils.gpu_host_aside import put_back
from ansible.module_utils.gpu_host_owned_file import apt_get, have, load, save
from ansible.module_utils.gpu_host_ownership import drop, entry
from ansible.module_utils.gpu_host_rpm_keys import forget


def apt(module: AnsibleModule, *arguments: str) -> str:
    """Return what apt says; without an answer nothing may be removed."""
    rc, said = apt_get(module, *arguments)
    if rc != 0:
        module.fail_json(
            msg=f"apt cannot remove what {module.params['role']} installed: {complaint(said)}. Needed is "
            "an apt that can remove packages: repair what it names (`apt-get check`), and run again."
        )
    return said


def remove(module: AnsibleModule, packages: list, files: list, kept: dict) -> None:
    if packages:
        apt(module, "--yes", "purge" if module.params["purge"] else "remove", *packages)
    if kept:
        module.run_command([module.get_bin_path("apt-mark", required=True), "auto", *kept], check_rc=True)
    for path in files:
        Path(path).unlink(missing_ok=True)


def release(module: AnsibleModule, holds: list) -> None:
    """Let go of what these roles held: before anything is removed, and for those that stay too."""
    if holds and module.get_bin_path("apt-mark"):
        module.run_command([module.get_bin_path("apt-mark"), "unhold", *holds], check_rc=True)
    elif holds:
        module.run_command([module.get_bin_path("dnf", required=True), "-q", "versionlock", "delete", *holds])


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "role": {"type": "str", "required": True},
            "purge": {"type": "bool", "default": True},
            "path": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
        },
        supports_check_mode=True,
    )
    role, path = module.params["role"], Path(module.params["path"])
    before = load(module, path)
    after, owned = drop(before, role), entry(before, role)
    there = have(module, owned["packages"])
    packages, kept = removable(
        [name for name in owned["packages"] if name in there],
        lambda names: apt(module, "--simulate", "remove", *names),
    )
    files = [file for file in owned["files"] if os.path.lexists(file)]
    if not module.check_mode:
        release(module, owned["holds"])
        remove(module, packages, files, kept)
        forget(module, owned["settings"].get("rpm_keys", []))
        put_back(module, owned["settings"].get("moved", {}), owned["settings"].get("left", {}))
        if after != before:
            save(module, path, after)
    if kept:
        needing = sorted({name for names in kept.values() for name in names})
        module.warn(
            f"Kept, because {' '.join(needing)} would go along or come instead: {' '.join(kept)}. apt holds "
            "these as automatically installed from now on: `apt-get autoremove` takes them once nothing "
            "needs them."
        )
    module.exit_json(
        changed=after != before,
        packages=packages,
        files=files,
        kept=kept,
        diff={"before": listed(packages + files + list(kept)), "after": listed(list(kept))},
    )


def listed(names: list) -> str:
    return "".join(f"{name}\n" for name in names)


if __name__ == "__main__":
    main()
