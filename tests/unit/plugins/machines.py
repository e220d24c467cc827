"""Small made-up machines for the probe: a folder as root, and commands that answer as told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.module_utils.gpu_host_look import Look

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Machine(Look):
    """A machine below a folder; a command that was not given is not installed."""

    def __init__(
        self,
        root: Path,
        files: Mapping[str, str],
        commands: Mapping[str, tuple[int, str]],
        spaces: Mapping[str, dict[str, int]] | None = None,
    ) -> None:
        super().__init__(str(root))
        self.commands = commands
        self.spaces = spaces or {}
        for name, text in files.items():
            path = self.at(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def space(self, path: str) -> dict[str, int] | None:
        return self.spaces.get(path)

    def which(self, name: str) -> str | None:
        known = {argv.split()[0].rsplit("/", 1)[-1]: argv.split()[0] for argv in self.commands}
        found = known.get(name)
        return found if found is None or found.startswith("/") else f"/usr/bin/{found}"

    def run(self, argv: list[str], seconds: float = 20.0) -> tuple[int | None, str]:
        asked = " ".join(argv)
        for start, answer in self.commands.items():
            if asked.startswith(start) or asked.removeprefix("/usr/bin/").startswith(start):
                return answer
        return None, f"{argv[0]}: no answer within {seconds:g} s"
