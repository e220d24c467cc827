"""``gpu-verify again``: this machine verified once more, and the last N evidences kept. For a timer.

It runs on the machine itself, without Ansible: a host that is proven at night needs no controller that is
awake, and no key that reaches every host lies on one. Each run is an evidence folder of its own, named by its
time; ``latest`` points to the newest.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
from typing import TYPE_CHECKING, Any

from verify.commands import FINDINGS_FAILED, OK, add_command, number_between, print_document, some_path
from verify.errors import VerifyError
from verify.files import replace_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from verify.commands import Commands

Json = dict[str, Any]
LATEST = "latest"
IMAGE = "gpu-host/race:latest"
_STAMP = "%Y%m%dT%H%M%SZ"
_RUN = re.compile(r"\d{8}T\d{6}Z")


def add(commands: Commands) -> None:
    """Add ``again`` to the command line."""
    parser = add_command(commands, "again", "verify this machine again, and keep the last evidences", again)
    parser.add_argument(
        "--evidence", type=some_path, required=True, metavar="DIR", help="where they are kept, a folder a run"
    )
    parser.add_argument("--keep", type=_keep, default=14, metavar="N", help="so many of them (default 14)")
    parser.add_argument(
        "--burn-in",
        type=number_between(10, 86400, "number of seconds"),
        nargs="?",
        const=120.0,
        metavar="SECONDS",
        help="also let every card work so long (120 s), judged before, while and after, if none is in use",
    )
    parser.add_argument(
        "--image",
        default=IMAGE,
        metavar="REF",
        help=f"image for the containers; it is never pulled ({IMAGE})",
    )
    parser.add_argument("--name", metavar="HOST", help="this machine's name in the evidence")
    parser.add_argument(
        "--expect", action="append", default=[], metavar="ID", help="a finding that is expected"
    )
    parser.add_argument(
        "--prometheus",
        type=some_path,
        metavar="DIR",
        help="node_exporter's textfile folder, for gpu-host.prom",
    )
    parser.add_argument("--raw", action="store_true", help="keep names, addresses, serial numbers and UUIDs")
    parser.add_argument("--json", action="store_true", help="a versioned document instead of the table")


def _keep(text: str) -> int:
    return int(number_between(1, 10000, "number of evidences")(text))


def again(options: argparse.Namespace) -> int:
    """Record, burn in where that is asked for, judge, keep; return the exit status."""
    import datetime as dt  # noqa: PLC0415  # none of these is loaded by the other commands
    import platform  # noqa: PLC0415

    from verify.fleet.write import write_prometheus  # noqa: PLC0415
    from verify.report.evidence import write  # noqa: PLC0415
    from verify.report.terminal import print_fleet  # noqa: PLC0415

    name = options.name or platform.node()
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}", name):
        raise VerifyError(f"{name!r} cannot be the name of a folder of evidence: give --name HOST")
    # `systemctl stop` is an interruption: the container that works on the cards ends with it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with _alone(options.evidence):
        folder = options.evidence / dt.datetime.now(dt.UTC).strftime(_STAMP)
        if folder.exists():
            raise VerifyError(f"{folder} is there already: another run ended this second; try again")
        staged = folder.with_name(f".{folder.name}.new")
        try:
            _stage(staged / name, name, options)
            fleet = write(staged)
            staged.rename(folder)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
        _point(options.evidence, folder.name)
        forget(options.evidence, options.keep)
    if options.prometheus is not None:
        write_prometheus(folder, options.prometheus)
    if options.json:
        print_document(fleet.document())
    else:
        print_fleet(fleet)
    return FINDINGS_FAILED if fleet.failed else OK


@contextlib.contextmanager
def _alone(evidence: Path) -> Iterator[None]:
    """Let one run in, and take away what one that was killed has left half written."""
    import fcntl  # noqa: PLC0415

    evidence.mkdir(parents=True, exist_ok=True)
    with (evidence / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise VerifyError(f"another run is at work in {evidence}: wait for its end") from None
        for left in evidence.glob(".*.new"):
            if _RUN.fullmatch(left.name[1 : -len(".new")]):
                shutil.rmtree(left, ignore_errors=True)
        yield


def _stage(folder: Path, name: str, options: argparse.Namespace) -> None:
    """Write what the report reads: recordings, the burn-in, and how they came about."""
    from verify.burn_in import FILE  # noqa: PLC0415
    from verify.redact import redact_recordings  # noqa: PLC0415
    from verify.report.layout import RECORDINGS, RUN, dump  # noqa: PLC0415
    from verify.take import record_both  # noqa: PLC0415

    outcome: Json = {"outcome": "ok", "detail": None}
    documents: dict[str, Json] = {}
    try:
        documents = record_both(host=None, image=options.image, ssh_config=None)
    except VerifyError as error:  # a machine that cannot be recorded has a row that says so
        outcome = {"outcome": "failed", "detail": str(error)}
    burn = _burn(options) if options.burn_in and documents else None
    looks = [] if burn is None else [burn["before"], *burn["during"], burn["after"]]
    texts = [*documents.values(), *looks]
    kept = texts if options.raw or not texts else redact_recordings(texts)
    for where, document in zip(documents, kept, strict=False):
        replace_file(folder / RECORDINGS[where], dump(document))
    if burn is not None:
        first, *during, last = kept[len(documents) :]
        replace_file(folder / FILE, dump({**burn, "before": first, "during": during, "after": last}))
    settings = {"race": "never", "burn_in": options.burn_in}
    run = {"schema": 1, "host": name, "expected": options.expect, "image": options.image}
    replace_file(
        folder / RUN, dump({**run, "image_digest": None, "collection": outcome, "settings": settings})
    )


def _burn(options: argparse.Namespace) -> Json:
    from verify.burn_in_run import burn_in, container_work  # noqa: PLC0415
    from verify.manifest import usage_manifest  # noqa: PLC0415
    from verify.take import take  # noqa: PLC0415

    def look() -> Json:
        return dict(json.loads(take("host", content=usage_manifest())))

    return burn_in(look, container_work(options.image, options.burn_in), options.burn_in)


def _point(evidence: Path, name: str) -> None:
    """Let ``latest`` name the newest run, in one step."""
    fresh = evidence / f".{LATEST}.new"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(name, target_is_directory=True)
    fresh.replace(evidence / LATEST)


def forget(evidence: Path, keep: int) -> list[str]:
    """Delete all but the newest runs; only folders that are named as a run is. Return what went."""
    runs = sorted(
        path
        for path in evidence.iterdir()
        if _RUN.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    )
    old = runs[:-keep]
    for path in old:
        shutil.rmtree(path)
    return [path.name for path in old]
