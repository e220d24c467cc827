"""The sweep's operations with the real torch. The standard library's unittest: the image has no pytest."""

from __future__ import annotations

import io
import json
import unittest
from dataclasses import replace

from verify.race import libraries, sweep
from verify.race.budget import Budget
from verify.race.libraries import CPU, CUDA, absent_reason
from verify.race.operations import OPERATIONS, Matmul, Step
from verify.race.progress import Progress
from verify.race.settings import Network, Sweep, settings_for

FOUND = libraries.load()
TORCH = FOUND["torch"]
SETTINGS = replace(settings_for(3, quick=True), sweep=Sweep(matmul=(8, 64), step=(4, 32), repeats=3))


class Operations(unittest.TestCase):
    """What is timed is what is said."""

    def test_the_product_is_the_product(self) -> None:
        product = Matmul(TORCH, CPU, 16, SETTINGS)
        product.run(2)
        product.copy()
        a, b = product._host
        assert TORCH.allclose(product._out, a @ b)
        assert Matmul.flops(16, SETTINGS) == 2 * 16**3

    def test_the_step_learns_its_batch(self) -> None:
        for kind in ("mlp", "cnn"):
            settings = replace(SETTINGS, network=Network(kind=kind))
            step = Step(TORCH, CPU, 32, settings)
            (x, y), loss_of = step._here, TORCH.nn.functional.cross_entropy
            before = loss_of(step._model(x), y).item()
            step.run(30)
            step.copy()
            assert loss_of(step._model(x), y).item() < 0.9 * before, kind
            assert Step.flops(32, settings) > 32

    def test_both_start_from_the_seed(self) -> None:
        one, other = (Step(TORCH, CPU, 8, SETTINGS) for _ in range(2))
        assert TORCH.equal(one._host[0], other._host[0])
        assert TORCH.equal(next(iter(one._model.parameters())), next(iter(other._model.parameters())))


class Whole(unittest.TestCase):
    """The sweep on this machine, with a card or without one."""

    def test_every_size_of_every_lane(self) -> None:
        budget = Budget(None)
        found = sweep.run(SETTINGS, FOUND, budget, Progress(io.StringIO(), budget))
        json.dumps(found)
        absent = absent_reason("torch", CUDA, FOUND)
        assert found["reason"] == absent
        lanes = {CPU} if absent else {CPU, CUDA}
        assert [operation["name"] for operation in found["operations"]] == [kind.NAME for kind in OPERATIONS]
        for operation in found["operations"]:
            assert operation["left_out"] == []
            sizes = getattr(SETTINGS.sweep, operation["name"])
            here = {(point["size"], point["lane"]) for point in operation["points"]}
            assert here == {(size, lane) for size in sizes for lane in lanes}
            for point in operation["points"]:
                assert len(point["samples"]) == 3
                assert point["seconds"] > 0
                assert (point["copy_s"] is None) == (point["lane"] == CPU)


if __name__ == "__main__":
    unittest.main()
