#!/usr/bin/python
"""Ansible module: one look at where a host keeps its data; changes nothing."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_storage_look
short_description: Looks at a volume, a device and Docker's data-root
description:
  - Reads files and runs commands that change nothing; the same in check mode.
  - Docker's data-root is weighed only where it may have to be copied.
options:
  path: {description: Where the volume is, or is to be., type: str, default: ""}
  device: {description: A block device for it., type: str, default: ""}
  docker: {description: Whether Docker is looked at., type: bool, default: true}
  folders: {description: Names of folders on the volume., type: list, elements: str, default: []}
  files: {description: Small files whose text is wanted., type: list, elements: path, default: []}
  owned: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
  role: {description: The role that owns the changes., type: str, default: gpu_storage}
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: Look at the volume
  gpu_host_storage_look:
    path: /mnt/persist
  register: found
"""

RETURN = r"""
path: {description: The folder., type: dict, returned: success}
mount: {description: The mount that holds it., type: dict, returned: success}
device: {description: What is on the device., type: dict, returned: success}
docker: {description: The engine and its data-root., type: dict, returned: success}
old: {description: What is in the data-root of now., type: dict, returned: success}
target: {description: What is in the one that is wanted., type: dict, returned: success}
owned: {description: What an earlier run noted., type: dict, returned: success}
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_look import Look
from ansible.module_utils.gpu_host_owned_file import load
from ansible.module_utils.gpu_host_ownership import entry
from ansible.module_utils.gpu_host_storage_look import storage


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "str", "default": ""},
            "device": {"type": "str", "default": ""},
            "docker": {"type": "bool", "default": True},
            "folders": {"type": "list", "elements": "str", "default": []},
            "files": {"type": "list", "elements": "path", "default": []},
            "owned": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
            "role": {"type": "str", "default": "gpu_storage"},
        },
        supports_check_mode=True,
    )
    ours = entry(load(module, Path(module.params["owned"])), module.params["role"])
    seen = storage(Look(), module.params, ours["settings"])
    module.exit_json(changed=False, owned_files=ours["files"], **seen)


if __name__ == "__main__":
    main()
