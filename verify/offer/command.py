"""``gpu-verify offer``: is this offer what it says, and what is it fit for."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.commands import FINDINGS_FAILED, OK, add_command, number_between, print_document, some_path
from verify.errors import VerifyError

if TYPE_CHECKING:
    from verify.commands import Commands
    from verify.image.reference import Reference

PASSWORD = "GPU_VERIFY_REGISTRY_PASSWORD"  # noqa: S105  # the variable's name
_RATES, _PRICES = (0.001, 1e6), (0.0001, 1e6)  # Mbit/s; an hour
_USES = ("train", "serve", "build", "ci")
_MORE = (
    ". Everything is tried in a folder and containers of its own, within limits, and taken away again; only "
    "a small marker file stays on each mount, because it alone can prove that the mount survives a restart "
    "(--no-marker leaves none, --forget removes them). No network but the registry that you name."
)


def add(commands: Commands) -> None:
    """Add ``offer`` to the command line."""
    parser = add_command(commands, "offer", "is a rented machine what its offer says", offer, _MORE)
    parser.add_argument("--host", metavar="USER@HOST", help="over SSH; without it, this machine")
    parser.add_argument("--ssh-config", type=some_path, metavar="FILE", help="ssh_config for --host")
    parser.add_argument("--recording", type=some_path, metavar="FILE", help="judge this, reach no machine")
    parser.add_argument("--out", type=some_path, metavar="FILE", help="keep the recording, fit to be shown")
    parser.add_argument(
        "--compare", nargs="+", metavar="FILE[:PRICE]", help="recordings side by side, with the price an hour"
    )
    parser.add_argument(
        "--for", dest="wanted", type=_uses, default=(), metavar="USES", help="train,serve,build,ci"
    )
    parser.add_argument("--image", metavar="REF", help="yours: does it run, what does its first pull cost")
    parser.add_argument(
        "--registry", metavar="HOST", help="try this registry (that of --image is tried anyhow)"
    )
    parser.add_argument(
        "--username", metavar="NAME", help=f"log in there; the password is asked for, or {PASSWORD}"
    )
    parser.add_argument("--ca-file", type=some_path, metavar="FILE", help="PEM of the registry's own CA")
    parser.add_argument("--rate", type=number_between(*_RATES, "rate in Mbit/s"), metavar="MBIT",
                        help="in the place of the measured one")  # fmt: skip
    parser.add_argument("--price", type=number_between(*_PRICES, "price"), metavar="PER_HOUR",
                        help="what the machine costs an hour")  # fmt: skip
    parser.add_argument("--currency", default="EUR", metavar="WORD", help="of the price (EUR)")
    parser.add_argument(
        "--mount", action="append", default=[], metavar="PATH", help="a folder to look at, too"
    )
    parser.add_argument("--no-tries", dest="tries", action="store_false", help="look only: nothing is tried")
    parser.add_argument("--no-marker", dest="marker", action="store_false", help="leave no marker file")
    parser.add_argument("--forget", action="store_true", help="remove the marker files, and try nothing")
    parser.add_argument(
        "--ask-metadata", action="store_true", help="ask the cloud's metadata service about spot"
    )
    parser.add_argument("--evidence", action="store_true", help="show the evidence of each answer, too")
    parser.add_argument("--json", action="store_true", help="a versioned document instead of text")


def _uses(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    wrong = [word for word in found if word not in _USES]
    if wrong or not found:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no use: give one or more of {', '.join(_USES)}, with commas"
        )
    return found


def offer(options: argparse.Namespace) -> int:
    """Judge one offer, or several; return the exit status."""
    _check(options)
    from verify.offer.pull import Price  # noqa: PLC0415  # what other commands do without is loaded here
    from verify.offer.verdict import Use  # noqa: PLC0415

    wanted = tuple(Use(word) for word in options.wanted)
    price = Price(options.price, options.currency, options.rate)
    if options.compare:
        return _compare(options, wanted, price)
    from verify.console import console  # noqa: PLC0415
    from verify.offer.document import document  # noqa: PLC0415
    from verify.offer.facts import offer_facts  # noqa: PLC0415
    from verify.offer.show import print_offer  # noqa: PLC0415
    from verify.offer.verdict import judge  # noqa: PLC0415
    from verify.recording import Recording, load  # noqa: PLC0415

    recording = load(options.recording) if options.recording else Recording.from_document(_collected(options))
    facts = offer_facts(recording)
    judged = judge(facts)
    if options.json:
        print_document(document(facts, judged, price, wanted))
    else:
        print_offer(facts, judged, price, console(), evidence=options.evidence)
    return OK if judged.passes(wanted) else FINDINGS_FAILED


def _compare(options: argparse.Namespace, wanted: tuple[Any, ...], price: Any) -> int:  # noqa: ANN401  # loaded late
    from verify.console import console  # noqa: PLC0415
    from verify.offer.compare import compare, compared_document, print_compared  # noqa: PLC0415

    found = compare(options.compare, wanted, price)
    if options.json:
        print_document(compared_document(found, wanted))
    else:
        print_compared(found, wanted, console())
    return OK if found[0].passes else FINDINGS_FAILED


def _check(options: argparse.Namespace) -> None:
    live = (
        options.host,
        options.out,
        options.registry,
        options.image,
        options.username,
        options.ask_metadata,
    )
    if options.recording and options.compare:
        raise VerifyError("--recording judges one file, --compare several: give one of the two")
    if (options.recording or options.compare) and (any(live) or options.mount or options.forget):
        raise VerifyError(
            "--recording and --compare judge files and reach nothing: they go with none of --host, --out, "
            "--image, --registry, --username, --mount, --forget and --ask-metadata"
        )
    if options.username and not (options.registry or options.image):
        raise VerifyError("--username is for a registry: give --registry HOST, or --image HOST/NAME:TAG")


def _collected(options: argparse.Namespace) -> dict[str, Any]:
    """Reach the machine; the recording is kept where that was asked for."""
    from verify.files import replace_file  # noqa: PLC0415
    from verify.image.reference import parse  # noqa: PLC0415
    from verify.offer.collect import collect  # noqa: PLC0415
    from verify.redact import redact  # noqa: PLC0415

    image: Reference | None = parse(options.image) if options.image else None
    if image is not None and options.registry not in (None, image.host, image.registry):
        raise VerifyError(
            f"--registry {options.registry} is not where {options.image} is: leave it out, or name the same"
        )
    document = collect(options, image, _password() if options.username else "")
    shown = redact(document, verbatim=False)
    if options.out is not None:
        replace_file(Path(options.out), json.dumps(shown, indent=1, sort_keys=True) + "\n")
    return document


def _password() -> str:
    """Return the password: from the environment, a pipe, or whoever sits there; never from an argument."""
    given = os.environ.get(PASSWORD)
    if given is None:
        given = getpass.getpass("password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    if not given:
        raise VerifyError(f"no password came: type it, pipe it in, or set {PASSWORD}")
    return given
