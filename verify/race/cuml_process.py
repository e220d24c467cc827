"""The other process of lane cuml, under ``cuml.accel``: it makes the same data and fits when told to."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from dataclasses import replace
from typing import Any

from verify.race import fraud, libraries
from verify.race.cuml import TRAIN
from verify.race.fraud_lanes import SklearnRunner
from verify.race.libraries import CPU
from verify.race.outcome import Lane
from verify.race.settings import Fraud, FraudData, Settings


def main() -> int:
    """Be the other process: settings on the first line, then one word a line."""
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as answers:

        def answer(**values: Any) -> None:  # noqa: ANN401
            print(json.dumps(values), file=answers, flush=True)

        try:
            _serve(answer)
        except Exception as error:  # noqa: BLE001  # it goes to whoever asked
            first = (str(error).splitlines() or [""])[0]
            answer(error=f"{type(error).__name__}: {first}".rstrip(": "))
            return 1
    return 0


def _serve(answer: Any) -> None:  # noqa: ANN401  # a function of keywords
    given = json.loads(sys.stdin.readline())
    table = given["fraud"].pop("data")
    chosen = Fraud(**given["fraud"], data=FraudData(**table) if table else None)
    settings = replace(Settings(), seed=given["seed"], fraud=chosen)
    found = libraries.load()
    lane = Lane("cpu", "sklearn", CPU)
    runner = SklearnRunner(lane, fraud.data(settings, found), settings, found)
    answer(needed=runner.needed())
    for line in sys.stdin:
        if line.strip() == TRAIN:
            fit = runner.train(runner.fresh())
            weights = [float(weight) for weight in fit.weights]
            answer(weights=weights, intercept=fit.intercept, iterations=fit.iterations)
        else:
            sys.stdout.flush()
            sys.stderr.flush()
            ctypes.CDLL(None).fflush(None)  # what C++ has not written yet
            answer(flushed=True)


if __name__ == "__main__":
    sys.exit(main())
