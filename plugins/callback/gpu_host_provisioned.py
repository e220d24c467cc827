"""Ansible callback: keeps as JSON which hosts a run provisioned to the end, and why the others were not."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_host_provisioned
type: notification
short_description: Keeps which hosts a run provisioned to the end
description:
  - Writes the hosts that came to provision.yml's last task, and the last failure of each of the others.
  - The verification, a run of its own, adds that to what it reports.
  - Does nothing unless it is enabled and GPU_HOST_PROVISIONED names the file to write.
"""

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

FACT = "gpu_host_provisioned"


class CallbackModule(CallbackBase):
    """Hosts that came through, and the words of those that did not."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "gpu_host_provisioned"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.through: set[str] = set()
        self.said: dict[str, str] = {}

    def v2_runner_on_ok(self, result: Any) -> None:
        """Note who came to the end."""
        if (result.result.get("ansible_facts") or {}).get(FACT) is True:
            self.through.add(result.host.get_name())

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:  # noqa: FBT001, FBT002
        """Keep the last failure: what was rescued is followed by another, or by the end."""
        if not ignore_errors:
            # A task that hides its output says so here, and nothing else.
            said = result.result.get("msg") or result.result.get("censored") or "no message"
            self.said[result.host.get_name()] = f"{result.task.get_name().strip()}: {said}"

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Keep why."""
        self.said[result.host.get_name()] = str(result.result.get("msg") or "unreachable")

    def v2_playbook_on_stats(self, stats: Any) -> None:  # noqa: ARG002
        """Write it."""
        path = os.environ.get("GPU_HOST_PROVISIONED")
        if path:
            said = {name: why for name, why in self.said.items() if name not in self.through}
            document = {"through": sorted(self.through), "said": said}
            Path(path).write_text(json.dumps(document, default=str), encoding="utf-8")
