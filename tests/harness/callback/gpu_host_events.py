"""Ansible callback of the harnesses: writes each task's start and end to a file, and halts a run where told.

Environment: GPU_HOST_EVENTS names the file (one JSON object a line), GPU_HOST_HALT_AFTER the changed task,
counted from 1, after which the playbook waits to be killed.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: gpu_host_events
type: aggregate
short_description: Writes the events of a run to a file
description:
  - Used by tests/harness alone.
"""
# Whoever halts a run kills it at once; a run that nobody kills must not hang for ever.
HALT_S = 120


def said(result: dict[str, Any]) -> str:
    """Return a task's message; that of a loop is the first failed item's."""
    for item in result.get("results") or []:
        if isinstance(item, dict) and item.get("failed"):
            return said(item)
    return str(result.get("msg") or result.get("stderr") or "")


class CallbackModule(CallbackBase):  # type: ignore[misc] # Ansible has no types
    """One line for each event."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gpu_host_events"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.file = Path(os.environ["GPU_HOST_EVENTS"])
        self.halt_after = int(os.environ.get("GPU_HOST_HALT_AFTER", "0"))
        self.changed = 0

    def write(self, event: str, task: Any, result: dict[str, Any] | None = None) -> None:
        """Add one line, whole."""
        result = result or {}
        line = {
            "event": event,
            "task": task.get_name().strip(),
            "action": task.action,
            "time": time.monotonic(),
            "changed": bool(result.get("changed")),
            "msg": said(result),
            "warnings": [str(warning) for warning in result.get("warnings") or []],
        }
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")

    def v2_runner_on_start(self, host: Any, task: Any) -> None:  # noqa: ARG002 - Ansible's signature
        self.write("start", task)

    def v2_runner_on_ok(self, result: Any) -> None:
        self.write("ok", result.task, result.result)
        if result.result.get("changed"):
            self.changed += 1
            if self.changed == self.halt_after:
                self.write("halted", result.task)
                time.sleep(HALT_S)
                os._exit(99)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:  # noqa: FBT001, FBT002 - likewise
        if not ignore_errors:
            self.write("failed", result.task, result.result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self.write("unreachable", result.task, result.result)
