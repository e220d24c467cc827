"""The commands of ``gpu-verify``: each module names its own, its options, and what runs it.

A command's module offers ``add(commands)``: it adds its parser, and sets ``run`` to a function that takes
the options and returns the exit status.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from verify.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Run: TypeAlias = Callable[[argparse.Namespace], int]

OK, FINDINGS_FAILED = 0, 1
EXIT_STATUS = """exit status:
  0    all passed (warnings allowed), or the question is answered
  1    findings failed, or what was asked about will not run there
  2    usage, or input that cannot be read
  3    an error in gpu-verify itself
  130  interrupted
  141  the reader of its output has gone (| head)"""
# One command each that can be typed as it stands, but for the names in it: a test asks for it.
EXAMPLES = {
    "record": "gpu-verify record --host user@lab-1 --out lab-1.json",
    "doctor": "gpu-verify doctor --recording lab-1.json",
    "advise": "gpu-verify advise --model logistic --rows 280k --columns 30",
    "report": "gpu-verify report --from evidence/",
    "again": "gpu-verify again --evidence /var/lib/gpu-host/evidence --keep 14 --burn-in",
    "compat": "gpu-verify compat --driver 535.261.03 --card 10de:2684",
    "image": "gpu-verify image nvidia/cuda:13.0.2-base-ubuntu24.04 --recording lab-1.json",
    "offer": "gpu-verify offer --host user@rented-1 --for train,serve --price 0.40 --out rented-1.json",
}


class _Help(argparse.HelpFormatter):
    """Wraps paragraphs, and leaves a block with indented lines as it is: an example is there to be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        blocks = text.split("\n\n")
        return "\n\n".join(
            block if "\n  " in block else super(_Help, self)._fill_text(block, width, indent)
            for block in blocks
        )


class Parser(argparse.ArgumentParser):
    """Raises instead of leaving the process, so that ``main`` stays the only exit."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  # argparse's own
        super().__init__(**{"formatter_class": _Help, **settings})

    def format_help(self) -> str:
        """Return the help for a terminal: a docstring's quotes around code mean nothing there."""
        return super().format_help().replace("`", "")

    def error(self, message: str) -> None:  # type: ignore[override]  # noqa: D102  # argparse calls it
        raise VerifyError(f"{message}. See `{self.prog} --help`")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001  # argparse has no public name for it


def some_path(text: str) -> Path:
    """Read a file or folder; nothing at all would be the folder that we are in."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty: name a file or a folder")
    return Path(text)


def number_between(least: float, most: float, what: str) -> Callable[[str], float]:
    """Return what reads a number; argparse turns its error into the sentence."""

    def number(text: str) -> float:
        try:
            read = float(text.replace(",", "."))
        except ValueError:
            read = math.nan
        if not least <= read <= most:
            raise argparse.ArgumentTypeError(f"{text} is no {what}: give a number from {least:g} to {most:g}")
        return read

    return number


def add_command(
    commands: Commands, name: str, summary: str, run: Run, more: str = ""
) -> argparse.ArgumentParser:
    """Add one command's parser, and what runs it; ``more`` of the description follows its summary."""
    example = EXAMPLES.get(name)
    epilog = f"example:\n  {example}\n\n{EXIT_STATUS}" if example else EXIT_STATUS
    parser = commands.add_parser(name, help=summary, description=f"{summary}{more}", epilog=epilog)
    parser.set_defaults(run=run)
    return parser


def print_document(document: Mapping[str, Any]) -> None:
    """Print a command's answer as JSON."""
    print(json.dumps(document, indent=1))  # noqa: T201


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which machine is meant."""
    parser.add_argument("--host", metavar="USER@HOST", help="over SSH; without it, this machine")
    parser.add_argument("--ssh-config", type=some_path, metavar="FILE", help="ssh_config for --host")
    parser.add_argument("--image", metavar="REF", help="image for the containers; it is never pulled")
