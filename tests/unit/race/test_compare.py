"""Two races held against each other: refused where they are not of the same work, tested where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.race import recorded
from verify.cli import main
from verify.race.compare import NotComparableError, compare, slower
from verify.race.words import text

Json = dict[str, Any]
DOCUMENTS = recorded.FOLDER


def longer(race: Json, times: float, lane: str | None = None, repeats: int = 3) -> Json:
    """Return the race again, a day later, with times that are so many times as long, and more of them."""
    race["taken_at"] = "2026-12-03T10:00:00Z"
    for contestant in race["contestants"]:
        for found in contestant["lanes"]:
            factor = times if lane in {None, found["name"]} else 1.0
            found["samples"] = [s * factor * (1 + k / 5000) for s in found["samples"] for k in range(repeats)]
    return race


def two(times: float, lane: str | None = None) -> tuple[Json, Json]:
    return longer(recorded.document("gaming-card"), 1.0), longer(
        recorded.document("gaming-card"), times, lane
    )


def said(found: Json) -> dict[tuple[str, str], str]:
    return {
        (lane["contestant"], lane["lane"]): (lane["said"] or {"id": "-"})["id"] for lane in found["lanes"]
    }


def test_the_same_again_is_not_significant() -> None:
    found = compare(*two(1.0))
    assert set(said(found).values()) == {"compare-same"}
    assert slower(found, 0.0) == []
    assert len(found["lanes"]) == 6


def test_the_lane_that_is_slower_is_named_and_no_other() -> None:
    found = compare(*two(1.3, "cuda"))
    assert [(lane["contestant"], lane["lane"]) for lane in slower(found, 0.05)] == [
        ("network", "cuda"),
        ("fraud", "cuda"),
    ]
    lane = slower(found, 0.05)[0]
    assert lane["ratio"] == pytest.approx(1.3, rel=0.01)
    assert lane["interval"][0] < 1.3 < lane["interval"][1]
    assert lane["p"] < lane["p_holm"] < 0.05
    assert said(found)["network", "cpu"] == "compare-same"


def test_faster_and_small() -> None:
    assert set(said(compare(*two(0.8))).values()) == {"compare-faster"}
    small = compare(*two(1.04))
    assert "compare-small" in said(small).values()
    assert slower(small, 0.05) == []
    assert slower(small, 0.02)


def test_too_few_repeats_are_said_to_be_too_few() -> None:
    a, b = (longer(recorded.document("gaming-card"), times, repeats=1) for times in (1.0, 2.0))
    for race in (a, b):
        for contestant in race["contestants"]:
            for lane in contestant["lanes"]:
                lane["samples"] = lane["samples"][:3]
    assert set(said(compare(a, b)).values()) == {"compare-too-few"}


def test_a_lane_that_did_not_run_is_not_tested_and_does_not_count() -> None:
    a, b = two(1.3, "cuda")
    recorded.lane(b, "fraud", "cuda").update(
        status="failed", samples=[], reason={"id": "failed", "error": "x"}
    )
    recorded.contestant(b, "network")["lanes"].pop(2)
    recorded.lane(b, "fraud", "cpu-torch")["precision"] = "float32"
    found = {(lane["contestant"], lane["lane"]): lane for lane in compare(a, b)["lanes"]}
    assert found["fraud", "cuda"]["reason"]["id"] == "compare-not-ran"
    assert found["network", "cuda-mixed"]["reason"] == {"id": "compare-no-lane", "race": "B"}
    assert found["fraud", "cpu-torch"]["reason"]["id"] == "compare-other-lane"
    tested = [lane for lane in found.values() if lane["p"] is not None]
    assert len(tested) == 3
    least = min(lane["p"] for lane in tested)
    assert min(lane["p_holm"] for lane in tested) == pytest.approx(3 * least)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("schema",), 1, "compare-schema"),
        (("simulated",), False, "compare-simulated"),
        (("versions", "torch"), "2.14.0", "compare-version"),
        (("versions", "cudnn"), None, "compare-version"),
        (("settings", "seed"), 1, "compare-setting"),
        (("settings", "tf32"), True, "compare-setting"),
        (("settings", "quick"), True, "compare-setting"),
        (("settings", "network", "batch"), 64, "compare-setting"),
        (("settings", "fraud", "rows"), 1000, "compare-setting"),
        (("settings", "fraud", "data"), {"file": "mine.csv", "sha256": "1"}, "compare-setting"),
    ],
)
def test_what_is_not_the_same_work_is_refused(path: tuple[str, ...], value: Any, expected: str) -> None:
    a, b = two(1.0)
    inner = b
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(NotComparableError) as refused:
        compare(a, b)
    assert [one["id"] for one in refused.value.differs] == [expected]


def test_other_contestants_are_refused() -> None:
    a, b = two(1.0)
    b["contestants"].pop()
    with pytest.raises(NotComparableError) as refused:
        compare(a, b)
    assert refused.value.differs[0] == {
        "id": "compare-contestants",
        "a": ["network", "fraud"],
        "b": ["network"],
    }


def test_how_long_was_measured_and_where_a_file_lay_do_not_matter() -> None:
    a, b = two(1.0)
    b["settings"].update(budget_s=600.0, most=500, sweep={"repeats": 3})
    b["versions"]["nvidia-ml-py"] = "13.0.0"
    a["settings"]["fraud"]["data"] = {"file": "here.csv", "target": "y", "sha256": "1"}
    b["settings"]["fraud"]["data"] = {"file": "there.csv", "target": "y", "sha256": "1"}
    assert compare(a, b)["lanes"]
    a["settings"]["fraud"]["data"]["sha256"] = b["settings"]["fraud"]["data"]["sha256"] = None
    with pytest.raises(NotComparableError):
        compare(a, b)


def test_settings_of_what_was_not_raced_do_not_matter() -> None:
    a, b = two(1.0)
    for race in (a, b):
        race["contestants"] = [recorded.contestant(race, "network")]
    b["settings"]["fraud"]["rows"] = 5
    assert len(compare(a, b)["lanes"]) == 3


def test_what_differs_on_purpose_is_said_and_so_is_doubt() -> None:
    a, b = two(1.0)
    b["card"].update(driver="590.10", power_limit_w=300.0)
    b["cpu"]["threads"] = 4
    b["image_digest"] = "sha256:2"
    recorded.lane(b, "network", "cpu")["warnings"] = [{"id": "spread", "share": 0.3}, {"id": "few-samples"}]
    warnings = compare(a, b)["warnings"]
    others = {one["what"] for one in warnings if one["id"] == "compare-other"}
    assert others == {"card.driver", "card.power_limit_w", "cpu.threads", "image_digest"}
    assert [one["why"]["id"] for one in warnings if one["id"] == "compare-doubt"] == ["spread"]
    assert "compare-simulated-both" in recorded.ids(warnings)
    same = recorded.document("no-card")
    assert recorded.ids(compare(same, same)["warnings"])[0] == "compare-same-race"


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    "warning",
    [
        {"id": "cpu-busy", "load": 3.0, "cores": 16},
        {"id": "throttled", "reasons": ["heat"]},
        {"id": "clock-changed", "low_mhz": 900.0, "high_mhz": 2520.0},
        {"id": "others-on-card", "count": 1},
        {"id": "swap", "mib": 900},
    ],
)
def test_a_lane_that_something_disturbed_is_no_regression(side: int, warning: Json) -> None:
    races = two(1.3, "cuda")
    recorded.lane(races[side], "network", "cuda")["warnings"] = [warning]
    found = compare(*races)
    assert said(found)["network", "cuda"] == "compare-disturbed"
    lane = next(one for one in found["lanes"] if (one["contestant"], one["lane"]) == ("network", "cuda"))
    assert lane["disturbed"] == [{"race": "AB"[side], "why": warning}]
    assert f"but {'AB'[side]} was disturbed" in text(lane["said"])
    assert text(lane["said"]).startswith("B takes 1.3 times as long")
    assert [(one["contestant"], one["lane"]) for one in slower(found, 0.1)] == [("fraud", "cuda")]
    doubts = [one["why"] for one in found["warnings"] if one["id"] == "compare-doubt"]
    assert doubts == [warning]


def test_what_makes_only_the_repeats_vary_does_not_keep_a_difference_from_its_name() -> None:
    a, b = two(1.3, "cuda")
    recorded.lane(b, "network", "cuda")["warnings"] = [{"id": "few-samples", "count": 3, "least": 6}]
    assert said(compare(a, b))["network", "cuda"] == "compare-slower"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    folder = tmp_path / "b"
    folder.mkdir()
    a, b = two(1.3, "cuda")
    (tmp_path / "a.json").write_text(json.dumps(a))
    (folder / "race.json").write_text(json.dumps(b))
    return str(tmp_path / "a.json"), str(folder)


def test_the_command_prints_the_table_and_exits_with_0(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["race", "compare", *files]) == 0
    out = capsys.readouterr().out
    assert "B takes 1.3 times as long" in out
    assert "Mann-Whitney" in out
    assert main(["race", "compare", *files, "--lang", "fr"]) == 0
    out = capsys.readouterr().out
    assert "B met 1,3 fois plus de temps" in out


def test_fail_slower(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "compare", *files, "--fail-slower", "10"]) == 1
    assert main(["race", "compare", "--fail-slower", "10%", *files]) == 1
    assert main(["race", "compare", *files, "--fail-slower", "50"]) == 0
    assert main(["race", "compare", *files]) == 0
    assert main(["race", "compare", *reversed(files), "--fail-slower", "10"]) == 0
    capsys.readouterr()
    assert main(["race", "compare", *files, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 2
    assert len(slower(document, 0.1)) == 2


@pytest.mark.parametrize(
    ("b", "expected"),
    [
        ("nowhere.json", "cannot be read"),
        (str(DOCUMENTS), "has no race.json"),
        (str(Path(__file__)), "is no JSON"),
        (str(DOCUMENTS / "no-card.json"), "another version: torch is 2.13.0+cu128 in A and 2.13.0+cpu in B"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    b: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["race", "compare", str(DOCUMENTS / "gaming-card.json"), b]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert expected in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("content", ["[]", '{"contestants": 3}', '{"schema": 2, "contestants": [3]}'])
def test_what_is_no_race_is_one_sentence(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "race.json").write_text(content)
    assert main(["race", "compare", str(tmp_path), str(tmp_path)]) == 2
    assert "race.json" in capsys.readouterr().err


def test_ci_is_not_failed_by_a_race_that_others_disturbed(files: tuple[str, str]) -> None:
    later = Path(files[1]) / "race.json"
    race = json.loads(later.read_text())
    for contestant in race["contestants"]:
        for lane in contestant["lanes"]:
            lane["warnings"] = [{"id": "cpu-busy", "load": 3.0, "cores": 16}]
    later.write_text(json.dumps(race))
    assert main(["race", "compare", *files, "--fail-slower", "10"]) == 0


@pytest.mark.parametrize("percent", ["-1", "x", "nan", "inf"])
def test_a_percentage_that_is_none(percent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "compare", "a", "b", f"--fail-slower={percent}"]) == 2
    assert "is no percentage" in capsys.readouterr().err


def test_help_has_the_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "compare", "--help"]) == 0
    out = capsys.readouterr().out
    for line in ("exit status:", "  0    compared", "  1    with --fail-slower PERCENT", "  2    usage"):
        assert f"\n{line}" in out


@pytest.mark.parametrize("tolerance", ["-1", "x", "100%", "nan"])
def test_a_tolerance_that_is_none(tolerance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "compare", "a", "b", f"--tolerance={tolerance}"]) == 2
    assert "is no share" in capsys.readouterr().err
