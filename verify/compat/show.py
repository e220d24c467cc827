"""The answers of ``gpu-verify compat`` for a person: colours and tables first, sentences below."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from verify.compat.arch import Code, shown
from verify.compat.cuda import How, beyond_table
from verify.text import hang, plain

if TYPE_CHECKING:
    from rich.console import Console

    from verify.compat.host import CudaRow, HostAnswer
    from verify.compat.image_need import ImageNeed
    from verify.compat.need import Need
    from verify.compat.torch import Build
    from verify.compat.verdict import Verdict
    from verify.facts.version import Version

STYLE = {How.RUNS: "green", How.MINOR: "yellow", How.FORWARD: "yellow", How.NO: "red"}
_LABEL = 11
_CODE = {
    Code.MACHINE_CODE: ("machine code", "green"),
    Code.PTX: ("PTX only", "yellow"),
    None: ("left out", "red"),
}


def line(out: Console, label: str, text: str, style: str = "") -> None:
    """Print a label with its sentence, wrapped under its beginning."""
    first, *rest = hang(text, out.width, _LABEL)
    out.print(Text.assemble((label.ljust(_LABEL), "bold"), (first, style)), soft_wrap=True)
    for more in rest:
        out.print(Text(more, style=style), soft_wrap=True)


def table(*headings: str) -> Table:
    """Make a table whose cells wrap."""
    made = Table()
    for heading in headings:
        made.add_column(heading, overflow="fold")
    return made


def print_table(out: Console, title: str, made: Table) -> None:
    """Print a table under its title: rich would wrap that to the width of the table."""
    out.print(Text(title, style="italic"))
    out.print(made)


def print_host(answer: HostAnswer, out: Console) -> None:
    """Print what a host can run."""
    line(out, "driver", f"{answer.driver}: {_carried(answer)}")
    line(out, "branch", _branch(answer), "yellow" if answer.branch and answer.branch.ended else "")
    line(out, "security", answer.security, "yellow" if answer.below_floor else "")
    for card in answer.cards:
        line(out, "card", plain(card.shown))
    for warning in answer.warnings:
        line(out, "but", plain(warning), "bold red")
    images = table("CUDA", "runs here", "what that means")
    for rows in _together(answer.cudas):
        first = rows[0]
        images.add_row(
            _span([row.cuda for row in rows]),
            Text(first.how.value, style=STYLE[first.how]),
            plain("; ".join(filter(None, (first.why, first.note)))),
        )
    print_table(out, "Images and programs, by the CUDA that they are for", images)
    print_builds(answer.builds, out)
    line(out, "plain", plain(answer.plain), "red" if answer.plain_runs is False else "")


def _carried(answer: HostAnswer) -> str:
    if answer.carried is None:
        return "it is older than our table"
    if beyond_table(answer.driver):
        return f"it carries at least CUDA {answer.carried}, the newest that our table knows"
    return f"it carries CUDA {answer.carried}"


def _branch(answer: HostAnswer) -> str:
    found = answer.branch
    if found is None:
        return f"R{answer.driver.major} is not in our table"
    kind = f" ({found.kind})" if found.kind else ""
    return f"R{found.number}{kind} {found.life}; {found.source}"


def _together(rows: tuple[CudaRow, ...]) -> list[list[CudaRow]]:
    """Put neighbours together of which the same is said."""
    return [list(group) for _, group in groupby(rows, key=lambda row: (row.how, row.why, row.note))]


def _span(versions: list[Version]) -> str:
    return f"{versions[0]} to {versions[-1]}" if len(versions) > 1 else str(versions[0])


def print_builds(builds: tuple[Build, ...], out: Console, where: str = "here") -> None:
    """Print the builds that run, by their index, each with the command for its newest."""
    if not builds:
        line(out, "torch", f"no build of our table runs {where}", "red")
        return
    out.print(Text(f"Builds of torch that run {where}, the newest first", style="italic"))
    for index in dict.fromkeys(build.index for build in builds):
        mine = [build for build in builds if build.index == index]
        releases = _span([build.release for build in reversed(mine)])
        experimental = "" if mine[0].status == "stable" else f"  # {mine[0].status}"
        # A command must be fit to be copied: it is never wrapped.
        out.print(Text(f"  {index}  {releases:12}  {mine[0].command}{experimental}"), soft_wrap=True)


def print_need(need: Need, out: Console) -> None:
    """Print what a CUDA or a build of torch needs."""
    line(
        out,
        "needs",
        f"{need.title}: driver {need.lowest} or newer to start (minor-version compatibility)",
        "bold",
    )
    if need.full is not None:
        line(out, "all of it", f"from driver {need.full} on, PTX included")
    if need.forward_branches:
        branches = ", ".join(f"R{number}" for number in need.forward_branches)
        line(
            out,
            "forward",
            f"on data-centre cards with cuda-compat-{str(need.cuda).replace('.', '-')}: {branches}",
        )
    if need.build is not None:
        _build(need.build, out)
    if need.command:
        line(out, "install", need.command)
    for note in need.notes:
        line(out, "note", note)
    cards = table("architecture", "runs", "by PTX only", "left out")
    for title, rows in groupby(need.cards, key=lambda row: row.title):
        mine = list(rows)
        cells = [
            Text(" ".join(shown(row.capability) for row in mine if row.code is code), style=_CODE[code][1])
            for code in (Code.MACHINE_CODE, Code.PTX, None)
        ]
        cards.add_row(title, *cells)
    print_table(out, "Cards, by compute capability", cards)


def _build(build: Build, out: Console) -> None:
    line(
        out,
        "is for",
        f"CUDA {build.cuda}, cuDNN {build.cudnn or 'not known'}, NCCL {build.nccl or 'not known'}, "
        f"Python {build.python} or newer, {build.machine}",
    )
    if build.archs:
        line(out, "arch list", " ".join(build.archs))
    line(out, "source", build.source)


def print_image(need: ImageNeed, out: Console) -> None:
    """Print what an image's demand comes to."""
    line(out, "demand", plain(need.text))
    met = table("alternative")
    for alternative in need.alternatives:
        met.add_row(plain(alternative))
    print_table(out, "One of these rows must be met whole, or the toolkit's check refuses the image", met)
    for sentence in need.sentences:
        line(out, "means", plain(sentence))


def print_verdict(verdict: Verdict, out: Console) -> None:
    """Print whether one thing runs on this host."""
    line(
        out,
        "here",
        plain(f"{verdict.title}: {verdict.word}"),
        f"bold {STYLE[verdict.how] if verdict.runs else 'red'}",
    )
    for sentence in verdict.sentences:
        line(out, "", plain(sentence))
