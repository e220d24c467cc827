"""Where output goes: a terminal, or a log file that has no width of its own."""

from __future__ import annotations

import os

from rich.console import Console

_PIPE_WIDTH = 120


def console() -> Console:
    """Return a console that is readable in a log file as well."""
    made = Console(highlight=False)
    if made.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return made
    return Console(highlight=False, width=_PIPE_WIDTH)
