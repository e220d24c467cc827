"""The toolkit on a host with history: field cases B1, B3, B7, D6 and C10, and the security floor.

Needs what lab.py says, and a driver that works. At the end the role runs with the inventory's settings.
"""

from __future__ import annotations

import base64
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import lab

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live.lab import Host, Ran

PLAY = "- {hosts: all, gather_facts: false, become: true, roles: [nvidia_container_toolkit]}\n"
NAMES = (
    "libnvidia-container-tools",
    "libnvidia-container1",
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
)
FOUR = " ".join(NAMES)
WANTED = "1.20.2-1"
SPEC = "/var/run/cdi/nvidia.yaml"
LISTS = "/etc/apt/sources.list.d"
# The stand-in repository, as every simulated host reaches it.
URL = "http://toolkit-repo:8000"
KEYRING = "/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg"
RULE = "/etc/udev/rules.d/71-nvidia-dev-char.rules"
# apt reads all of its sources for this, and none of them over the network.
READ = "apt-get indextargets > /dev/null 2> /root/said || cat /root/said"
# What one test or another leaves behind.
CLEAN = f"""
cd {LISTS} && rm -f nvidia-docker.list* libnvidia-container.list nvidia-container-toolkit.list third.list
apt-mark unhold {FOUR} > /dev/null 2>&1 || true
rm -rf /root/toolkit /root/said /etc/cdi /var/run/cdi/nvidia.json* /var/run/cdi/mine.yaml
! dpkg-query -W nvidia-docker2 > /dev/null 2>&1 || dpkg --purge nvidia-docker2
"""


def held(host: Host) -> list[str]:
    """Return which of the four are held; the driver's packages are held too."""
    return [name for name in host.sh("apt-mark showhold").split() if name in NAMES]


@pytest.fixture(scope="module")
def reached() -> Iterator[Host]:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="gh-") as folder:
        # An installation waits for those of other tests on a busy machine.
        patch.setattr(lab, "LIMIT_S", 240)
        play = Path(folder, "play.yml")
        play.write_text(PLAY, encoding="utf-8")
        with lab.reach() as host:
            mine = replace(host, play=play)
            yield mine
            mine.sh(CLEAN)
            # Where the packages are right the role asks for no source: from nothing it brings all of it.
            ok(mine.role(nvidia_container_toolkit_state="absent"))
            ok(mine.role())


@pytest.fixture
def host(reached: Host) -> Host:
    """The toolkit as the role leaves it."""
    reached.sh(CLEAN)
    if versions(reached) != dict.fromkeys(NAMES, WANTED) or not reached.sh(f"ls {SPEC} || true"):
        ok(reached.role())
    return reached


@pytest.fixture
def bare(reached: Host) -> Host:
    """No toolkit, and nothing of the role's."""
    reached.sh(CLEAN)
    if versions(reached):
        ok(reached.role(nvidia_container_toolkit_state="absent"))
        assert versions(reached) == {}
    return reached


def ok(ran: Ran) -> Ran:
    assert ran.status == 0, ran.printed
    return ran


def changed(ran: Ran) -> bool:
    """Tell whether the run changed anything, by its recap."""
    return '"changed": 0,' not in ran.printed.partition('"stats"')[2]


def versions(host: Host) -> dict[str, str]:
    ask = "dpkg-query -W -f '${Package} ${db:Status-Status} ${Version}\\n'"
    rows = [line.split() for line in host.sh(f"{ask} {FOUR} 2>&1 || true").splitlines()]
    return {row[0]: row[2] for row in rows if row[1:2] == ["installed"]}


def write(host: Host, path: str, text: str) -> None:
    encoded = base64.b64encode(text.encode()).decode()
    host.sh(f"mkdir -p {path.rpartition('/')[0]}; echo '{encoded}' | base64 -d > {path}")


def read(host: Host, path: str) -> str:
    return base64.b64decode(host.sh(f"base64 {path}")).decode()


def test_b1_an_old_entry_beside_ours_is_put_aside_and_comes_back(bare: Host) -> None:
    # Older apts refuse an entry without a key beside one with a key too; apt 3.0 does with two keys only.
    old = {
        "nvidia-docker.list": f"deb {URL} /\n"
        "#deb https://nvidia.github.io/nvidia-docker/experimental/$(ARCH) /\n"
        "deb https://nvidia.github.io/nvidia-container-runtime/stable/ubuntu18.04/$(ARCH) /\n",
        "libnvidia-container.list": f"deb [signed-by=/usr/share/keyrings/other.gpg] {URL} /\n",
        "nvidia-container-toolkit.list": f"deb [signed-by={KEYRING}] {URL}/ /\n",
        "third.list": f"# deb {URL} /\n",
        "nvidia-docker.list.save": f"deb {URL} /\n",
    }
    for name, text in old.items():
        write(bare, f"{LISTS}/{name}", text)
    assert "Conflicting values set for option Signed-By" in bare.sh(READ)
    ran = ok(bare.role())
    assert f"{LISTS}/nvidia-docker.list" in ran.printed
    assert bare.sh(READ) == ""
    left = bare.sh(f"ls {LISTS} | grep nvidia").split()
    assert left == ["nvidia-container-toolkit.sources", "nvidia-docker.list.save"]
    assert versions(bare) == dict.fromkeys(NAMES, WANTED)
    assert not changed(ok(bare.role()))
    ok(bare.role(nvidia_container_toolkit_state="absent"))
    assert {name: read(bare, f"{LISTS}/{name}") for name in old} == old
    assert bare.sh(f"ls {LISTS}/nvidia-container-toolkit.sources 2> /dev/null || true") == ""


def test_b3_error_pages_in_the_place_of_lists(bare: Host) -> None:
    comments = "# Unsupported distribution!\n# Check https://nvidia.github.io/nvidia-docker\n"
    page = "<!DOCTYPE html>\n<html><body>404</body></html>\n"
    write(bare, f"{LISTS}/nvidia-docker.list", comments)
    write(bare, f"{LISTS}/libnvidia-container.list", page)
    assert "could not be read" in bare.sh(READ)
    ran = ok(bare.role())
    assert "nvidia-docker.list: no line in it names a repository" in ran.printed
    assert f"{LISTS}/libnvidia-container.list" in ran.printed
    assert bare.sh(READ) == ""
    assert read(bare, f"{LISTS}/nvidia-docker.list") == comments
    assert versions(bare) == dict.fromkeys(NAMES, WANTED)
    ok(bare.role(nvidia_container_toolkit_state="absent"))
    assert read(bare, f"{LISTS}/libnvidia-container.list") == page


SKEWED = f"""
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -qq --allow-downgrades $(printf '%s=1.20.1-1 ' {" ".join(NAMES[:3])}) > /dev/null
"""


def test_b7_a_skew_is_repaired_and_its_origin_said(host: Host) -> None:
    host.sh(SKEWED)
    assert len(set(versions(host).values())) == 2
    ran = ok(host.role())
    assert "libnvidia-container1 1.20.1-1" in ran.printed
    assert f"from {URL}" in ran.printed
    assert versions(host) == dict.fromkeys(NAMES, WANTED)


def test_b7_somebody_elses_hold_is_never_released(host: Host) -> None:
    host.sh(f"{SKEWED}apt-mark hold libnvidia-container1 > /dev/null")
    before = versions(host)
    ran = host.role()
    assert ran.status != 0
    assert "libnvidia-container1" in ran.result["msg"]
    assert "held" in ran.result["msg"] or "hold" in ran.result["msg"]
    assert versions(host) == before
    assert held(host) == ["libnvidia-container1"]


OBSOLETE = """
mkdir -p /root/toolkit/tree/DEBIAN
cat > /root/toolkit/tree/DEBIAN/control <<END
Package: nvidia-docker2
Version: 2.13.0-1
Architecture: all
Maintainer: gpu-host <gpu-host@localhost>
Depends: nvidia-container-toolkit (>= 1.13.0-1)
Description: nvidia-docker wrapper (simulated)
END
dpkg-deb --build /root/toolkit/tree /root/toolkit/old.deb > /dev/null
dpkg -i /root/toolkit/old.deb > /dev/null
"""


def test_b7_an_obsolete_package_is_reported_and_stays(host: Host) -> None:
    host.sh(OBSOLETE)
    ran = ok(host.role())
    assert "Obsolete and left alone: nvidia-docker2 2.13.0-1" in ran.printed
    assert not changed(ran)
    assert "2.13.0-1" in host.sh("dpkg-query -W nvidia-docker2")


ANOTHER = "sed -i 's#hostPath: .*libnvidia-ml.*#hostPath: /usr/lib/libnvidia-ml.so.535.1#'"
STALE = {
    "a library that is gone": f"{ANOTHER} {SPEC}",
    "cut off": f"head -c 150 {SPEC} > /root/said; cat /root/said > {SPEC}",
    "for root alone": f"chmod 600 {SPEC}",
    "no uvm": f"sed -i '/nvidia-uvm$/d' {SPEC}",
    "yaml and json": "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.json 2> /dev/null",
    "an older one in /etc/cdi": "nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml 2> /dev/null\n"
    f"{ANOTHER} /etc/cdi/nvidia.yaml",
}


@pytest.mark.parametrize("case", STALE)
def test_d6_a_stale_specification_is_replaced(host: Host, case: str) -> None:
    host.sh(STALE[case])
    assert changed(ok(host.role()))
    named = host.sh("nvidia-ctk cdi list 2> /dev/null").split()
    assert {"nvidia.com/gpu=0", "nvidia.com/gpu=1", "nvidia.com/gpu=all"} <= set(named)
    assert host.sh(f"stat -c %a {SPEC}").strip() == "644"
    everywhere = host.sh("cat /var/run/cdi/*.yaml $(ls /etc/cdi/*.yaml 2> /dev/null)")
    assert "libnvidia-ml.so.535.1" not in everywhere
    assert "/dev/nvidia-uvm" in everywhere


def test_d6_a_persons_specification_is_left_alone_and_named(host: Host) -> None:
    mine = "# mine\ncdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: mine\n  containerEdits:\n"
    mine += "    deviceNodes:\n    - path: /dev/nvidia7\n"
    write(host, "/etc/cdi/mine.yaml", mine)
    ran = ok(host.role())
    assert "/etc/cdi/mine.yaml was made by hand and does not fit this machine" in ran.printed
    assert not changed(ran)
    assert read(host, "/etc/cdi/mine.yaml") == mine
    # Beside the unit's own and for the same devices it makes both void: not ours to settle, and said.
    twin = mine.replace("name: mine", "name: all").replace("nvidia7", "nvidia0")
    write(host, "/var/run/cdi/mine.yaml", twin)
    ran = host.role()
    assert ran.status != 0
    assert "/var/run/cdi/mine.yaml" in ran.result["msg"]
    assert read(host, "/var/run/cdi/mine.yaml") == twin


LINKED = """for node in /dev/nvidia*; do
  ! [ -c $node ] || readlink -e /dev/char/$(stat -c %Hr:%Lr $node) || echo none
done"""


def test_c10_nodes_have_links_for_systemd_now_and_at_the_next_boot(host: Host) -> None:
    host.sh(f"rm -f {RULE} /dev/char/195:* /dev/char/510:*; mkdir -p {RULE.rpartition('/')[0]}")
    assert changed(ok(host.role()))
    linked = host.sh(LINKED).split()
    assert "none" not in linked
    assert {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"} <= set(linked)
    assert "create-dev-char-symlinks --create-all" in read(host, RULE)
    assert RULE in read(host, "/var/lib/gpu-host/owned.json")
    assert not changed(ok(host.role()))


def test_a_vulnerable_version_is_refused_with_its_holes_and_taken_when_allowed(host: Host) -> None:
    pin: dict[str, Any] = {"nvidia_container_toolkit_version": "1.17.8-1"}
    ran = host.role(**pin)
    assert ran.status != 0
    assert "CVE-2026-24260" in ran.result["msg"]
    assert versions(host) == dict.fromkeys(NAMES, WANTED)
    ok(host.role(**pin, nvidia_container_toolkit_allow_vulnerable=True))
    assert versions(host) == dict.fromkeys(NAMES, "1.17.8-1")
    # It has no unit that makes the specification at every boot.
    assert "/dev/nvidia1" in read(host, "/etc/cdi/nvidia.yaml")


def test_b7_our_own_hold_is_set_released_for_an_upgrade_and_given_back(host: Host) -> None:
    assert changed(ok(host.role(nvidia_container_toolkit_hold=True)))
    assert held(host) == list(NAMES)
    assert not changed(ok(host.role(nvidia_container_toolkit_hold=True)))
    ok(host.role(nvidia_container_toolkit_hold=True, nvidia_container_toolkit_version="1.20.1-1"))
    assert versions(host) == dict.fromkeys(NAMES, "1.20.1-1")
    assert held(host) == list(NAMES)
    ok(host.role(nvidia_container_toolkit_state="absent"))
    assert held(host) == []
    assert host.sh(f"ls {RULE} 2> /dev/null || true") == ""


def test_check_mode_and_a_wrong_fingerprint_leave_a_bare_host_as_it_was(bare: Host) -> None:
    folders = f"{LISTS} /usr/share/keyrings /var/lib/gpu-host /etc/cdi /var/run/cdi /etc/udev"
    look = f"find {folders} 2> /dev/null | sort"
    before = bare.sh(look)
    assert changed(ok(bare.role("--check")))
    assert bare.sh(look) == before
    ran = bare.role(nvidia_container_toolkit_key_fingerprint="0" * 40)
    assert ran.status != 0
    assert "0" * 40 in ran.result["msg"]
    assert bare.sh(look) == before
    assert versions(bare) == {}


FETCH = f"""
mkdir -p /root/toolkit
python3 - <<END
import urllib.request
for name in "{FOUR}".split():
    file = f"{{name}}_{WANTED}_amd64.deb"
    urllib.request.urlretrieve(f"{URL}/{{file}}", f"/root/toolkit/{{file}}")
END
"""


def test_a_folder_of_packages_takes_the_place_of_a_repository(bare: Host) -> None:
    bare.sh(FETCH)
    nowhere = {
        "nvidia_container_toolkit_packages_folder": "/root/toolkit",
        "nvidia_container_toolkit_repository_url": "http://127.0.0.1:9",
        "nvidia_container_toolkit_key_url": "http://127.0.0.1:9/key",
    }
    ok(bare.role(**nowhere))
    assert versions(bare) == dict.fromkeys(NAMES, WANTED)
    assert bare.sh(f"ls {LISTS}/nvidia-container-toolkit.sources 2> /dev/null || true") == ""
    assert not changed(ok(bare.role(**nowhere)))
