"""The comparison finds what differs, and what the user lost."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.harness import dkms, listing, remove_listing, users

STATE: dict[str, Any] = {
    "packages": {"docker.io": "26 ii"},
    "holds": [users.HELD],
    "audit": [],
    "files": dict.fromkeys(users.FILES, "file 644 0:0 aa") | {"/etc/ld.so.cache": "file 644 0:0 bb"},
    "daemon": {"log-driver": "json-file", "features": {"buildkit": True}},
    "owned": {"roles": {"docker_engine": {"packages": ["docker.io"]}}},
}


def changed(**values: Any) -> dict[str, Any]:
    state = copy.deepcopy(STATE)
    for key, value in values.items():
        if isinstance(value, dict) and isinstance(state[key], dict):
            state[key].update(value)
        else:
            state[key] = value
    return state


@pytest.mark.parametrize(
    ("after", "line"),
    [
        (changed(packages={"docker.io": "26 iU"}), 'packages docker.io: "26 ii" → "26 iU"'),
        (changed(packages={"tini": "1 ii"}), 'packages tini: nothing → "1 ii"'),
        (changed(holds=[]), 'holds: ["sudo"] → []'),
        (changed(files={"/etc/new": "dir 755 0:0"}), 'files /etc/new: nothing → "dir 755 0:0"'),
        (changed(daemon={"log-driver": "local"}), 'daemon log-driver: "json-file" → "local"'),
        (changed(owned=None), "owned: nothing → null"),
    ],
)
def test_a_difference_is_found(after: dict[str, Any], line: str) -> None:
    assert listing.differences(STATE, STATE) == []
    assert line in listing.differences(STATE, after)


def test_what_is_allowed_is_left_out_and_nothing_beside_it() -> None:
    after = changed(
        files={"/etc/ld.so.cache": "file 644 0:0 cc", "/etc/cni": "dir 755 0:0", "/etc/cnix": "dir"}
    )
    found = listing.differences(STATE, after, [r"files /etc/cni"])
    assert [line.partition(":")[0] for line in found] == ["files /etc/cnix"]


def test_backups_count_by_their_content() -> None:
    one = changed(files={"/etc/docker/daemon.json.1.2026~": "file 644 0:0 dd"})
    other = changed(files={"/etc/docker/daemon.json.7.2027~": "file 644 0:0 dd"})
    assert listing.differences(listing.settled(one), listing.settled(other)) == []
    assert listing.differences(listing.settled(one), listing.settled(STATE)) != []


@pytest.mark.parametrize(
    ("after", "word"),
    [
        (changed(daemon={"features": {}}), "buildkit"),
        (changed(daemon=None), "daemon.json"),
        (changed(daemon='{"broken'), "daemon.json"),
        (changed(holds=[]), users.HELD),
        (changed(files={"/etc/modprobe.d/users.conf": "file 600 0:0 aa"}), "/etc/modprobe.d/users.conf"),
    ],
)
def test_the_users_loss_is_found(after: dict[str, Any], word: str) -> None:
    assert users.lost(STATE, STATE) == []
    more = changed(daemon={"runtimes": {"nvidia": {}}}, files={"/etc/docker/daemon.json": "file 644 0:0 ee"})
    assert users.lost(more, STATE) == []
    assert any(word in line for line in users.lost(after, STATE))


@pytest.mark.parametrize(
    "allowed", [listing.ALWAYS, *remove_listing.LEFT.values(), remove_listing.EITHER, dkms.LEFT]
)
def test_each_remain_has_its_reason(allowed: dict[str, str]) -> None:
    assert all(len(reason) > 8 or reason == "likewise" for reason in allowed.values())


def test_removals_can_fail() -> None:
    good, bad = remove_listing.Outcome("bare"), remove_listing.Outcome("docker", ["packages x"])
    assert remove_listing.verdict([]) == (1, "removals: 0 of 0 as before")
    assert remove_listing.verdict([good]) == (0, "removals: 1 of 1 as before")
    assert remove_listing.verdict([good, bad]) == (1, "removals: 1 of 2 as before")
