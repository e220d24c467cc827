#!/usr/bin/python
"""Ansible module: one signed package repository, its key checked first, and no second entry for it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_repository
short_description: Names a repository with a key that was checked, and puts duplicates aside
description:
  - Runs before any apt or dnf call, because apt cannot even read its sources where two entries do not agree.
  - Other entries for the same repository are put aside, and come back with gpu_host_removed.
  - A run that has nothing to do needs no network. Check mode downloads and checks too, and writes nothing.
options:
  role: {description: The role's name in the ownership file., type: str, required: true}
  name: {description: Basename of the source file., type: str, required: true}
  url: {description: Address; apt itself replaces $(ARCH)., type: str, required: true}
  suite: {description: Suite; / for a flat repository., type: str, default: /}
  components: {description: Components., type: list, elements: str, default: []}
  key_url: {description: Where the key is., type: str, required: true}
  fingerprint: {description: "Full fingerprint, 40 or 64 digits.", type: str, default: ""}
  key_sha256: {description: Checksum of the key file where no fingerprint is known., type: str, default: ""}
  same_as: {description: Addresses under which this repository is also known., type: list, elements: str, default: []}
  options: {description: More fields of the source file., type: dict, default: {}}
  proxy: {description: Proxy for the key's download., type: str, default: ""}
  ca_file: {description: Certificates to trust for it., type: str, default: ""}
  path: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: NVIDIA's toolkit
  gpu_host_repository:
    role: nvidia_container_toolkit
    name: nvidia-container-toolkit
    url: https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH)
    key_url: https://nvidia.github.io/libnvidia-container/gpgkey
    fingerprint: C95B321B61E88C1809C4F759DDCAE044F796ECB0
    same_as: [nvidia.github.io/libnvidia-container, nvidia.github.io/nvidia-docker]
"""

RETURN = r"""
moved: {description: Source files that were put aside or lost an entry., type: list, returned: success}
reported: {description: Strange source files that stay., type: list, returned: success}
"""

import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_keyring_file import Keyring, KeyRefusedError
from ansible.module_utils.gpu_host_owned_file import load, save, write_file
from ansible.module_utils.gpu_host_ownership import claim, entry
from ansible.module_utils.gpu_host_repos import repo, without_repo
from ansible.module_utils.gpu_host_sources import reads, source, strange, without

ARGUMENTS = {
    "role": {"type": "str", "required": True},
    "name": {"type": "str", "required": True},
    "url": {"type": "str", "required": True},
    "suite": {"type": "str", "default": "/"},
    "components": {"type": "list", "elements": "str", "default": []},
    "key_url": {"type": "str", "required": True, "no_log": False},
    "fingerprint": {"type": "str", "default": "", "no_log": False},
    "key_sha256": {"type": "str", "default": "", "no_log": False},
    "same_as": {"type": "list", "elements": "str", "default": []},
    "options": {"type": "dict", "default": {}},
    "proxy": {"type": "str", "default": ""},
    "ca_file": {"type": "str", "default": ""},
    "path": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
}


class Repository:
    """The files of one repository: its keyring, its source, and other entries for the same."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module, self.given = module, module.params
        name = self.given["name"]
        self.apt = bool(module.get_bin_path("apt-get"))
        if self.apt:
            self.keyring = Path(f"/usr/share/keyrings/{name}-keyring.gpg")
            self.file = Path(f"/etc/apt/sources.list.d/{name}.sources")
            self.text = source(self.given, str(self.keyring))
        else:
            self.keyring = Path(f"/etc/pki/rpm-gpg/RPM-GPG-KEY-{name}")
            self.file = Path(f"/etc/yum.repos.d/{name}.repo")
            self.text = repo(self.given, str(self.keyring))
        self.ring = Keyring(module, str(self.keyring), armored=not self.apt)
        self.aside = Path(self.given["path"]).with_name("moved")
        self.reported: list = []

    def sources(self) -> list:
        """Return the files that the package manager reads, ours left out."""
        if not self.apt:
            return [path for path in sorted(self.file.parent.glob("*.repo")) if path != self.file]
        found = [Path("/etc/apt/sources.list"), *sorted(self.file.parent.glob("*"))]
        return [
            path for path in found
            if path.is_file() and path != self.file and (path.parent != self.file.parent or reads(path.name))
        ]  # fmt: skip

    def duplicates(self) -> list:
        """Return (file, what it becomes; None where nothing of it is left)."""
        found = []
        same = [*self.given["same_as"], self.given["url"]]
        for path in self.sources():
            text = path.read_text(encoding="utf-8", errors="replace")
            if self.apt:
                taken, left = without(path.name, text, same, self.architecture())
                odd = strange(path.name, text)
            else:
                (taken, left), odd = without_repo(text, same), None
            if taken:
                found.append((path, left))
            elif odd and text.lstrip()[:1] == "<":
                found.append((path, None))  # apt cannot read its sources at all with this one
                self.reported.append(f"{path}: {odd}")
            elif odd:
                self.reported.append(f"{path}: {odd}; it stays")
        return found

    def architecture(self) -> str:
        if not hasattr(self, "_architecture"):
            self._architecture = self.module.run_command(["dpkg", "--print-architecture"])[1].strip()
        return self._architecture

    def put_aside(self, found: list) -> dict:
        """Copy each file to the folder beside the ownership file; return the copies by path."""
        moved = {}
        for path, _ in found:
            copy = self.aside / str(path).lstrip("/").replace("/", "_")
            number = 1
            while copy.exists():
                copy = copy.with_name(f"{copy.name}.{number}")
                number += 1
            write_file(self.module, copy, path.read_bytes(), mode=path.stat().st_mode & 0o777)
            moved[str(path)] = str(copy)
        return moved

    def bring(self, found: list, *, key: bool, file: bool) -> None:
        owned_path = Path(self.given["path"])
        owned = load(self.module, owned_path)
        moved = self.put_aside(found)
        new = [
            str(path)
            for path, wanted in ((self.keyring, key), (self.file, file))
            if wanted and not path.exists()
        ]
        settings = entry(owned, self.given["role"])["settings"]
        # What was put aside first is what the user had.
        settings["moved"] = {**moved, **settings.get("moved", {})}
        if not settings["moved"]:
            del settings["moved"]
        save(
            self.module,
            owned_path,
            claim(owned, self.given["role"], {"packages": [], "files": new}, settings),
        )
        for path, left in found:
            if left is None:
                path.unlink()
            else:
                write_file(self.module, path, left.encode(), mode=path.stat().st_mode & 0o777)
        if key:
            self.ring.write()
        if not self.apt and (key or not self.imported()):
            self.module.run_command(["rpm", "--import", str(self.keyring)], check_rc=True)
        if file:
            write_file(self.module, self.file, self.text.encode(), mode=0o644)

    def imported(self) -> bool:
        """Tell whether rpm trusts the key already."""
        rc, out, _ = self.module.run_command(["rpm", "-q", "gpg-pubkey", "--qf", "%{VERSION}\\n"])
        short = self.ring.needed[-8:].lower()
        return not short or short in out.split()


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    proxy = module.params["proxy"]
    if proxy:
        os.environ.update({name: proxy for name in ("http_proxy", "https_proxy")})
    try:
        changed, moved, reported = ensure(module, Repository(module))
    except KeyRefusedError as refused:
        module.fail_json(msg=str(refused), reason="key")
    for path in moved:
        module.warn(f"{path} named this repository too: put aside in /var/lib/gpu-host/moved.")
    for line in reported:
        module.warn(line)
    module.exit_json(changed=changed, moved=moved, reported=reported)


def ensure(module: AnsibleModule, repository: Repository) -> tuple:
    """Do it; in check mode everything but the writing."""
    found = repository.duplicates()
    file = not repository.file.is_file() or repository.file.read_text(encoding="utf-8") != repository.text
    # On a bare host gpg may be about to be installed by a task before: check mode can only say so.
    if module.check_mode and not (module.get_bin_path("gpg") or module.get_bin_path("gpg2")):
        return True, [str(path) for path, _ in found], repository.reported
    key = not repository.ring.present()
    if key:
        repository.ring.fetch()
    changed = bool(found) or file or key
    if changed and not module.check_mode:
        repository.bring(found, key=key, file=file)
    return changed, [str(path) for path, _ in found], repository.reported


if __name__ == "__main__":
    main()
