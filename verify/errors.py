"""The one error that a person is meant to read."""

from __future__ import annotations


class VerifyError(Exception):
    """A clear sentence: what was found, what is needed, what to do. Exit status 2."""
