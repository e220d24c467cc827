"""Field case C10: a running container keeps its card over `systemctl daemon-reload`.

The fault: systemd sets a container's device rules anew at every reload, from what it was told when the
container started. A card that the toolkit's hook adds behind runc's back (`--gpus` before Docker 29.2) was
never told. One that runc adds itself (CDI, `--runtime=nvidia`) was; an older runc left out what has no name
below /dev/char, which is why the toolkit can make those links.

What cannot be shown here: this host's systemd (cgroup v1, in a container) does not set the rules anew, so
the card is never really lost. Tested is what it would set: the rules that it was told.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.live.lab import FILE, IMAGE, RESTART, Host, reach

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "try-card"
# As `nvidia-ctk system create-dev-char-symlinks --create-all` makes them.
LINK = """
mkdir -p /dev/char
for node in /dev/nvidia*; do
  [ ! -c $node ] || ln -sfn ..${node#/dev} /dev/char/$(stat -c %Hr:%Lr $node)
done
"""
UNLINK = """
for node in /dev/nvidia*; do
  [ ! -c $node ] || rm -f /dev/char/$(stat -c %Hr:%Lr $node)
done
"""
WAYS = {
    "cdi": "--device nvidia.com/gpu=all",
    "runtime": "--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all",
    "hook": "--gpus all",
}


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """Give a host whose Docker puts containers into systemd's hands, as Docker does on cgroup v2."""
    with reach() as reached:
        settings = json.loads(reached.sh(f"cat {FILE} 2>/dev/null || echo '{{}}'"))
        settings["exec-opts"] = ["native.cgroupdriver=systemd"]
        reached.has(json.dumps(settings))
        ran = reached.role()
        assert ran.status == 0, ran.printed
        reached.sh(f"{RESTART}; {IMAGE}")
        assert reached.info()["CgroupDriver"] == "systemd"
        yield reached
        reached.sh(f"{UNLINK} docker rm -f {NAME}; docker image rm gpu-host-test-live")


def started(host: Host, way: str) -> None:
    run = f"docker run -d --name {NAME} {WAYS[way]} gpu-host-test-live sleep 600"
    host.sh(f"docker rm -f {NAME} 2>/dev/null; {run}")


def told(host: Host) -> list[str]:
    """Return which of the card's nodes systemd knows that this container may use."""
    unit = f"docker-$(docker inspect -f '{{{{.Id}}}}' {NAME}).scope"
    rules = host.sh(f"systemctl show -p DeviceAllow {unit}").split()
    return sorted(word.rsplit("/", 1)[-1] for word in rules if "/dev/char/195:" in word)


def sees(host: Host) -> str:
    """Return what the driver's tool and the kernel say inside."""
    # There is no driver behind the node: where it may be opened the kernel says ENXIO, else EPERM.
    opened = f"docker exec {NAME} sh -c 'exec 3</dev/nvidia0' 2>&1 || true"
    assert "No such device or address" in host.sh(opened)
    return host.sh(f"docker exec {NAME} nvidia-smi -L")


@pytest.mark.parametrize("links", [LINK, UNLINK], ids=["links", "no-links"])
@pytest.mark.parametrize("way", ["cdi", "runtime"])
def test_c10_a_card_by_cdi_or_runtime_is_known_to_systemd_and_stays(host: Host, way: str, links: str) -> None:
    host.sh(links)
    started(host, way)
    before = sees(host)
    assert before.count("GPU ") == 2
    known = told(host)
    # Which control nodes come along is the specification's.
    assert {"195:0", "195:1", "195:255"} <= set(known)
    host.sh("systemctl daemon-reload")
    assert sees(host) == before
    assert told(host) == known


def test_c10_a_card_by_the_hook_is_not_and_the_role_says_so(host: Host) -> None:
    host.sh(LINK)
    started(host, "hook")
    assert sees(host).count("GPU ") == 2
    assert told(host) == []
    ran = host.role("--check")
    assert ran.status == 0, ran.printed
    assert "`systemctl daemon-reload` takes the card away" in ran.printed


def test_c10_a_second_run_of_the_role_reloads_nothing(host: Host) -> None:
    started(host, "cdi")
    asked = "systemctl show -p UnitsLoadTimestampMonotonic"
    before = host.sh(asked)
    ran = host.role()
    assert (ran.status, ran.result["changed"]) == (0, False), ran.printed
    assert host.sh(asked) == before
    assert sees(host).count("GPU ") == 2
    host.sh("systemctl daemon-reload")
    assert host.sh(asked) != before, "this question does not see a reload"
