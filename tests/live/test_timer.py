"""The timer of examples/systemd under a real systemd: it verifies the host, and keeps the last runs.

The units are the example's, unchanged; instead of its environment from the network the host gets the
controller's own packages. The cards are simulated and torch is a CPU build, so the burn-in cannot run here:
that it says so is tested.
"""

from __future__ import annotations

import base64
import functools
import importlib
import io
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.live.lab import ROOT, Host, named
from verify import burn_in

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = ROOT / "examples/systemd"
VENV = "opt/gpu-host/.cache/bootstrap/venv"
EVIDENCE = "/var/lib/gpu-host/evidence"
UNIT = "gpu-host-again"
PACKAGES = ("rich", "pygments", "markdown_it", "mdurl", "yaml")
UNPACK = f"tar -C / -xz && ln -sf /usr/bin/python3 /{VENV}/bin/python && systemctl daemon-reload"
REMOVE = f"""
systemctl disable --now {UNIT}.timer || true
rm -rf /opt/gpu-host /etc/gpu-host/again.env /etc/systemd/system/{UNIT}.* {EVIDENCE}
systemctl daemon-reload
systemctl reset-failed {UNIT}.service 2>/dev/null || true
"""


# An image whose python3 never ends, of the host's own programs: nothing is pulled.
HANGING = """
mkdir -p /root/hanging/usr/bin
printf '#!/bin/sh\\nexec sleep 600\\n' > /root/hanging/usr/bin/python3
chmod 755 /root/hanging/usr/bin/python3
files=$(ldd /usr/bin/sleep /usr/bin/dash | grep -o '/lib[^ ]*' | sort -u | cut -c2-)
files="usr/bin/sleep usr/bin/dash $files"
tar -ch --transform 's#usr/bin/dash#bin/sh#' -C / $files -C /root/hanging usr/bin/python3 |
  docker import - gpu-host-test-hanging > /dev/null
rm -r /root/hanging
"""
BURN_IN = f"""cd /opt/gpu-host && exec /{VENV}/bin/python - <<'END'
import json
from verify.burn_in_run import burn_in, container_work
from verify.manifest import usage_manifest
from verify.take import take
look = lambda: json.loads(take("host", content=usage_manifest()))
print(json.dumps(burn_in(look, container_work("gpu-host-test-hanging", 4), 4, every=1, slack=4)))
END
"""


@functools.cache
def settings(host: Host) -> tuple[str, list[str]]:
    """Return the image of this simulation, and what is expected to fail on it."""
    listed = subprocess.run(
        ["ansible-inventory", "-i", host.inventory, "--host", host.name],
        capture_output=True, check=True, text=True, cwd=ROOT,
    ).stdout  # fmt: skip
    expected: list[str] = yaml.safe_load(listed)["gpu_verify_expected_findings"]
    parts = host.sh("docker images --format '{{.Repository}}:{{.Tag}}' | grep race | head -n 1")
    return parts.strip(), expected


def packed() -> bytes:
    """Return the clone and its environment as an archive, with the units where the README puts them."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        config = tarfile.TarInfo(f"{VENV}/pyvenv.cfg")
        text = b"home = /usr/bin\ninclude-system-site-packages = false\n"
        config.size = len(text)
        archive.addfile(config, io.BytesIO(text))
        folder = tarfile.TarInfo(f"{VENV}/bin")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
        archive.add(ROOT / "verify", "opt/gpu-host/verify")
        for name in ("service", "timer"):
            archive.add(EXAMPLE / f"{UNIT}.{name}", f"etc/systemd/system/{UNIT}.{name}")
        for package in PACKAGES:
            where = importlib.import_module(package).__file__
            assert where is not None
            archive.add(Path(where).parent, f"opt/gpu-host/site/{package}")
    return stream.getvalue()


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with tempfile.TemporaryDirectory(prefix="gh-") as folder:
        reached = named(folder)
        reached.sh(f"[ -e /etc/gpu-host/simulated ]; {REMOVE}")
        text = base64.b64encode(packed()).decode()
        reached.sh(f"base64 -d <<'END' | ( {UNPACK} )\n{text}\nEND\n{SITE}")
        yield reached
        reached.sh(REMOVE)


# The packages of the controller's, where the environment's own would be.
SITE = f"""
version=$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
mkdir -p /{VENV}/lib/$version
mv /opt/gpu-host/site /{VENV}/lib/$version/site-packages
"""


def run(host: Host, *options: str) -> str:
    """Write the options as a user does, start the unit, and return how it ended: success or exit-code."""
    image, expected = settings(host)
    words = " ".join([*options, "--image", image, *(f"--expect {name}" for name in expected)])
    host.sh(f"mkdir -p /etc/gpu-host; echo 'OPTIONS={words}' > /etc/gpu-host/again.env")
    host.sh(f"systemctl reset-failed {UNIT} 2>/dev/null || true; systemctl start {UNIT} || true")
    return host.sh(f"systemctl show --value -p Result {UNIT}").strip()


def findings(host: Host) -> dict[str, str]:
    document = json.loads(host.sh(f"cat {EVIDENCE}/latest/*/findings.json"))
    assert document["simulated"] is True
    return {one["id"]: one["status"] for one in document["findings"]}


def said(host: Host) -> str:
    return host.sh(f"journalctl -u {UNIT} -o cat -n 400 --no-pager")


def test_systemd_takes_the_units_and_the_timer_waits_for_the_night(host: Host) -> None:
    host.sh(f"systemd-analyze verify /etc/systemd/system/{UNIT}.service /etc/systemd/system/{UNIT}.timer")
    host.sh(f"systemctl enable --now {UNIT}.timer")
    listed = host.sh(f"systemctl list-timers --all --no-pager {UNIT}.timer")
    assert f"{UNIT}.service" in listed
    assert host.sh(f"systemctl show --value -p NextElapseUSecRealtime {UNIT}.timer").strip()


def test_the_service_verifies_the_host(host: Host) -> None:
    assert run(host) == "success", said(host)
    found = findings(host)
    assert found["driver.answers"] == "pass"
    assert found["framework.cpu-build"] == "fail"  # expected here, and said
    assert not any(name.startswith("burn-in.") for name in found)


def test_a_burn_in_that_cannot_run_fails_the_unit_with_its_reason(host: Host) -> None:
    assert run(host, "--burn-in", "10") == "exit-code"
    assert findings(host)["burn-in.ran"] == "fail"
    assert "is a CPU build" in said(host)
    assert f"{UNIT}.service" in host.sh("systemctl --failed --no-pager --plain")


def test_expected_it_passes_and_only_the_last_two_runs_are_kept(host: Host) -> None:
    assert run(host, "--burn-in", "10", "--expect", "burn-in.ran", "--keep", "2") == "success", said(host)
    runs = host.sh(f"ls {EVIDENCE}").split()
    assert len(runs) == 3, runs  # two runs, and latest
    assert runs[-1] == "latest"
    assert host.sh(f"readlink {EVIDENCE}/latest").strip() == runs[-2]


def test_a_host_whose_engine_is_stopped_fails_and_is_not_started_by_looking(host: Host) -> None:
    host.sh("systemctl stop docker.service docker.socket")
    try:
        assert run(host) == "exit-code"
        assert host.sh("systemctl is-active docker || true").strip() == "inactive"
        assert "engine" in {
            name.partition(".")[0] for name, status in findings(host).items() if status == "fail"
        }
    finally:
        host.sh("systemctl reset-failed docker docker.socket; systemctl start docker.socket docker.service")


def test_work_that_hangs_is_looked_at_and_its_container_is_taken_away(host: Host) -> None:
    host.sh(HANGING)
    try:
        document = json.loads(host.sh(BURN_IN))
        assert document["work"] == {"status": "timed-out", "reason": "it had not ended after 8 s"}
        assert document["during"]
        found = {one.id: one for one in burn_in.judge(document)}
        assert "it had not ended" in found["burn-in.ran"].summary
        assert found["burn-in.cards"].summary == "2 card(s) before and after"
        assert host.sh("docker ps -aq --filter name=gpu-host-run-") == ""
    finally:
        host.sh("docker image rm -f gpu-host-test-hanging")
