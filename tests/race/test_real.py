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

from verify.race import cores, libraries, network, network_model, pci, precision, profile
from verify.race.__main__ import main
from verify.race.cache import reusable
from verify.race.clock import Plan
from verify.race.device import clock_for, tf32
from verify.race.lanes import run_lane
from verify.race.network_model import longest_sum
from verify.race.outcome import Lane
from verify.race.settings import Settings, settings_for
from verify.race.words import text

SETTINGS = settings_for(2, quick=True)
FOUND = libraries.load()


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
    argv += ["--only", "network,fraud"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def of_kind(kind: str, **changes: Any) -> Settings:
    """Return quick settings for one kind of network."""
    return replace(SETTINGS, network=replace(SETTINGS.network, kind=kind, **changes))


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
            assert (len(found["samples"]), len(found["warmups"]), found["ended"]) == (2, 1, "most")
            assert found["median"] > 0
            assert (found["confidence"], found["counts"]) == (0.5, True)
            assert (found["transfer_in"], found["usage"], found["time"]) == (None, None, None)
            assert found["work"]["flops"] > 0
            assert "few-samples" in [warning["id"] for warning in found["warnings"]]

    def test_both_libraries_found_the_same(self) -> None:
        one, other = (lane(self.document, "fraud", name) for name in ("cpu", "cpu-torch"))
        assert math.isclose(one["quality"]["objective"], other["quality"]["objective"], rel_tol=0.001)
        assert not [w for w in other["warnings"] if w["id"] == "differs"]

    def test_the_network_learned_in_float32(self) -> None:
        found = lane(self.document, "network", "cpu")
        assert found["quality"]["accuracy"] >= SETTINGS.network.least_accuracy
        assert 0 < found["quality"]["rounding"] < 1e-5
        assert found["precision"] == "float32"

    def test_what_it_ran_on_is_said(self) -> None:
        cpu = self.document["cpu"]
        assert cpu["threads"] == cores.threads()
        assert 1 <= cpu["threads"] <= cpu["usable_cores"] <= cpu["cores"]
        assert self.document["contestants"][0]["training"]["batch"] == SETTINGS.network.batch
        assert (self.document["schema"], self.document["budget_s"]) == (2, None)
        assert self.document["elapsed_s"] > 0

    def test_the_sweep_has_its_sizes_on_the_cpu(self) -> None:
        operations = {found["name"]: found for found in self.document["sweep"]["operations"]}
        assert set(operations) == {"matmul", "step"}
        assert [p["size"] for p in operations["matmul"]["points"] if p["lane"] == "cpu"] == list(
            SETTINGS.sweep.matmul
        )

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
        assert reason in text(found["reason"])
        for key in ("median", "interval", "transfer_in", "transfer_out", "total", "quality", "ended"):
            assert found[key] is None, key
        assert (found["samples"], found["warmups"]) == ([], [])

    def test_a_cpu_build_has_no_card(self) -> None:
        if FOUND["torch"].version.cuda is not None:
            self.skipTest("this torch is a CUDA build")
        with mock.patch.object(pci, "has_card", return_value=True):
            _, document = race("--only", "network,fraud")
        self.check(lane(document, "network", "cuda"), "is a CPU build")
        self.check(lane(document, "network", "cuda-mixed"), "is a CPU build")
        self.check(lane(document, "fraud", "cuda"), "is a CPU build")
        assert document["contestants"][0]["ratio"] is None
        assert "about a card nothing is said" in document["sentence"]

    def test_a_cuda_build_without_a_card(self) -> None:
        cuda = FOUND["torch"].cuda
        with (
            mock.patch.object(FOUND["torch"].version, "cuda", "12.6"),
            mock.patch.object(cuda, "is_available", return_value=False),
            mock.patch.object(pci, "has_card", return_value=True),
        ):
            _, document = race("--only", "network")
        self.check(lane(document, "network", "cuda"), "finds no card")

    def test_a_machine_without_a_card_is_told_so_and_no_other_build(self) -> None:
        with mock.patch.object(pci, "has_card", return_value=False):
            _, document = race("--only", "network")
        if FOUND["torch"].cuda.is_available():
            self.skipTest("this machine has a card")
        self.check(lane(document, "network", "cuda"), "there is no NVIDIA card on this machine")

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
            mock.patch.object(cuda, "get_device_capability", return_value=(8, 6)),
            mock.patch.object(cuda, "get_arch_list", return_value=[]),
        ):
            status, document = race("--only", "network")
        assert status == 1
        found = lane(document, "network", "cuda")
        assert (found["status"], found["median"]) == ("failed", None)
        assert "CUDA" in text(found["reason"])


class Arithmetic(unittest.TestCase):
    """What is raced is what is said."""

    def test_the_same_seed_is_the_same_data(self) -> None:
        for kind in ("mlp", "cnn"):
            settings = of_kind(kind)
            one, other = network_model.data(settings, FOUND), network_model.data(settings, FOUND)
            assert (one.x == other.x).all(), kind
            assert (one.y == other.y).all(), kind
            assert (str(one.x.dtype), len(one.x)) == ("float32", settings.network.rows)

    def test_both_kinds_learn_more_than_chance(self) -> None:
        for kind in ("mlp", "cnn"):
            settings = of_kind(kind, epochs=4)
            runner = network.runner(network.LANES[0], network_model.data(settings, FOUND), settings, FOUND)
            runner.load()
            found = runner.quality(runner.train(runner.fresh()))
            assert network.doubt(found, settings) is None, (kind, found)
            assert precision.judged(found["rounding"], longest_sum(settings.network), 3) == precision.SAME, (
                kind
            )

    def test_an_untrained_network_has_no_speed(self) -> None:
        settings = of_kind("mlp")
        runner = network.runner(network.LANES[0], network_model.data(settings, FOUND), settings, FOUND)
        found = network.doubt(runner.quality(runner.fresh()), settings)
        assert (found or {})["id"] == "accuracy-low"

    def test_the_work_is_that_of_the_layers(self) -> None:
        """Held against torch's own counter of operations, for a step of a batch."""
        counter = __import__("torch.utils.flop_counter", fromlist=["FlopCounterMode"]).FlopCounterMode
        for kind in ("mlp", "cnn"):
            settings = of_kind(kind, rows=SETTINGS.network.batch, epochs=1)
            runner = network.runner(network.LANES[0], network_model.data(settings, FOUND), settings, FOUND)
            runner.load()
            model = runner.fresh()
            with counter(display=False) as counted:
                runner.train(model)
            said = runner.work()["flops"]
            assert counted.get_total_flops() == said, kind

    def test_tf32s_rounding_is_called_so_and_wrong_numbers_are_not(self) -> None:
        """What the card does with TF32 on, imitated: weights and rows lose 13 bits before every product."""
        np, torch, settings = FOUND["numpy"], FOUND["torch"], of_kind("mlp")
        data = network_model.data(settings, FOUND)

        class Rounded(network.NetworkRunner):
            def fresh(self) -> Any:
                model = super().fresh()
                for layer in model:
                    if hasattr(layer, "weight"):
                        layer.register_forward_pre_hook(lambda _, given: (short(given[0]),))
                return model

        def short(tensor: Any) -> Any:
            if tensor.dtype == torch.float64:
                return tensor
            return torch.from_numpy(precision.rounded_to_tf32(np, tensor.numpy()))

        good = network.runner(network.LANES[0], data, settings, FOUND)._rounding()
        like_tf32 = Rounded(network.LANES[0], data, settings, FOUND)._rounding()
        quality = {"loss": 1.0, "accuracy": 0.9}
        disagreement = network.contestant(settings).disagreement
        assert disagreement({**quality, "rounding": good}, {**quality, "rounding": good}) is None
        found = disagreement({**quality, "rounding": good}, {**quality, "rounding": like_tf32})
        assert (found or {})["id"] == "differs-tf32", like_tf32
        found = disagreement({**quality, "rounding": good}, {**quality, "rounding": 0.5})
        assert (found or {})["id"] == "differs"

    def test_tf32s_digits(self) -> None:
        np = FOUND["numpy"]
        given = np.array([1024.5, 1.0, 1.0 + 2**-11, 1.0 + 3 * 2**-11, -3.0], np.float32)
        assert precision.rounded_to_tf32(np, given).tolist() == [1025.0, 1.0, 1.0 + 2**-10, 1.0 + 2**-9, -3.0]

    def test_the_short_formats_train_too(self) -> None:
        """bfloat16 on the CPU stands in for the card; float16 needs its scaler, on the card alone."""
        settings = of_kind("mlp", epochs=4)
        with mock.patch.object(network, "mixed_precision", return_value="bfloat16"):
            lane = Lane("cuda-mixed", "torch", "cpu", None, counts=False)
            runner = network.runner(lane, network_model.data(settings, FOUND), settings, FOUND)
        runner.load()
        found = runner.quality(runner.train(runner.fresh()))
        assert network.doubt(found, settings) is None
        assert "rounding" not in found
        assert runner.precision == "bfloat16"

    def test_digits_and_threads_are_given_back(self) -> None:
        torch = FOUND["torch"]
        before = (
            torch.get_float32_matmul_precision(),
            torch.backends.cudnn.allow_tf32,
            torch.get_num_threads(),
        )
        with tf32(FOUND, allowed=True), cores.all_cores(FOUND, 1):
            inside = (
                torch.get_float32_matmul_precision(),
                torch.backends.cudnn.allow_tf32,
                torch.get_num_threads(),
            )
        assert inside == ("high", True, 1)
        with tf32(FOUND, allowed=False):
            assert (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32) == (
                "highest",
                False,
            )
        after = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, torch.get_num_threads()
        assert after == before

    def test_a_profiler_that_sees_no_card_sees_nothing(self) -> None:
        if FOUND["torch"].cuda.is_available():
            self.skipTest("this machine has a card")
        assert profile.kernels(FOUND["torch"], lambda: FOUND["torch"].ones(3) + 1) is None

    def test_every_repeat_starts_untrained(self) -> None:
        runner = network.runner(network.LANES[0], network_model.data(SETTINGS, FOUND), SETTINGS, FOUND)
        runner.load()
        first = runner.quality(runner.train(runner.fresh()))
        second = runner.quality(runner.train(runner.fresh()))
        assert math.isclose(first["loss"], second["loss"], abs_tol=1e-3)

    def test_out_of_memory_is_a_failed_lane(self) -> None:
        class Greedy:
            def load(self) -> None:
                FOUND["torch"].empty(1 << 50)

        outcome = run_lane(
            Lane("cpu", "torch", "cpu"), Greedy, clock_for("cpu", FOUND), Plan(),  # type: ignore[arg-type]
            copies=False,
        )  # fmt: skip
        assert outcome.status == "failed"
        assert "memory" in text(outcome.reason or {})


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
