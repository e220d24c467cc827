"""A script of the user's own in the race; without torch, which no part of this needs."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.unit.race import fakes
from verify.race import cores, machine, options, running, script
from verify.race.budget import Budget
from verify.race.course import Course
from verify.race.judging import judge
from verify.race.libraries import CPU
from verify.race.options import UsageError
from verify.race.settings import Script, Settings
from verify.race.words import message, text

if TYPE_CHECKING:
    from verify.race.outcome import Outcome

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "docs" / "your-own-script.md"
CARD = {"name": "Simulated RTX 4090"}
TRAIN = """
import json, os, sys
print("device", sys.argv[-1], "card", os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
print(json.dumps({"accuracy": 0.5 if "cuda" in sys.argv[-1] and "bad" in sys.argv else 0.9}))
"""


def settings(tmp_path: Path, code: str = TRAIN, *args: str, **more: Any) -> Settings:
    file = tmp_path / "train.py"
    file.write_text(code)
    return Settings(script=Script(str(file), args=args), only=(), **{"repeats": 3, "budget_s": None, **more})


def race(
    chosen: Settings, monkeypatch: pytest.MonkeyPatch, card: dict[str, Any] | None = None
) -> tuple[tuple[Outcome, ...], dict[str, Any]]:
    monkeypatch.setattr(machine, "card", lambda: card)
    contestant = script.contestant(chosen)
    course = Course(
        chosen, fakes.libraries(None), Budget(chosen.budget_s), cast("Any", fakes.Silent()), claims=2
    )
    outcomes, training = running.run_contestant(contestant, course)
    return outcomes, judge(contestant, outcomes, chosen, training=training)


def test_both_devices_are_told_and_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes, document = race(settings(tmp_path), monkeypatch, CARD)
    assert [(o.lane.name, o.status, len(o.samples)) for o in outcomes] == [
        ("cpu", "ran", 3),
        ("cuda", "ran", 3),
    ]
    assert all(seconds > 0 for o in outcomes for seconds in o.samples)
    assert document["ratio"] is not None
    assert document["lanes"][0]["quality"] == {"accuracy": 0.9}


def test_a_copy_that_cannot_be_seen_is_not_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, document = race(settings(tmp_path), monkeypatch, CARD)
    card = document["lanes"][1]
    assert (card["transfer_in"], card["transfer_out"], card["work"]) == (None, None, None)
    assert card["total"] == card["median"]


def test_without_a_card_the_cpu_lane_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes, document = race(settings(tmp_path), monkeypatch)
    assert [o.status for o in outcomes] == ["ran", "absent"]
    assert "nvidia-smi" in text(document["lanes"][1]["reason"])
    assert document["ratio"] is None


def test_torch_is_asked_for_the_card_where_it_is_there() -> None:
    found = fakes.libraries(fakes.torch("2.13.0+cpu"))
    reason = script.absent(script.LANES[1], Settings(), found)
    assert reason is not None
    assert reason["id"] == "absent-cpu-build"
    assert script.absent(script.LANES[0], Settings(), found) is None
    with_card = fakes.libraries(fakes.torch("2.13.0", cuda="12.8", available=True))
    assert script.absent(script.LANES[1], Settings(), with_card) is None


def test_different_accuracies_get_no_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, document = race(settings(tmp_path, TRAIN, "bad"), monkeypatch, CARD)
    assert document["ratio"] is None
    (warning,) = [w for w in document["lanes"][1]["warnings"] if w["id"] == "differs"]
    assert (warning["what"], warning["a"], warning["b"]) == ("accuracy", 0.9, 0.5)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "print('epoch 1 of 9'); raise KeyError('target')",
            "exit status 1, its last line: KeyError: 'target'",
        ),
        ("import sys; print('epoch 1 of 9'); sys.exit(4)", "exit status 4, its last line: epoch 1 of 9"),
        ("print('epoch 1 of 9', flush=True); import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
    ],
)
def test_a_script_that_fails_is_a_failed_lane_and_its_output_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], code: str, said: str
) -> None:
    outcomes, document = race(settings(tmp_path, code), monkeypatch)
    assert outcomes[0].status == "failed"
    assert said in text(document["lanes"][0]["reason"])
    assert document["lanes"][0]["samples"] == []
    shown = capfd.readouterr()
    assert "epoch 1 of 9" in shown.err
    assert shown.out == ""  # race.json may be printed there


def test_the_output_of_a_script_that_ran_is_not_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    race(settings(tmp_path), monkeypatch)
    assert capfd.readouterr() == ("", "")


def test_a_script_that_does_not_end_is_ended_within_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code = "import time; time.sleep(300)"
    outcomes, document = race(settings(tmp_path, code, repeats=None, budget_s=1.0), monkeypatch)
    assert outcomes[0].status == "failed"
    said = text(document["lanes"][0]["reason"])
    assert "did not end within" in said
    assert "--budget" in said
    assert "printed nothing" in capfd.readouterr().err


def test_a_run_that_cannot_be_followed_by_another_is_not_begun(tmp_path: Path) -> None:
    now = [0.0]
    chosen = settings(tmp_path)
    runner = script.ScriptRunner(
        script.LANES[0], script.Startup(None), chosen, Budget(60.0, lambda: now[0]), claims=2
    )
    assert runner.fresh() == pytest.approx(30.0)  # the other half is the card's
    runner._last = 25.0
    now[0] = 20.0
    with pytest.raises(script.ScriptError, match=r"one run takes 25 s and 20 s are left .* larger --budget"):
        runner.fresh()


def test_the_budget_is_shared_with_the_card_only_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, found = settings(tmp_path, budget_s=1000.0), fakes.libraries(None)
    contestant = script.contestant(chosen)
    for card, share in ((None, 1000.0), (CARD, 500.0)):
        monkeypatch.setattr(machine, "card", lambda card=card: card)
        runner = contestant.runner(contestant.lanes[0], script.Startup(None), chosen, found)
        assert runner.fresh() == pytest.approx(share, rel=0.2)
    runner = contestant.runner(contestant.lanes[1], script.Startup(None), chosen, found)
    assert runner.fresh() == pytest.approx(1000.0, rel=0.2)


def test_the_cpu_lane_sees_no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert script.environment(CPU)["CUDA_VISIBLE_DEVICES"] == ""
    assert script.environment("cuda")["CUDA_VISIBLE_DEVICES"] == "1"
    assert int(script.environment(CPU)["OMP_NUM_THREADS"]) >= 1
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert script.environment(CPU)["OMP_NUM_THREADS"] == script.environment("cuda")["OMP_NUM_THREADS"] == "3"


def test_the_threads_that_the_user_chose_are_recorded_and_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in script.THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cores, "usable", lambda *_: 4)
    monkeypatch.setattr(cores, "threads", lambda: 4)
    monkeypatch.setattr(cores, "count", lambda: 4)
    _, document = race(settings(tmp_path), monkeypatch)
    lane = document["lanes"][0]
    assert (lane["threads"], lane["threads_environment"]) == (4, None)
    assert "few-threads" not in [warning["id"] for warning in lane["warnings"]]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MKL_NUM_THREADS", "2")
    _, document = race(settings(tmp_path), monkeypatch)
    lane = document["lanes"][0]
    assert lane["threads"] == 1
    assert lane["threads_environment"] == {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "2"}
    assert message("few-threads", threads=1, cores=4) in lane["warnings"]


def test_torch_is_asked_how_many_threads_it_takes() -> None:
    assert script.threads(script.LANES[0], script.Startup(1.0, 7))["threads"] == 7


def test_a_reason_is_a_sentence_and_no_name_of_a_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, document = race(settings(tmp_path, "raise KeyError('target')"), monkeypatch)
    assert text(document["lanes"][0]["reason"]).startswith("exit status 1, its last line")


@pytest.mark.parametrize(
    ("device_arg", "last"), [("--device", ["--device", "cuda"]), ("trainer.device=", ["trainer.device=cuda"])]
)
def test_the_device_comes_last(device_arg: str, last: list[str]) -> None:
    argv = script.command(Script("train.py", device_arg, ("--epochs", "3")), "cuda")
    assert argv == [sys.executable, "train.py", "--epochs", "3", *last]


@pytest.mark.parametrize(
    ("stdout", "found"),
    [
        ('epoch 1\n{"accuracy": 0.93, "loss": 1}\n\n', {"accuracy": 0.93, "loss": 1.0}),
        ('{"a": true, "b": "x", "c": null, "d": NaN, "e": [1], "f": 2}', {"f": 2.0}),
        (f'{{"big": 1{"0" * 400}}}', {}),
        ('{"accuracy": 0.9}\ndone', {}),
        ("[1, 2]", {}),
        ("0.9", {}),
        ("[" * 100_000, {}),
        ("", {}),
    ],
)
def test_what_a_script_says_of_its_result(stdout: str, found: dict[str, float]) -> None:
    assert script.reported(stdout) == found


def test_the_start_up_is_measured_where_torch_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    found = fakes.libraries(fakes.torch("2.13.0+cpu"))
    assert script.startup(Budget(None), fakes.libraries(None)).seconds is None
    monkeypatch.setenv("PYTHONPATH", os.devnull)  # this Python has no torch: nothing is known, not zero
    assert script.startup(Budget(None), found).seconds is None


def test_the_start_up_stands_beside_the_quality(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("def get_num_threads(): return 3")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    measured = script.startup(Budget(None), fakes.libraries(fakes.torch("2.13.0+cpu")))
    assert measured.seconds is not None
    assert measured.threads == 3
    runner = script.ScriptRunner(script.LANES[0], measured, settings(tmp_path), Budget(None))
    assert runner.quality('{"accuracy": 0.9}') == {"accuracy": 0.9, "startup_s": measured.seconds}


def parsed(line: str) -> Settings:
    return options.settings(options.parse(shlex.split(line)))


def test_arguments_that_begin_with_dashes_are_values(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("pass")
    found = parsed(f"--script {file} --device-arg --dev --script-args --fast --only script").script
    assert found is not None
    assert (found.device_arg, found.args) == ("--dev", ("--fast",))
    assert found.sha256 is not None
    file.write_text("pass  # other")
    changed = parsed(f"--script {file}").script
    assert changed is not None
    assert changed.sha256 != found.sha256


def test_a_script_that_is_not_there_is_refused_first(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"train\.py cannot be read .*: give the path of a Python script"):
        parsed(f"--script {tmp_path / 'train.py'}")


def test_the_document_has_the_example_that_is_tested() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    tested = (ROOT / "tests" / "race" / "example_train.py").read_text(encoding="utf-8")
    assert code == re.sub(r"  # (noqa|type: ignore).*", "", tested)


def test_the_documents_commands_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    example = ROOT / "tests" / "race" / "example_train.py"
    monkeypatch.chdir(example.parent)
    lines = re.findall(r"\$ .*?(--script train\.py.*)", DOCUMENT.read_text(encoding="utf-8"))
    assert len(lines) == 2
    for line in lines:
        found = parsed(line.replace("train.py", example.name))
        assert found.script is not None
        assert found.script.device_arg == "--device"
        assert found.only == ()


def test_the_documents_words_are_the_programs() -> None:
    """What the table of failures quotes is what is said."""
    said = DOCUMENT.read_text(encoding="utf-8")
    source = Path(script.__file__).read_text(encoding="utf-8")
    for quoted in ("its last line: ", "it did not end within ", "one run takes ", "are left for another"):
        assert quoted in said
        assert quoted in source
    assert json.dumps(script.ACCURACY_TOLERANCE) in said
