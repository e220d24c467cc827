"""A second look that shares nothing with the findings: plain commands on the host, said in so many words."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from verify.launch import CLEANUP, CONTAINERS, Cards, container_name, docker_run, unless_asleep
from verify.suite.limit import NoAnswer, turn_of

# A host that was not recorded is not asked again.
pytestmark = pytest.mark.usefixtures("run")
_DAEMON_JSON = "/etc/docker/daemon.json"


def _cards(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("GPU ")]


def _docker(host: Any, argv: list[str]) -> Any:  # noqa: ANN401  # testinfra has no types
    """Run a docker command; testinfra quotes every word for the shell in between."""
    try:
        return _run(host, unless_asleep(argv))
    except NoAnswer as error:
        if error.asked:
            # This client is ended, and its container may be there still.
            with suppress(NoAnswer), turn_of(str(host.backend.hostname)).clearing_up():
                _run(host, CLEANUP)
        raise


def _run(host: Any, argv: list[str]) -> Any:  # noqa: ANN401  # testinfra has no types
    return host.run(" ".join(["%s"] * len(argv)), *argv)


def _inside(host: Any, run: dict[str, Any], cards: Cards) -> Any:  # noqa: ANN401  # testinfra has no types
    """List the cards that a container of the host sees."""
    argv = docker_run(run["image"], ["nvidia-smi", "-L"], gpus=cards, name=container_name())
    return _docker(host, argv)


def test_card_in_container_is_the_card_of_the_host(host: Any, run: dict[str, Any]) -> None:  # noqa: ANN401
    on_host = host.run("nvidia-smi -L")
    assert on_host.rc == 0, on_host.stdout + on_host.stderr
    inside = _inside(host, run, "all")
    assert inside.rc == 0, inside.stdout + inside.stderr
    assert _cards(inside.stdout)
    assert _cards(inside.stdout) == _cards(on_host.stdout)


def test_one_card_asked_for_is_one_card_seen(host: Any, run: dict[str, Any]) -> None:  # noqa: ANN401
    inside = _inside(host, run, ["0"])
    assert inside.rc == 0, inside.stdout + inside.stderr
    assert len(_cards(inside.stdout)) == 1
    assert _cards(inside.stdout) == _cards(host.run("nvidia-smi -L").stdout)[:1]


def test_daemon_json_is_a_json_object(host: Any) -> None:  # noqa: ANN401
    file = host.file(_DAEMON_JSON)
    if not file.exists:
        pytest.skip(f"there is no {_DAEMON_JSON}")
    assert isinstance(json.loads(file.content_string), dict)


def test_nothing_is_left_behind(host: Any) -> None:  # noqa: ANN401
    left = _docker(host, ["docker", "ps", "--all", "--quiet", "--filter", f"name={CONTAINERS}"])
    assert left.rc == 0, left.stderr
    assert left.stdout.split() == []
