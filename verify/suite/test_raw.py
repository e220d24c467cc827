"""A second look that shares nothing with the findings: plain commands on the host, said in so many words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from verify.launch import docker_run, unless_asleep

# A host that was not recorded is not asked again.
pytestmark = pytest.mark.usefixtures("run")
_DAEMON_JSON = "/etc/docker/daemon.json"


def _cards(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("GPU ")]


def _docker(host: Any, argv: list[str]) -> Any:  # noqa: ANN401  # testinfra has no types
    """Run a docker command; testinfra quotes every word for the shell in between."""
    argv = unless_asleep(argv)
    return host.run(" ".join(["%s"] * len(argv)), *argv)


def test_card_in_container_is_the_card_of_the_host(host: Any, run: dict[str, Any]) -> None:  # noqa: ANN401
    on_host = host.run("nvidia-smi -L")
    assert on_host.rc == 0, on_host.stdout + on_host.stderr
    inside = _docker(host, docker_run(run["image"], ["nvidia-smi", "-L"], gpus="all"))
    assert inside.rc == 0, inside.stdout + inside.stderr
    assert _cards(inside.stdout)
    assert _cards(inside.stdout) == _cards(on_host.stdout)


def test_one_card_asked_for_is_one_card_seen(host: Any, run: dict[str, Any]) -> None:  # noqa: ANN401
    inside = _docker(host, docker_run(run["image"], ["nvidia-smi", "-L"], gpus=["0"]))
    assert inside.rc == 0, inside.stdout + inside.stderr
    assert len(_cards(inside.stdout)) == 1
    assert _cards(inside.stdout) == _cards(host.run("nvidia-smi -L").stdout)[:1]


def test_daemon_json_is_a_json_object(host: Any) -> None:  # noqa: ANN401
    file = host.file(_DAEMON_JSON)
    if not file.exists:
        pytest.skip(f"there is no {_DAEMON_JSON}")
    assert isinstance(json.loads(file.content_string), dict)


def test_nothing_is_left_behind(host: Any) -> None:  # noqa: ANN401
    left = _docker(host, ["docker", "ps", "--all", "--quiet", "--filter", "name=gpu-host-run-"])
    assert left.rc == 0, left.stderr
    assert left.stdout.split() == []
