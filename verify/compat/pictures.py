"""The two pictures above the tables: driver branch by CUDA, and compute capability by build of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from verify.compat.arch import Code, shown
from verify.compat.cards import architectures, jetsons
from verify.compat.cuda import How, newest_cuda, packaged_drivers, serves
from verify.compat.driver import branches
from verify.compat.show import print_table
from verify.compat.torch import builds
from verify.facts.version import Version

if TYPE_CHECKING:
    from rich.console import Console

_ROUND, _PLAIN = (
    ("●", "◐", "○", "·"),
    ("#", "+", "o", "."),
)  # yes, in part, on some cards, no; the second for a terminal without UTF-8
_WAYS = {How.RUNS: (0, "green"), How.MINOR: (1, "yellow"), How.FORWARD: (2, "cyan"), How.NO: (3, "dim")}
_CODES = {Code.MACHINE_CODE: (0, "green"), Code.PTX: (1, "yellow"), None: (3, "dim")}
_COLUMN, _REST = 5, 28  # how wide one CUDA is, and the rest of the picture
_FROM = Version.of("11.8")  # what is older is in the table below


def print_pictures(out: Console) -> None:
    """Print both, each with what its signs mean."""
    signs = _ROUND if out.encoding.startswith("utf") else _PLAIN
    full, part, some, none = signs
    print_table(out, "Which CUDA on which driver", _drivers(out.width, signs))
    meaning = (
        f"{full} carries it  {part} starts it (minor-version compatibility: no PTX)  {some} starts it on "
        f"data-centre cards with cuda-compat in the image  {none} does not start it"
    )
    out.print(Text(meaning + _beyond(), style="dim"))
    out.print()
    title = "Which card runs which build of torch (the newest of each index, Linux x86_64)"
    print_table(out, title, _torch(signs))
    out.print(Text(f"{full} machine code  {part} PTX only  {none} nothing that runs", style="dim"))
    out.print()


def _beyond() -> str:
    """Say which branches are newer than the table of what a driver carries."""
    newest, driver = packaged_drivers()[-1]
    later = [f"R{branch.number}" for branch in branches() if branch.number > driver.major]
    return (
        f"\n{', '.join(later)}: carries at least {newest}, more is in no source that was read"
        if later
        else ""
    )


def _bare() -> Table:
    return Table(box=None, padding=(0, 0, 0, 1))


def _drivers(width: int, signs: tuple[str, ...]) -> Table:
    cudas = [cuda for cuda, _ in packaged_drivers() if cuda >= _FROM] + [newest_cuda()]
    cudas = list(dict.fromkeys(cudas))[-max(1, (width - _REST) // _COLUMN) :]
    table = _bare()
    table.add_column("driver")
    for cuda in cudas:
        table.add_column(str(cuda), justify="center")
    table.add_column("its life", no_wrap=True)
    for branch in branches():
        newest = Version.of(f"{branch.number}.999")  # the newest of its branch
        ways = [_WAYS[serves(newest, cuda, forward=True).how or How.NO] for cuda in cudas]
        life = Text(branch.life, style="dim" if branch.ended else "green")
        table.add_row(f"R{branch.number}", *(Text(signs[sign], style=style) for sign, style in ways), life)
    return table


def _torch(signs: tuple[str, ...]) -> Table:
    known = [build for build in builds() if build.archs is not None]
    newest = {build.index: build for build in reversed(known)}  # the newest release of each index stays
    columns = [newest[index] for index in sorted(newest)]
    table = _bare()
    table.add_column("compute capability")
    for build in columns:
        table.add_column(f"{build.index}\n{build.release}", justify="center")
    for kind in architectures().values():
        for capability in (pair for pair in kind.capabilities if pair not in jetsons()):
            codes = [_CODES[build.code_for(capability)] for build in columns]
            cells = [Text(signs[sign], style=style) for sign, style in codes]
            table.add_row(f"{shown(capability):5} {kind.title}", *cells)
    return table
