"""Run pytest and fail unless at least N tests passed: an empty run must not be a green one."""

from __future__ import annotations

import sys

import pytest


class _Count:
    passed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed += report.when == "call" and report.passed


def main(arguments: list[str]) -> int:
    """``pytest_at_least.py N PYTEST-ARGUMENTS…``."""
    least, count = int(arguments[0]), _Count()
    status = int(pytest.main(arguments[1:], plugins=[count]))
    if not status and count.passed < least:
        print(
            f"{count.passed} tests passed, at least {least} were expected: has a folder been left out?",
            file=sys.stderr,
        )
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
