#!/usr/bin/python
"""Ansible module: take away what a role brought, by the ownership file, and nothing else; then forget it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_removed
short_description: Removes the packages and files that a role brought, and none that it did not
description:
  - Asks apt or dnf first what would go along.
  - A package that something of the user's needs stays.
  - It is marked as automatically installed, so that C(autoremove) takes it once nothing needs it.
  - A package that somebody else holds stays too, and is the user's from then on.
  - Lets go of the role's own holds, and puts sources back that gpu_host_repository put aside.
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
held: {description: Packages that stay because somebody holds them., type: list, returned: success}
"""

import os
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_apt import removable
from ansible.module_utils.gpu_host_aside import put_back
from ansible.module_utils.gpu_host_owned_file import have, load, save
from ansible.module_utils.gpu_host_ownership import drop, entry
from ansible.module_utils.gpu_host_refused import RefusedError
from ansible.module_utils.gpu_host_removal import AptRemoval, DnfRemoval
from ansible.module_utils.gpu_host_rpm_keys import forget


def do(tool: Any, owned: dict, packages: list, files: list, kept: dict) -> None:
    """Take everything away; holds first, for those that stay too."""
    module = tool.module
    tool.hold(sorted(set(owned["holds"]) & tool.holds()), on=False)
    if packages:
        tool.remove(packages, purge=module.params["purge"])
    if kept:
        tool.automatic(sorted(kept))
    for path in files:
        Path(path).unlink(missing_ok=True)
    for name, stream in owned["settings"].get("streams", {}).items():
        tool.switch(name, stream, "ours")
    forget(module, owned["settings"].get("rpm_keys", []))
    put_back(module, owned["settings"].get("moved", {}), owned["settings"].get("left", {}))


def plan(tool: Any, owned: dict) -> tuple:
    """Return what may go, what stays with the packages that need it, and what somebody else holds."""
    there = have(tool.module, owned["packages"])
    ours = [name for name in owned["packages"] if name in there]
    theirs = tool.holds() - set(owned["holds"]) if ours else set()
    held = [name for name in ours if name in theirs]
    packages, kept = removable([name for name in ours if name not in theirs], tool.would)
    return packages, kept, held


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
    tool = AptRemoval(module) if module.get_bin_path("apt-get") else DnfRemoval(module)
    files = [file for file in owned["files"] if os.path.lexists(file)]
    try:
        packages, kept, held = plan(tool, owned)
        if not module.check_mode and after != before:
            do(tool, owned, packages, files, kept)
    except RefusedError as refused:
        module.fail_json(msg=refused.sentence, reason=refused.reason)
    if not module.check_mode and after != before:
        save(module, path, after)
    for line in [*tool.warnings, *stays(kept, held)]:
        module.warn(line)
    stay = [*kept, *held]
    module.exit_json(
        changed=after != before,
        packages=packages,
        files=files,
        kept=kept,
        held=held,
        diff={"before": listed(packages + files + stay), "after": listed(stay)},
    )


def stays(kept: dict, held: list) -> list:
    """Say what stays, and why."""
    lines = []
    if kept:
        needing = sorted({name for names in kept.values() for name in names})
        lines.append(
            f"Kept, because {' '.join(needing)} would go along or come instead: {' '.join(kept)}. These "
            "are marked as automatically installed from now on: `autoremove` takes them once nothing does."
        )
    if held:
        lines.append(f"Kept, because somebody on this host holds them: {' '.join(held)}.")
    return lines


def listed(names: list) -> str:
    return "".join(f"{name}\n" for name in names)


if __name__ == "__main__":
    main()
