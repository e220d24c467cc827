"""The two pictures above the tables: driver branch by CUDA, and compute capability by build of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from verify.compat.arch import How as Code
from verify.compat.cards import architectures, jetsons
from verify.compat.choice import shown
from verify.compat.cuda import How, newest_cuda, packaged_drivers, serves
from verify.compat.driver import branches
from verify.compat.show import print_table
from verify.compat.torch import builds
from verify.facts.version import Version

if TYPE_CHECKING:
    from rich.console import Console

_WAYS = {
    How.RUNS: ("●", "green"),
    How.MINOR: ("◐", "yellow"),
    How.FORWARD: ("○", "cyan"),
    How.NO: ("·", "dim"),
}
_CODES = {Code.MACHINE_CODE: ("●", "green"), Code.PTX: ("◐", "yellow"), None: ("·", "dim")}
_COLUMN, _REST = 5, 28  # how wide one CUDA is, and the rest of the picture
_FROM = Version.of("11.8")  # what is older is in the table below


def print_pictures(out: Console) -> None:
    """Print both, each with what its signs mean."""
    print_table(out, "Which CUDA on which driver", _drivers(out.width))
    out.print(
        Text(
            "● carries it  ◐ starts it (minor-version compatibility: no PTX)  ○ starts it on data-centre "
            "cards with cuda-compat in the image  · does not start it",
            style="dim",
        )
    )
    out.print()
    print_table(
        out, "Which card runs which build of torch (the newest of each index, Linux x86_64)", _torch()
    )
    out.print(Text("● machine code  ◐ PTX only  · nothing that runs", style="dim"))
    out.print()


def _plain() -> Table:
    return Table(box=None, padding=(0, 0, 0, 1))


def _drivers(width: int) -> Table:
    cudas = [cuda for cuda, _ in packaged_drivers() if cuda >= _FROM] + [newest_cuda()]
    cudas = cudas[-max(1, (width - _REST) // _COLUMN) :]
    table = _plain()
    table.add_column("driver")
    for cuda in dict.fromkeys(cudas):
        table.add_column(str(cuda), justify="center")
    table.add_column("its life", no_wrap=True)
    for branch in branches():
        newest = Version.of(f"{branch.number}.999")  # the newest of its branch
        ways = [serves(newest, cuda, forward=True).how or How.NO for cuda in dict.fromkeys(cudas)]
        life = Text(branch.life, style="dim" if branch.ended else "green")
        table.add_row(f"R{branch.number}", *(Text(_WAYS[way][0], style=_WAYS[way][1]) for way in ways), life)
    return table


def _torch() -> Table:
    known = [build for build in builds() if build.archs is not None]
    newest = {build.index: build for build in reversed(known)}  # the newest release of each index stays
    columns = [newest[index] for index in sorted(newest)]
    table = _plain()
    table.add_column("compute capability")
    for build in columns:
        table.add_column(f"{build.index}\n{build.release}", justify="center")
    for kind in architectures().values():
        for capability in (pair for pair in kind.capabilities if pair not in jetsons()):
            signs = [_CODES[build.code_for(capability)] for build in columns]
            table.add_row(
                f"{shown(capability):5} {kind.title}", *(Text(sign, style=style) for sign, style in signs)
            )
    return table
