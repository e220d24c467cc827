"""The packages module as it runs on a host, with a small apt of our own."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.plugins.modules import run_module
from tests.unit.plugins.test_locks import end, hold

FAKE = Path(__file__).with_name("fake_apt.py")
FOUR = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container-tools",
    "libnvidia-container1",
)
OLD, NEW = "1.20.1-1", "1.20.2-1"
ROLE = "nvidia_container_toolkit"
BEFORE = """
from ansible.module_utils import gpu_host_locks
gpu_host_locks.APT = (sys.argv[3],)
"""


class Host:
    """Its packages, and the module run on it."""

    def __init__(self, folder: Path) -> None:
        self.file, self.owned, self.lock = folder / "state.json", folder / "owned.json", folder / "lock"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for name in ("apt-get", "apt-cache", "apt-mark", "dpkg-query", "dpkg"):
            (self.bin / name).write_text(f"#!{sys.executable}\n{FAKE.read_text()}")
            (self.bin / name).chmod(0o755)
        needs = {FOUR[0]: list(FOUR[1:])}
        self.write(
            packages={"theirs": ["ii", "1"]},
            holds=[],
            offers={name: {"version": NEW, "needs": needs.get(name, [])} for name in FOUR},
            update="",
            sizes="",
            unpacked=1,
            fails="",
            stuck=False,
            log=[],
        )

    def read(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self.file.read_text())
        return state

    def write(self, **state: Any) -> None:
        self.file.write_text(json.dumps({**(self.read() if self.file.exists() else {}), **state}))

    def has(self, *names: str, version: str = OLD, status: str = "ii") -> None:
        self.write(packages={**self.read()["packages"], **{name: [status, version] for name in names}})

    def versions(self) -> set[str]:
        return {version for name, (_, version) in self.read()["packages"].items() if name in FOUR}

    def entry(self) -> dict[str, Any]:
        entry: dict[str, Any] = json.loads(self.owned.read_text())["roles"][ROLE]
        return entry

    def log(self) -> list[str]:
        """Return what was run that changes something or takes the network."""
        return [
            line for line in self.read()["log"] if not line.startswith(("dpkg-query", "apt-mark showhold"))
        ]

    def bring(self, *, check: bool = False, **more: Any) -> dict[str, Any]:
        self.write(log=[])
        names = [f"{name}={NEW}" for name in FOUR]
        given = {"role": ROLE, "path": str(self.owned), "names": names, "lock_timeout": 1, **more}
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "FAKE_APT": str(self.file)}
        return run_module(
            "gpu_host_packages",
            {**given, "_ansible_check_mode": check},
            str(self.lock),
            before=BEFORE,
            env=env,
        )


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_what_comes_is_noted_held_and_a_second_run_asks_nobody(host: Host) -> None:
    result = host.bring(hold=list(FOUR))
    assert (result["changed"], result["installed"]) == (True, sorted(FOUR))
    assert host.versions() == {NEW}
    assert host.entry()["packages"] == host.entry()["holds"] == host.read()["holds"] == sorted(FOUR)
    again = host.bring(hold=list(FOUR))
    assert not again["changed"]
    assert host.log() == [], "no network, no refresh"


def test_check_mode_changes_nothing_and_takes_no_network(host: Host) -> None:
    assert host.bring(check=True, hold=list(FOUR))["changed"]
    assert host.log() == []
    assert not host.owned.exists()


def test_it_is_noted_before_it_is_there(host: Host) -> None:
    host.write(fails="E: Sub-process /usr/bin/dpkg returned an error code (1)")
    result = host.bring()
    assert result["failed"]
    assert result["reason"] == "install"
    assert result["half_configured"] == sorted(FOUR)
    assert "Half configured now: " in result["msg"]
    assert host.entry()["packages"] == sorted(FOUR)
    # The next run finishes it.
    host.write(fails="")
    again = host.bring()
    assert again["changed"]
    assert "Finished an interrupted installation" in str(again["warnings"])
    assert {status for status, _ in host.read()["packages"].values()} == {"ii"}


def test_b7_one_that_differs_is_put_right_in_both_directions(host: Host) -> None:
    host.has(*FOUR)
    host.has(FOUR[3], version="1.21.0-1")
    refused = host.bring()
    assert refused["reason"] == "downgrade"
    assert f"An older version would come of {FOUR[3]}" in refused["msg"]
    assert host.bring(allow_downgrade=True)["changed"]
    assert host.versions() == {NEW}
    assert not host.owned.exists(), "they were the user's and still are"


def test_b7_somebody_elses_hold_is_refused_and_stays(host: Host) -> None:
    host.has(*FOUR)
    host.write(holds=[FOUR[3], "linux-image-amd64"])
    result = host.bring(hold=list(FOUR))
    assert (result["reason"], result["held"]) == ("held", [FOUR[3]])
    assert f"`apt-mark unhold {FOUR[3]}`" in result["msg"]
    assert host.versions() == {OLD}
    assert host.read()["holds"] == [FOUR[3], "linux-image-amd64"]


def test_b7_our_own_holds_are_let_go_for_our_upgrade_and_set_again(host: Host) -> None:
    host.bring(hold=list(FOUR))
    host.has(*FOUR)
    assert host.bring(hold=list(FOUR))["changed"]
    assert host.versions() == {NEW}
    assert host.read()["holds"] == sorted(FOUR)
    host.has(*FOUR)
    host.write(fails="E: broken")
    assert host.bring(hold=list(FOUR))["failed"]
    assert host.read()["holds"] == sorted(FOUR), "after a failure too"


def test_b7_what_made_room_for_a_package_of_another_name_is_held_no_more(host: Host) -> None:
    host.bring(hold=list(FOUR))
    host.write(offers={**host.read()["offers"], "another": {"version": NEW}})
    result = host.bring(names=["another"], replaces=[FOUR[0]], hold=["another"])
    assert result.get("changed"), result
    assert host.read()["holds"] == host.entry()["holds"] == sorted(["another", *FOUR[1:]])


def test_b7_what_the_user_held_before_us_is_not_ours(host: Host) -> None:
    host.has(*FOUR, version=NEW)
    host.write(holds=[FOUR[0]])
    assert host.bring(hold=list(FOUR))["changed"]
    assert host.entry()["holds"] == sorted(FOUR[1:])
    assert host.entry()["packages"] == []
    # No hold is wanted any more: ours go, the user's stays.
    assert host.bring()["changed"]
    assert host.read()["holds"] == [FOUR[0]]
    assert host.entry()["holds"] == []
    assert not host.bring()["changed"]


def test_b7_nothing_of_the_users_goes_but_what_is_named(host: Host) -> None:
    host.has("nvidia-docker2", version="2.6")
    offers = host.read()["offers"]
    offers[FOUR[0]]["breaks"] = ["theirs"]
    host.write(offers=offers)
    result = host.bring()
    assert result["reason"] == "removal"
    assert "apt would remove theirs" in result["msg"]
    del offers[FOUR[0]]["breaks"]
    host.write(offers=offers)
    assert host.bring(replaces=["nvidia-docker2", "not-here"])["changed"]
    assert "nvidia-docker2" not in host.read()["packages"]
    assert "theirs" in host.read()["packages"]


def test_b6_a_held_lock_is_named_and_nothing_is_done(host: Host) -> None:
    child = hold(host.lock)
    try:
        result = host.bring(lock_timeout=0)
    finally:
        end(child)
    assert result["reason"] == "lock"
    assert "is held by python" in result["msg"]
    assert f"(process {child.pid})" in result["msg"]
    assert host.log() == []
    assert host.lock.exists()


def test_b6_a_foreign_source_that_fails_is_a_warning(host: Host) -> None:
    host.write(update="E: The repository 'https://foreign.example x Release' is not signed.")
    result = host.bring(repositories=["not-here"])
    assert result["changed"]
    assert "was left out: The repository 'https://foreign.example x Release'" in str(result["warnings"])


def test_b1_sources_that_apt_cannot_read_are_named(host: Host) -> None:
    host.write(
        update="E: Malformed entry 1 in list file /etc/apt/x.list\nE: The list of sources could not be read."
    )
    result = host.bring()
    assert result["reason"] == "repository"
    assert "Malformed entry 1 in list file /etc/apt/x.list" in result["msg"]


def test_half_configured_packages_of_somebody_else_are_theirs(host: Host) -> None:
    host.has("mysql", status="iF")
    result = host.bring()
    assert (result["reason"], result["half_configured"]) == ("half-configured", ["mysql"])
    assert host.log() == []


def test_half_configured_for_good_is_said(host: Host) -> None:
    host.has(FOUR[0], status="iF")
    host.write(stuck=True)
    result = host.bring()
    assert (result["reason"], result["half_configured"]) == ("half-configured", [FOUR[0]])
    assert "dpkg --configure -a does not finish" in result["msg"]


@pytest.mark.parametrize(
    ("state", "where"),
    [
        (
            {"sizes": f"'https://x.example/a.deb' a.deb {900 * 10**12} SHA256:1"},
            "/var/cache/apt/archives has",
        ),
        ({"unpacked": 900 * 10**9}, "/usr has"),
    ],
)
def test_a_full_disk_is_refused_before_the_download(host: Host, state: dict[str, Any], where: str) -> None:
    host.write(**state)
    result = host.bring()
    assert result["reason"] == "disk"
    assert where in result["msg"]
    assert host.versions() == set()
    assert not host.owned.exists()


def test_archives_that_are_here_already_need_no_room(host: Host) -> None:
    host.write(sizes="'file:/srv/a.deb' a.deb 900000000000000 SHA256:1")
    assert host.bring()["changed"]


def test_what_apt_would_do_is_asked_once(host: Host) -> None:
    assert host.bring()["changed"]
    assert sum(" install " in line for line in host.log()) == 2


def test_an_apt_that_is_not_understood_is_not_let_loose(host: Host) -> None:
    host.write(sizes="1 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.", listed=False)
    result = host.bring()
    assert result["reason"] == "unread"
    assert "lists other packages than it counts" in result["msg"]
    assert host.versions() == set()


def test_what_no_source_has_is_said_with_the_likely_cause(host: Host) -> None:
    host.write(
        update="W: Failed to fetch http://x.example/InRelease  Temporary failure resolving 'x.example'"
    )
    result = host.bring(names=["unheard-of=1"])
    assert result["reason"] == "unavailable"
    assert (
        "Unable to locate package unheard-of=1. Perhaps because names are not resolved here" in result["msg"]
    )


def test_proxy_and_certificates_are_given_and_on_no_command_line(host: Host) -> None:
    host.bring(proxy="http://user:secret@proxy.example:3128", ca_file="/etc/ca.pem")
    given = host.read()["given"]
    assert 'Acquire::https::Proxy "http://user:secret@proxy.example:3128";' in given
    assert 'Acquire::http::Proxy "http://user:secret@proxy.example:3128";' in given
    assert 'Acquire::https::CAInfo "/etc/ca.pem";' in given
    assert "secret" not in str(host.read()["log"])
    assert any("update" in line for line in host.log())


def test_a_folder_of_packages_takes_the_place_of_repositories(host: Host, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    refused = host.bring(folder=str(folder))
    assert refused["reason"] == "unavailable"
    assert f"has no {FOUR[0]}_{NEW}_*.deb" in refused["msg"]
    assert not any("update" in line for line in host.log()), "no network"


def test_users_configuration_and_needrestart_widen_nothing(host: Host) -> None:
    host.bring()
    called = [line for line in host.log() if line.startswith("apt-get")]
    assert called
    assert all("APT::Get::AutomaticRemove=false" in line for line in called)
    assert all("DPkg::Lock::Timeout=" in line for line in called)
