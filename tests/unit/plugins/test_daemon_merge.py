"""Our keys in daemon.json: they alone change, the user's stay and are said, ours can be taken out again."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils.gpu_host_daemon_json import DaemonJsonError
from plugins.module_utils.gpu_host_daemon_merge import ENTRY, needs_cdi, register, unregister, version_of

PATH = "/etc/docker/daemon.json"
# Field case A1: what a user has there.
THEIRS: dict[str, Any] = {
    "log-driver": "json-file",
    "log-opts": {"max-size": "10m", "labels": {"a": "b"}},
    "exec-opts": ["native.cgroupdriver=systemd"],
    "storage-driver": "overlay2",
    "runtimes": {"kata": {"runtimeType": "io.containerd.kata.v2"}},
    "default-runtime": "kata",
    "features": {"buildkit": True, "containerd-snapshotter": False},
}


def test_everything_else_is_kept() -> None:
    before = copy.deepcopy(THEIRS)
    after, ours, notes = register(before, PATH, default=None, cdi=True)
    assert before == THEIRS, "the document given is left alone"
    assert after["runtimes"].pop("nvidia") == ENTRY
    assert after["features"].pop("cdi") is True
    assert after == THEIRS
    assert set(ours) == {"runtimes.nvidia", "features.cdi"}
    assert notes == []


def test_keys_keep_their_places() -> None:
    after, _, _ = register(THEIRS, PATH, default=None, cdi=True)
    assert list(after) == list(THEIRS)
    assert list(after["features"]) == ["buildkit", "containerd-snapshotter", "cdi"]


@pytest.mark.parametrize("entry", [
    {"path": "nvidia-container-runtime", "args": []},
    {"path": "nvidia-container-runtime"},
    {"path": "/usr/bin/nvidia-container-runtime", "runtimeArgs": []},
])  # fmt: skip
def test_an_entry_that_does_the_same_is_left_alone(entry: dict[str, Any]) -> None:
    document = {"runtimes": {"nvidia": entry}}
    assert register(document, PATH, default=None, cdi=False) == (document, {}, [])


@pytest.mark.parametrize("entry", [
    {"path": "/opt/nvidia/nvidia-container-runtime", "runtimeArgs": ["--debug"]},
    {"path": "nvidia-container-runtime", "args": ["-x"]},
    {"path": "nvidia-container-runtime", "options": {"a": 1}},
    {"runtimeType": "io.containerd.nvidia.v1"},
    {},
    "nvidia",
])  # fmt: skip
def test_another_entry_is_reported_and_not_flattened(entry: Any) -> None:
    document = {"runtimes": {"nvidia": entry}}
    after, ours, notes = register(document, PATH, default=None, cdi=False)
    assert after == document
    assert ours == {}
    assert len(notes) == 1
    assert "kept as it is" in notes[0]


@pytest.mark.parametrize("key", ["runtimes", "features"])
@pytest.mark.parametrize("value", [[], "x", 5, True])
def test_a_section_of_another_type_is_refused(key: str, value: Any) -> None:
    with pytest.raises(DaemonJsonError, match=f'"{key}" is .*, not an object'):
        register({key: value}, PATH, default=None, cdi=True)


def test_default_runtime_changes_only_if_asked_for() -> None:
    assert register(THEIRS, PATH, default=None, cdi=False)[0]["default-runtime"] == "kata"
    after, ours, notes = register(THEIRS, PATH, default="nvidia", cdi=False)
    assert after["default-runtime"] == "nvidia"
    assert ours["default-runtime"]["before"] == "kata"
    assert 'from "kata" to "nvidia"' in notes[0]
    assert register({}, PATH, default="nvidia", cdi=False)[2] == []


def test_cdi_switched_off_by_the_user_stays_off_and_is_said() -> None:
    after, ours, notes = register({"features": {"cdi": False}}, PATH, default=None, cdi=True)
    assert after["features"] == {"cdi": False}
    assert "features.cdi" not in ours
    assert "CDI off" in notes[0]


@pytest.mark.parametrize(("said", "wanted"), [
    ("Docker version 20.10.24+dfsg1, build 297e128", False),
    ("Docker version 24.0.9, build x", False),
    ("Docker version 25.0.0, build x", True),
    ("Docker version 26.1.5+dfsg1, build 411e817", True),
    ("Docker version 28.1.1, build x", True),
    ("Docker version 28.2.0, build x", False),
    ("Docker version 29.2.1, build x", False),
    ("", False),
    ("dockerd: not found", False),
])  # fmt: skip
def test_cdi_is_set_on_engines_that_know_it_and_have_it_off(said: str, wanted: bool) -> None:  # noqa: FBT001
    assert needs_cdi(version_of(said)) is wanted


def test_what_was_changed_since_is_the_users() -> None:
    after, ours, _ = register({}, PATH, default="nvidia", cdi=True)
    after["runtimes"]["nvidia"]["args"] = ["--mine"]
    left, notes = unregister(after, PATH, ours)
    assert left == {"runtimes": {"nvidia": {"path": "nvidia-container-runtime", "args": ["--mine"]}}}
    assert "is yours now" in notes[0]


def test_what_was_taken_out_by_hand_is_no_error() -> None:
    _, ours, _ = register({}, PATH, default="nvidia", cdi=True)
    assert unregister({}, PATH, ours) == ({}, [])
    assert unregister({"debug": True}, PATH, {}) == ({"debug": True}, [])


SECTION = st.none() | st.dictionaries(
    st.sampled_from(["a", "kata", "buildkit"]), st.booleans() | st.text(), max_size=3
)
DOCUMENT = st.fixed_dictionaries(
    {},
    optional={
        "debug": st.booleans(),
        "runtimes": SECTION,
        "features": SECTION,
        "default-runtime": st.sampled_from(["kata", "runc"]),
        "log-opts": st.dictionaries(st.text(), st.text(), max_size=3),
    },
)


@given(before=DOCUMENT, default=st.sampled_from([None, "nvidia"]), cdi=st.booleans())
def test_a_second_time_changes_nothing_and_absent_leads_back(
    before: dict[str, Any],
    default: str | None,
    cdi: bool,  # noqa: FBT001
) -> None:
    after, ours, _ = register(before, PATH, default=default, cdi=cdi)
    again, nothing, _ = register(after, PATH, default=default, cdi=cdi)
    assert again == after
    assert nothing == {}
    back, notes = unregister(after, PATH, ours)
    assert notes == []
    # A section that was null is not there any more: dockerd takes both for the same.
    kept = {key: value for key, value in before.items() if value is not None}
    assert {key: value for key, value in back.items() if value is not None} == kept
