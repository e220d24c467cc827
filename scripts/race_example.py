"""Draw docs/race-example.svg: what race.svg looks like, from a made-up document of a machine without a card.

Its times are nobody's: the picture's title says so. Run it again after a change of the picture.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from verify.race.svg import svg

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "tests" / "unit" / "race" / "documents" / "no-card.json"
PICTURE = ROOT / "docs" / "race-example.svg"
HOST = "an example machine (made-up times)"


def example() -> str:
    """Return the picture."""
    race = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return svg({**race, "host": HOST})


def main() -> int:
    """``race_example.py``."""
    PICTURE.write_text(example(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
