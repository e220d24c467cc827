"""What the contract tests know about roles: read as plain YAML, without Ansible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


class Loader(yaml.SafeLoader):
    """YAML as Ansible writes it: its tags are values like others."""


Loader.add_multi_constructor("!", lambda loader, _suffix, node: loader.construct_scalar(node))


def load(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)  # noqa: S506  # a SafeLoader


@dataclass(frozen=True)
class Role:
    """One folder below roles/."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @cached_property
    def defaults(self) -> dict[str, Any]:
        return load(self.path / "defaults/main.yml") or {}

    @cached_property
    def options(self) -> dict[str, dict[str, Any]]:
        return load(self.path / "meta/argument_specs.yml")["argument_specs"]["main"]["options"] or {}

    @cached_property
    def readme(self) -> str:
        return (self.path / "README.md").read_text(encoding="utf-8")

    def files(self, folder: str) -> list[Path]:
        return sorted((self.path / folder).rglob("*.yml"))

    def tasks(self) -> list[dict[str, Any]]:
        """Return all tasks and handlers, blocks unfolded."""
        return [
            task
            for folder in ("tasks", "handlers")
            for file in self.files(folder)
            for task in unfold(load(file) or [])
        ]


def unfold(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for task in tasks:
        found.append(task)
        for part in ("block", "rescue", "always"):
            found.extend(unfold(task.get(part) or []))
    return found


ROLES = [Role(path) for path in sorted((ROOT / "roles").iterdir()) if (path / "meta").is_dir()]
