"""Where output goes: a terminal, or a log file that has no width of its own."""

from __future__ import annotations

import os

from rich.console import Console

_PIPE_WIDTH = 120


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to ``main``: rich itself would end the process with 1, as if something had failed."""
        raise BrokenPipeError


def console() -> Console:
    """Return a console that is readable in a log file as well."""
    columns = os.environ.get("COLUMNS", "")
    if not (columns.isascii() and columns.isdigit() and int(columns)):
        os.environ.pop("COLUMNS", None)  # rich would take it at its word
    made = _Console(highlight=False)
    if made.is_terminal or "COLUMNS" in os.environ:
        return made
    return _Console(highlight=False, width=_PIPE_WIDTH)
