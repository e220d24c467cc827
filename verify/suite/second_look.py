"""What the second look made of each host, for its run.json: the reports are drawn from that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from verify.report.besides import FAILED, NO_ANSWER
from verify.suite.limit import NoAnswer

if TYPE_CHECKING:
    from collections.abc import Generator


class SecondLook:
    """A plugin of pytest's: ``said`` has every host whose second look did not pass, and why."""

    def __init__(self) -> None:
        self.said: dict[str, dict[str, str]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what failed of what asks a host; a host that was not recorded fails before it is asked."""
        report = yield
        host = getattr(item, "funcargs", {}).get("host")
        if host is not None and report.failed and call.when == "call" and call.excinfo is not None:
            self._note(str(host.backend.hostname), item, call.excinfo.value)
        return report

    def _note(self, name: str, item: pytest.Item, error: BaseException) -> None:
        asked = getattr(item, "originalname", item.name).removeprefix("test_").replace("_", " ")
        known = self.said.get(name)
        if known is not None and known["outcome"] == NO_ANSWER:
            return
        if isinstance(error, NoAnswer):
            self.said[name] = {"outcome": NO_ANSWER, "detail": f"{error.sentence} (asked: {asked})"}
            return
        # The question alone: what the host said to it may name what evidence must not.
        before = f"{known['detail']}; " if known is not None else ""
        self.said[name] = {"outcome": FAILED, "detail": f"{before}{asked}"}
