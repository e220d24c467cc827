"""The commands of ``gpu-verify``: each module names its own, its options, and what runs it.

A command's module offers ``add(commands)``: it adds its parser, and sets ``run`` to a function that takes
the options and returns the exit status.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from verify.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Callable

    Run: TypeAlias = Callable[[argparse.Namespace], int]

EPILOG = (
    "exit status: 0 all passed (warnings allowed), 1 findings failed, 2 usage or unreadable input, "
    "3 an error in gpu-verify itself, 130 interrupted, 141 the reader of its output has gone (`| head`)"
)
OK, FINDINGS_FAILED = 0, 1


class Parser(argparse.ArgumentParser):
    """Raises instead of leaving the process, so that ``main`` stays the only exit."""

    def error(self, message: str) -> None:  # type: ignore[override]  # noqa: D102  # argparse calls it
        raise VerifyError(f"{message}. See `{self.prog} --help`")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001  # argparse has no public name for it


def some_path(text: str) -> Path:
    """Read a file or folder; nothing at all would be the folder that we are in."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty: name a file or a folder")
    return Path(text)


def add_command(commands: Commands, name: str, summary: str, run: Run) -> argparse.ArgumentParser:
    """Add one command's parser, and what runs it."""
    parser = commands.add_parser(name, help=summary, description=summary, epilog=EPILOG)
    parser.set_defaults(run=run)
    return parser


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which machine is meant."""
    parser.add_argument("--host", metavar="USER@HOST", help="over SSH; without it, this machine")
    parser.add_argument("--ssh-config", type=some_path, metavar="FILE", help="ssh_config for --host")
    parser.add_argument("--image", metavar="REF", help="image for the containers; it is never pulled")
