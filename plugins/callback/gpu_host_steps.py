"""Ansible callback: notes when each step of a run begins, for bootstrap.sh's time to ready."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_host_steps
type: aggregate
short_description: Notes when each step of a run begins
description:
  - Adds a line (time, a tab, the step's name) to a file for each task that begins.
  - A run that is killed keeps what it had.
  - Does nothing unless it is enabled and GPU_HOST_STEPS names the file.
"""

import os
import time
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

# Comes by itself, or before the packages of several layers: part of whatever runs already.
GOES_ON = "nvidia_container_toolkit : The repository, "
# Steps by role, as a person counts them. The first that fits the beginning of a task's name counts.
STEPS = (
    ("host_preflight : Wait for ", "waiting"),
    ("host_preflight : ", "look"),
    ("gpu_storage : ", "storage"),
    ("nvidia_driver : ", "driver"),
    ("docker_engine : ", "engine"),
    ("nvidia_container_toolkit : At once, ", "packages"),
    ("nvidia_container_toolkit : ", "toolkit"),
    ("docker_nvidia_runtime : ", "toolkit"),
    ("registry_login : ", "image"),
    ("race_image : ", "image"),
    ("gpu_sharing : ", "sharing"),
    ("gpu_verify : Race in a container", "race"),
    ("gpu_verify : ", "verification"),
    ("gpu_workload : ", "workload"),
)


def step_of(task: str) -> str | None:
    """Return the step that a task belongs to; None for one that belongs to whatever runs already."""
    if task.startswith(GOES_ON):
        return None
    return next((step for start, step in STEPS if task.startswith(start)), None)


class CallbackModule(CallbackBase):
    """A line a task."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gpu_host_steps"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.step = "look"

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:  # noqa: ARG002, FBT001
        """Note that the step goes on, or that the next one begins."""
        self.step = step_of(task.get_name().strip()) or self.step
        path = os.environ.get("GPU_HOST_STEPS")
        if path:
            with Path(path).open("a", encoding="utf-8") as stream:
                stream.write(f"{time.time():.3f}\t{self.step}\n")
