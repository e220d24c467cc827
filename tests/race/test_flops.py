"""The operations that the network is said to need are those that torch counts, to the last one."""

from __future__ import annotations

import importlib
import unittest
from dataclasses import replace
from typing import Any

from verify.race import libraries, network, network_model
from verify.race.libraries import CPU
from verify.race.operations import Matmul, Step
from verify.race.outcome import Lane
from verify.race.settings import Settings, settings_for

torch: Any = importlib.import_module("torch")
FlopCounterMode: Any = importlib.import_module("torch.utils.flop_counter").FlopCounterMode

SMALL = settings_for(quick=True)
LANE = Lane("cpu", "torch", CPU, "float32")


class Flops(unittest.TestCase):
    """Both kinds of network, and what the sweep times."""

    def settings(self, kind: str) -> Settings:
        """Return a short training of this kind."""
        return replace(SMALL, network=replace(SMALL.network, kind=kind, rows=512, test_rows=64, epochs=2))

    def test_a_training_is_counted_exactly(self) -> None:
        for kind in network_model.KINDS:
            with self.subTest(kind=kind):
                settings, found = self.settings(kind), libraries.load()
                runner = network.NetworkRunner(LANE, network_model.data(settings, found), settings, found)
                runner.load()
                start = runner.fresh()
                with FlopCounterMode(display=False) as counter:
                    runner.train(start)
                assert runner.work()["flops"] == counter.get_total_flops()

    def test_the_gradient_of_the_rows_is_not_among_them(self) -> None:
        """With it the count would be too high by four percent, and a share of a card's peak as well."""
        n = SMALL.network
        layers = [layer[0] for layer in network_model.products(n)]
        assert network_model.row_flops(n) < 2.0 * network_model.FORWARD_AND_BACK * sum(layers)

    def test_the_sweeps_operations_are_counted_exactly(self) -> None:
        for kind in network_model.KINDS:
            settings = self.settings(kind)
            for operation in (Matmul, Step):
                with self.subTest(kind=kind, operation=operation.NAME):
                    ready = operation(torch, CPU, 48, settings)
                    with FlopCounterMode(display=False) as counter:
                        ready.run(1)
                    assert operation.flops(48, settings) == counter.get_total_flops()


if __name__ == "__main__":
    unittest.main()
