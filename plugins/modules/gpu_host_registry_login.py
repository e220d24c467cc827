#!/usr/bin/python
"""Ansible module: a private registry's credentials for Docker, proven by a login before they are written."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_registry_login
short_description: Logs Docker in to a registry, and out again
description:
  - Asks the registry first, with the CA that is to come; what it refuses changes nothing.
  - Merges one entry into Docker's config.json, 0600, and keeps everything else, with a copy of the old file.
  - The password is on no command line, and neither in the ownership file nor in what the module returns.
  - C(state=absent) takes out what an earlier run noted as its own, and puts back what was there before.
  - Where everything is as wanted nothing is asked of the registry.
options:
  state: {description: In or out., type: str, choices: [present, absent], default: present}
  registry: {description: "Host, or host:port; empty with absent: all noted.", type: str, default: ""}
  username: {description: The name., type: str, default: ""}
  password: {description: Password or access token., type: str, default: ""}
  ca: {description: The text of a private CA's certificate., type: str, default: ""}
  proxy: {description: HTTP proxy for the login., type: str, default: ""}
  user: {description: The user whose config.json it is., type: str, default: root}
  owned: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
  certs: {description: Where Docker looks for CAs., type: path, default: /etc/docker/certs.d}
  role: {description: The role that owns the change., type: str, default: registry_login}
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: Log in
  gpu_host_registry_login:
    registry: registry.example.com:5000
    username: reader
    password: "{{ vault_registry_password }}"
  no_log: true
"""

RETURN = r"""
refused: {description: "One sentence why nothing was done, else empty.", type: str, returned: always}
notes: {description: What a person should know., type: list, returned: always}
config: {description: The file., type: str, returned: state present}
backup: {description: Copy of the file as it was., type: str, returned: when an existing file was changed}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_refused import RefusedError
from ansible.module_utils.gpu_host_registry import Asked, log_in, trust
from ansible.module_utils.gpu_host_registry_change import Login
from ansible.module_utils.gpu_host_registry_undo import log_out


def present(module: AnsibleModule) -> dict:
    """Log in where something is to be changed."""
    login = Login(module)
    if not login.due:
        return {"changed": False, "notes": [], "config": str(login.path)}
    notes = []
    if login.asks:
        login.refuse()
        given = module.params
        try:
            context = trust(given["registry"], given["ca"], given["certs"])
            asked = Asked(given["registry"], context, given["proxy"])
            notes = [note for note in [log_in(asked, given["username"], given["password"])] if note]
        except RefusedError as refused:
            if not module.check_mode:
                raise
            # A dry run may be ahead of what brings the network, or the system's CAs.
            notes = [f"Now it would be refused: {refused.sentence}"]
    backup = None if module.check_mode else login.write()
    return {
        "changed": True,
        "notes": [*login.notes, *notes],
        "config": str(login.path),
        **({"backup": backup} if backup else {}),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "registry": {"type": "str", "default": ""},
            "username": {"type": "str", "default": ""},
            "password": {"type": "str", "default": "", "no_log": True},
            "ca": {"type": "str", "default": ""},
            "proxy": {"type": "str", "default": "", "no_log": True},
            "user": {"type": "str", "default": "root"},
            "owned": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
            "certs": {"type": "path", "default": "/etc/docker/certs.d"},
            "role": {"type": "str", "default": "registry_login"},
        },
        supports_check_mode=True,
    )
    try:
        result = present(module) if module.params["state"] == "present" else log_out(module)
    except RefusedError as refused:
        # No failure: the task is one whose output nobody sees, and the next one says it.
        module.exit_json(changed=False, refused=refused.sentence, notes=[])
    except OSError as error:
        where = error.filename or "A file"
        said = f"{where}: {error.strerror or error}. Give access or make room, and run again."
        module.exit_json(changed=False, refused=said, notes=[])
    module.exit_json(refused="", **result)


if __name__ == "__main__":
    main()
