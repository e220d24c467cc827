"""``gpu-verify compat``: the tables; what a host can run; what a CUDA, a build of torch or an image needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.commands import FINDINGS_FAILED, OK, add_command, print_document
from verify.errors import VerifyError
from verify.facts.version import Version

if TYPE_CHECKING:
    import argparse

    from verify.commands import Commands
    from verify.compat.choice import Card
    from verify.compat.need import Need
    from verify.compat.verdict import Verdict

_EXAMPLE = "gpu-verify compat --driver 535.261.03 --card 10de:2684"
_TOGETHER = """

what goes together:
  (nothing)                         every table
  --peaks                           the table of arithmetic peaks alone
  --card                            what one card can run, and its peaks
  --driver [--card ...]             what a host can run
  --cuda, --torch, --image-require  what one of these needs
  ... with --driver [--card ...]    and whether that host runs it (exit status 1 where it does not)
  --machine with --torch, --driver or --card; --json with each"""
MACHINES = ("x86_64", "aarch64")


def add(commands: Commands) -> None:
    """Add ``compat`` to the command line."""
    parser = add_command(
        commands,
        "compat",
        "what goes with what: driver, CUDA, cards, torch; without options, the tables",
        compat,
        _TOGETHER,
    )
    parser.add_argument("--driver", metavar="VERSION", help="what can a host with this driver run")
    parser.add_argument(
        "--card",
        action="append",
        default=[],
        metavar="ID|NAME",
        help="what can this card run: 10de:2684, or a part of its name; with --driver once a kind of card",
    )
    parser.add_argument("--peaks", action="store_true", help="the table of arithmetic peaks by card, alone")
    parser.add_argument(
        "--machine", choices=MACHINES, default=MACHINES[0], help="for torch: its wheels differ"
    )
    need = parser.add_mutually_exclusive_group()
    need.add_argument("--cuda", metavar="X.Y", help="what does a program for this CUDA need")
    need.add_argument("--torch", metavar="VERSION", help="what does this build need: 2.9.1+cu128, or 2.9.1")
    need.add_argument(
        "--image-require", metavar="TEXT", help="what does an image need, by its NVIDIA_REQUIRE_CUDA"
    )
    parser.add_argument("--json", action="store_true", help="a versioned document instead of text")


def compat(options: argparse.Namespace) -> int:
    """Answer, or print the tables. With a host and a need: exit status 1 where it will not run."""
    asked = next(
        (name for name in ("cuda", "torch", "image_require") if getattr(options, name) is not None), None
    )
    _check(options, asked)
    driver = _driver(options.driver)
    cards = _cards(options.card)
    if asked is None and driver is None:
        return _card(options, cards[0]) if cards else _tables(options)
    if asked is None:
        return _host(options, driver, cards)
    return _need(options, asked, driver, cards)


def _check(options: argparse.Namespace, asked: str | None) -> None:
    """Say which options go together, where these do not."""
    if options.peaks and (asked or options.card or options.driver is not None):
        raise VerifyError(
            "--peaks prints the whole table of peaks, and goes with --json alone; the row of one card comes "
            "with --card alone"
        )
    if options.card and options.driver is None and (asked or len(options.card) > 1):
        what = f"--{asked.replace('_', '-')} and --card" if asked else "several --card"
        raise VerifyError(f"{what} go with --driver: give the driver of the host too, as in {_EXAMPLE}")


def _driver(text: str | None) -> Version | None:
    if text is None:
        return None
    version = Version.typed(text)
    oldest = 100  # branches have three digits: less is a CUDA, or a mistake in typing
    if version is None or len(version.parts) < 2 or version.major < oldest:  # noqa: PLR2004  # 535.261 at least
        raise VerifyError(
            f"--driver {text} is no version of a driver: write what nvidia-smi says, as 535.261.03"
        )
    return version


def _cards(texts: list[str]) -> tuple[Card, ...]:
    from verify.compat.choice import card_of  # noqa: PLC0415  # the names of cards take a while to read

    return tuple(card_of(text) for text in texts)


def _tables(options: argparse.Namespace) -> int:
    from verify.compat import tables  # noqa: PLC0415

    if options.json:
        print_document(tables.document(peaks_alone=options.peaks))
    else:
        from verify.console import console  # noqa: PLC0415

        show = tables.print_peaks if options.peaks else tables.print_tables
        show(console())
    return OK


def _card(options: argparse.Namespace, card: Card) -> int:
    from verify.compat.card import card_answer  # noqa: PLC0415

    answer = card_answer(card, options.machine)
    if options.json:
        from verify.compat.documents import card_document  # noqa: PLC0415

        print_document(card_document(answer))
        return OK
    from verify.compat.show_card import print_card  # noqa: PLC0415
    from verify.console import console  # noqa: PLC0415

    print_card(answer, console())
    return OK


def _host(options: argparse.Namespace, driver: Version | None, cards: tuple[Card, ...]) -> int:
    from verify.compat.host import host_answer  # noqa: PLC0415

    assert driver is not None  # noqa: S101  # for mypy
    answer = host_answer(driver, cards, options.machine)
    if options.json:
        from verify.compat.documents import host_document  # noqa: PLC0415

        print_document(host_document(answer))
    else:
        from verify.compat.show import print_host  # noqa: PLC0415
        from verify.console import console  # noqa: PLC0415

        print_host(answer, console())
    return OK


def _need(options: argparse.Namespace, asked: str, driver: Version | None, cards: tuple[Card, ...]) -> int:
    from verify.compat import documents  # noqa: PLC0415
    from verify.compat.image_need import image_need  # noqa: PLC0415
    from verify.compat.need import cuda_need, in_table, torch_need  # noqa: PLC0415
    from verify.compat.verdict import image_verdict, need_verdict  # noqa: PLC0415
    from verify.console import console  # noqa: PLC0415

    verdict: Verdict | None = None
    need: Need | None
    if asked == "image_require":
        image = image_need(options.image_require)
        verdict = image_verdict(image, driver, cards) if driver else None
        need = cuda_need(str(image.cuda)) if image.cuda and in_table(image.cuda) else None
        document = documents.image_document(image, need)
    else:
        need = cuda_need(options.cuda) if asked == "cuda" else torch_need(options.torch, options.machine)
        verdict = need_verdict(need, driver, cards) if driver else None
        document = documents.need_document(need)
    if options.json:
        print_document({**document, **(documents.verdict_document(verdict, cards) if verdict else {})})
    else:
        from verify.compat import show  # noqa: PLC0415

        out = console()
        if asked == "image_require":
            show.print_image(image, out)
        if need:
            show.print_need(need, out)
        if verdict:
            show.print_verdict(verdict, out)
    return FINDINGS_FAILED if verdict and not verdict.runs else OK
