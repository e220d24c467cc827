"""``gpu-verify image``: what an image is and needs, and whether a host runs it, before a byte is pulled."""

from __future__ import annotations

import argparse
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.commands import FINDINGS_FAILED, OK, add_command, number_between, print_document, some_path
from verify.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from verify.commands import Commands
    from verify.image.document import Report
    from verify.image.host import Host
    from verify.image.manifest import Image, Platform
    from verify.image.reference import Reference

DEADLINE_S = 60
_RATES = (0.001, 1e6)  # Mbit/s
_PRICES = (0.0001, 1e6)  # an hour
_CERTIFICATES = Path("/etc/docker/certs.d")
# What of a host's recording is looked at here: no container is started, no package manager asked.
_ASKED = (
    *(
        "uname",
        "nvidia-smi",
        "nvidia-smi-list",
        "nvidia-smi-xml",
        "nvidia-smi-query",
        "nvidia-smi-gpu-{gpu_index}",
    ),
    *("docker-info", "docker-version", "image-layers"),
)


def add(commands: Commands) -> None:
    """Add ``image`` to the command line."""
    parser = add_command(
        commands, "image", "what an image needs, by its registry: no layer of it is fetched", image
    )
    parser.add_argument(
        "reference", metavar="REF", help="HOST/NAME:TAG, or NAME@sha256:…, as for `docker pull`"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--recording", type=some_path, metavar="FILE", help="does this host run it (gpu-verify record)"
    )
    where.add_argument("--host", metavar="USER@HOST", help="does this host run it: looked at over SSH")
    where.add_argument("--here", action="store_true", help="does this machine run it")
    parser.add_argument("--ssh-config", type=some_path, metavar="FILE", help="ssh_config for --host")
    parser.add_argument("--ca-file", type=some_path, metavar="FILE", help="PEM of the registry's own CA")
    parser.add_argument(
        "--rate",
        type=number_between(*_RATES, "rate in Mbit/s"),
        metavar="MBIT",
        help="how fast the host pulls, in Mbit/s",
    )
    parser.add_argument(
        "--price",
        type=number_between(*_PRICES, "price"),
        metavar="PER_HOUR",
        help="what the host costs an hour",
    )
    parser.add_argument("--currency", default="EUR", metavar="WORD", help="of the price (EUR)")
    parser.add_argument("--json", action="store_true", help="a versioned document instead of text")


def image(options: argparse.Namespace) -> int:
    """Look at the image, and hold it against a host where one is named."""
    if options.price is not None and options.rate is None:
        raise VerifyError("--price goes with --rate: say how fast the host pulls, as in --rate 500")
    report = _report(options)
    if options.json:
        from verify.image.document import document  # noqa: PLC0415

        print_document(document(report))
    else:
        from verify.console import console  # noqa: PLC0415
        from verify.image.show import print_report  # noqa: PLC0415

        print_report(report, console())
    return OK if report.verdict is None or report.verdict.runs else FINDINGS_FAILED


def _report(options: argparse.Namespace) -> Report:
    from verify.image.document import Report  # noqa: PLC0415  # what other commands do without is loaded here
    from verify.image.estimate import pull, sizes  # noqa: PLC0415
    from verify.image.inspect import content  # noqa: PLC0415
    from verify.image.reference import parse  # noqa: PLC0415
    from verify.image.verdict import judge  # noqa: PLC0415

    reference = parse(options.reference)
    host = _host(options)
    found = look(reference, options.ca_file, host.platform if host else None)
    known, amount = content(found), sizes(found, host.layers if host else None)
    return Report(
        reference=reference,
        image=found,
        content=known,
        sizes=amount,
        pull=pull(amount.pull, options.rate, options.price, options.currency) if options.rate else None,
        host=host,
        verdict=judge(found, known, amount, host) if host else None,
    )


def look(reference: Reference, ca_file: Path | None, platform: Platform | None) -> Image:
    """Read the image's manifest and configuration, all of it within one deadline."""
    from verify.image.credentials import find_login  # noqa: PLC0415
    from verify.image.manifest import read  # noqa: PLC0415
    from verify.image.registry import Registry  # noqa: PLC0415
    from verify.image.web import Web, tls_context  # noqa: PLC0415

    context = tls_context((*_certificates(reference), *([ca_file] if ca_file else [])))
    web = Web(context, time.monotonic() + DEADLINE_S)
    registry = Registry(reference, web, lambda: find_login(reference))
    return _within(DEADLINE_S, lambda: read(registry, platform), reference.host)


def _within(limit: float, ask: Callable[[], Image], place: str) -> Image:
    """Run it aside: a name server or a line that comes byte by byte obeys no limit of a socket."""
    got: list[Image] = []
    wrong: list[BaseException] = []

    def run() -> None:
        try:
            got.append(ask())
        except BaseException as error:  # noqa: BLE001  # raised again below
            wrong.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit)
    if wrong:
        raise wrong[0]
    if not got:
        raise VerifyError(
            f"{place} did not give manifest and configuration within {limit:.0f} s: try again later"
        )
    return got[0]


def _certificates(reference: Reference) -> tuple[Path, ...]:
    """Return the CAs that Docker on this machine trusts for this registry."""
    try:
        return tuple(
            sorted(path for path in (_CERTIFICATES / reference.host).glob("*.crt") if path.is_file())
        )
    except OSError:
        return ()


def _host(options: argparse.Namespace) -> Host | None:
    from verify.image.host import host  # noqa: PLC0415
    from verify.recording import load  # noqa: PLC0415

    if options.recording is not None:
        return host(load(options.recording))
    if not options.here and options.host is None:
        return None
    from verify.take import take  # noqa: PLC0415

    return host(load(take("host", host=options.host, ssh_config=options.ssh_config, content=_content())))


def _content() -> dict[str, Any]:
    from verify.manifest import manifest  # noqa: PLC0415

    whole = manifest("host")
    return {**whole, "commands": [one for one in whole["commands"] if one["name"] in _ASKED]}
