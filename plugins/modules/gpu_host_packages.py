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
from ansible.module_utils.gpu_host_apt_run import Apt
from ansible.module_utils.gpu_host_dnf_run import Dnf
from ansible.module_utils.gpu_host_owned_file import load, save
from ansible.module_utils.gpu_host_ownership import claim, entry, release, settle
from ansible.module_utils.gpu_host_refused import RefusedError
from ansible.module_utils.gpu_host_tool import ARGUMENTS as HOW

ARGUMENTS = {
    "role": {"type": "str", "required": True},
    "names": {"type": "list", "elements": "str", "required": True},
    "hold": {"type": "list", "elements": "str", "default": []},
    "replaces": {"type": "list", "elements": "str", "default": []},
    "modules": {"type": "list", "elements": "str", "default": []},
    "folder": {"type": "str", "default": ""},
    "allow_downgrade": {"type": "bool", "default": False},
    **HOW,
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
        self.names = [pair(word)[0] for word in self.given["names"]]
        self.mine, self.my_holds = set(mine["packages"]), set(mine["holds"])
        self.my_streams = mine["settings"].get("streams", {})

    def missing(self) -> list:
        """Return what is wanted and is not there, or not in that version."""
        have = self.tool.have(self.names)
        return [
            word
            for word in self.given["names"]
            if pair(word)[0] not in have
            or (pair(word)[1] and not self.tool.same(have[pair(word)[0]], pair(word)[1]))
        ]

    def holds_to_change(self) -> tuple:
        """Return what is to be held and is not, and what we held and is not to be held any more."""
        loose = sorted(self.my_holds & set(self.names) - set(self.given["hold"]))
        if not self.given["hold"]:
            return [], loose
        return sorted(set(self.given["hold"]) - self.tool.holds()), loose

    def note(self, packages: list, holds: list, settings: dict) -> None:
        """Write down what will be ours, before it is."""
        if packages or holds or settings:
            new = {"packages": packages, "holds": holds}
            self.write(claim(self.owned, self.given["role"], new, settings))

    def write(self, after: dict) -> None:
        """Write the ownership file where it differs."""
        if after != self.owned:
            save(self.module, self.path, after)
            self.owned = after

    def bring(self) -> list:
        """Do it, step by step; return what came or changed."""
        self.tool.wait()
        # Another role's too: several layers' packages may have been coming when a run was cut off.
        noted = {name for role in self.owned["roles"] for name in entry(self.owned, role)["packages"]}
        self.tool.repair(noted | set(self.names))
        missing = self.missing()
        unheld, loose = self.holds_to_change()
        if unheld:
            missing += [name for name in self.tool.needed_for_holds() if name not in missing]
        came = self.install(missing) if missing else []
        # Once more: the plugin that shows holds may have come only now.
        unheld = self.holds_to_change()[0] if came else unheld
        # A run that is cut off here has noted holds that are not there: the next one must know, and set them.
        self.note([], unheld, {"holding": True} if unheld else {})
        self.tool.hold(unheld)
        self.write(settle(self.owned, self.given["role"], "holding"))
        self.tool.hold(loose, on=False)
        self.write(release(self.owned, self.given["role"], loose))
        return came

    def noted(self, streams: dict) -> dict:
        """Return what is noted of streams: what was on first is what the user had."""
        return {"streams": {**streams, **self.my_streams}} if streams else {}

    def install(self, missing: list) -> list:
        """Install what is missing; what is held by us is let go for that, and held again whatever happens."""
        streams = {} if self.given["folder"] else self.tool.streams()
        self.note([], [], self.noted(streams))
        held = sorted(self.my_holds & self.tool.holds())
        try:
            if not self.given["folder"]:
                self.tool.refresh()
            self.tool.hold(held, on=False)
            options, words, would = self.tool.plan(missing, set(held))
            self.tool.room()
            # dnf switches a module's default stream on by itself.
            streams = {**dict.fromkeys(would.get("streams", []), ""), **streams}
            self.note(would["new"], [], self.noted(streams))
        except RefusedError:
            self.tool.hold(held)
            self.tool.switch_back(streams)
            raise
        gone: list = []
        try:
            self.tool.install(options, words, missing)
            # What made room for a package of another name is held no more.
            gone = sorted(set(held) - set(self.tool.have(held)))
        finally:
            self.tool.hold([name for name in held if name not in gone])
        self.write(release(self.owned, self.given["role"], gone))
        return sorted(would["new"] + would["changed"])


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    packages = Packages(module)
    came: list = packages.missing()
    unheld, loose = packages.holds_to_change()
    changed = bool(came or unheld or loose)
    if changed and not module.check_mode:
        try:
            came = packages.bring()
        except RefusedError as refused:
            packages.tool.refuse(refused)
    packages.tool.show_warnings()
    module.exit_json(changed=changed, installed=came, held=unheld)


if __name__ == "__main__":
    main()
