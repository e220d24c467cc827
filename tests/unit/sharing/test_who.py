"""gpu-who: what is known in 80 columns; what is not known is no zero and no free card."""

from __future__ import annotations

import json

import pytest

from tests.unit.sharing.conftest import ROWS, A, Host, container

Caught = pytest.CaptureFixture[str]


def lines(host: Host, caught: Caught, *words: str, status: int = 0) -> list[str]:
    assert host.who(*words) == status
    return caught.readouterr().out.splitlines()


def test_the_table(host: Host, capfd: Caught) -> None:
    host.containers(container())
    said = lines(host, capfd)
    assert said[1].split()[:2] == ["0", "X"]
    assert "10/8000" in said[1]
    assert " u1 " in said[1]
    assert "container alpha-u1, image:1" in said[2]
    assert said[3].endswith("free")
    assert max(map(len, said)) <= 80


def test_what_is_not_told_is_a_dash(host: Host, capfd: Caught) -> None:
    host.cards(ROWS.replace("10, 8000, 5, 40", "[N/A], [N/A], [Unknown Error], [N/A]"))
    said = lines(host, capfd)
    assert said[1].split()[3:] == ["alpha", "-", "-/-", "-", "free"]
    host.who("--json")
    card = json.loads(capfd.readouterr().out)["cards"][0]
    assert [card[key] for key in ("memory_used_mib", "utilization_percent", "temperature_c")] == [None] * 3


def test_hostile_names_neither_break_the_screen_nor_its_width(host: Host, capfd: Caught) -> None:
    labels = {"gpu-host.card": A, "gpu-host.user": "u\x1b[2J\u202e\n" + "x" * 500, "gpu-host.pair": "\x07"}
    image = "i\r\n" + "y" * 500
    host.containers(container(Name="/\x1b]0;t\x07", Config={"Labels": labels, "Image": image}))
    said = lines(host, capfd)
    assert max(map(len, said)) <= 80
    assert all(line.isprintable() for line in said)
    assert len(said) == 4


def test_a_container_that_was_never_told_to_start_has_no_moment(host: Host, capfd: Caught) -> None:
    host.containers(container(State={"StartedAt": "0001-01-01T00:00:00Z"}))
    said = lines(host, capfd)
    assert said[1].endswith("u1 -")
    assert "since an unknown time" in said[2]


@pytest.mark.parametrize(("program", "columns"), [("docker", "?"), ("nvidia-smi", None)])
def test_what_hangs_is_said_and_no_card_is_called_free(
    host: Host, capfd: Caught, program: str, columns: str | None
) -> None:
    host.program.LOGIN_S = 0.5
    host.says(program, "exec sleep 60")
    said = lines(host, capfd, "--login")
    assert f"not known: {program} does not answer" in " ".join(said)
    assert not [line for line in said if line.endswith("free")]
    assert columns is None or said[1].endswith(columns)
    assert host.who("--login", "--json") == 0
    assert [card["held_by"] for card in json.loads(capfd.readouterr().out)["cards"]] in ([None, None], [])


def test_a_login_says_what_is_one_s_own_and_never_fails(host: Host, capfd: Caught) -> None:
    assert "yours, with alpha (u1 and u2)" in lines(host, capfd, "--login")[-1]
    (host.folder / "sharing.json").unlink()
    assert host.who("--login") == 0
    assert host.who() == 1


def test_a_card_that_has_gone_is_said_with_its_pair_and_place(host: Host, capfd: Caught) -> None:
    host.cards(ROWS.splitlines()[1] + "\n")
    said = lines(host, capfd)
    assert f"{A} of alpha is not there any more" in said[2]
    assert "it was at 00:01" in said[3]


def test_the_document_says_simulated_only_where_it_is(host: Host, capfd: Caught) -> None:
    host.who("--json")
    assert json.loads(capfd.readouterr().out)["simulated"] is False
    (host.folder / "simulated").touch()
    host.who("--json")
    assert json.loads(capfd.readouterr().out)["simulated"] is True


def test_a_container_gone_between_two_questions_is_no_problem(host: Host, capfd: Caught) -> None:
    script = (host.folder / "bin/docker").read_text(encoding="utf-8").partition("\n")[2]
    host.containers(container())
    host.says("docker", f'case "$1" in inspect) echo "[]"; exit 1;; esac\n{script}')
    assert [line.split()[-1] for line in lines(host, capfd)[1:]] == ["free", "free"]
