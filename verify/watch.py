"""``gpu-verify doctor --watch``: the cards of one machine, looked at again and again.

Each look is one connection and the nvidia-smi part of the recording alone: no container is started.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, NoReturn

from rich.live import Live
from rich.text import Text

from verify.console import console
from verify.errors import VerifyError
from verify.facts.usage import usage_facts
from verify.manifest import usage_manifest
from verify.recording import load
from verify.report.board import board_text
from verify.take import take
from verify.text import plain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from rich.console import Console


def watch(options: argparse.Namespace, sleep: Callable[[float], None] = time.sleep) -> NoReturn:
    """Show the cards until Ctrl-C. A first look that fails ends it; a later one is said, and tried again."""
    out = console()
    place = options.host or "this machine"
    title = Text(f"{plain(place)}, every {options.watch:g} s; Ctrl-C ends it\n")
    board = _look(options, out)
    with contextlib.ExitStack() as stack:
        if out.is_terminal:
            live = stack.enter_context(
                Live(Text.assemble(title, board), console=out, auto_refresh=False, vertical_overflow="crop")
            )
        else:
            live = None
            out.print(Text.assemble(title, board), soft_wrap=True)
        while True:
            sleep(options.watch)
            try:
                board = shown = _look(options, out)
            except VerifyError as error:
                shown = Text.assemble(board, (f"\nno answer this time: {plain(str(error))}", "yellow"))
            if live is not None:
                live.update(Text.assemble(title, shown), refresh=True)
            else:
                out.print(shown, soft_wrap=True)


def _look(options: argparse.Namespace, out: Console) -> Text:
    text = take("host", host=options.host, ssh_config=options.ssh_config, content=usage_manifest())
    recording = load(text)
    return board_text(usage_facts(recording), recording.taken_at, out.width)
