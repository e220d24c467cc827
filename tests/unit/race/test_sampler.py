"""The sampler's process, for real: a pynvml of our own in it, and the race that it serves killed under it."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from verify.race import sampler as sampler_module
from verify.race import words
from verify.race.sampler import Sampler
from verify.race.sampling import NICENESS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[3]
FAKE = Path(__file__).with_name("fake_pynvml.py")
ENERGY = "nvmlDeviceGetTotalEnergyConsumption"
PATIENCE = 60.0  # for what must happen, on a busy machine too


def make(folder: Path, **state: Any) -> Path:
    shutil.copy(FAKE, folder / "pynvml.py")
    (folder / "state.json").write_text(json.dumps(state))
    return folder


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return what puts a pynvml of this state where the sampler's process imports it from."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return lambda **state: make(tmp_path, **state)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def patient(**more: Any) -> Sampler:
    return Sampler(**{"interval_s": 0.01, "start_seconds": PATIENCE, "end_seconds": PATIENCE, **more})


def test_a_lane_is_watched_and_the_next_one_by_the_same_process(fake: Callable[..., Path]) -> None:
    fake(values={ENERGY: [1_000 * n for n in range(1, 5_000)]})
    sampler = patient()
    with sampler:
        began = time.perf_counter()
        time.sleep(0.2)
        windows = [(began, time.perf_counter())]
        time.sleep(0.2)  # a pause, which is not the repeat's
    seen, pid = sampler.usage(windows), sampler.pid
    assert seen is not None
    assert seen["points"][0][1:] == [80, 3.0, 100.0, 1500, 50]
    assert seen["utilisation"] == {"median": 80, "max": 80}
    assert seen["energy_from"] == "counter"
    assert 0 < seen["energy_j"] < len(seen["points"]), "a joule a reading, and not those of the pause"
    assert seen["power_w_mean"] == pytest.approx(seen["energy_j"] / seen["timed_s"])
    assert seen["timed_s"] == pytest.approx(windows[0][1] - windows[0][0])
    assert (seen["throttle"], seen["clock_mhz"]) == ([], [1500, 1500])
    assert seen["limits"] == {"power_w": 150.0, "power_default_w": 150.0, "slowdown_c": 95}
    assert seen["cost_share"] > 0
    times = [point[0] for point in seen["points"]]
    assert len(times) >= 2
    assert times == sorted(times)
    with sampler:
        pass
    seen = sampler.usage()
    assert seen is not None
    assert (seen["energy_j"], seen["trainings"]) == (None, None), "nothing was timed"
    assert sampler.pid == pid
    assert (sampler.reason, sampler.notes) == (None, [])
    assert pid is not None
    sampler.close()
    assert not alive(pid)


def test_it_says_what_it_cost(fake: Callable[..., Path]) -> None:
    fake()
    sampler = patient()
    assert sampler.cost() is None
    with sampler:
        time.sleep(0.05)
    cost = sampler.cost()
    sampler.close()
    assert cost is not None
    assert "of one core" in words.text(cost)
    assert cost["count"] >= 2


def test_it_gives_way_to_the_lane(fake: Callable[..., Path]) -> None:
    fake()
    sampler = patient()
    with sampler:
        assert sampler.pid is not None
        own, its = (os.getpriority(os.PRIO_PROCESS, pid) for pid in (0, sampler.pid))
    sampler.close()
    assert its == min(own + NICENESS, 19)


def test_a_card_that_tells_nothing_gives_points_without_values(fake: Callable[..., Path]) -> None:
    fake(unsupported="*")
    sampler = patient()
    with sampler:
        pass
    seen, said = sampler.usage(), sampler.warnings()
    sampler.close()
    assert seen is not None
    assert seen["points"]
    assert all(value is None for point in seen["points"] for value in point[1:])
    named = ("utilisation", "memory_mib_max", "energy_j", "energy_from", "throttle", "clock_mhz", "others")
    assert [seen[name] for name in named] == [None] * len(named)
    assert [message for message in said if message["id"] != "sampler-cost"] == []


def test_a_card_lost_in_the_middle_is_said_and_breaks_nothing(fake: Callable[..., Path]) -> None:
    fake(lost_after=1, values={ENERGY: 5})
    sampler = patient()
    with sampler:
        pass
    seen = sampler.usage()
    lost = [message for message in sampler.warnings() if message["id"] == "card-lost"]
    sampler.close()
    assert seen is not None
    assert seen["points"][0][1] == 80
    assert seen["points"][-1][1:] == [None] * 5
    assert (seen["energy_j"], seen["power_w_mean"]) == (None, None)
    assert [message["error"] for message in lost] == ["NVMLError: GPU is lost"]


def test_what_the_host_counted_goes_before_what_nvml_lists(fake: Callable[..., Path]) -> None:
    fake()
    for others, expected in ((3, 3), ([11, 12], 2), (0, 0)):
        sampler = patient(others=others)
        with sampler:
            pass
        seen = sampler.usage()
        said = [message for message in sampler.warnings() if message["id"] == "others-on-card"]
        sampler.close()
        assert seen is not None
        assert seen["others"] == expected
        assert said == ([{"id": "others-on-card", "count": expected}] if expected else [])


def test_a_foreign_pynvml_is_said(fake: Callable[..., Path], tmp_path: Path) -> None:
    fake()
    info = tmp_path / "pynvml-11.5.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pynvml\nVersion: 11.5.3\n")
    (info / "RECORD").write_text("pynvml.py,,\n")
    sampler = patient()
    with sampler:
        pass
    sampler.close()
    assert sampler.usage() is not None
    assert sampler.notes == [{"id": "sampler-foreign", "distribution": "pynvml", "version": "11.5.3"}]


@pytest.mark.parametrize(("state", "reason"), [
    ({"init": "error"}, {"id": "sampler-no-nvml", "error": "NVMLError: Driver Not Loaded"}),
    ({"init": "missing"}, {"id": "sampler-no-pynvml"}),
    ({"cards": ["GPU-1", "GPU-2"]}, {"id": "sampler-which-card", "count": 2}),
])  # fmt: skip
def test_where_nothing_can_be_watched_lanes_run_and_the_reason_is_kept(
    fake: Callable[..., Path], state: dict[str, Any], reason: dict[str, Any]
) -> None:
    fake(**state)
    sampler = patient()
    for _ in range(2):
        with sampler:
            pass
        assert (sampler.usage(), sampler.warnings(), sampler.cost()) == (None, [], None)
    assert sampler.reason == reason
    assert sampler.pid is None
    sampler.close()
    assert sampler.reason == reason


def test_nvml_that_hangs_when_it_starts_is_waited_for_once(fake: Callable[..., Path]) -> None:
    fake(init="hang")
    sampler = patient(start_seconds=0.5)
    sampler.start()
    pid = sampler.pid
    assert pid is not None
    with sampler:
        pass
    assert sampler.reason == {"id": "sampler-hung", "seconds": 0.5}
    assert sampler.usage() is None
    assert not alive(pid)
    with sampler:
        pass
    assert sampler.pid is None


@pytest.mark.parametrize("function", [ENERGY, "nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit"])
def test_nvml_that_hangs_in_a_lane_leaves_the_lane_alone(fake: Callable[..., Path], function: str) -> None:
    fake(hangs=function, values={ENERGY: 5})
    sampler = patient(end_seconds=0.5)
    sampler.start()
    pid = sampler.pid
    with sampler:
        pass
    assert pid is not None
    assert sampler.reason == {"id": "sampler-hung", "seconds": 0.5}
    assert sampler.usage() is None
    assert not alive(pid)


@pytest.mark.parametrize("function", ["nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit"])
def test_a_process_that_ends_by_itself_is_said(fake: Callable[..., Path], function: str) -> None:
    fake(ends=function)
    sampler = patient()
    with sampler:
        pass
    assert sampler.usage() is None
    assert sampler.reason == {"id": "sampler-ended", "status": 7}
    with sampler:
        pass
    assert sampler.usage() is None


def test_a_killed_process_is_said(fake: Callable[..., Path]) -> None:
    fake()
    sampler = patient()
    with sampler:
        assert sampler.pid is not None
        os.kill(sampler.pid, signal.SIGKILL)
    assert sampler.reason == {"id": "sampler-ended", "status": -signal.SIGKILL}


def test_python_that_cannot_be_started_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    sampler = patient()
    with sampler:
        pass
    assert sampler.usage() is None
    assert sampler.reason is not None
    assert sampler.reason["id"] == "sampler-start"


def test_what_breaks_in_a_lane_is_passed_on_and_the_next_is_watched(fake: Callable[..., Path]) -> None:
    fake()
    sampler = patient()
    with pytest.raises(MemoryError), sampler:
        raise MemoryError
    assert sampler.usage() is not None
    with sampler:
        assert sampler.usage() is None  # nothing of the lane before
    assert sampler.usage() is not None
    sampler.close()
    with sampler:
        pass
    assert sampler.usage() is None
    assert sampler.reason == {"id": "sampler-closed"}


def test_ctrl_c_reaches_the_race_alone(fake: Callable[..., Path]) -> None:
    fake()
    sampler = patient()
    with sampler:
        assert sampler.pid is not None
        os.kill(sampler.pid, signal.SIGINT)
    assert sampler.usage() is not None
    sampler.close()


def test_ctrl_c_while_its_answer_is_waited_for_ends_it(
    fake: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake()
    sampler = patient()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    sampler.__enter__()
    pid = sampler.pid
    monkeypatch.setattr(sampler_module, "_readable", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sampler.__exit__(None, None, None)
    assert pid is not None
    assert not alive(pid)


def test_a_sampler_that_nobody_closed_takes_its_process_along(fake: Callable[..., Path]) -> None:
    fake()
    sampler = patient()
    with sampler:
        pid = sampler.pid
    assert pid is not None
    assert alive(pid)
    del sampler
    gc.collect()
    assert not alive(pid)


RACE = """
    import os, sys, time
    from verify.race.sampler import Sampler
    sampler = Sampler(interval_s=0.01, start_seconds=600, end_seconds=600)
    sampler.start()
    print(sampler.pid, flush=True)
"""


@contextmanager
def race(folder: Path, body: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a race of its own; give it and its sampler's process. It does not outlive the test."""
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    script = textwrap.dedent(RACE) + textwrap.dedent(body)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.parametrize(("state", "body"), [
    ({}, """
        with sampler:
            print("here", flush=True)
            time.sleep(600)
     """),
    ({}, """
        with sampler:
            pass
        print("here", flush=True)
        time.sleep(600)
     """),
    ({"init": "hang"}, "with sampler: pass"),
    ({"hangs": "nvmlDeviceGetPowerUsage"}, "with sampler: pass"),
    ({"hangs": "nvmlDeviceGetEnforcedPowerLimit"}, "with sampler: pass"),
], ids=["in a lane", "between lanes", "NVML hangs at its start", "NVML hangs in a lane", "and after it"],
)  # fmt: skip
def test_a_killed_race_leaves_no_process(tmp_path: Path, state: dict[str, Any], body: str) -> None:
    with race(make(tmp_path, **state), body) as (killed, pid):
        if state:
            assert until((tmp_path / "hangs").exists)
        else:
            assert killed.stdout
            assert killed.stdout.readline() == "here\n"
        assert alive(pid)
    assert killed.returncode == -signal.SIGKILL
    assert until(lambda: not alive(pid))


def test_a_killed_race_leaves_no_process_though_a_fork_of_it_lives(tmp_path: Path) -> None:
    body = """
        with sampler:
            worker = os.fork()
            if worker == 0:
                os.close(1)
                time.sleep(600)
                os._exit(0)
            print(worker, flush=True)
            time.sleep(600)
    """
    with race(make(tmp_path), body) as (killed, pid):
        assert killed.stdout
        worker = int(killed.stdout.readline())
    try:
        assert until(lambda: not alive(pid))
        assert alive(worker)  # it holds the pipe open: not the pipe's end was what ended the sampler
    finally:
        os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize("leaves", ["sys.exit(0)", "os._exit(0)"])
def test_a_fork_that_ends_leaves_the_races_sampler_running(tmp_path: Path, leaves: str) -> None:
    body = f"""
        with sampler:
            worker = os.fork()
            if worker == 0:
                {leaves}
            os.waitpid(worker, 0)
        print("watched" if sampler.usage() else sampler.reason, flush=True)
    """
    with race(make(tmp_path), body) as (done, pid):
        printed, _ = done.communicate(timeout=PATIENCE)
        assert (done.returncode, printed) == (0, "watched\n")
        assert until(lambda: not alive(pid))


def test_a_race_that_ends_with_an_error_leaves_no_process(tmp_path: Path) -> None:
    with race(make(tmp_path), "with sampler: sys.exit(3)") as (done, pid):
        assert done.wait(PATIENCE) == 3
        assert until(lambda: not alive(pid))
