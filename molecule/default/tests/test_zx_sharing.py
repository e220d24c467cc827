"""Cards for pairs: real containers on two simulated cards, given by gpu-run to four users.

Named to run after what looks at the proven host and before what breaks it; it takes back what it brought.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lab
import pytest

Host = Any
IMAGE = "gpu-host/race:latest"
FIRST, SECOND = (f"GPU-51515151-0000-4000-8000-00000000000{number}" for number in (0, 1))
PAIRS = {"alpha": {"users": ["u1", "u2"], "cards": [0]}, "beta": {"users": ["u3", "u4"], "cards": [1]}}
SETTINGS = {"gpu_sharing_pairs": PAIRS, "gpu_sharing_docker_group": True, "gpu_sharing_create_users": True}
PLAYBOOK = """
- hosts: gpu_hosts
  gather_facts: false
  become: true
  tasks:
    - ansible.builtin.import_role: {name: gpu_sharing}
"""
CONFIG = "/etc/gpu-host/simulated"
# The same two cards, found by the driver in the other order.
SWAPPED = f"""
[card 0]
minor = 1
uuid = {SECOND}
pci_bus_id = 00000000:AF:00.0

[card 1]
minor = 0
uuid = {FIRST}
pci_bus_id = 00000000:3B:00.0
"""
# nvidia-smi as it is, but for a list of processes: the simulated card has none.
LISTS = """#!/bin/sh
case "$*" in *query-compute-apps*) echo "{uuid}, {pid}, python3" ;; *) exec /usr/bin/nvidia-smi "$@" ;; esac
"""


@pytest.fixture(scope="module")
def role(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sharing") / "sharing.yml"
    path.write_text(PLAYBOOK, encoding="utf-8")
    return path


def dealt(role: Path, **settings: Any) -> Any:
    return lab.play(role, "-e", json.dumps({**SETTINGS, **settings}))


@pytest.fixture(scope="module", autouse=True)
def shared(host: Host, role: Path) -> Iterator[Host]:
    """Deal the cards out, and take everything back."""
    done = dealt(role)
    assert done.returncode == 0, done.stdout[-3000:]
    yield host
    stop_all(host)
    done = dealt(role, gpu_sharing_state="absent")
    assert done.returncode == 0, done.stdout[-3000:]
    host.run("for user in u1 u2 u3 u4; do userdel -r $user; done")


@pytest.fixture(autouse=True)
def free(host: Host) -> Iterator[None]:
    """Leave no container, and no other list of processes."""
    yield
    stop_all(host)
    host.run("rm -f /usr/local/bin/nvidia-smi")


def stop_all(host: Host) -> None:
    host.run("docker ps -aq --filter label=gpu-host.card | xargs -r docker rm -f")


def gpu_run(host: Host, user: str, *words: str) -> Any:
    return host.run(f"cd /tmp && runuser -u {user} -- gpu-run {shlex.join(words)} < /dev/null")


def started(host: Host, user: str, *words: str) -> str:
    done = gpu_run(host, user, "--detach", *words, IMAGE, "sleep", "300")
    assert done.rc == 0, done.stderr
    return str(done.stdout.strip())


def who(host: Host) -> dict[str, Any]:
    cards = json.loads(host.check_output("gpu-who --json"))["cards"]
    return {card["uuid"]: card for card in cards}


def test_a_second_run_changes_nothing(name: str, role: Path) -> None:
    done = dealt(role)
    recap = next(line for line in done.stdout.splitlines() if line.startswith(name) and "changed=" in line)
    assert "changed=0" in recap


@pytest.mark.parametrize(("user", "uuid"), [("u1", FIRST), ("u2", FIRST), ("u4", SECOND)])
def test_one_gets_one_s_own_card_as_oneself(host: Host, user: str, uuid: str) -> None:
    done = gpu_run(host, user, IMAGE, "sh", "-c", "nvidia-smi -L; id -u; exit 7")
    assert done.rc == 7, done.stderr
    assert done.stdout.count("UUID") == 1
    assert uuid in done.stdout
    assert done.stdout.split()[-1] == host.check_output(f"id -u {user}")
    assert f"""'"device={uuid}"'""" in done.stderr


def test_the_command_that_is_printed_can_be_run(host: Host) -> None:
    printed = gpu_run(host, "u1", "--dry-run", IMAGE, "nvidia-smi", "-L").stdout
    done = host.run(f"cd /tmp && runuser -u u1 -- {printed.strip()} < /dev/null")
    assert FIRST in done.stdout
    assert SECOND not in done.stdout


def test_two_hundred_attempts_and_never_two_containers_on_a_card(host: Host) -> None:
    attempt = (
        "cd /tmp; user=u$(( $1 % 4 + 1 )); "
        f"runuser -u $user -- gpu-run {IMAGE} sleep 0.3 < /dev/null 2> /dev/null; echo $user $?"
    )
    events = "docker events --filter type=container --filter label=gpu-host.card --format '{{json .}}'"
    said = host.check_output(
        f"{events} > /root/events & watcher=$!; sleep 1; "
        f"seq 200 | xargs -P 20 -n 1 sh -c {shlex.quote(attempt)} sh; sleep 1; kill $watcher"
    )
    statuses = [line.split() for line in said.splitlines()]
    assert len(statuses) == 200
    assert {status for _, status in statuses} <= {"0", "1"}, said
    holding: dict[str, str | None] = {FIRST: None, SECOND: None}
    given = {FIRST: 0, SECOND: 0}
    for line in host.file("/root/events").content_string.splitlines():
        event = json.loads(line)
        card, container = event["Actor"]["Attributes"]["gpu-host.card"], event["Actor"]["ID"]
        if event["Action"] == "start":
            assert holding[card] is None, f"{container} was given {card}, which {holding[card]} held"
            holding[card] = container
            given[card] += 1
        elif event["Action"] == "die":
            assert holding[card] == container
            holding[card] = None
    assert min(given.values()) > 0
    assert sum(given.values()) == sum(status == "0" for _, status in statuses)
    host.run("rm -f /root/events")


def test_a_held_card_is_refused_and_the_holder_named(host: Host) -> None:
    name = "held-by-u1"
    started(host, "u1", "--name", name)
    refused = gpu_run(host, "u2", IMAGE, "true")
    assert refused.rc == 1
    assert "held by u1 since" in refused.stderr
    assert name in refused.stderr
    assert "Ask u1" in refused.stderr
    forced = gpu_run(host, "u2", "--force", IMAGE, "nvidia-smi", "-L")
    assert forced.rc == 0
    assert "also used by u1 since" in forced.stderr


def test_a_neighbour_s_card_is_refused(host: Host) -> None:
    refused = gpu_run(host, "u3", "--card", "0", IMAGE, "true")
    assert refused.rc == 1
    assert "dealt to alpha (u1 and u2)" in refused.stderr
    stranger = gpu_run(host, "nobody", IMAGE, "true")
    assert stranger.rc == 1


def test_a_container_that_gpu_run_did_not_start_holds_its_card_too(host: Host) -> None:
    host.run_expect([0], f"docker run -d --rm --label gpu-host.card= --gpus '\"device=1\"' {IMAGE} sleep 300")
    assert gpu_run(host, "u3", IMAGE, "true").rc == 1
    assert gpu_run(host, "u1", IMAGE, "true").rc == 0


def listing(host: Host, uuid: str, pid: str) -> None:
    script = shlex.quote(LISTS.format(uuid=uuid, pid=pid))
    host.run_expect(
        [0], f"printf %s {script} > /usr/local/bin/nvidia-smi; chmod 755 /usr/local/bin/nvidia-smi"
    )


def test_a_process_outside_of_containers_keeps_the_card(host: Host) -> None:
    pid = host.check_output("runuser -u u4 -- sleep 300 > /dev/null 2>&1 & sleep 0.2; pgrep -n -u u4 sleep")
    try:
        listing(host, FIRST, pid)
        refused = gpu_run(host, "u1", IMAGE, "true")
        assert refused.rc == 1
        assert "held by u4 since" in refused.stderr
        assert f"process {pid}" in refused.stderr
        assert gpu_run(host, "u1", "--force", IMAGE, "true").rc == 0
        listing(host, SECOND, pid)
        assert gpu_run(host, "u4", IMAGE, "true").rc == 0, "one's own process is not in the way"
        assert gpu_run(host, "u3", IMAGE, "true").rc == 1
    finally:
        host.run(f"kill {pid}")


def test_a_process_in_a_container_is_that_container(host: Host) -> None:
    container = started(host, "u1")
    listing(host, FIRST, host.check_output(f"docker inspect --format={{{{.State.Pid}}}} {container}"))
    held = who(host)[FIRST]["held_by"]
    assert [holder["kind"] for holder in held] == ["container"]


def test_a_renumbering_hands_out_no_neighbour_s_card(host: Host, name: str, role: Path) -> None:
    host.run_expect([0], f"cp {CONFIG} /root/simulated.kept")
    try:
        host.run_expect([0], f"printf %s {shlex.quote(SWAPPED)} > {CONFIG}")
        assert SECOND in host.check_output("nvidia-smi -i 0 --query-gpu=uuid --format=csv,noheader")
        done = gpu_run(host, "u1", IMAGE, "nvidia-smi", "-L")
        assert FIRST in done.stdout
        assert SECOND not in done.stdout
        again = dealt(role)
        recap = next(
            line for line in again.stdout.splitlines() if line.startswith(name) and "changed=" in line
        )
        assert "changed=0" in recap
    finally:
        host.run_expect([0], f"cp /root/simulated.kept {CONFIG}; rm /root/simulated.kept")


def test_a_card_that_has_gone_is_said_and_not_replaced(host: Host, role: Path) -> None:
    host.run_expect([0], "mv /dev/nvidia0 /dev/gone0")
    try:
        refused = gpu_run(host, "u1", IMAGE, "true")
        assert refused.rc == 1
        assert f"has gone ({FIRST}, at 00000000:3B:00.0)" in refused.stderr
        assert f"{FIRST} of alpha is not there any more" in host.check_output("gpu-who")
        done = dealt(role)
        assert done.returncode != 0
        assert "that card has gone" in " ".join(done.stdout.split())
    finally:
        host.run_expect([0], "mv /dev/gone0 /dev/nvidia0")


def test_a_killed_container_leaves_no_lease(host: Host) -> None:
    host.run_expect([0], f"docker kill {started(host, 'u1')}")
    assert gpu_run(host, "u2", IMAGE, "true").rc == 0


def test_a_restarted_daemon_leaves_no_lease(host: Host) -> None:
    started(host, "u1")
    host.run_expect([0], "systemctl reset-failed docker docker.socket; systemctl restart docker")
    assert gpu_run(host, "u2", IMAGE, "true").rc == 0


def test_a_container_that_was_made_and_never_started_is_no_lease(host: Host) -> None:
    labels = f"--label gpu-host.by=gpu-run --label gpu-host.card={FIRST}"
    left = host.check_output(f"docker create {labels} {IMAGE} true")
    assert gpu_run(host, "u1", IMAGE, "true").rc == 0
    assert host.run(f"docker inspect {left}").rc != 0


def test_a_caller_killed_while_its_container_runs_still_holds_the_card(host: Host) -> None:
    host.run_expect(
        [0], f"cd /tmp; runuser -u u1 -- gpu-run --name left {IMAGE} sleep 300 > /dev/null 2>&1 < /dev/null &"
    )
    host.run_expect(
        [0],
        "for n in $(seq 100); do docker ps | grep -q left && break; sleep 0.2; done; docker ps | grep left",
    )
    host.run_expect([0], "pkill -9 -u u1 -f gpu-run")
    assert gpu_run(host, "u2", IMAGE, "true").rc == 1


def test_a_planted_link_is_no_lock(host: Host) -> None:
    lock = f"/run/lock/gpu-host-{FIRST}.lock"
    host.run_expect([0], f"mv {lock} /run/lock/kept; ln -s /etc/hostname {lock}")
    try:
        refused = gpu_run(host, "u1", IMAGE, "true")
    finally:
        host.run_expect([0], f"mv /run/lock/kept {lock}")
    assert refused.rc == 1
    assert "systemd-tmpfiles" in refused.stderr


def test_neither_a_login_nor_a_start_waits_for_a_docker_that_hangs(host: Host) -> None:
    host.run_expect([0], "kill -STOP $(pidof dockerd)")
    try:
        login = host.run("runuser -l u1 -s /bin/bash -c 'bash -lic true'")
        refused = gpu_run(host, "u1", IMAGE, "true")
    finally:
        host.run_expect([0], "kill -CONT $(pidof dockerd)")
    assert "docker does not answer" in login.stdout
    assert refused.rc == 1
    assert "docker does not answer" in refused.stderr


def test_gpu_who_fits_a_terminal(host: Host) -> None:
    started(host, "u1")
    lines = host.check_output("gpu-who").splitlines()
    assert max(map(len, lines)) <= 80
    assert "(simulated)" in lines[1]
    assert who(host)[FIRST]["held_by"][0]["user"] == "u1"
    assert who(host)[SECOND]["held_by"] == []


def test_compose_s_file_names_the_card_by_uuid(host: Host) -> None:
    said = gpu_run(host, "u3", "--compose", IMAGE).stdout
    assert f'device_ids: ["{SECOND}"]' in said


def test_by_cdi_one_gets_one_s_own_card_alone(host: Host, role: Path) -> None:
    try:
        assert dealt(role, gpu_sharing_way="cdi").returncode == 0
        done = gpu_run(host, "u3", IMAGE, "nvidia-smi", "-L")
        assert SECOND in done.stdout, done.stderr
        assert FIRST not in done.stdout
        started(host, "u3")
        assert gpu_run(host, "u4", IMAGE, "true").rc == 1
    finally:
        assert dealt(role).returncode == 0


def test_pairs_take_turns_only_where_that_is_allowed(host: Host, role: Path) -> None:
    third = {**PAIRS, "gamma": {"users": ["u4"], "cards": [1]}}
    third["beta"] = {"users": ["u3"], "cards": [1]}
    refused = dealt(role, gpu_sharing_pairs=third)
    assert refused.returncode != 0
    assert "gpu_sharing_in_time" in refused.stdout
    try:
        assert dealt(role, gpu_sharing_pairs=third, gpu_sharing_in_time=True).returncode == 0
        started(host, "u3")
        busy = gpu_run(host, "u4", IMAGE, "true")
        assert busy.rc == 1
        assert "Ask u3" in busy.stderr
        stop_all(host)
        assert gpu_run(host, "u4", IMAGE, "true").rc == 0
    finally:
        assert dealt(role).returncode == 0


def test_absent_takes_out_what_it_brought_and_present_brings_it_again(host: Host, role: Path) -> None:
    host.run_expect([0], "gpasswd --delete u2 docker; usermod -aG docker u2")
    assert dealt(role, gpu_sharing_state="absent").returncode == 0
    for path in ("/usr/local/bin/gpu-run", "/usr/local/bin/gpu-who", "/etc/gpu-host/sharing.json"):
        assert not host.file(path).exists
    assert host.run("ls /run/lock/gpu-host-GPU-*").rc != 0
    assert "docker" not in host.check_output("id -nG u1").split()
    assert host.file(CONFIG).exists
    assert "gpu_sharing" not in host.file("/var/lib/gpu-host/owned.json").content_string
    assert dealt(role).returncode == 0
