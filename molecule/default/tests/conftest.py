"""Fixtures of this scenario."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def name() -> str:
    """Return the host's name in the inventory."""
    return os.environ["GPU_HOST_TEST_HOST"]
