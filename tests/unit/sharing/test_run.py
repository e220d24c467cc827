"""gpu-run: which card, or why none; the command; the lock."""

from __future__ import annotations

import ast
import fcntl
import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sharing.conftest import DEAL, ID, ROWS, SOURCE, A, B, Host, container

Caught = pytest.CaptureFixture[str]


def refused(host: Host, caught: Caught, *words: str) -> str:
    assert host.run(*words, "image:1") == 1
    assert host.ran() == []
    return caught.readouterr().err


def test_it_reads_as_python_3_9() -> None:
    ast.parse(SOURCE.read_text(encoding="utf-8"), feature_version=(3, 9))


def test_a_container_on_one_s_own_card_and_its_exit_status(host: Host, capfd: Caught) -> None:
    assert host.run("image:1", "python", "a b.py") == 7
    ran = host.ran()
    assert ran[ran.index("--gpus") + 1] == f'"device={A}"'
    assert ran[ran.index("--user") + 1] == "1001:1002"
    assert {f"gpu-host.card={A}", "gpu-host.user=u1", "gpu-host.pair=alpha"} <= set(ran)
    assert ran[-3:] == ["image:1", "python", "a b.py"]
    printed = capfd.readouterr().err.splitlines()[-1]
    assert shlex.split(printed) == ["docker", *ran]


def test_nothing_is_started_by_a_dry_run(host: Host, capfd: Caught) -> None:
    assert host.run("--dry-run", "image:1") == 0
    assert shlex.split(capfd.readouterr().out)[:2] == ["docker", "run"]
    assert host.ran() == []


def test_docker_s_options_stand_between_two_dashes(host: Host) -> None:
    host.run("--memory", "none", "--", "-p", "80:80", "--", "image:1", "--", "x")
    ran = host.ran()
    assert ran[-6:] == ["-p", "80:80", "image:1", "--", "x"][-6:] or ran[-5:] == [
        "-p",
        "80:80",
        "image:1",
        "--",
        "x",
    ]
    assert "--memory" not in ran


def test_by_cdi_no_variable_of_the_image_adds_a_card(host: Host) -> None:
    (host.folder / "sharing.json").write_text(json.dumps({**DEAL, "way": "cdi"}), encoding="utf-8")
    host.run("image:1")
    ran = host.ran()
    assert ran[ran.index("--device") + 1] == f"nvidia.com/gpu={A}"
    assert "NVIDIA_VISIBLE_DEVICES=void" in ran


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-evil"],
        ["--no-such", "image:1"],
        ["--image:1"],
        ["im age"],
        ["image\n1"],
        ["--name", "a b", "image:1"],
        ["--", "-p", "80:80", "image:1"],
        ["--", "--gpus", "all", "--", "image:1"],
        ["--", "--gpus=all", "--", "image:1"],
        ["--", "--privileged", "--", "image:1"],
        ["--", "--runtime=nvidia", "--", "image:1"],
        ["--", "-eNVIDIA_VISIBLE_DEVICES=all", "--", "image:1"],
        ["--", "--device", "nvidia.com/gpu=all", "--", "image:1"],
        ["--", "-v/dev/nvidia1:/dev/nvidia1", "--", "image:1"],
        ["--", "--label", "gpu-host.card=", "--", "image:1"],
        ["--", "-d", "--", "image:1"],
    ],
)
def test_what_cannot_be_meant_is_usage(host: Host, capfd: Caught, words: list[str]) -> None:
    try:
        status = host.run(*words)
    except SystemExit as ended:  # argparse's own
        status = int(ended.code or 0)
    assert status == 2
    assert host.ran() == []
    assert capfd.readouterr().err


def test_a_held_card_names_holder_moment_and_container(host: Host, capfd: Caught) -> None:
    host.containers(container())
    host.program.caller = lambda: "u2"
    said = refused(host, capfd)
    assert "held by u1 since" in said
    assert "container alpha-u1. Ask u1, or wait" in said
    assert host.run("--force", "image:1") == 7
    assert "also used by u1" in capfd.readouterr().err


def test_one_s_own_container_is_in_the_way_too(host: Host, capfd: Caught) -> None:
    host.containers(container())
    assert "stop yours" in refused(host, capfd)


ASKS = {
    "gpus": {"DeviceRequests": [{"Driver": "", "DeviceIDs": [A], "Capabilities": [["gpu"]]}]},
    "index": {"DeviceRequests": [{"Driver": "nvidia", "DeviceIDs": ["0"], "Capabilities": [["gpu"]]}]},
    "all": {"DeviceRequests": [{"Driver": "", "Count": -1, "Capabilities": [["gpu"]]}]},
    "count": {"DeviceRequests": [{"Driver": "", "Count": 1, "Capabilities": [["gpu"]]}]},
    "cdi": {"DeviceRequests": [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=0"]}]},
    "runtime": {"Runtime": "nvidia"},
}


@pytest.mark.parametrize("way", ASKS)
def test_a_container_holds_its_card_in_whatever_way_it_asked(host: Host, capfd: Caught, way: str) -> None:
    config = {"Labels": None, "Image": "x", "Env": ["NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=0"]}
    host.containers(container(Config=config, HostConfig=ASKS[way]))
    assert "Ask u2, or wait" in refused(host, capfd)


@pytest.mark.parametrize("host_config", [{}, {"DeviceRequests": None, "Runtime": "runc"}])
def test_a_container_without_a_card_holds_none(host: Host, host_config: dict[str, Any]) -> None:
    config = {"Labels": {}, "Image": "x", "Env": ["NVIDIA_VISIBLE_DEVICES=all"]}
    host.containers(container(Config=config, HostConfig=host_config))
    assert host.run("image:1") == 7


def test_a_process_keeps_the_card_but_for_one_s_own(host: Host, capfd: Caught) -> None:
    host.cards(apps=f"{A}, {os.getpid()}, /usr/bin/python3\n")
    host.program.owner_of = lambda _: "u9"
    said = refused(host, capfd)
    assert "held by u9 since" in said
    assert f"process {os.getpid()} (python3)" in said
    assert "Ask u9" in said
    host.program.owner_of = lambda _: "u1"
    assert host.run("image:1") == 7


def test_a_process_that_cannot_be_seen_keeps_it_too(host: Host, capfd: Caught) -> None:
    host.cards(apps=f"{A}, 999999999, [Not Found]\n")
    assert "held by since an unknown time, process 999999999" in refused(host, capfd)


def test_a_neighbour_s_card_is_refused_unless_forced(host: Host, capfd: Caught) -> None:
    assert "was dealt to beta (u3); yours is card 0" in refused(host, capfd, "--card", "1")
    assert host.run("--card", "1", "--force", "image:1") == 7
    assert f'"device={B}"' in host.ran()


def test_who_is_in_no_pair_is_told_who_is(host: Host, capfd: Caught) -> None:
    host.program.caller = lambda: "zo\x1b[31me"
    said = refused(host, capfd)
    assert "alpha (u1 and u2): card 0; beta (u3): card 1" in said
    assert "\x1b" not in said


def test_cards_numbered_anew_are_found_by_uuid(host: Host) -> None:
    first, second = ROWS.splitlines()
    host.cards(f"0{second[1:]}\n1{first[1:]}\n")
    host.run("image:1")
    assert f'"device={A}"' in host.ran()


def test_a_card_that_has_gone_is_not_replaced(host: Host, capfd: Caught) -> None:
    host.cards(ROWS.splitlines()[1] + "\n")
    assert f"The card of alpha has gone ({A}, at 00:01)" in refused(host, capfd)


def test_a_card_in_slices_is_refused(host: Host, capfd: Caught) -> None:
    host.cards(ROWS.replace("40, [N/A]", "40, Enabled"))
    assert "MIG slices" in refused(host, capfd)


@pytest.mark.parametrize(
    ("program", "script", "sentence"),
    [
        ("docker", "exec sleep 60", "docker does not answer"),
        ("nvidia-smi", "exec sleep 60", "nvidia-smi does not answer"),
        ("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9", "NVIDIA-SMI has failed (exit status 9)"),
        ("docker", "echo 'permission denied while trying' >&2; exit 1", "needed is membership of its group"),
        ("docker", "printf 'bad\\033[2J' >&2; exit 1", "docker says: bad?[2J"),
    ],
)
def test_what_does_not_answer_is_no_free_card(
    host: Host, capfd: Caught, program: str, script: str, sentence: str
) -> None:
    host.says(program, script)
    host.program.look.__defaults__ = (1.0,)  # the default of LOOK_S is bound already
    assert (
        sentence in (said := refused(host, capfd))
        or sentence.capitalize() in said
        or sentence in said.lower()
    )


def test_without_nvidia_smi_nothing_is_free(
    host: Host, capfd: Caught, monkeypatch: pytest.MonkeyPatch
) -> None:
    (host.folder / "bin/nvidia-smi").unlink()
    monkeypatch.setenv("PATH", f"{host.folder / 'bin'}:/bin")
    assert "nvidia-smi is not there" in refused(host, capfd)


@pytest.mark.parametrize("text", [None, "{", "[]", '{"schema": 2}', '{"schema": 1}'])
def test_a_deal_that_cannot_be_read_is_a_sentence(host: Host, capfd: Caught, text: str | None) -> None:
    path = Path(host.program.CONFIG)
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert "whoever keeps" in refused(host, capfd).lower()


def test_a_lock_that_somebody_holds_is_waited_for_and_then_said(host: Host, capfd: Caught) -> None:
    host.program.LOCK_S = 0.2
    with (host.folder / f"locks/gpu-host-{A}.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "Somebody has been starting a container" in refused(host, capfd)
    assert host.run("image:1") == 7


def test_a_link_a_folder_and_no_file_are_no_lock(host: Host, capfd: Caught) -> None:
    lock = host.folder / f"locks/gpu-host-{A}.lock"
    lock.unlink()
    assert "cannot be opened" in refused(host, capfd)
    lock.symlink_to("/etc/hostname")
    assert "cannot be opened" in refused(host, capfd)
    lock.unlink()
    lock.mkdir()
    assert "is not the file" in refused(host, capfd)


def test_a_lock_of_another_user_is_none(host: Host, capfd: Caught) -> None:
    host.program.LOCK_OWNER = os.getuid() + 1
    assert "is not the file" in refused(host, capfd)


def test_the_lock_stays_with_docker_s_client_where_gpu_run_is_killed(host: Host) -> None:
    lock = host.folder / f"locks/gpu-host-{A}.lock"
    with host.program.locked([A]) as handles:
        child = subprocess.Popen(["sleep", "60"], pass_fds=handles)
        os.close(handles[0])  # as a kill would
        handles.clear()
        with lock.open() as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        child.kill()
        child.wait()
        with lock.open() as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_an_image_that_is_not_here_is_pulled_before_the_lock(host: Host) -> None:
    script = (host.folder / "bin/docker").read_text(encoding="utf-8").partition("\n")[2]
    host.says("docker", f'case "$1" in image) exit 1;; pull) exit 3;; esac\n{script}')
    assert host.run("image:1") == 125
    assert host.ran() == []


def test_a_folder_with_commas_is_quoted_for_docker(host: Host) -> None:
    assert host.program.mount('/a,b"c')[1] == 'type=bind,"source=/a,b""c",target=/work'


def test_shares_are_by_the_cards_that_are_dealt_out(host: Host) -> None:
    deal = host.program.load_deal(host.program.CONFIG)
    one, both = host.program.shares(deal, 1), host.program.shares(deal, 2)
    assert abs(both[0] - 2 * one[0]) <= 1
    assert one[2] == one[0] // 2


def test_compose_is_yaml_with_the_card_in_it(host: Host, capfd: Caught) -> None:
    yaml = pytest.importorskip("yaml")
    assert host.run("--compose", "image:1", "python", 'a "b"') == 0
    service = yaml.safe_load(capfd.readouterr().out)["services"]["work"]
    assert service["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"] == [A]
    assert service["command"] == ["python", 'a "b"']
    assert service["labels"]["gpu-host.card"] == A


def test_a_container_id_is_read_from_the_control_group(host: Host) -> None:
    host.program.PROC = str(host.folder)
    (host.folder / "42").mkdir()
    (host.folder / "42/cgroup").write_text(f"0::/system.slice/docker-{ID}.scope\n", encoding="utf-8")
    assert host.program.container_of(42) == ID
    assert host.program.container_of(43) is None
