#!/usr/bin/python
"""Ansible module: the packages of several roles in one run of apt, each noted as its own role's."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_packages_together
short_description: Installs what several roles lack in one run of apt
description:
  - Reading the lists, planning and installing cost apt seconds each time, whatever comes. Here they are paid
    once.
  - Only for what is new. Does nothing, and says why in C(left), where a role already has packages of its own
    here, where dpkg is not whole, or where apt objects to the whole. Each role then says or mends it.
options:
  wanted:
    description: The roles in their order. Each has its packages noted before they come, as if by itself.
    type: list
    elements: dict
    required: true
    options:
      role: {description: The role's name in the ownership file., type: str, required: true}
      names: {description: "Packages, as name or name=version.", type: list, elements: str, required: true}
      files: {description: Files that the packages make., type: list, elements: str, default: []}
      hold: {description: "If they are held, those of the first one's version.", type: bool, default: false}
  repositories: {description: Source files that must be readable., type: list, elements: str, default: []}
  proxy: {description: Proxy for this run., type: str, default: ""}
  ca_file: {description: Certificates to trust in this run., type: str, default: ""}
  lock_timeout: {description: Seconds to wait for locks., type: int, default: 300}
  path: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: Engine and toolkit at once
  gpu_host_packages_together:
    wanted:
      - {role: docker_engine, names: [docker.io, docker-cli]}
      - {role: nvidia_container_toolkit, names: [nvidia-container-toolkit=1.20.2-1]}
    repositories: [nvidia-container-toolkit]
"""

RETURN = r"""
installed: {description: What came., type: list, returned: success}
left: {description: Why nothing was done. Empty where it was., type: str, returned: success}
reason: {description: "Kind of failure, one word.", type: str, returned: failure}
half_configured: {description: Packages that a failure left., type: list, returned: failure}
"""

import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_apt_run import Apt
from ansible.module_utils.gpu_host_apt_shares import of_one_version, shares
from ansible.module_utils.gpu_host_owned_file import load, save
from ansible.module_utils.gpu_host_ownership import claim, entry, settle
from ansible.module_utils.gpu_host_refused import RefusedError
from ansible.module_utils.gpu_host_tool import ARGUMENTS as HOW

ROLE = {
    "role": {"type": "str", "required": True},
    "names": {"type": "list", "elements": "str", "required": True},
    "files": {"type": "list", "elements": "str", "default": []},
    "hold": {"type": "bool", "default": False},
}
ARGUMENTS = {
    "wanted": {"type": "list", "elements": "dict", "required": True, "options": ROLE},
    **HOW,
}


def begun(owned: dict, wanted: list, tool: Apt) -> str:
    """Say why this is not for the first installation; empty where it is."""
    roles = [each["role"] for each in wanted]
    known = [role for role in roles if any(entry(owned, role)[kind] for kind in ("packages", "holds"))]
    if known:
        return f"{', '.join(known)} has packages of its own here"
    half = tool.half()
    return f"half configured: {' '.join(half)}" if half else ""


def prepare(module: AnsibleModule, tool: Apt, wanted: list, missing: list) -> tuple:
    """Plan, see that there is room, and note; return what installs it, and what is noted.

    A refusal changes nothing.
    """
    tool.refresh()
    options, words, would = tool.plan(missing, set())
    tool.room()
    if would["changed"]:
        raise RefusedError("changes", f"{', '.join(would['changed'])} would change")
    after = load(module, Path(module.params["path"]))
    mine = shares(tool.shown(), [(each["role"], each["names"]) for each in wanted])
    for each in wanted:
        role, names = each["role"], mine[each["role"]]
        files = [file for file in each["files"] if not os.path.lexists(file)]
        holds = of_one_version(names, each["names"], tool.coming) if each["hold"] else []
        # Noted as what is still to be done: where this is cut off, the role itself holds them.
        holding = {"holding": True} if holds else {}
        after = claim(after, role, {"packages": names, "files": files, "holds": holds}, holding)
    return options, words, after


def held(owned: dict, wanted: list, tool: Apt) -> dict:
    """Hold what is noted as to be held; return the ownership without that note."""
    tool.hold([name for each in wanted for name in entry(owned, each["role"])["holds"]])
    for each in wanted:
        owned = settle(owned, each["role"], "holding")
    return owned


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    wanted, path = module.params["wanted"], Path(module.params["path"])
    if not module.get_bin_path("apt-get"):
        module.exit_json(changed=False, installed=[], left="there is no apt-get on this host")
    tool = Apt(module)
    names = [name for each in wanted for name in each["names"]]
    have = tool.have([name.partition("=")[0] for name in names])
    missing = [name for name in names if name.partition("=")[0] not in have]
    left = "all of it is here" if not missing else begun(load(module, path), wanted, tool)
    if left or module.check_mode:
        module.exit_json(changed=not left, installed=[] if left else missing, left=left)
    try:
        tool.wait()
        try:
            options, words, after = prepare(module, tool, wanted, missing)
        except RefusedError as refused:
            # Perhaps one role's only: each role asks for its own, and says which.
            module.exit_json(changed=False, installed=[], left=refused.sentence)
        save(module, path, after)
        tool.install(options, words, missing)
        save(module, path, held(after, wanted, tool))
    except RefusedError as refused:
        tool.refuse(refused)
    tool.show_warnings()
    module.exit_json(changed=True, installed=missing, left="")


if __name__ == "__main__":
    main()
