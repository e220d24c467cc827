"""A table that grows while a harness runs."""

from __future__ import annotations

import threading
from collections.abc import Sequence

# Where much differs, the first lines tell as much as all.
MOST = 8


class Table:
    """Columns with a name and a width; what did not go well stands below its row."""

    def __init__(self, *columns: tuple[str, int]) -> None:
        self.columns = columns
        self.lock = threading.Lock()
        self.row(*(name for name, _ in columns))

    def row(self, *cells: str, below: Sequence[str] = ()) -> None:
        """Print one row, whole."""
        below = [*below[:MOST], *([f"… and {len(below) - MOST} more"] if len(below) > MOST else [])]
        line = "  ".join(
            cell.ljust(width) for cell, (_, width) in zip(cells, self.columns, strict=True)
        ).rstrip()
        with self.lock:
            print("\n".join([line, *(f"       ! {text[:400]}" for text in below)]), flush=True)
