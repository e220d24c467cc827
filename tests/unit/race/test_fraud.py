"""What the regression decides without arithmetic: how many iterations, how much memory, which lanes."""

from __future__ import annotations

import importlib.util
import json
import random
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tests.unit.race import fakes
from verify.race import cuml, fraud, fraud_data, fraud_read
from verify.race.conditions import conditions
from verify.race.fraud_raw import Shape
from verify.race.fraud_solve import fewest
from verify.race.libraries import Libraries
from verify.race.settings import settings_for
from verify.race.words import LANGUAGES, text


class TestFewest:
    def test_it_is_the_first_that_reaches_it(self) -> None:
        draw = random.Random(1)  # noqa: S311
        for _ in range(2000):
            most, guess = draw.randint(1, 80), draw.randint(1, 200)
            enough = draw.randint(1, most + 3)
            asked: list[int] = []

            def reaches(k: int, asked: list[int] = asked, enough: int = enough) -> bool:
                asked.append(k)
                return k >= enough

            found = fewest(reaches, most, guess)
            assert found == (enough if enough <= most else None), (most, guess, enough)
            assert all(1 <= k <= most for k in asked)
            assert len(set(asked)) == len(asked)  # nothing is run twice

    def test_a_good_guess_costs_two_runs(self) -> None:
        asked: list[int] = []
        assert fewest(lambda k: (asked.append(k), k >= 18)[1], 500, 18) == 18  # type: ignore[func-returns-value]
        assert asked == [18, 17]

    def test_a_bad_guess_costs_few(self) -> None:
        asked: list[int] = []
        assert fewest(lambda k: (asked.append(k), k >= 300)[1], 500, 1) == 300  # type: ignore[func-returns-value]
        assert len(asked) < 20


class TestMemory:
    def write(self, root: Path, **files: str) -> None:
        for name, content in files.items():
            path = root / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def test_the_machines(self, tmp_path: Path) -> None:
        self.write(tmp_path, proc__meminfo="MemTotal: 9000 kB\nMemAvailable:    2000 kB\n")
        assert fraud_data.free_memory(tmp_path) == 2000 * 1024

    def test_the_containers_where_it_is_less(self, tmp_path: Path) -> None:
        cgroup = {
            "sys__fs__cgroup__memory_DOT_max": "1000000\n",
            "sys__fs__cgroup__memory_DOT_current": "400000\n",
        }
        self.write(tmp_path, proc__meminfo="MemAvailable: 2000 kB\n", **cgroup)
        assert fraud_data.free_memory(tmp_path) == 600_000

    def test_no_limit_is_no_limit(self, tmp_path: Path) -> None:
        cgroup = {
            "sys__fs__cgroup__memory_DOT_max": "max\n",
            "sys__fs__cgroup__memory_DOT_current": "400000\n",
        }
        self.write(tmp_path, proc__meminfo="MemAvailable: 2000 kB\n", **cgroup)
        assert fraud_data.free_memory(tmp_path) == 2000 * 1024

    def test_nothing_is_known(self, tmp_path: Path) -> None:
        assert fraud_data.free_memory(tmp_path) is None


class TestShape:
    def look(self, tmp_path: Path, content: str) -> Shape:
        path = tmp_path / "own.csv"
        path.write_text(content)
        return fraud_read.shape(path)

    def test_names_and_delimiter(self, tmp_path: Path) -> None:
        found = self.look(tmp_path, '"Time";"V,1"; Class\r\n1;2;0\r\n3;4;1\r\n')
        assert (found.names, found.delimiter, found.rows) == (("Time", "V,1", "Class"), ";", 3)

    def test_the_rows_of_a_large_file_are_estimated(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fraud_read, "FIRST_BYTES", 1000)
        found = self.look(tmp_path, "a,b\n" + "12345,12345\n" * 5000)
        assert abs(found.rows - 5000) < 100

    def test_no_header_is_said(self, tmp_path: Path) -> None:
        path = tmp_path / "own.csv"
        path.write_text("1,2,0\n3,4,1\n")
        with pytest.raises(fraud_data.Refused, match="its first line holds numbers"):
            fraud_data._look(str(path), "Class")


class TestLanes:
    def test_precision_is_said(self) -> None:
        for precision in ("float64", "float32"):
            assert {lane.precision for lane in fraud.lanes(precision)} == {precision}

    def test_cuml_is_shown_and_does_not_count(self) -> None:
        assert [lane.name for lane in fraud.lanes("float64") if not lane.counts] == ["cuml"]

    def test_the_contestant_has_what_the_race_asks_for(self) -> None:
        found = fraud.contestant(settings_for())
        assert found.name == "fraud"
        assert found.doubt is fraud.doubt
        assert found.disagreement({"objective": 1.0}, {"objective": 2.0}) is None  # doubt says it

    @pytest.mark.parametrize("lang", sorted(LANGUAGES))
    @pytest.mark.parametrize(
        ("quality", "name"),
        [
            ({"objective": 1.0 + 2e-6, "optimum": 1.0}, "not-reached"),
            ({"objective": 1.0}, "no-optimum"),
            ({"optimum": 1.0}, "not-finite"),
        ],
    )
    def test_doubts_have_words(self, quality: dict[str, float], name: str, lang: str) -> None:
        found = fraud.doubt(quality, settings_for())
        assert found is not None
        assert found["id"] == name
        said = text(found, lang)
        assert name not in said
        assert ("not compared" if lang == "en" else "pas comparé") in said

    def test_close_enough_is_no_doubt(self) -> None:
        for objective in (1.0, 1.0 + 0.9e-6, 0.999_999):
            quality = {"objective": objective, "optimum": 1.0}
            assert fraud.doubt(quality, settings_for()) is None


class TestCuml:
    def test_absent_without_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
        found = cuml.absent(fakes.libraries(None))
        assert found is not None
        assert found["id"] == "absent-library"
        assert text(found) == "cuml is not installed for this Python"

    def test_absent_where_only_the_placeholder_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = ModuleSpec("cuml", None, is_package=True)
        spec.submodule_search_locations = [str(tmp_path)]
        monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
        assert cuml.absent(fakes.libraries(None)) == {"id": "no-cuml-accel"}
        (tmp_path / "accel").mkdir()
        assert cuml.absent(fakes.libraries(None)) is None

    def test_absent_without_scikit_learn(self) -> None:
        found = cuml.absent(Libraries({"numpy": fakes.module("2")}, {}))
        assert found is not None
        assert "scikit-learn" in text(found)


class TestOwnTable:
    RACE = json.loads((Path(__file__).parent / "documents" / "no-card.json").read_text())

    def lines(self, lang: str, **data: object) -> list[str]:
        settings = {**self.RACE["settings"], "fraud": {"data": data or None}}
        before = set(conditions(self.RACE, lang))
        return [line for line in conditions({**self.RACE, "settings": settings}, lang) if line not in before]

    @pytest.mark.parametrize("lang", sorted(LANGUAGES))
    def test_it_stands_among_the_conditions(self, lang: str) -> None:
        known = {"rows": 9, "columns": 3, "positives": 2, "positive": "1", "sha256": "ab" * 32}
        table, dropped = self.lines(lang, file="a/b/own.csv", target="Class", **known, dropped=["V1", "V2"])
        for part in ("own.csv", "abababababab…", "9", "Class"):
            assert part in table
        assert "a/b" not in table
        assert "V1, V2" in dropped
        assert len(self.lines(lang, file="own.csv", target="Class", **known, dropped=[])) == 1

    def test_the_table_that_is_made_needs_no_line(self) -> None:
        assert self.lines("en") == []
