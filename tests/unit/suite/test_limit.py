"""A host that hangs after its recording ends at its limit, with its children, and hides nobody."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import testinfra

from tests.unit.collect.test_collect import given
from verify import collect
from verify.suite.backends import register
from verify.suite.limit import _TURNS, NoAnswer, run_within, turn_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
# Two hosts: one answers everything, one hangs at its first container; both over an ssh that is none.
CARDS = "GPU 0: A card (UUID: GPU-0)"
PROGRAMS = {
    "ssh": """
for last; do before=$host; host=$last; done
echo "$*" >> "$ASKED"
case "$*" in *"-O exit"*) exit 0 ;; esac
# As on a real host, what runs there is not this machine's to kill, and has nothing of its pipes.
said=$(mktemp) rc=0
HOST=$before setsid --wait sh -c "$last" > "$said" 2> "$said.err" || rc=$?
cat "$said"; cat "$said.err" >&2; rm "$said" "$said.err"; exit "$rc"
""",
    "nvidia-smi": f'echo "{CARDS}"\n',
    "docker": f"""
case "$HOST $1" in
  "hangs run") echo $$ > "$ASKED.pid"; sleep 900 & wait ;;
  *" run") echo "{CARDS}" ;;
  *" ps") ;;
esac
""",
    "sudo": 'exec "$@"\n',
}


@pytest.fixture(autouse=True)
def _turns() -> Iterator[None]:
    register()
    _TURNS.clear()
    yield
    _TURNS.clear()


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of what ssh was asked."""
    (tmp_path / "bin").mkdir()
    for name, script in PROGRAMS.items():
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/sh\n{script}")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    return tmp_path / "asked"


def running(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be counted."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    """Wait some seconds until a process is gone; say whether it is."""
    until = time.monotonic() + 15
    while running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not running(pid)


def test_what_answers_is_returned_whole() -> None:
    assert run_within(b"cat; echo no >&2; exit 3", b"given", 20) == (3, b"given", b"no\n")


def test_what_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    begun = time.monotonic()
    line = f"sleep 900 & echo $! > {tmp_path}/child; wait".encode()
    assert run_within(line, b"", 0.5) is None
    assert time.monotonic() - begun < 5
    child = int((tmp_path / "child").read_text())
    assert gone(child)


def test_a_host_that_hung_is_not_asked_again() -> None:
    turn_of("lab").deadline_s = 0.5
    with pytest.raises(NoAnswer, match=r"did not answer within 0\.5 s$"):
        testinfra.get_host("here://lab").run("sleep 900")
    # Another test's connection to the same host, and another host.
    with pytest.raises(NoAnswer, match=r"it is not asked again"):
        testinfra.get_host("here://lab").run("touch asked-again")
    assert testinfra.get_host("here://other").run("echo here").stdout == "here\n"


def test_the_limit_is_for_all_that_a_host_is_asked() -> None:
    turn_of("lab").deadline_s = 1.5
    host = testinfra.get_host("here://lab")
    assert host.run("sleep 1; echo first").stdout == "first\n"
    begun = time.monotonic()
    with pytest.raises(NoAnswer):
        host.run("sleep 1; echo second")
    assert time.monotonic() - begun < 0.9


def test_a_host_that_hangs_has_its_own_row_and_all_others_are_judged(tmp_path: Path, asked: Path) -> None:
    evidence = tmp_path / "evidence"
    collect.start(evidence, {"hosts": ["hangs", "works"]})
    collect.stage(evidence, given("hangs", race="never", deadline=2))
    collect.stage(evidence, given("works", race="never", deadline=20))
    done = subprocess.run(
        [sys.executable, "-m", "verify.collect", "judge", "--evidence", str(evidence)],
        input=json.dumps({"hosts": ["ssh://hangs", "ssh://works"], "ssh_config": ""}),
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    suite: dict[str, Any] = json.loads(done.stdout)["suite"]
    assert suite["rc"] == 1
    looks = {
        host: json.loads((evidence / host / "run.json").read_text()).get("second_look")
        for host in ("hangs", "works")
    }
    assert looks == {
        "hangs": {
            "outcome": "no-answer",
            "detail": "it was recorded, and then did not answer within 2 s "
            "(asked: card in container is the card of the host)",
        },
        "works": None,
    }
    found = json.loads((evidence / "hangs" / "findings.json").read_text())["findings"][-1]
    assert (found["id"], found["status"]) == ("verify.second-look", "fail")
    assert found["remedy"].startswith("ssh hangs nvidia-smi")
    assert "hangs" in (evidence / "failed.hosts").read_text().split()
    assert ">no answer<" in (evidence / "index.html").read_text()
    # The shared connection is closed, what the client left is cleared up, and then nothing more is asked.
    said = [line for line in asked.read_text().splitlines() if re.search(r" hangs( |$)", line)]
    assert [line for line in said if "-O exit" in line]
    assert "docker rm -f" in said[-1]
    # What hung there ends by itself, though nobody waits for it.
    assert gone(int(Path(f"{asked}.pid").read_text()))
