"""What becomes of Docker's data-root: set, adopted, moved, left alone, or refused with what to do."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.filter.gpu_host_storage_plan import DROPIN, PROFILE, storage_files, storage_plan
from tests.unit.plugins.storages import FOLDERS, RUNNING, SETTINGS, full, host, root

OLD, NEW = "/var/lib/docker", "/mnt/persist/docker"


def plan(found: dict[str, Any], **more: Any) -> dict[str, Any]:
    return storage_plan(found, {**SETTINGS, **more})


def test_without_an_engine_only_the_setting_is_written_for_its_first_start() -> None:
    done = plan(host())
    assert done["docker"]["do"] == "set"
    # Else an engine from 29 on would put its images into /var/lib/containerd.
    assert done["docker"]["graph"]
    assert done["due"]
    assert set(done["folders"]) == set(FOLDERS)
    assert set(done["files"]) == {PROFILE, DROPIN}


def test_without_an_engine_the_volume_of_another_host_is_taken_as_it_is() -> None:
    done = plan(host(target=full(NEW)))
    assert (done["refusal"], done["docker"]["do"]) == ("", "set")


def test_an_engine_with_data_is_moved_and_its_size_said() -> None:
    done = plan(host(docker=RUNNING, old=full(OLD)))
    assert (done["refusal"], done["docker"]["do"]) == ("", "move")
    assert not done["docker"]["graph"]
    assert "2.0 GB" in done["notes"][0]
    assert "/var/lib/containerd is not moved" in done["notes"][0]


@pytest.mark.parametrize(("target", "do"), [(root(NEW), "fresh"), (full(NEW), "adopt")])
def test_an_engine_without_data_starts_on_the_volume(target: dict[str, Any], do: str) -> None:
    done = plan(
        host(
            docker={**RUNNING, "images": 0},
            old=root(OLD, exists=True, entries=9, dockers=True),
            target=target,
        )
    )
    assert (done["refusal"], done["docker"]["do"]) == ("", do)


def test_data_on_both_sides_is_refused_with_both_sizes() -> None:
    done = plan(host(docker=RUNNING, old=full(OLD), target=full(NEW)))
    assert not done["due"]
    assert done["refusal"].count("2.0 GB, images 3") == 2
    assert "never copied over" in done["refusal"]


def test_a_folder_of_that_name_that_is_not_dockers_is_refused() -> None:
    done = plan(host(target=root(NEW, exists=True, entries=2)))
    assert "is no data-root of Docker's" in done["refusal"]


def test_running_containers_are_named_and_stopped_only_when_told() -> None:
    found = host(docker={**RUNNING, "running": ["train", "web"]}, old=full(OLD))
    assert "train, web" in plan(found)["refusal"]
    assert plan(found, stop_containers=True)["docker"]["running"] == ["train", "web"]
    assert plan(found, stop_containers=True)["refusal"] == ""


@pytest.mark.parametrize(
    ("docker", "said"),
    [
        ({"flag": "/data/docker"}, "as a flag (/data/docker)"),
        ({"file": "/data/docker"}, "this role did not write that"),
        ({"damage": "/etc/docker/daemon.json, line 2, column 3: a comma"}, "line 2, column 3"),
        ({"stranger": "the Docker here is a snap"}, "The Docker here is a snap."),
        ({"file": NEW, "root": "/data/docker"}, "the file was changed since it started"),
        ({"root": "/mnt/persist"}, "lie within"),
        ({"containerd": True}, "containerd's own store"),
    ],
)
def test_what_is_the_users_is_left_to_the_user(docker: dict[str, Any], said: str) -> None:
    done = plan(host(docker={**RUNNING, **docker}, old=full(OLD)))
    assert said in done["refusal"]
    assert not done["due"]


def test_a_fresh_engine_with_containerds_store_gets_dockers_own() -> None:
    done = plan(host(docker={**RUNNING, "containerd": True, "images": 0}))
    assert (done["docker"]["do"], done["docker"]["graph"]) == ("fresh", True)


def test_features_as_a_flag_are_not_said_in_the_file_too() -> None:
    assert not plan(host(docker={"features_flag": True}))["docker"]["graph"]


def test_what_is_as_wanted_is_left_alone() -> None:
    seen = {"mode": "1777", "owner": "root", "group": "root", "folder": True}
    done = plan(
        host(
            docker={**RUNNING, "file": NEW, "root": NEW, "running": ["web"]},
            old=full(NEW), target=full(NEW), folders=dict.fromkeys(FOLDERS, seen),
            files=storage_files("/mnt/persist", SETTINGS), owned_files=[PROFILE, DROPIN],
        )
    )  # fmt: skip
    assert (done["due"], done["refusal"]) == (False, "")


def test_a_data_root_that_an_earlier_path_of_this_role_set_is_moved_on() -> None:
    there = "/mnt/other/docker"
    done = plan(
        host(
            docker={**RUNNING, "file": there, "root": there},
            old=full(there),
            owned={"data_root": {"set": there}},
        )
    )
    assert (done["refusal"], done["docker"]["do"], done["docker"]["from"]) == ("", "move", there)


def test_what_an_earlier_run_began_is_gone_on_with_whatever_lies_there() -> None:
    done = plan(
        host(
            docker={**RUNNING, "active": False},
            old=full(OLD),
            target=full(NEW),
            owned={"moving": {"do": "move"}},
        )
    )
    assert (done["refusal"], done["docker"]["do"]) == ("", "continue")


@pytest.mark.parametrize("space", [{"free": 2_000_000_001}, {"inodes_free": 40_001}])
def test_no_room_is_said_before_docker_is_stopped(space: dict[str, int]) -> None:
    assert "Needed is room for all of it" in plan(host(docker=RUNNING, old=full(OLD), space=space))["refusal"]


def test_a_file_system_that_counts_no_inodes_is_not_full() -> None:
    assert plan(host(docker=RUNNING, old=full(OLD), space={"inodes": 0, "inodes_free": 0}))["refusal"] == ""


def test_what_somebody_mounted_within_is_not_copied_along() -> None:
    found = host(
        docker=RUNNING, old={**full(OLD), "below": [f"{OLD}/overlay2/x/merged", f"{OLD}/volumes/nfs/_data"]}
    )
    refusal = plan(found)["refusal"]
    assert "volumes/nfs" in refusal
    assert "overlay2/x" not in refusal


def test_a_profile_file_of_somebody_elses_is_not_written_over() -> None:
    assert "was not written by this role" in plan(host(files={PROFILE: "export HF_HOME=/data\n"}))["refusal"]


def test_without_docker_nothing_of_it_is_looked_at() -> None:
    done = plan(host(docker=None), docker=False)
    assert done["docker"] == {"do": "nothing"}
    assert set(done["files"]) == {PROFILE}


def test_only_folders_that_differ_are_set_right() -> None:
    seen = {"mode": "0755", "owner": "root", "group": "root", "folder": True}
    assert list(
        plan(host(folders={**{name: {**seen, "mode": "1777"} for name in FOLDERS}, "pip": seen}))["folders"]
    ) == ["pip"]


def test_a_users_own_settings_win_and_the_token_stays_at_home(tmp_path: Any) -> None:
    (tmp_path / "huggingface").mkdir()
    script = storage_files(str(tmp_path), SETTINGS)[PROFILE] + 'echo "$HF_HOME $HF_TOKEN_PATH"'
    done = subprocess.run(
        ["sh", "-ceu", script],
        env={"HOME": "/home/u", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [f"{tmp_path}/huggingface", "/home/u/.cache/huggingface/token"]
    own = {"HOME": "/home/u", "PATH": "/usr/bin:/bin", "HF_HOME": "/mine"}
    done = subprocess.run(["sh", "-ceu", script], env=own, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "/mine"


places = st.builds(
    lambda images, containers, volumes, entries, weight: {
        "images": images, "containers": containers, "volumes": volumes, "entries": entries + images,
        "dockers": bool(images or containers or volumes), "weight": {"bytes": weight, "inodes": 10},
    },
    *[st.integers(0, 3)] * 4, st.integers(0, 10**12),
)  # fmt: skip


@given(
    old=places, target=places, active=st.booleans(), program=st.sampled_from([None, "/usr/sbin/dockerd"]),
    running=st.lists(st.sampled_from(["web", "train"]), max_size=2), stop=st.booleans(),
)  # fmt: skip
def test_never_two_places_with_data_and_never_a_running_container_unasked(
    old: dict[str, Any],
    target: dict[str, Any],
    *,
    active: bool,
    program: str | None,
    running: list[str],
    stop: bool,
) -> None:
    found = host(docker={"active": active, "program": program, "running": running}, old=old, target=target)
    done = plan(found, stop_containers=stop)
    held = [any(each[kind] for kind in ("images", "containers", "volumes")) for each in (old, target)]
    if done["due"]:
        assert not all(held)
        assert done["docker"]["do"] == "set" or stop or not running
        assert (done["docker"]["do"] == "move") is held[0]
    else:
        assert done["refusal"].endswith("Nothing was changed.")
