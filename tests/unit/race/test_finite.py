from __future__ import annotations

import json
import math

from verify.race.finite import dumps, finite


def test_what_is_no_number_is_null() -> None:
    document = {"a": [math.nan, 1.5, math.inf], "b": {"c": -math.inf, "d": (1, "x", None, True)}}
    assert finite(document) == {"a": [None, 1.5, None], "b": {"c": None, "d": [1, "x", None, True]}}


def test_every_parser_reads_it() -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    said = dumps({"optimum": math.nan, "text": "NaN é"})
    assert json.loads(said, parse_constant=refuse) == {"optimum": None, "text": "NaN é"}
