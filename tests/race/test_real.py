"""The race with real numpy, torch and scikit-learn. The standard library's unittest: the image has no pytest.

    docker run --rm --network=none --cap-drop=ALL --read-only -v "$PWD/tests/race:/tests:ro" IMAGE \
        python3 -m unittest discover -s /tests -v

Says how many tests ran, and fails where a library is missing: these must not pass by being skipped.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import shutil
import subprocess
import sys
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from verify.race import fraud, libraries, network
from verify.race.__main__ import main
from verify.race.cache import reusable
from verify.race.device import clock_for
from verify.race.lanes import Lane, run_lane
from verify.race.settings import settings_for

SETTINGS = settings_for(2, quick=True)
FOUND = libraries.load()
LANES = {lane.name: lane for lane in fraud.LANES}


def race(*options: str) -> tuple[int, dict[str, Any]]:
    """Run the program in this process; return its status and its document."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = main(["--out", "-", "--quick", "--repeats", "2", *options])
    return status, json.loads(out.getvalue())


def lane(document: dict[str, Any], contestant: str, name: str) -> dict[str, Any]:
    lanes = next(c["lanes"] for c in document["contestants"] if c["name"] == contestant)
    return next(entry for entry in lanes if entry["name"] == name)


# Python's own search finds nothing, and torch's question whether a module is there gets the same answer.
WITHOUT = """
import sys
from importlib.machinery import PathFinder
find, hidden = PathFinder.find_spec, sys.argv[1]
def find_others(name, path=None, target=None):
    return None if name.split(".")[0] == hidden else find(name, path, target)
PathFinder.find_spec = find_others
from verify.race.__main__ import main
main(sys.argv[2:])
"""


def run_without(module: str) -> dict[str, Any]:
    """Race in a process of its own for which one module is not installed."""
    argv = [sys.executable, "-c", WITHOUT, module, "--out", "-", "--quick", "--repeats", "1"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


class Whole(unittest.TestCase):
    """The program from end to end."""

    status: int
    document: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        cls.status, cls.document = race("--host", "lab-1", "--image-digest", "sha256:abc")

    def test_the_cpu_lanes_ran(self) -> None:
        assert self.status == 0
        for contestant, name in (("network", "cpu"), ("fraud", "cpu"), ("fraud", "cpu-torch")):
            found = lane(self.document, contestant, name)
            assert (found["status"], found["reason"]) == ("ran", None)
            assert (len(found["samples"]), len(found["warmups"])) == (2, 1)
            assert found["median"] > 0

    def test_both_libraries_found_the_same(self) -> None:
        one, other = (lane(self.document, "fraud", name) for name in ("cpu", "cpu-torch"))
        assert math.isclose(one["quality"]["objective"], other["quality"]["objective"], rel_tol=0.001)
        assert not [w for w in other["warnings"] if "differs" in w]

    def test_the_network_learned(self) -> None:
        assert lane(self.document, "network", "cpu")["quality"]["accuracy"] > 0.3

    def test_it_can_be_reused(self) -> None:
        card = self.document["card"] or {}
        key = {"card": card.get("name"), "driver": card.get("driver"), "image_digest": "sha256:abc"}
        assert reusable(self.document, **key, settings=SETTINGS.document())
        assert not reusable(self.document, **{**key, "image_digest": None}, settings=SETTINGS.document())

    def test_versions_are_said(self) -> None:
        assert self.document["versions"]["torch"] == FOUND.version("torch")
        assert self.document["host"] == "lab-1"


class Absent(unittest.TestCase):
    """A lane that cannot run has the reason and no number."""

    def check(self, found: dict[str, Any], reason: str) -> None:
        assert found["status"] == "absent"
        assert reason in found["reason"]
        for key in ("median", "interval", "transfer", "quality"):
            assert found[key] is None, key
        assert (found["samples"], found["warmups"]) == ([], [])

    def test_a_cpu_build_has_no_card(self) -> None:
        if FOUND["torch"].version.cuda is not None:
            self.skipTest("this torch is a CUDA build")
        _, document = race()
        self.check(lane(document, "network", "cuda"), "is a CPU build")
        self.check(lane(document, "fraud", "cuda"), "is a CPU build")
        assert document["contestants"][0]["ratio"] is None
        assert "about a card nothing is said" in document["sentence"]

    def test_a_cuda_build_without_a_card(self) -> None:
        cuda = FOUND["torch"].cuda
        with (
            mock.patch.object(FOUND["torch"].version, "cuda", "12.6"),
            mock.patch.object(cuda, "is_available", return_value=False),
        ):
            _, document = race()
        self.check(lane(document, "network", "cuda"), "finds no card")

    def test_no_torch(self) -> None:
        document = run_without("torch")
        self.check(lane(document, "network", "cpu"), "torch")
        self.check(lane(document, "fraud", "cuda"), "torch")
        assert lane(document, "fraud", "cpu")["status"] == "ran"

    def test_no_scikit_learn(self) -> None:
        document = run_without("sklearn")
        self.check(lane(document, "fraud", "cpu"), "scikit-learn")
        assert lane(document, "fraud", "cpu-torch")["status"] == "ran"
        assert lane(document, "network", "cpu")["status"] == "ran"

    def test_a_card_that_breaks_is_a_failure_and_no_number(self) -> None:
        """A build that believes in a card that is not there: the lane fails with torch's own words."""
        if FOUND["torch"].cuda.is_available():
            self.skipTest("this machine has a card")
        cuda = FOUND["torch"].cuda
        with (
            mock.patch.object(FOUND["torch"].version, "cuda", "12.6"),
            mock.patch.object(cuda, "is_available", return_value=True),
        ):
            status, document = race()
        assert status == 1
        found = lane(document, "network", "cuda")
        assert (found["status"], found["median"]) == ("failed", None)
        assert "CUDA" in found["reason"]


class Arithmetic(unittest.TestCase):
    """What is raced is what is said."""

    def test_the_table_is_shaped_like_the_real_one(self) -> None:
        full = settings_for()
        data = fraud.data(replace(full, fraud=replace(full.fraud)), FOUND)
        assert len(data.y) + len(data.test_y) == 284807
        assert data.x.shape[1] == 30
        assert int(data.y.sum() + data.test_y.sum()) == 492

    def test_the_same_seed_is_the_same_data(self) -> None:
        for contestant in (network, fraud):
            one, other = contestant.data(SETTINGS, FOUND), contestant.data(SETTINGS, FOUND)
            assert (one.x == other.x).all()
            assert (one.y == other.y).all()

    def test_average_precision_is_scikit_learns(self) -> None:
        np = FOUND["numpy"]
        metrics = __import__("sklearn.metrics", fromlist=["average_precision_score"])
        random = np.random.default_rng(1)
        truth, score = (random.random(500) < 0.1).astype(float), random.standard_normal(500)
        expected = metrics.average_precision_score(truth, score)
        assert math.isclose(fraud.average_precision(np, truth, score), expected, abs_tol=1e-12)
        assert math.isnan(fraud.average_precision(np, truth * 0, score))

    def test_the_objective_is_minimal_where_both_stop(self) -> None:
        np = FOUND["numpy"]
        data = fraud.data(SETTINGS, FOUND)
        for name in ("cpu", "cpu-torch"):
            runner = fraud.runner(LANES[name], data, SETTINGS, FOUND)
            runner.load()
            fit = runner.train(runner.fresh())
            best = fraud.objective(np, fit, data, SETTINGS.fraud.penalty)
            for shift in (-0.2, 0.2):
                moved = replace(fit, intercept=fit.intercept + shift)
                assert fraud.objective(np, moved, data, SETTINGS.fraud.penalty) > best

    def test_every_repeat_starts_untrained(self) -> None:
        runner = network.runner(network.LANES[0], network.data(SETTINGS, FOUND), SETTINGS, FOUND)
        runner.load()
        first = runner.quality(runner.train(runner.fresh()))
        second = runner.quality(runner.train(runner.fresh()))
        assert math.isclose(first["loss"], second["loss"], abs_tol=1e-3)

    def test_out_of_memory_is_a_failed_lane(self) -> None:
        class Greedy:
            def load(self) -> None:
                FOUND["torch"].empty(1 << 50)

        outcome = run_lane(
            Lane("cpu", "torch", "cpu"), Greedy, clock_for("cpu", FOUND),  # type: ignore[arg-type]
            copies=False, warmups=1, repeats=1, progress=lambda _: None,
        )  # fmt: skip
        assert outcome.status == "failed"
        assert "memory" in str(outcome.reason)


class Surroundings(unittest.TestCase):
    """What the race may count on, and what it may not."""

    def test_everything_is_there(self) -> None:
        assert dict(FOUND.errors) == {}

    @unittest.skipUnless(Path("/opt/race").is_dir(), "only in the race image")
    def test_the_user_is_not_root_and_has_no_compiler(self) -> None:
        assert os.getuid() != 0
        for tool in ("gcc", "cc", "pip"):
            assert shutil.which(tool) is None, tool


if __name__ == "__main__":
    unittest.main()
