"""`make site` over hosts of which one is down and one cannot be provisioned: the good one gets all of it.

The one that cannot be is the good one's machine under another name, with a disk that is not there: it passes
every check as before, and is no pass all the same.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lab
import pytest

Host = Any
DOWN, REFUSED = "sim-down", "sim-refused"
# What provisioning has to put right on the good one, or it was kept from it.
BREAK = """python3 -c 'import json; p = "/etc/docker/daemon.json"; d = json.load(open(p))
d.pop("runtimes"); json.dump(d, open(p, "w"))'"""


@dataclass(frozen=True)
class Site:
    """A checkout of links, so that evidence and cache are the test's own; and how one run in it ended."""

    folder: Path
    good: str
    settings: dict[str, Any]

    def run(self, refused: dict[str, Any], limit: str = "") -> tuple[int, str]:
        """Run it as `make site` does; return its exit status and what it printed."""
        hosts = {
            self.good: self.settings,
            # Nothing listens there.
            DOWN: self.settings | {"ansible_host": "127.0.0.1", "ansible_port": 1},
            REFUSED: self.settings | refused,
        }
        (self.folder / "hosts.json").write_text(json.dumps({"gpu_hosts": {"hosts": hosts}}))
        told = {"INVENTORY": "hosts.json", "RACE": "never", "LIMIT": limit, "PYTHONPATH": str(lab.ROOT)}
        done = subprocess.run(
            ["sh", self.folder / "scripts/site.sh", "site"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=lab.LIMIT_S, check=False,
            env={**os.environ, **lab.SETTINGS, **told},
        )  # fmt: skip
        return done.returncode, done.stdout

    def failed_hosts(self) -> list[str]:
        return (self.folder / "evidence/failed.hosts").read_text().split()

    def states(self) -> dict[str, str]:
        """Return each host's state as the page shows it."""
        page = (self.folder / "evidence/index.html").read_text()
        rows = re.findall(r"<tbody.*?</tbody>", page.partition("</table>")[0], re.DOTALL)
        found = [re.search(r'rowheader">([^< ]+).*?data-n="state">([^<]+)', row, re.DOTALL) for row in rows]
        return {one[1]: one[2].strip() for one in found if one}

    def failures(self, name: str) -> list[dict[str, Any]]:
        found = lab.findings(self.folder / "evidence" / name)
        return [f for f in found if f["status"] == "fail" and not f["expected"]]


@pytest.fixture(scope="module")
def site(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    for path in lab.ROOT.iterdir():
        if path.name not in {".cache", ".git", "evidence"}:
            (folder / path.name).symlink_to(path)
    config = Path(os.environ["GPU_HOST_TEST_SSH_CONFIG"])
    own, _, others = config.read_text().partition("Host *\n")
    again = own.replace(f"Host {name}", f"Host {REFUSED}")
    (folder / "ssh_config").write_text(f"{own}{again}Host *\n{others}")
    program = Path(sys.executable).with_name("ansible-inventory")
    told = subprocess.run(
        [program, "-i", lab.INVENTORY, "--host", name],
        cwd=lab.ROOT, capture_output=True, text=True, check=True, env={**os.environ, **lab.SETTINGS},
    ).stdout  # fmt: skip
    here = {
        "simulated_dir": str(config.parent),
        "gpu_verify_evidence_dir": str(folder / "evidence"),
        "ansible_ssh_common_args": f"-F {folder}/ssh_config",
        "gpu_verify_ssh_config": str(folder / "ssh_config"),
    }
    yield Site(folder, name, json.loads(told) | here)
    assert not (lab.ROOT / "hosts.json").exists()


@pytest.fixture(scope="module")
def first(site: Site, host: Host) -> tuple[int, str]:
    host.run_expect([0], BREAK)
    return site.run({"gpu_storage_path": "/mnt/persist", "gpu_storage_device": "/dev/no-such-disk"})


@pytest.fixture(scope="module")
def second(site: Site, first: tuple[int, str]) -> tuple[int, str, bool]:
    """Go on with those that failed, one of them mended; also say whether the good one was left alone."""
    assert first[0]
    before = (site.folder / "evidence" / site.good / "run.json").stat().st_mtime_ns
    status, printed = site.run({}, limit="@evidence/failed.hosts")
    return status, printed, before == (site.folder / "evidence" / site.good / "run.json").stat().st_mtime_ns


def test_the_good_one_is_provisioned_and_proven(site: Site, host: Host, first: tuple[int, str]) -> None:
    assert "nvidia" in json.loads(host.check_output("cat /etc/docker/daemon.json"))["runtimes"], first[1]
    assert site.failures(site.good) == [], first[1][-6000:]


def test_the_run_fails_and_the_page_shows_all_three(site: Site, first: tuple[int, str]) -> None:
    status, printed = first
    assert status in (1, 2), printed[-6000:]
    assert site.states() == {site.good: "pass", DOWN: "unreachable", REFUSED: "fail"}, printed[-6000:]
    assert site.failed_hosts() == [DOWN, REFUSED]


def test_the_one_that_was_refused_says_why(site: Site, first: tuple[int, str]) -> None:
    (failure,) = site.failures(REFUSED)
    assert failure["id"] == "verify.not-provisioned"
    assert "/dev/no-such-disk" in failure["summary"], first[1][-6000:]
    assert failure["remedy"].startswith(f"make site LIMIT={REFUSED}")


def test_going_on_touches_those_that_failed_alone(site: Site, second: tuple[int, str, bool]) -> None:
    status, printed, left_alone = second
    assert status in (1, 2), printed[-6000:]
    assert left_alone
    assert set(re.findall(r"(?m)^(\S+)\s*: ok=", printed)) == {DOWN, REFUSED, "localhost"}
    assert site.states() == {site.good: "pass", DOWN: "unreachable", REFUSED: "pass"}, printed[-6000:]
    assert site.failed_hosts() == [DOWN]
