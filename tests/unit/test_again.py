"""``gpu-verify again``: a folder a run, the last N kept, the newest named, the report's exit status."""

from __future__ import annotations

import fcntl
import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.test_burn_in import burnt
from verify import again, burn_in_run, take
from verify.cli import main
from verify.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDINGS = Path(__file__).resolve().parents[1] / "recordings"
Json = dict[str, Any]


def healthy(**_: object) -> dict[str, Json]:
    return {
        where: json.loads((RECORDINGS / f"healthy-lab-{where}.json").read_text())
        for where in ("host", "container")
    }


@pytest.fixture(autouse=True)
def _terminated() -> Iterator[None]:
    """Give SIGTERM back: a command may take it for its process, not for pytest's."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(take, "record_both", healthy)
    monkeypatch.setattr(burn_in_run, "burn_in", lambda *_: burnt())
    return tmp_path / "evidence"


def begin(folder: Path, *words: str) -> int:
    return main(["again", "--evidence", str(folder), "--name", "lab-1", *words])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_run_is_an_evidence_folder_of_its_own(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert begin(run) == 0
    assert "lab-1" in capsys.readouterr().out
    stamp = (run / "latest").readlink().name
    assert names(run) == [".lock", stamp, "latest"]
    assert {"findings.json", "run.json", "gpu-host.prom", "junit.xml"} <= set(names(run / "latest/lab-1"))
    before = (run / "latest/lab-1/findings.json").read_bytes()
    assert main(["report", "--from", str(run / "latest")]) == 0
    assert (run / "latest/lab-1/findings.json").read_bytes() == before


def test_the_burn_in_is_judged_with_the_rest_and_again_from_what_was_kept(run: Path) -> None:
    assert begin(run, "--burn-in", "120") == 0
    found = json.loads((run / "latest/lab-1/findings.json").read_text())["findings"]
    assert {"burn-in.ran", "burn-in.clock", "burn-in.xid", "driver.answers"} <= {one["id"] for one in found}
    assert 'id="burn-in.clock"' in (run / "latest/lab-1/gpu-host.prom").read_text()
    path = run / "latest/lab-1/burn-in.json"
    path.write_text(path.read_text().replace('"status": "ran"', '"status": "failed"'))
    assert main(["report", "--from", str(run / "latest")]) == 1


def test_what_a_burn_in_recorded_is_redacted_as_the_rest(run: Path) -> None:
    uuid = "GPU-00000000-0000-4000-8000-000000000001"
    begin(run, "--burn-in")
    assert uuid not in (run / "latest/lab-1/burn-in.json").read_text()
    assert begin_later(run, "--burn-in", "--raw") == 0
    assert uuid in (run / "latest/lab-1/burn-in.json").read_text()


def begin_later(folder: Path, *words: str) -> int:
    """Begin a run as if the last one had been long ago: its folder gets an older name."""
    newest = folder / (folder / "latest").readlink()
    kept = len(names(folder))
    newest.rename(folder / f"20200101T0000{kept:02}Z")
    return begin(folder, *words)


def test_the_last_n_are_kept_and_nothing_else_is_touched(run: Path) -> None:
    for name in ("20190101T000000Z", "20190102T000000Z", "20190103T000000Z", "notes", ".hidden"):
        (run / name).mkdir(parents=True)
    (run / "20180101T000000Z").symlink_to(run / "notes")
    begin(run, "--keep", "2")
    stamp = (run / "latest").readlink().name
    assert names(run) == sorted(
        [".hidden", ".lock", "20180101T000000Z", "20190103T000000Z", stamp, "latest", "notes"]
    )


def test_a_machine_that_cannot_be_recorded_has_a_row_that_says_so(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> dict[str, Json]:
        raise VerifyError("no recording from here within 90 s")

    monkeypatch.setattr(take, "record_both", broken)
    assert begin(run, "--burn-in") == 1
    assert "FAIL: failed" in capsys.readouterr().out
    assert "no recording from here" in (run / "latest/lab-1/run.json").read_text()
    assert not (run / "latest/lab-1/burn-in.json").exists()


def test_expected_findings_reach_both_judges(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = burnt(work={"status": "absent", "reason": "CPU build"})
    monkeypatch.setattr(burn_in_run, "burn_in", lambda *_: absent)
    assert begin(run, "--burn-in") == 1
    assert begin_later(run, "--burn-in", "--expect", "burn-in.ran") == 0
    assert begin_later(run, "--expect", "burn-in.ran") == 1  # without a burn-in there is no such check


def test_the_figures_go_to_node_exporter(run: Path, tmp_path: Path) -> None:
    (tmp_path / "textfile").mkdir()
    assert begin(run, "--prometheus", str(tmp_path / "textfile")) == 0
    assert names(tmp_path / "textfile") == ["gpu-host-lab-1.prom"]


@pytest.mark.parametrize(
    "words", [["--name", "../x"], ["--name", ".x"], ["--keep", "0"], ["--burn-in", "1"], ["--name", ""]]
)
def test_refusals(run: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if words == ["--name", ""]:
        words = ["--name", " "]
    assert begin(run, *words) == 2
    assert "gpu-verify: " in capsys.readouterr().err
    assert not run.exists()


def test_nothing_half_written_is_left(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(again, "replace_file", full)
    assert begin(run) == 2
    assert names(run) == [".lock"]


def test_a_stop_by_systemd_is_an_interruption_and_leaves_nothing(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> Json:
        os.kill(os.getpid(), signal.SIGTERM)
        return burnt()

    monkeypatch.setattr(burn_in_run, "burn_in", stopped)
    assert begin(run, "--burn-in") == 130
    assert names(run) == [".lock"]


def test_one_run_at_a_time_and_what_a_killed_one_left_goes(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = run / ".20190101T000000Z.new"
    left.mkdir(parents=True)
    with (run / ".lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert begin(run) == 2
    assert "another run is at work" in capsys.readouterr().err
    assert left.exists()
    assert begin(run) == 0
    assert not left.exists()
