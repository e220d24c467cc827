#!/usr/bin/python
"""Ansible module: a repository's key as a keyring file, trusted only if it is the expected one."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_keyring
short_description: Installs a signing key after its fingerprint was checked
description:
  - Downloads a key to a temporary file, and puts it in place only if it is the expected one.
  - A keyring that already holds exactly that key is kept without a download.
  - Check mode downloads and checks too, and writes nothing.
options:
  url: {description: Where the key is., type: str, required: true}
  fingerprint: {description: "Full fingerprint, 40 or 64 hexadecimal digits.", type: str, required: true}
  path: {description: The keyring file to write., type: path, required: true}
  timeout: {description: Seconds that the download may take., type: int, default: 30}
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: Trust the key
  gpu_host_keyring:
    url: https://packages.example/gpgkey
    fingerprint: 0123 4567 89AB CDEF 0123  4567 89AB CDEF 0123 4567
    path: /usr/share/keyrings/example.gpg
"""

RETURN = r"""
fingerprint: {description: Fingerprint of the key in the keyring., type: str, returned: always}
"""

import tempfile
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_keys import FULL, normal, objection, primary_fingerprints
from ansible.module_utils.urls import open_url

LIMIT = 1024 * 1024  # a signing key has a few KiB


def gpg(module: AnsibleModule, home: str, *arguments: str) -> tuple[int, str]:
    """Run gpg on a home folder of its own, so that nothing is written to root's."""
    program = module.get_bin_path("gpg", required=True)
    rc, out, _ = module.run_command([program, "--batch", "--no-options", "--homedir", home, *arguments])
    return rc, out


def keys_in(module: AnsibleModule, home: str, path: str) -> list[str]:
    return primary_fingerprints(gpg(module, home, "--show-keys", "--with-colons", path)[1])


def download(module: AnsibleModule, url: str, path: Path) -> None:
    try:
        answer = open_url(url, timeout=module.params["timeout"], follow_redirects="safe")
        data = answer.read(LIMIT + 1)
    except Exception as error:  # noqa: BLE001  # urllib, ssl and sockets each have their own
        module.fail_json(
            msg=f"The key could not be downloaded from {url}: {error}. Needed is an address that this host "
            "reaches: set the role's key address, or https_proxy in the play's environment."
        )
    if len(data) > LIMIT:
        module.fail_json(msg=f"{url} answered more than {LIMIT} bytes, no signing key. Correct the address.")
    path.write_bytes(data)


def fetch(module: AnsibleModule, home: str, needed: str) -> Path:
    """Download, turn into a binary keyring, and return that very file once it is checked."""
    url = module.params["url"]
    raw, ring = Path(home, "downloaded"), Path(home, "keyring")
    download(module, url, raw)
    if raw.read_bytes().lstrip().startswith(b"-----BEGIN PGP"):
        gpg(module, home, "--output", str(ring), "--dearmor", str(raw))
    checked = ring if ring.exists() else raw
    refused = objection(keys_in(module, home, str(checked)), needed, url)
    if refused:
        module.fail_json(msg=refused)
    return checked


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "required": True},
            "fingerprint": {"type": "str", "required": True, "no_log": False},
            "path": {"type": "path", "required": True},
            "timeout": {"type": "int", "default": 30},
        },
        supports_check_mode=True,
    )
    needed, path = normal(module.params["fingerprint"]), module.params["path"]
    if not FULL.match(needed):
        module.fail_json(
            msg=f"The fingerprint {module.params['fingerprint']!r} is not a full one; needed are 40 (or 64) "
            "hexadecimal digits. A short key id can be forged."
        )
    # On a bare host gpg may be about to be installed by the task before: check mode can only say so.
    if module.check_mode and not module.get_bin_path("gpg"):
        module.exit_json(changed=not Path(path).exists(), fingerprint=needed)
    with tempfile.TemporaryDirectory(dir=module.tmpdir) as home:
        present = Path(path).exists() and keys_in(module, home, path) == [needed]
        if not present:
            checked = fetch(module, home, needed)
            if not module.check_mode:
                checked.chmod(0o644)
                module.atomic_move(str(checked), path)
    module.exit_json(changed=not present, fingerprint=needed)


if __name__ == "__main__":
    main()
