"""The lock file: from a proven host only, and read strictly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.fleet.generated import write_host
from tests.unit.report.helpers import host_report
from verify import cli
from verify.errors import VerifyError
from verify.findings import Finding, Layer, Status
from verify.fleet.lock import lock_of, read_lock
from verify.fleet.versions import Versions
from verify.report.layout import LOCK

WHOLE = Versions("580.159.03", "1.20.2", "29.4.3", "sha256:00")
INSIDE = Finding("container.answers", Layer.CONTAINER, Status.PASS, "it answers")
BROKEN = Finding("driver.answers", Layer.DRIVER, Status.FAIL, "no answer")


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """One proven host, and one that fails."""
    write_host(tmp_path, 1, "healthy-lab-host", "healthy-lab-container")
    write_host(tmp_path, 2, "driver-not-installed")
    return tmp_path


def test_it_is_written_from_a_proven_host_and_others_drift(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_host(evidence, 7, "healthy-lab-host", "healthy-lab-container")  # 7 has another driver
    assert cli.main(["report", "--from", str(evidence), "--lock", "node-001"]) == 1  # node-002 fails
    lock = json.loads((evidence / LOCK).read_text())
    assert lock == {
        "schema": 1,
        "host": "node-001",
        "simulated": False,
        "driver": "580.159.03",
        "toolkit": "1.20.2",
        "engine": "29.4.3",
        "image": f"sha256:{'0f' * 32}",
    }
    page = (evidence / "index.html").read_text()
    assert "driver should be 580.159.03 (the lock file, from node-001)" in page
    assert capsys.readouterr().err == ""


def test_a_host_that_is_not_proven_is_refused_and_nothing_is_written(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", "--from", str(evidence), "--lock", "node-002"]) == 2
    said = capsys.readouterr().err
    assert "node-002 is no host to lock the fleet to: its verdict is FAIL" in said
    assert "name another host" in said
    assert not (evidence / LOCK).exists()
    assert not (evidence / "index.html").exists()


def test_a_host_that_there_is_not_is_refused(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--from", str(evidence), "--lock", "lab-9"]) == 2
    assert "it holds node-001, node-002; name one of these" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("findings", "versions", "said"),
    [
        ((INSIDE, BROKEN), WHOLE, "its verdict is FAIL: driver"),
        ((), WHOLE, "its verdict is FAIL: nothing passed"),
        ((Finding("engine.answers", Layer.ENGINE, Status.PASS, "yes"),), WHOLE, "nothing was proven"),
        ((INSIDE,), Versions("580", None, None, "sha256:00"), "its toolkit and engine is not known"),
    ],
)
def test_refusals(findings: tuple[Finding, ...], versions: Versions, said: str) -> None:
    with pytest.raises(VerifyError, match=said):
        lock_of(host_report(*findings), versions)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    lock = lock_of(host_report(INSIDE), WHOLE)
    (tmp_path / LOCK).write_text(json.dumps(lock.document()))
    assert read_lock(tmp_path / LOCK) == lock
    assert read_lock(tmp_path / "none.json") is None


@pytest.mark.parametrize(
    "change",
    [{"schema": 2}, {"driver": None}, {"driver": 580}, {"simulated": "no"}, {"host": None}, {"image": ""}],
)
def test_another_lock_is_refused_and_says_what_to_do(tmp_path: Path, change: dict[str, Any]) -> None:
    document = {**lock_of(host_report(INSIDE), WHOLE).document(), **change}
    (tmp_path / LOCK).write_text(json.dumps(document))
    with pytest.raises(VerifyError, match=r"no lock file of this version .* --lock HOST"):
        read_lock(tmp_path / LOCK)


@pytest.mark.parametrize("text", ["[]", "{", "\x00", '"x"'])
def test_what_is_no_lock_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / LOCK).write_text(text)
    with pytest.raises(VerifyError, match="write it again"):
        read_lock(tmp_path / LOCK)
