"""The answer of ``gpu-verify image`` on a terminal: one line a matter, the verdict last."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.text import Text

from verify.image.inspect import Kind
from verify.image.verdict import Word
from verify.image.words import duration, money, size
from verify.text import hang, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from verify.image.document import Report

_LONGEST = 160
_LABEL = 13
_NO_BREAK = "\N{NO-BREAK SPACE}"
_COMMAND = re.compile(r"`[^`]+`")
_WORDS = {
    Word.RUNS: ("RUNS", "bold green"),
    Word.MINOR: ("RUNS by minor-version compatibility", "bold green"),
    Word.FORWARD: ("RUNS by forward compatibility", "bold green"),
    Word.NO: ("WILL NOT RUN", "bold red"),
    Word.UNKNOWN: ("NOT KNOWN whether it runs", "bold yellow"),
}


def print_report(report: Report, out: Console) -> None:
    """Print what is known of the image, then how it does on the host."""
    for name, text in _rows(report):
        # A digest is there to be copied.
        _print(out, name, text, kept=name == "digest")
    if report.verdict is not None:
        simulated = " (simulated)" if report.host and report.host.simulated else ""
        word, style = _WORDS[report.verdict.word]
        out.print()
        out.print(Text(word + simulated, style=style))
        for reason in report.verdict.reasons:
            _print(out, "", reason, indent=2)


def _print(out: Console, label: str, text: str, *, indent: int = _LABEL, kept: bool = False) -> None:
    """Print a sentence, wrapped under its beginning; what stands in backticks stays on one line."""
    whole = _COMMAND.sub(lambda found: found.group().replace(" ", _NO_BREAK), text)
    first, *rest = [plain(text)] if kept else hang(whole, out.width, indent)
    out.print(Text.assemble((label.ljust(indent), "bold"), first.replace(_NO_BREAK, " ")), soft_wrap=True)
    for more in rest:
        out.print(Text(more.replace(_NO_BREAK, " ")), soft_wrap=True)


def _rows(report: Report) -> Iterator[tuple[str, str]]:
    image, content = report.image, report.content
    yield "image", str(report.reference)
    yield "digest", f"{report.reference.name}@{image.digest}"
    others = f" (there is {', '.join(map(str, image.others))} too)" if image.others else ""
    yield "platform", f"{image.platform}{others}"
    yield "CUDA", f"{content.cuda}, by {content.cuda_source}" if content.cuda else "it names none"
    for demand in content.demands:
        yield "demand", demand.text if len(demand.text) <= _LONGEST else f"{demand.text[:_LONGEST]}…"
    if content.torch is not None:
        torch = content.torch
        built = (
            "without CUDA"
            if torch.cpu
            else f"for CUDA {torch.cuda}"
            if torch.cuda
            else "for a CUDA that it does not name"
        )
        yield "PyTorch", f"{torch.version}, built {built} (by {torch.source})"
    if content.kind is not None:
        yield "kind", _kind(content.kind, content.compiler_bytes)
    yield from _amounts(report)


def _kind(kind: Kind, compiler: int | None) -> str:
    if kind is not Kind.DEVEL:
        return {Kind.BASE: "base: CUDA's runtime library alone", Kind.RUNTIME: "runtime: CUDA's libraries"}[
            kind
        ]
    amount = f": {size(compiler)} of what is sent" if compiler else " (how much, its history does not tell)"
    return f"devel: carries a compiler you may not need{amount}"


def _amounts(report: Report) -> Iterator[tuple[str, str]]:
    sizes, host = report.sizes, report.host
    yield "to send", f"{size(sizes.compressed)} in {sizes.layers} layer{'' if sizes.layers == 1 else 's'}"
    if sizes.shared is not None:
        yield "there", f"{sizes.shared} of them, {size(sizes.there)}: {size(sizes.pull)} are to be sent"
    elif host is not None:
        yield "there", "which of the layers the host has was not recorded"
    between = f", between {size(sizes.low)} and {size(sizes.high)}"
    how = (
        "its layers are not packed"
        if sizes.exact
        else f"estimated: {sizes.factor:g} times what is sent{between}"
    )
    yield "on the disk", f"{size(sizes.disk)} ({how})"
    free = report.verdict.free if report.verdict else None
    has = f"; {report.verdict.store} has {size(free)} free" if report.verdict and free is not None else ""
    yield "needed", f"{size(sizes.needed)} of room while it is pulled and unpacked{has}"
    if report.pull is not None:
        pull = report.pull
        costs = (
            f", {money(pull.money, pull.currency)} at {pull.price_per_hour:g} {pull.currency} an hour"
            if pull.money is not None
            else ""
        )
        yield "the pull", f"{duration(pull.seconds)} at {pull.mbit:g} Mbit/s{costs}; unpacking comes on top"
    if host is not None:
        cards = ", ".join(dict.fromkeys(host.named)) or "no card that the driver names"
        yield (
            "host",
            f"{host.platform or 'platform not recorded'}, driver {host.driver or 'not recorded'}, {cards}",
        )
