"""Removal: exactly what the ownership file says, never a package of the user's, and then nothing is ours."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.plugins.modules import run_module

if TYPE_CHECKING:
    from pathlib import Path

# The host's packages are files in a folder; ufw needs iptables, and "held" makes apt refuse.
DPKG = """#!/bin/sh
for name in "$@"; do [ -e "$HOST/$name" ] && echo "$name installed"; done; exit 1
"""
APT = """#!/bin/sh
echo "$*" >> "$HOST.log"
[ -e "$HOST/held" ] && { echo 'E: Held packages were changed' >&2; exit 100; }
for name in "$@"; do
    [ -e "$HOST/$name" ] || continue
    gone="$name"; [ "$name" = iptables ] && [ -e "$HOST/ufw" ] && gone="iptables ufw"
    for one in $gone; do
        case "$*" in *--simulate*) echo "Remv $one [1.0]" ;; *) rm -f "$HOST/$one" ;; esac
    done
done
"""
MARK = """#!/bin/sh
[ "$1" = showhold ] && { cat "$HOST.holds"; exit; }
echo "mark $*" >> "$HOST.log"
"""


class Host:
    def __init__(self, folder: Path) -> None:
        self.path, self.host, self.file = folder / "owned.json", folder / "host", folder / "ours.list"
        self.bin = folder / "bin"
        self.host.mkdir()
        self.holds = folder / "host.holds"
        self.holds.write_text("")
        self.bin.mkdir()
        for name, text in {"dpkg-query": DPKG, "apt-get": APT, "apt-mark": MARK}.items():
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        self.install("docker.io", "iptables", "theirs")
        self.file.write_text("")
        entry = {
            "packages": ["docker.io", "iptables", "gone"],
            "files": [str(self.file), str(folder / "no")],
            "holds": ["docker.io"],
            "settings": {},
        }
        document = {"schema": 1, "roles": {"docker_engine": entry, "nvidia_driver": {"packages": ["x"]}}}
        self.path.write_text(json.dumps(document))

    def install(self, *names: str) -> None:
        for name in names:
            (self.host / name).write_text("")

    def packages(self) -> list[str]:
        return sorted(path.name for path in self.host.iterdir())

    def log(self) -> str:
        log = self.host.with_name("host.log")
        return log.read_text() if log.exists() else ""

    def removed(self, *, check: bool = False, before: str = "", **parameters: Any) -> dict[str, Any]:
        given = {"role": "docker_engine", "path": str(self.path), **parameters}
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "HOST": str(self.host)}
        return run_module("gpu_host_removed", {**given, "_ansible_check_mode": check}, before=before, env=env)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_exactly_what_is_ours_goes(host: Host) -> None:
    result = host.removed()
    assert (result["changed"], result["packages"], result["kept"]) == (True, ["docker.io", "iptables"], {})
    assert result["files"] == [str(host.file)]
    assert host.packages() == ["theirs"]
    assert not host.file.exists()
    assert json.loads(host.path.read_text())["roles"] == {"nvidia_driver": {"packages": ["x"]}}
    assert "--yes purge docker.io iptables" in host.log()


def test_a_second_run_changes_nothing_and_asks_nothing(host: Host) -> None:
    host.removed()
    before = host.log()
    assert not host.removed()["changed"]
    assert host.log() == before


def test_where_nothing_is_ours_any_more_no_file_is_left(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    host = Host(tmp_path / "lib")
    host.removed()
    assert host.path.exists()
    host.removed(role="nvidia_driver")
    assert not host.path.exists()
    assert host.path.parent.exists(), "other things are in that folder"


def test_check_mode_removes_nothing(host: Host) -> None:
    owned, there = host.path.read_bytes(), host.packages()
    assert host.removed(check=True)["packages"] == ["docker.io", "iptables"]
    assert (host.path.read_bytes(), host.packages(), host.file.exists()) == (owned, there, True)
    assert "--yes" not in host.log()
    assert "mark" not in host.log()


def test_what_the_users_packages_need_stays_and_is_left_to_apt(host: Host) -> None:
    host.install("ufw")
    result = host.removed(purge=False)
    assert (result["packages"], result["kept"]) == (["docker.io"], {"iptables": ["ufw"]})
    assert host.packages() == ["iptables", "theirs", "ufw"]
    assert "--yes remove docker.io\nmark auto iptables\n" in host.log()
    assert "because ufw would go along" in str(result["warnings"])
    assert not host.removed()["changed"]


def test_the_users_apt_configuration_widens_nothing(host: Host) -> None:
    host.removed()
    assert all("APT::Get::AutomaticRemove=false" in line for line in host.log().splitlines())


def test_an_apt_that_refuses_is_quoted_and_nothing_is_forgotten(host: Host) -> None:
    host.install("held")
    before = host.path.read_bytes()
    result = host.removed()
    assert result["failed"]
    assert "docker_engine installed: Held packages were changed. Needed is" in result["msg"]
    assert host.path.read_bytes() == before
    assert host.file.exists()


def test_without_apt_it_says_so(host: Host) -> None:
    # Hidden, and not only taken from PATH: a module also looks into /usr/sbin by itself.
    hide = (
        "plain = basic.AnsibleModule.get_bin_path\n"
        "basic.AnsibleModule.get_bin_path = lambda self, name, *more, **named: "
        "None if name in ('apt-get', 'dnf') else plain(self, name, *more, **named)"
    )
    assert "there is no dnf on this host" in host.removed(before=hide)["msg"]


def test_b7_our_own_holds_are_let_go_first(host: Host) -> None:
    host.holds.write_text("docker.io\niptables:amd64\ntheirs\n")
    result = host.removed()
    assert host.log().splitlines()[-2] == "mark unhold docker.io"
    assert (result["packages"], result["held"]) == (["docker.io"], ["iptables"])
    assert host.packages() == ["iptables", "theirs"], "iptables is ours and somebody else holds it"
    assert "because somebody on this host holds them: iptables" in str(result["warnings"])
    assert not host.removed()["changed"]


def test_a_damaged_ownership_file_is_refused(host: Host) -> None:
    host.path.write_text("{")
    assert "move it away" in host.removed()["msg"]
    assert host.packages() == ["docker.io", "iptables", "theirs"]


RPM = """#!/bin/sh
[ "$1" = -q ] || exit 1
for name in "$@"; do [ -e "$HOST/$name" ] && echo "$name installed"; done; exit 1
"""
DNF = """#!/bin/sh
echo "dnf $*" >> "$HOST.log"
case "$*" in
*--assumeno*)
    echo "Removing:"
    for name in "$@"; do
        [ -e "$HOST/$name" ] && echo " $name  x86_64  1-1  @x  1 k"
        [ "$name" = iptables ] && [ -e "$HOST/ufw" ] && echo " ufw  noarch  1-1  @x  1 k"
    done
    echo; exit 1 ;;
*"-y remove "*) for name in "$@"; do rm -f "$HOST/$name"; done ;;
esac
"""
NO_APT = (
    "plain = basic.AnsibleModule.get_bin_path\\n"
    "basic.AnsibleModule.get_bin_path = lambda self, name, *more, **named: "
    "None if name.startswith(('apt-', 'dpkg')) else plain(self, name, *more, **named)"
).replace("\\n", "\n")


def test_with_dnf_it_is_the_same(host: Host) -> None:
    for name, text in {"rpm": RPM, "dnf": DNF}.items():
        (host.bin / name).write_text(text)
        (host.bin / name).chmod(0o755)
    host.install("ufw")
    planned = host.removed(check=True, before=NO_APT)
    assert (planned["packages"], planned["kept"]) == (["docker.io"], {"iptables": ["ufw"]})
    result = host.removed(before=NO_APT)
    assert (result["packages"], result["kept"]) == (["docker.io"], {"iptables": ["ufw"]})
    assert host.packages() == ["iptables", "theirs", "ufw"]
    lines = host.log().splitlines()
    assert lines[-2].endswith("-C -y remove docker.io")
    assert lines[-1].endswith("mark remove iptables"), "left to autoremove"
    assert all("clean_requirements_on_remove=False" in line for line in lines)
    assert not host.removed(before=NO_APT)["changed"]
