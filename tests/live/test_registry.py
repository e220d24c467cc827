"""A private registry: login, pull by digest, refusals before a byte is fetched, and nothing left of it.

Needs what lab.py says, and a controller's engine with the simulated host's container on it.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.live import lab, registry
from tests.live.lab import ROOT, Host, Ran
from tests.live.registry import PASSWORD, USER, Pushed, Registry

PLAY = "- {hosts: all, gather_facts: false, become: true, roles: [registry_login, race_image]}\n"
LATEST = "gpu-host/race:latest"
# Of the driver that is there nothing is asked; and of one that Debian does not have yet.
FITS = {"CUDA_VERSION": "12.4.1", "NVIDIA_REQUIRE_CUDA": "cuda>=12.0"}
TOO_NEW = {"CUDA_VERSION": "13.0.2", "NVIDIA_REQUIRE_CUDA": "cuda>=13.0"}
# What another scenario brought is not this test's to remove.
FORGET = """owned=/var/lib/gpu-host/owned.json
! [ -e $owned ] || sed -i s/race_image/race_image_before/ $owned
"""
LISTING = """
cd /; find root/.docker etc/docker var/lib/gpu-host -printf '%p %m %s %u\\n' 2> /dev/null | sort
docker image ls --no-trunc --digests --format '{{.Repository}} {{.Tag}} {{.Digest}} {{.ID}}' | sort
"""


@dataclass(frozen=True)
class Lab:
    """The host, the registry beside it, and the two images there."""

    host: Host
    registry: Registry
    fits: Pushed
    too_new: Pushed

    def settings(self, **values: Any) -> dict[str, Any]:
        return {
            "registry_login_registry": self.registry.name,
            "registry_login_username": USER,
            "registry_login_password": PASSWORD,
            "registry_login_ca_file": str(self.registry.ca),
            "race_image_source": "pull",
            "race_image_reference": self.fits.reference,
            **values,
        }

    def run(self, *arguments: str, **values: Any) -> Ran:
        return self.host.role(*arguments, **self.settings(**values))

    def absent(self) -> Ran:
        return self.run(registry_login_state="absent", race_image_state="absent")

    def asked_for(self, image: Pushed) -> list[str]:
        """Return the requests for the image's layer."""
        return [line for line in self.registry.log() if image.layer in line and '"GET' in line]


def container_of(host: Host) -> str:
    """Return the name of the simulated host's container: its host name is the host's, its address SSH's."""
    config = subprocess.run(
        ["ssh", "-G", "-F", host.ssh_config, host.name], capture_output=True, text=True, check=True
    )
    address = next(line.split()[1] for line in config.stdout.splitlines() if line.startswith("hostname "))
    for name in registry.docker("ps", "--filter=label=gpu-host.simulated", "--format={{.Names}}").split():
        # Another scenario's may be gone by now: its address is nobody's.
        ask = [
            "docker",
            "inspect",
            "--format={{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}",
            name,
        ]
        if address in subprocess.run(ask, capture_output=True, text=True, check=False).stdout.split():
            return name
    raise AssertionError(f"no container has the address {address} of {host.name}")


@pytest.fixture(scope="module")
def there() -> Iterator[Lab]:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="gh-") as folder:
        patch.setattr(lab, "LIMIT_S", 240)
        play = Path(folder, "play.yml")
        play.write_text(PLAY, encoding="utf-8")
        with lab.reach() as host:
            mine = replace(host, play=play)
            before = mine.sh(
                f"docker image inspect --format '{{{{.Id}}}}' {LATEST} 2> /dev/null || true"
            ).strip()
            beside = registry.start(container_of(mine), Path(folder))
            try:
                # Another scenario's image keeps its own name.
                mine.sh(f"{FORGET}docker image rm {LATEST} > /dev/null 2>&1 || true")
                yield Lab(mine, beside, beside.push("team/fits", FITS), beside.push("team/too-new", TOO_NEW))
            finally:
                registry.stop(beside)
                if before:
                    mine.sh(f"docker tag {before} {LATEST}")


@pytest.fixture
def at(there: Lab) -> Lab:
    """Neither a login nor an image of ours."""
    ok(there.absent())
    return there


def ok(ran: Ran) -> Ran:
    assert ran.status == 0, ran.printed[-6000:]
    return ran


def changed(ran: Ran) -> bool:
    return '"changed": 0,' not in ran.printed.partition('"stats"')[2]


def loud(at: Lab) -> str:
    """Run it with everything said, as a person would; return all of it."""
    done = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "-vvv", "--diff", "-i", at.host.inventory,
         "-l", at.host.name, at.host.play, "-e", f"@{settings_file(at)}"],
        cwd=ROOT, capture_output=True, text=True, timeout=lab.LIMIT_S, check=False,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1",
             "ANSIBLE_SSH_CONTROL_PATH_DIR": at.host.sockets},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    return done.stdout + done.stderr


def settings_file(at: Lab) -> Path:
    """Write the settings as group_vars would be: Ansible prints what is on its own command line."""
    file = at.host.play.with_name("settings.json")
    file.touch(mode=0o600)
    file.write_text(json.dumps(at.settings()), encoding="utf-8")
    return file


def test_login_and_pull_by_digest_then_nothing_more_and_the_password_nowhere(at: Lab) -> None:
    before = at.host.sh(LISTING)
    said = loud(at)
    auth = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    assert "Credentials for Docker" in said
    for secret in (PASSWORD, auth, json.dumps(PASSWORD)[1:-1]):
        assert secret not in said
        assert secret not in at.host.sh("cat /var/lib/gpu-host/owned.json")
    config = json.loads(at.host.sh("cat /root/.docker/config.json"))
    assert config["auths"][at.registry.name] == {"auth": auth}
    assert at.host.sh("stat -c %a /root/.docker/config.json").strip() == "600"
    certificate = f"/etc/docker/certs.d/{at.registry.name}/ca.crt"
    assert at.host.sh(f"stat -c %a {certificate}").strip() == "644"
    ids = at.host.sh(f"docker image inspect --format '{{{{.Id}}}}' {at.fits.reference} {LATEST}").split()
    assert len(set(ids)) == 1
    assert at.asked_for(at.fits)

    asked = len(at.registry.log())
    again = ok(at.run())
    assert not changed(again)
    assert len(at.registry.log()) == asked

    assert changed(ok(at.absent()))
    assert at.host.sh(LISTING) == before
    assert not changed(ok(at.absent()))


def test_a_wrong_password_is_said_and_nothing_is_changed(at: Lab) -> None:
    before = at.host.sh(LISTING)
    ran = at.run(registry_login_password="wrong-one")  # noqa: S106
    assert ran.status != 0
    assert f"{at.registry.name} refuses the user {USER} with the password given" in ran.result["msg"]
    assert "wrong-one" not in ran.printed
    assert at.host.sh(LISTING) == before


def test_an_unknown_ca_is_said_and_nothing_is_changed(at: Lab) -> None:
    before = at.host.sh(LISTING)
    ran = at.run(registry_login_ca_file="")
    assert ran.status != 0
    assert "does not trust" in ran.result["msg"]
    assert "registry_login_ca_file" in ran.result["msg"]
    assert at.host.sh(LISTING) == before


def test_an_image_too_new_for_the_driver_is_refused_before_a_layer_is_fetched(at: Lab) -> None:
    ran = at.run(race_image_reference=at.too_new.reference)
    assert ran.status != 0
    assert at.too_new.reference in ran.result["msg"]
    assert "550.163.01" in ran.result["msg"]
    assert "580.65.06" in ran.result["msg"]
    assert any(at.too_new.reference.partition("@")[2] in line for line in at.registry.log())
    assert at.asked_for(at.too_new) == []
    assert 'race_image"' not in at.host.sh("cat /var/lib/gpu-host/owned.json")


def test_a_tag_is_refused_and_a_dry_run_changes_nothing(at: Lab) -> None:
    before = at.host.sh(LISTING)
    tag = at.fits.reference.partition("@")[0] + ":1"
    ran = at.run("--check", race_image_reference=tag)
    assert ran.status != 0
    assert f"gpu-verify image {tag}" in ran.result["msg"]
    assert changed(ok(at.run("--check")))
    assert at.host.sh(LISTING) == before
