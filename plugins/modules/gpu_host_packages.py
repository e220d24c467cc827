#!/usr/bin/python
"""Ansible module: brings packages to what a role wants, and notes first what will be its own."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_packages
short_description: Installs packages with apt or dnf, so that everything of it can be taken back
description:
  - Does nothing, without network, where all is as wanted.
  - Waits for locks, and never deletes one. Somebody else's holds, packages and half configured packages stay.
  - Notes what will come in the ownership file before it is installed.
options:
  role: {description: The role's name in the ownership file., type: str, required: true}
  names: {description: "Packages, as name or name=version.", type: list, elements: str, required: true}
  hold: {description: Packages to hold at their version afterwards., type: list, elements: str, default: []}
  replaces: {description: Exact names of packages that may go., type: list, elements: str, default: []}
  modules: {description: "Module streams that dnf enables first.", type: list, elements: str, default: []}
  repositories: {description: Source files that must be readable., type: list, elements: str, default: []}
  folder: {description: "Folder of package files, in the place of repositories.", type: str, default: ""}
  allow_downgrade: {description: Whether an older version may come., type: bool, default: false}
  proxy: {description: Proxy for this run., type: str, default: ""}
  ca_file: {description: Certificates to trust in this run., type: str, default: ""}
  lock_timeout: {description: Seconds to wait for locks., type: int, default: 300}
  path: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: One version of all four
  gpu_host_packages:
    role: nvidia_container_toolkit
    names: [nvidia-container-toolkit=1.20.2-1]
    hold: [nvidia-container-toolkit]
    repositories: [nvidia-container-toolkit]
"""

RETURN = r"""
installed: {description: What came or changed., type: list, returned: success}
reason: {description: "Kind of failure, one word.", type: str, returned: failure}
half_configured: {description: Packages that a failure left., type: list, returned: failure}
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_apt_run import Apt, RefusedError
from ansible.module_utils.gpu_host_dnf_run import Dnf
from ansible.module_utils.gpu_host_owned_file import load, save
from ansible.module_utils.gpu_host_ownership import claim, entry

ARGUMENTS = {
    "role": {"type": "str", "required": True},
    "names": {"type": "list", "elements": "str", "required": True},
    "hold": {"type": "list", "elements": "str", "default": []},
    "replaces": {"type": "list", "elements": "str", "default": []},
    "modules": {"type": "list", "elements": "str", "default": []},
    "repositories": {"type": "list", "elements": "str", "default": []},
    "folder": {"type": "str", "default": ""},
    "allow_downgrade": {"type": "bool", "default": False},
    "proxy": {"type": "str", "default": ""},
    "ca_file": {"type": "str", "default": ""},
    "lock_timeout": {"type": "int", "default": 300},
    "path": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
}


def pair(word: str) -> tuple:
    name, _, version = word.partition("=")
    return name, version


class Packages:
    """What is wanted, against what is there."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module, self.given = module, module.params
        self.tool = Apt(module) if module.get_bin_path("apt-get") else Dnf(module)
        self.path = Path(self.given["path"])
        self.owned = load(module, self.path)
        mine = entry(self.owned, self.given["role"])
        self.mine, self.my_holds = set(mine["packages"]), set(mine["holds"])

    def missing(self) -> list:
        have = self.tool.have([pair(word)[0] for word in self.given["names"]])
        return [
            word
            for word in self.given["names"]
            if pair(word)[0] not in have
            or (pair(word)[1] and not self.tool.same(have[pair(word)[0]], pair(word)[1]))
        ]

    def note(self, new: list, holds: list) -> None:
        """Write down what will be ours, before it is."""
        after = claim(self.owned, self.given["role"], {"packages": new, "files": [], "holds": holds}, {})
        if after != self.owned:
            save(self.module, self.path, after)
            self.owned = after

    def bring(self, missing: list, unheld: list) -> list:
        names = {pair(word)[0] for word in self.given["names"]}
        if missing:
            self.tool.wait()
            self.tool.repair(self.mine | names)
            missing = self.missing()
        would = {"new": [], "changed": [], "removed": []}
        if missing:
            if not self.given["folder"]:
                self.tool.refresh()
            options, words, would = self.tool.plan(missing, self.my_holds)
            self.tool.room(options, words)
            self.note(would["new"], [])
            self.tool.hold(sorted(self.my_holds & set(would["changed"])), on=False)
            self.tool.install(options, words, missing)
        unheld = sorted(set(self.given["hold"]) - self.tool.holds())
        self.note([], unheld)
        self.tool.hold(unheld)
        return sorted(would["new"] + would["changed"])


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    packages = Packages(module)
    missing = packages.missing()
    unheld = sorted(set(module.params["hold"]) - packages.tool.holds()) if module.params["hold"] else []
    changed = bool(missing or unheld)
    came: list = missing
    if changed and not module.check_mode:
        try:
            came = packages.bring(missing, unheld)
        except RefusedError as refused:
            for line in packages.tool.warnings:
                module.warn(line)
            module.fail_json(msg=refused.sentence, reason=refused.reason, **refused.more)
    for line in packages.tool.warnings:
        module.warn(line)
    module.exit_json(changed=changed, installed=came, held=unheld)


if __name__ == "__main__":
    main()
