"""Ansible callback: keeps what a dry run says of each host as JSON, for the table of `make plan`."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_host_plan
type: notification
short_description: Keeps what a dry run says of each host
description:
  - Writes each host's plan by host_preflight, the tasks that would change something, and why it failed.
  - Does nothing unless it is enabled and GPU_HOST_PLAN names the file to write.
"""

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

FACT = "host_preflight_plan"


class CallbackModule(CallbackBase):
    """One entry a host."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "gpu_host_plan"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.hosts: dict[str, dict[str, Any]] = {}

    def _of(self, result: Any) -> dict[str, Any]:
        empty: dict[str, Any] = {"plan": None, "changes": [], "failed": None, "unreachable": None}
        return self.hosts.setdefault(result.host.get_name(), empty)

    def v2_runner_on_ok(self, result: Any) -> None:
        """Keep the plan, and what would change."""
        entry, said = self._of(result), result.result
        if FACT in (said.get("ansible_facts") or {}):
            entry["plan"] = said["ansible_facts"][FACT]
        if said.get("changed"):
            entry["changes"].append(result.task.get_name())

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:  # noqa: FBT001, FBT002
        """Keep why, until the end says that it was not rescued."""
        if not ignore_errors:
            self._of(result)["failed"] = [
                result.task.get_name(),
                str(result.result.get("msg") or "no message"),
            ]

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Keep why."""
        self._of(result)["unreachable"] = str(result.result.get("msg") or "no message")

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Write it; what was rescued did not fail."""
        for name, entry in self.hosts.items():
            if not stats.failures.get(name):
                entry["failed"] = None
        path = os.environ.get("GPU_HOST_PLAN")
        if path:
            Path(path).write_text(json.dumps(self.hosts, default=str), encoding="utf-8")
