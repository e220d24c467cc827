"""The regression with real numpy, torch and scikit-learn: its optimum, its lanes, the user's own tables.

PYTHONPATH=. python3 -m unittest discover -s tests/race -p test_fraud.py
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import json
import math
import os
import random
import sys
import tempfile
import unittest
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest import mock

from verify.race import (
    cuml,
    fraud,
    fraud_data,
    fraud_launches,
    fraud_metrics,
    fraud_read,
    fraud_solve,
    libraries,
)
from verify.race.outcome import Lane
from verify.race.settings import FraudData, Settings, settings_for
from verify.race.words import text

FOUND = libraries.load()
SETTINGS = settings_for(2, quick=True)
PANDAS = importlib.util.find_spec("pandas") is not None
READERS = ("pandas", "csv") if PANDAS else ("csv",)
PYARROW = importlib.util.find_spec("pyarrow") is not None


def np() -> Any:
    return FOUND["numpy"]


@contextlib.contextmanager
def raises(kind: type[Exception]) -> Iterator[list[str]]:
    """Expect an error, and give its text: the image has no pytest."""
    said: list[str] = []
    try:
        yield said
    except kind as error:
        said.append(str(error))
    else:
        raise AssertionError(f"no {kind.__name__}")


def small(**more: Any) -> Settings:
    chosen = {"rows": 3000, "features": 6, "positives": 60, **more}
    return replace(SETTINGS, fraud=replace(SETTINGS.fraud, **chosen))


def ran(lane: Lane, settings: Settings, data: fraud.Data) -> tuple[Any, dict[str, float]]:
    runner: Any = fraud.runner(lane, data, settings, FOUND)
    runner.load()
    result = runner.train(runner.fresh())
    return runner, runner.quality(result)


def lane(name: str, precision: str = "float64") -> Lane:
    return next(entry for entry in fraud.lanes(precision) if entry.name == name)


class Optimum(unittest.TestCase):
    """What every lane is held against."""

    def test_no_direction_leads_down_from_it(self) -> None:
        settings = small()
        data = fraud.data(settings, FOUND)
        fit, penalty = data.optimum.fit, settings.fraud.penalty
        assert data.optimum.gradient <= fraud_solve.GRADIENT
        for i in range(len(fit.weights) + 1):
            for step in (-1e-3, 1e-3):
                weights = fit.weights.copy()
                weights[: len(weights)] += step * (np().arange(len(weights)) == i)
                moved = replace(fit, weights=weights, intercept=fit.intercept + step * (i == len(weights)))
                there = fraud_solve.objective(np(), moved, data.x, data.y, penalty)
                assert there > data.optimum.loss, (i, step)

    def test_scikit_learns_newton_solver_finds_the_same(self) -> None:
        settings = small()
        data = fraud.data(settings, FOUND)
        model = importlib.import_module("sklearn.linear_model").LogisticRegression(
            C=settings.fraud.penalty, solver="newton-cholesky", tol=1e-12, max_iter=500
        )
        model.fit(data.x, data.y)
        assert np().allclose(model.coef_[0], data.optimum.fit.weights, atol=1e-6)
        assert math.isclose(model.intercept_[0], data.optimum.fit.intercept, abs_tol=1e-6)

    def test_the_intercept_is_not_penalised(self) -> None:
        rng = np().random.default_rng(3)
        x, y = rng.standard_normal((4000, 3)), (rng.random(4000) < 0.02).astype(float)
        optimum = fraud_solve.solve(np(), x, y, 1e-6)  # weights pressed to nothing
        assert float(np().abs(optimum.fit.weights).max()) < 1e-3
        share = y.mean()
        assert math.isclose(optimum.fit.intercept, math.log(share / (1 - share)), abs_tol=1e-3)

    def test_equal_columns_without_a_penalty_are_solved_too(self) -> None:
        rng = np().random.default_rng(4)
        x = rng.standard_normal((500, 3))
        x = np().column_stack((x, x[:, 0], x[:, 1] + x[:, 2]))
        y = (rng.random(500) < 0.2).astype(float)
        optimum = fraud_solve.solve(np(), x, y, 1e300)
        assert optimum.found
        assert np().isfinite(optimum.fit.weights).all()

    def test_a_singular_curvature_takes_the_shortest_step(self) -> None:
        step = fraud_solve._step(np(), np().array([[1.0, 1.0], [1.0, 1.0]]), np().array([2.0, 2.0]))
        assert np().allclose(step, [1.0, 1.0])

    def test_chunks_do_not_change_it(self) -> None:
        data = fraud.data(small(), FOUND)
        with mock.patch.object(fraud_solve, "CHUNK", 7):
            again = fraud_solve.solve(np(), data.x, data.y, 1.0)
        assert math.isclose(again.loss, data.optimum.loss, rel_tol=1e-12)

    def test_what_was_not_found_is_not_claimed(self) -> None:
        data = fraud.data(small(), FOUND)
        assert not fraud_solve.solve(np(), data.x, data.y, 1.0, most=2).found


class Lanes(unittest.TestCase):
    """Nobody wins by stopping early."""

    def check(self, name: str, precision: str = "float64") -> None:
        settings = small(dtype=precision)
        data = fraud.data(settings, FOUND)
        assert str(data.x.dtype) == precision
        runner, quality = ran(lane(name, precision), settings, data)
        assert fraud.doubt(quality, settings) is None, quality
        assert quality["objective"] <= quality["optimum"] * (1 + 1e-6)
        assert quality["iterations"] == runner.needed()
        # one iteration less would not have been enough: nobody is made to run longer than needed either
        assert not runner._reaches(runner.needed() - 1)
        assert 0.5 < quality["roc_auc"] <= 1.0
        assert 0.0 < quality["average_precision"] <= 1.0
        json.dumps(quality, allow_nan=False)

    def test_scikit_learn(self) -> None:
        self.check("cpu")

    def test_torch(self) -> None:
        self.check("cpu-torch")

    def test_torch_in_float32(self) -> None:
        self.check("cpu-torch", "float32")

    def test_scikit_learn_in_float32(self) -> None:
        self.check("cpu", "float32")

    def test_too_few_iterations_have_no_speed(self) -> None:
        settings = small(max_iterations=3)
        for name in ("cpu", "cpu-torch"):
            _, quality = ran(lane(name), settings, fraud.data(settings, FOUND))
            doubt = fraud.doubt(quality, settings)
            assert doubt is not None
            assert doubt["id"] == "not-reached"
            assert doubt["share"] > settings.fraud.tolerance
            assert "optimum" in text(doubt)

    def test_a_diverged_lane_has_no_speed_and_no_nan(self) -> None:
        settings = small()
        data = fraud.data(settings, FOUND)
        runner: Any = fraud.runner(lane("cpu"), data, settings, FOUND)
        lost = fraud_solve.Fit(np().full(6, np().nan), 0.0, 3)
        with np().errstate(all="ignore"):
            quality = runner.quality(lost)
        json.dumps(quality, allow_nan=False)
        assert fraud.doubt(quality, settings) == {"id": "not-finite"}

    def test_without_an_optimum_nothing_is_compared(self) -> None:
        settings = small()
        data = fraud.data(settings, FOUND)
        lost = replace(data, optimum=replace(data.optimum, gradient=1.0))
        _, quality = ran(lane("cpu"), settings, lost)
        assert fraud.doubt(quality, settings) == {"id": "no-optimum"}

    def test_every_repeat_is_the_same(self) -> None:
        settings = small()
        data = fraud.data(settings, FOUND)
        for name in ("cpu", "cpu-torch"):
            runner: Any = fraud.runner(lane(name), data, settings, FOUND)
            runner.load()
            one, other = (runner.quality(runner.train(runner.fresh())) for _ in range(2))
            assert math.isclose(one["objective"], other["objective"], rel_tol=1e-9)

    def test_the_next_lane_begins_where_the_last_one_ended(self) -> None:
        settings = small()
        data = fraud.data(settings, FOUND)
        first, _ = ran(lane("cpu-torch"), settings, data)
        asked: list[int] = []
        second: Any = fraud.runner(lane("cpu-torch"), data, settings, FOUND)
        second.load()
        run = second.run

        def asking(iterations: int) -> Any:
            asked.append(iterations)
            return run(iterations)

        with mock.patch.object(second, "run", asking):
            assert second.needed() == first.needed()
        assert asked == [first.needed(), first.needed() - 1]

    def test_the_work_is_modelled(self) -> None:
        settings = small()
        data = fraud.data(settings, FOUND)
        runner, _ = ran(lane("cpu-torch"), settings, data)
        work = runner.work()
        rows, columns = data.x.shape
        assert work["from"] == "model"
        assert work["flops"] >= 4 * rows * columns * runner.needed()
        assert work["bytes"] >= 2 * rows * columns * 8 * runner.needed()
        assert work["working_set_bytes"] >= rows * columns * 8
        # two products and a few steps for each evaluation at the least; the vectors of L-BFGS come on top
        assert work["launches"] > 10 * runner.needed()

    def test_a_view_launches_nothing(self) -> None:
        one = fraud_launches.launches(lambda: FOUND["torch"].ones(3).add(1).view(3).mul(2))
        assert one == 3

    def test_both_libraries_find_the_same_frauds(self) -> None:
        settings = small()
        data = fraud.data(settings, FOUND)
        (_, one), (_, other) = (ran(lane(name), settings, data) for name in ("cpu", "cpu-torch"))
        assert math.isclose(one["average_precision"], other["average_precision"], abs_tol=0.01)
        assert math.isclose(one["roc_auc"], other["roc_auc"], abs_tol=0.005)


class Table(unittest.TestCase):
    """The table that is made."""

    def test_it_is_shaped_like_the_real_one(self) -> None:
        data = fraud.data(settings_for(), FOUND)
        assert len(data.y) + len(data.test_y) == 284_807
        assert data.x.shape[1] == data.test_x.shape[1] == 30
        assert int(data.y.sum() + data.test_y.sum()) == 492
        assert data.optimum.found

    def test_the_columns_that_are_learned_from_are_standardised(self) -> None:
        data = fraud.data(small(), FOUND)
        assert np().allclose(data.x.mean(axis=0), 0.0, atol=1e-12)
        assert np().allclose(data.x.std(axis=0), 1.0, atol=1e-12)
        assert not np().allclose(data.test_x.mean(axis=0), 0.0, atol=1e-12)  # measured on the others

    def test_the_same_seed_is_the_same_table(self) -> None:
        one, other = (fraud.data(small(), FOUND) for _ in range(2))
        assert (one.x == other.x).all()
        assert (one.test_y == other.test_y).all()
        third = fraud.data(replace(small(), seed=1), FOUND)
        assert not (one.x == third.x).all()

    def test_both_kinds_are_in_both_parts(self) -> None:
        rng = np().random.default_rng(0)
        for count, ones in ((4, 2), (5, 3), (100, 2), (1000, 998)):
            y = np().zeros(count)
            y[:ones] = 1.0
            train, test = fraud._split(np(), rng, y, 0.2)
            assert sorted([*train, *test]) == list(range(count))
            for part in (train, test):
                assert set(y[part]) == {0.0, 1.0}, (count, ones)


class Metrics(unittest.TestCase):
    """By numpy alone, and scikit-learn's to the last digits."""

    def test_they_are_scikit_learns(self) -> None:
        metrics = importlib.import_module("sklearn.metrics")
        rng = np().random.default_rng(1)
        compared = 0
        for _ in range(300):
            count = int(rng.integers(2, 80))
            truth = (rng.random(count) < rng.random()).astype(float)
            score = rng.integers(0, int(rng.integers(2, 40)), count) / 7.0  # ties, on purpose
            if len(set(truth)) < 2:
                continue
            compared += 1
            one = fraud_metrics.average_precision(np(), truth, score)
            assert math.isclose(one, metrics.average_precision_score(truth, score), abs_tol=1e-12)
            other = fraud_metrics.roc_auc(np(), truth, score)
            assert math.isclose(other, metrics.roc_auc_score(truth, score), abs_tol=1e-12)
        assert compared > 100

    def test_the_order_of_the_rows_does_not_matter(self) -> None:
        rng = np().random.default_rng(2)
        truth, score = (rng.random(60) < 0.3).astype(float), rng.integers(0, 5, 60).astype(float)
        mixed = rng.permutation(60)
        for metric in (fraud_metrics.average_precision, fraud_metrics.roc_auc):
            assert math.isclose(metric(np(), truth, score), metric(np(), truth[mixed], score[mixed]))

    def test_one_kind_only_has_none(self) -> None:
        ones, scores = np().ones(4), np().arange(4.0)
        assert math.isnan(fraud_metrics.average_precision(np(), 0 * ones, scores))
        for truth in (ones, 0 * ones, ones[:0]):
            assert math.isnan(fraud_metrics.roc_auc(np(), truth, scores[: len(truth)]))


def own_rows(count: int = 40) -> list[dict[str, Any]]:
    draw = random.Random(5)  # noqa: S311
    return [
        {
            "V1": draw.gauss(0, 1),
            "V2": draw.randint(0, 9),
            "Amount": draw.random() * 100,
            "Class": int(i % 4 == 0),
        }
        for i in range(count)
    ]


def as_csv(rows: list[dict[str, Any]], delimiter: str = ",") -> str:
    lines = [delimiter.join(f'"{name}"' for name in rows[0])]
    lines += [delimiter.join("" if v is None else str(v) for v in row.values()) for row in rows]
    return "\n".join(lines) + "\n"


class Own(unittest.TestCase):
    """The user's own table, by every reader that there is."""

    def setUp(self) -> None:
        fraud_data.read.cache_clear()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, content: str | bytes, name: str = "own.csv") -> str:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    @contextlib.contextmanager
    def reader(self, name: str) -> Iterator[None]:
        """Read CSV with pandas, or as where it is not installed."""
        fraud_data.read.cache_clear()
        replaced = fraud_read._optional if name == "pandas" else lambda _name: None
        with self.subTest(reader=name), mock.patch.object(fraud_read, "_optional", replaced):
            yield

    def refused(
        self, content: str | bytes, *parts: str, target: str = "Class", name: str = "own.csv"
    ) -> None:
        path = self.write(content, name)
        for reader in READERS:
            with self.reader(reader):
                with raises(fraud_data.Refused) as said:
                    fraud_data.read(np(), path, target)
                for part in parts:
                    assert part in said[0], said[0]
                assert "\n" not in said[0]

    def test_a_table_is_read(self) -> None:
        rows = own_rows()
        path = self.write(as_csv(rows))
        for name in READERS:
            with self.reader(name):
                table = fraud_data.read(np(), path, "Class")
                assert table.names == ("V1", "V2", "Amount")
                assert (table.dropped, table.positive) == ((), "1")
                expected = [[row[name] for name in table.names] for row in rows]
                assert (table.x == np().array(expected)).all()
                assert list(table.y) == [row["Class"] for row in rows]
                assert table.sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()

    def test_other_ways_to_write_it(self) -> None:
        rows = own_rows()
        expected = [row["Class"] for row in rows]
        words = [{**row, "Class": "fraud" if row["Class"] else "good"} for row in rows]
        truths = [{**row, "V2": row["V2"] > 4, "Class": bool(row["Class"])} for row in rows]
        decimals = [
            {**row, "Class": ("1.0", "1")[i % 2] if row["Class"] else "0"} for i, row in enumerate(rows)
        ]
        signs = [{**row, "Class": 2 * row["Class"] - 1} for row in rows]
        for content, positive in (
            (as_csv(rows, ";"), "1"), (as_csv(rows, "\t"), "1"), ("\ufeff" + as_csv(rows), "1"),
            (as_csv(rows).replace("\n", "\r\n"), "1"), (as_csv(rows) + "\n\n", "1"),
            (as_csv(words), "'fraud'"), (as_csv(truths), "1"), (as_csv(decimals), "1"), (as_csv(signs), "1"),
        ):  # fmt: skip
            path = self.write(content)
            for name in READERS:
                with self.reader(name):
                    table = fraud_data.read(np(), path, "Class")
                    assert list(table.y) == expected, content[:80]
                    assert table.positive == positive
                    assert table.x.shape == (40, 3)

    @unittest.skipUnless(PYARROW, "pyarrow is not installed here")
    def test_parquet(self) -> None:
        pa, pq = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
        rows = own_rows()
        path = str(self.folder / "own.parquet")
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
        pq.write_table(pa.table({**columns, "yes": [row["V2"] > 4 for row in rows]}), path, row_group_size=7)
        table = fraud_data.read(np(), path, "Class")
        assert table.x.shape == (40, 4)
        assert list(table.y) == columns["Class"]
        for name, values, part in (
            ("V2", [None, *columns["V2"][1:]], "missing values: 1 in 'V2'"),
            ("Class", [None, *columns["Class"][1:]], "missing values: 1 in the target 'Class'"),
            ("V2", ["a"] * 40, "columns that are not numbers: 'V2' (of type string)"),
            ("V1", [math.nan, *columns["V1"][1:]], "missing values: 1 in 'V1'"),
        ):
            pq.write_table(pa.table({**columns, name: values}), path)
            fraud_data.read.cache_clear()
            with raises(fraud_data.Refused) as said:
                fraud_data.read(np(), path, "Class")
            assert part in said[0], said[0]
        pq.write_table(pa.table({**columns, "Class": ["x" if v else "y" for v in columns["Class"]]}), path)
        fraud_data.read.cache_clear()
        assert fraud_data.read(np(), path, "Class").positive == "'x'"
        whole = Path(path).read_bytes()
        fraud_data.read.cache_clear()
        broken = self.write(whole[: len(whole) // 2], "half.parquet")
        with raises(fraud_data.Refused) as said:
            fraud_data.read(np(), broken, "Class")
        assert "cannot be read" in said[0]

    def test_parquet_without_pyarrow(self) -> None:
        path = self.write(b"PAR1 and more", "own.parquet")
        hidden = dict.fromkeys(("pyarrow", "pyarrow.parquet"))
        with mock.patch.dict(sys.modules, hidden), raises(fraud_data.Refused) as said:
            fraud_data.read(np(), path, "Class")
        assert "install pyarrow for this Python, or save the table as CSV" in said[0]

    def test_no_file(self) -> None:
        for path, part in ((self.folder / "none.csv", "no such file"), (self.folder, "is a folder")):
            with raises(fraud_data.Refused) as said:
                fraud_data.read(np(), str(path), "Class")
            assert part in said[0]

    def test_no_such_column(self) -> None:
        content = as_csv(own_rows())
        self.refused(content, "no column 'class'", "did you mean --target 'Class'?", target="class")
        self.refused(content, "did you mean --target 'Amount'?", target="Amuont")
        self.refused(content, "it has 'V1', 'V2', 'Amount', 'Class'", target="zzz")
        self.refused("1,2,0\n3,4,1\n", "its first line holds numbers", target="zzz")

    def test_columns_that_cannot_be_raced(self) -> None:
        rows = own_rows()
        self.refused(as_csv([{**row, "city": "Paris"} for row in rows]), "not numbers: 'city' ('Paris')")
        mixed = [{**row, "V2": "n. d." if i == 7 else row["V2"]} for i, row in enumerate(rows)]
        self.refused(as_csv(mixed), "not numbers: 'V2' ('n. d.')")
        holes = [
            {**row, "V1": None if i < 3 else row["V1"], "V2": "NA" if i else 1} for i, row in enumerate(rows)
        ]
        self.refused(as_csv(holes), "missing values: 3 in 'V1', 39 in 'V2'")
        truths = [{**row, "V2": None if i == 2 else bool(i % 2)} for i, row in enumerate(rows)]
        self.refused(as_csv(truths), "missing values: 1 in 'V2'")
        endless = [{**row, "V1": "inf" if i == 1 else row["V1"]} for i, row in enumerate(rows)]
        self.refused(as_csv(endless), "infinite values: 1 in 'V1'")
        self.refused(as_csv([{**row, "V1": 1, "V2": 2, "Amount": 3} for row in rows]), "more than one value")
        self.refused(as_csv([{"Class": row["Class"]} for row in rows]), "no column but 'Class'")
        self.refused("a,a,Class\n1,2,0\n", "more than one column named 'a'")

    def test_targets_that_cannot_be_raced(self) -> None:
        rows = own_rows()
        three = [{**row, "Class": i % 3} for i, row in enumerate(rows)]
        self.refused(as_csv(three), "has 3 different values: 0, 1, 2", "It must have two")
        self.refused(as_csv([{**row, "Class": 0} for row in rows]), "has only the value 0. It must")
        self.refused(
            as_csv([{**row, "Class": i} for i, row in enumerate(rows)]), "40 different", "and 35 more"
        )
        few = [{**row, "Class": int(i == 0)} for i, row in enumerate(rows)]
        self.refused(as_csv(few), "1 of 40 rows has 1 as target 'Class'", "at least 2")
        self.refused(as_csv([{**row, "Class": 1 - row["Class"]} for row in few]), "1 of 40 rows has 0")
        holes = [{**row, "Class": None if i in (3, 8) else row["Class"]} for i, row in enumerate(rows)]
        self.refused(as_csv(holes), "2 in the target 'Class'")

    def test_files_that_cannot_be_read(self) -> None:
        self.refused("", "is empty")
        self.refused("V1,Class\n", "no rows")
        self.refused("V1,Class\n1,0\n2,1,5\n", "cannot be read as CSV")
        self.refused("V1,V2,Class\n1,2,0,9\n2,3,1,5\n", "cannot be read as CSV")
        self.refused(b"\x1f\x8b\x08rest", "is compressed")
        self.refused(b"a\0b,Class\n", "neither text nor Parquet")
        self.refused("V1,Größe,Class\n1,2,0\n".encode("latin-1") + b"3,\xe4,1\n", "is not UTF-8")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_file_that_may_not_be_read(self) -> None:
        path = Path(self.write(as_csv(own_rows())))
        path.chmod(0)
        with raises(fraud_data.Refused) as said:
            fraud_data.read(np(), str(path), "Class")
        assert "Permission denied" in said[0]

    def test_too_many_rows(self) -> None:
        with mock.patch.object(fraud_data, "free_memory", return_value=40 * 4 * 8 * 2):
            self.refused(as_csv(own_rows()), "holds about 4", "rows of 4 columns", "at most 20 of the rows")

    def test_a_constant_column_is_dropped_and_said(self) -> None:
        path = self.write(as_csv([{"always": 7, **row} for row in own_rows()]))
        for name in READERS:
            with self.reader(name):
                given = replace(SETTINGS, fraud=replace(SETTINGS.fraud, data=FraudData(path, "Class")))
                known = fraud.look(given, np()).fraud.data
                assert known is not None
                assert known.dropped == ("always",)
                assert (known.rows, known.columns, known.positives, known.positive) == (40, 3, 10, "1")
                assert known.sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()

    def test_it_is_raced(self) -> None:
        path = self.write(as_csv(own_rows(400)))
        given = replace(SETTINGS, fraud=replace(SETTINGS.fraud, data=FraudData(path, "Class")))
        settings = fraud.look(given, np())
        data = fraud.data(settings, FOUND)
        assert len(data.y) + len(data.test_y) == 400
        for name in ("cpu", "cpu-torch"):
            _, quality = ran(lane(name), settings, data)
            assert fraud.doubt(quality, settings) is None
        assert fraud.training(settings, data) == {"rows": len(data.y), "epochs": None, "batch": None}

    def test_without_a_file_nothing_is_looked_at(self) -> None:
        assert fraud.look(SETTINGS, np()) is SETTINGS

    def test_what_the_readers_find_is_the_same(self) -> None:
        """Random tables, with holes and words here and there: the same table or the same refusal."""
        if not PANDAS:
            self.skipTest("pandas is not installed here")
        draw = random.Random(11)  # noqa: S311
        tables = 0
        for number in range(60):
            odd = draw.choice([[], ["", "NA"], ["x"], ["inf"], ["1e400"], [" 3 "], ["-0.0", "1E5"], ["True"]])
            rows = [
                {
                    "a": draw.choice(["1", "2.5", "-3e-7", *odd]),
                    "b": draw.gauss(0, 1),
                    "Class": draw.choice("01"),
                }
                for _ in range(draw.randint(1, 12))
            ]
            path, said = self.write(as_csv(rows), f"{number}.csv"), []
            for name in READERS:
                with self.reader(name):
                    try:
                        table = fraud_data.read(np(), path, "Class")
                        said.append(str((table.x.tolist(), table.y.tolist(), table.names, table.positive)))
                        tables += 1
                    except fraud_data.Refused as refused:
                        said.append(str(refused))
            if odd != [
                "True"
            ]:  # pandas has no column of numbers and truths; the other reader counts them as 1
                assert len(set(said)) == 1, (as_csv(rows), said)
        assert tables > 20


# A package cuml that passes through: it changes nothing, and says where a fit ran, as cuml.accel -v does.
FAKE = """
import runpy, sys
SAYS = {says!r}
if __name__ == "__main__":
    arguments = sys.argv[1:]
    at = arguments.index("-m")
    assert "-v" in arguments[:at]
    import sklearn.linear_model as models
    fit = models.LogisticRegression.fit
    def said(self, *a, **k):
        if SAYS:
            print(SAYS, file=sys.stdout)
        return fit(self, *a, **k)
    models.LogisticRegression.fit = said
    sys.argv[:] = [arguments[at + 1], *arguments[at + 2:]]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


class Cuml(unittest.TestCase):
    """The lane under cuml.accel, with a package that passes through: no card, and no figure of one."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def install(self, accel: str | None) -> None:
        package = self.folder / "cuml"
        package.mkdir()
        (package / "__init__.py").write_text("raise ImportError('the race itself must not import it')\n")
        if accel is not None:
            (package / "__init__.py").write_text("")
            (package / "accel").mkdir()
            (package / "accel" / "__init__.py").write_text("")
            (package / "accel" / "__main__.py").write_text(accel)
        importlib.invalidate_caches()
        paths = mock.patch.object(sys, "path", [str(self.folder), *sys.path])
        inherited = mock.patch.dict(os.environ, {"PYTHONPATH": str(self.folder)})
        for entered in (paths, inherited):
            entered.start()
            self.addCleanup(entered.stop)

    def race(self, says: str) -> tuple[Any, dict[str, float], Settings]:
        self.install(FAKE.format(says=says))
        assert cuml.absent(FOUND) is None
        settings = small()
        runner, quality = ran(lane("cuml"), settings, fraud.data(settings, FOUND))
        return runner, quality, settings

    def test_it_fits_in_its_own_process(self) -> None:
        runner, quality, settings = self.race("[cuml.accel] `LogisticRegression.fit` ran on GPU")
        assert isinstance(runner, cuml.CumlRunner)
        assert fraud.doubt(quality, settings) is None
        child = runner._running()._child
        assert child.pid != os.getpid()
        again = runner.train(None)
        assert again.iterations == runner.needed()
        runner.load()
        assert runner._running()._child is child  # a second load starts nothing
        runner._running()._end()
        assert child.returncode == 0

    def test_a_fit_on_the_cpu_is_no_figure(self) -> None:
        with raises(RuntimeError) as said:
            self.race("[cuml.accel] `LogisticRegression.fit` falling back to CPU: not supported")
        assert "did not use the card" in said[0]
        assert "not supported" in said[0]

    def test_a_silent_one_is_no_figure(self) -> None:
        with raises(RuntimeError) as said:
            self.race("")
        assert "does not say that the fit ran on the card" in said[0]

    def test_one_that_breaks_says_its_last_line(self) -> None:
        self.install("raise RuntimeError('no CUDA-capable device is detected')\n")
        settings = small()
        runner: Any = fraud.runner(lane("cuml"), fraud.data(settings, FOUND), settings, FOUND)
        with raises(RuntimeError) as said:
            runner.load()
        assert "no CUDA-capable device is detected" in said[0]

    def test_an_error_in_it_is_the_lanes(self) -> None:
        self.install(FAKE.format(says=""))
        settings = small()
        data = fraud.data(settings, FOUND)
        bad = replace(
            settings, fraud=replace(settings.fraud, data=FraudData(str(self.folder / "gone.csv"), "y"))
        )
        runner: Any = fraud.runner(lane("cuml"), data, bad, FOUND)
        with raises(RuntimeError) as said:
            runner.load()
        assert "no such file" in said[0]

    def test_one_that_hangs_is_ended(self) -> None:
        self.install("import time\ntime.sleep(600)\n")
        settings = small()
        runner: Any = fraud.runner(lane("cuml"), fraud.data(settings, FOUND), settings, FOUND)
        seconds, ending = (mock.patch.object(cuml, name, 0.2) for name in ("SECONDS", "ENDING_SECONDS"))
        with seconds, ending, raises(RuntimeError) as said:
            runner.load()
        assert "no answer within" in said[0]

    def test_it_is_absent_where_it_is_not_installed(self) -> None:
        if importlib.util.find_spec("cuml") is not None:
            self.skipTest("cuml is installed here")
        assert fraud.absent(lane("cuml"), SETTINGS, FOUND) == {"id": "absent-library", "library": "cuml"}

    def test_the_placeholder_of_the_same_name_has_no_accelerator(self) -> None:
        self.install(None)
        assert fraud.absent(lane("cuml"), SETTINGS, FOUND) == {"id": "no-cuml-accel"}

    def test_without_scikit_learn_there_is_nothing_to_accelerate(self) -> None:
        self.install(FAKE.format(says=""))
        rest = {name: FOUND[name] for name in ("numpy", "torch")}
        found = fraud.absent(lane("cuml"), SETTINGS, libraries.Libraries(rest, {}))
        assert found is not None
        assert "scikit-learn" in text(found)

    def test_its_time_does_not_enter_the_ratio(self) -> None:
        assert [entry.counts for entry in fraud.lanes("float64")] == [True, True, True, False]

    def test_the_settings_reach_it_whole(self) -> None:
        settings = small(data=None)
        assert json.loads(json.dumps(asdict(settings.fraud))) == asdict(settings.fraud)


if __name__ == "__main__":
    unittest.main()
