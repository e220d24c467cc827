"""The one expected error: a sentence in the words of the real tool."""

from __future__ import annotations


class ToolkitError(Exception):
    """What the program prints before it ends with exit status 1."""
