"""The script contestant with the real torch, on the example of docs/your-own-script.md.

The standard library's unittest: the race image has no pytest.
"""

from __future__ import annotations

import contextlib
import io
import json
import unittest
from pathlib import Path
from typing import Any

from verify.race.__main__ import main

EXAMPLE = Path(__file__).with_name("example_train.py")


def race(*options: str) -> tuple[int, dict[str, Any], str]:
    """Race a script alone; return the status, the document, and what was said on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["--out", "-", "--repeats", "1", "--only", "script", *options])
    return status, json.loads(out.getvalue()), err.getvalue()


class Example(unittest.TestCase):
    """The document's example, as its command runs it."""

    def test_it_runs_and_says_how_good_it_is(self) -> None:
        options = ("--script", str(EXAMPLE), "--device-arg", "--device", "--script-args", "--epochs 20")
        status, document, _ = race(*options)
        assert status == 0
        (contestant,) = document["contestants"]
        cpu, card = contestant["lanes"]
        assert (contestant["name"], cpu["status"], len(cpu["samples"])) == ("script", "ran", 1)
        assert cpu["quality"]["accuracy"] > 0.9
        assert cpu["quality"]["startup_s"] > 0
        assert (cpu["transfer_in"], cpu["transfer_out"]) == (None, None)
        assert (card["transfer_in"], card["transfer_out"]) == (None, None)
        assert card["status"] in {"ran", "absent"}
        assert document["settings"]["script"]["args"] == ["--epochs", "20"]
        assert document["sweep"] is None

    def test_its_error_is_the_lanes(self) -> None:
        status, document, said = race("--script", str(EXAMPLE), "--script-args", "--layers 3")
        assert status == 1
        lane = document["contestants"][0]["lanes"][0]
        assert (lane["status"], lane["median"]) == ("failed", None)
        assert "exit status 2, its last line: " in lane["reason"]["error"]
        assert "unrecognized arguments: --layers 3" in lane["reason"]["error"]
        assert "usage: example_train.py" in said


if __name__ == "__main__":
    unittest.main()
