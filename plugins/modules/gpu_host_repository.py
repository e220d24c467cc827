#!/usr/bin/python
"""Ansible module: one signed package repository, its key checked first, and no second entry for it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_repository
short_description: Names a repository with a key that was checked, and puts duplicates aside
description:
  - Runs before any apt or dnf call, because apt cannot even read its sources where two entries do not agree.
  - Other entries for the same repository are put aside, and come back with state absent or gpu_host_removed.
  - A run that has nothing to do needs no network. Check mode downloads and checks too, and writes nothing.
  - Needs no gpg on the host.
options:
  role: {description: The role's name in the ownership file., type: str, required: true}
  name: {description: Basename of the source file., type: str, required: true}
  state:
    description: absent takes back what this module brought for this role and name.
    type: str
    choices: [present, absent]
    default: present
  url: {description: Address; apt itself replaces $(ARCH)., type: str, default: ""}
  suite: {description: Suite; / for a flat repository., type: str, default: /}
  components: {description: Components., type: list, elements: str, default: []}
  key_url: {description: Where the key is., type: str, default: ""}
  fingerprint: {description: "Full fingerprint, 40 or 64 digits.", type: str, default: ""}
  key_sha256:
    description: Sum of the key file where no fingerprint is known, with or without gpg's Version line.
    type: str
    default: ""
  same_as: {description: Addresses of other entries for this one., type: list, elements: str, default: []}
  options: {description: More fields of the source file., type: dict, default: {}}
  proxy: {description: Proxy for the key's download., type: str, default: ""}
  ca_file: {description: Certificates to trust for it., type: str, default: ""}
  path: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
  root: {description: "Where the host's files lie; for tests.", type: path, default: /}
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
fingerprint: {description: Fingerprint of the key that is trusted., type: str, returned: success}
"""

import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_keyring_file import KeyRefusedError
from ansible.module_utils.gpu_host_repository_files import ARGUMENTS
from ansible.module_utils.gpu_host_repository_places import AptFiles, DnfFiles


def main() -> None:
    module = AnsibleModule(
        argument_spec=ARGUMENTS,
        required_if=[("state", "present", ("url", "key_url"))],
        supports_check_mode=True,
    )
    proxy = module.params["proxy"]
    if proxy:
        os.environ.update(dict.fromkeys(("http_proxy", "https_proxy"), proxy))
    files = (AptFiles if module.get_bin_path("apt-get") else DnfFiles)(module)
    try:
        result = files.absent() if module.params["state"] == "absent" else present(module, files)
    except KeyRefusedError as refused:
        module.fail_json(msg=str(refused), reason="key")
    for line in result.get("reported", []):
        module.warn(line)
    module.exit_json(**result)


def present(module: AnsibleModule, files: AptFiles | DnfFiles) -> dict:
    """Do it; in check mode everything but the writing."""
    ring = files.keyring()
    found, reported = files.look()
    key = not ring.present()
    if key:
        ring.fetch()
    file = files.differs()
    changed = bool(found) or file or key or not files.trusted(ring.needed)
    if changed and not module.check_mode:
        files.bring(found, ring)
    for path in found:
        aside = Path(module.params["path"]).with_name("moved")
        module.warn(f"{path} named this repository too: put aside, with a copy in {aside}.")
    return {
        "changed": changed,
        "moved": [str(path) for path in found],
        "reported": reported,
        "fingerprint": ring.needed,
        "diff": {
            "before": files.current(),
            "after": files.text,
            "before_header": str(files.file),
            "after_header": str(files.file),
        },
    }


if __name__ == "__main__":
    main()
