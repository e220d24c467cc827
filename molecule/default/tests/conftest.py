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


@pytest.fixture(scope="session")
def ssh(name: str) -> list[str]:
    """Return the words that reach the host by SSH."""
    return ["ssh", "-F", os.environ["GPU_HOST_TEST_SSH_CONFIG"], name]
