"""The race's command line, and what is wrong with it in one sentence."""

from __future__ import annotations

import argparse
import hashlib
import math
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from verify.race.budget import FORMS, seconds_of
from verify.race.network_model import KINDS
from verify.race.settings import NAMES, Fraud, FraudData, Network, Script, Settings, settings_for
from verify.race.whole import THIS_MACHINE
from verify.race.words import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = 2
STDOUT = "-"
DASHED = ("--device-arg", "--script-args")  # what follows them is their value, dashes or not


class UsageError(Exception):
    """The command line cannot be followed: the text says what was found, what is needed and what to do."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (all options: --help)")


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options; raise UsageError for what cannot be."""
    argv = _joined(sys.argv[1:] if argv is None else argv)
    parser = _Parser(
        prog="gpu-verify race" if sys.argv[0].endswith("gpu-verify") else "python -m verify.race",
        description="Time the same work on the CPU and on the card, and say what came of it and why.",
        allow_abbrev=False,  # --device would be --device-arg
    )
    out = parser.add_argument_group("what is written")
    out.add_argument(
        "--out",
        default=".",
        metavar="DIR|-",
        help="folder for race.json, race.md, race.svg and race.html; - prints race.json",
    )
    out.add_argument(
        "--host",
        default=THIS_MACHINE,
        metavar="NAME",
        help="the name that the evidence gives this machine (default %(default)s)",
    )
    out.add_argument("--image-digest", default=None, metavar="SHA256", help="the image this runs in")
    out.add_argument(
        "--lang", default="en", choices=sorted(LANGUAGES), help="language of the report (default en)"
    )
    out.add_argument(
        "--others",
        type=int,
        default=None,
        metavar="N",
        help="other processes on the card, as its host counted them: a container cannot see them",
    )
    how = parser.add_argument_group("how long")
    how.add_argument(
        "--budget", default=None, metavar="TIME", help=f"time for the whole race in {FORMS}; default 60s"
    )
    how.add_argument(
        "--repeats",
        type=int,
        default=None,
        metavar="N",
        help="exactly so many timed repeats in each lane, instead of as many as the precision needs",
    )
    how.add_argument(
        "--quick", action="store_true", help="small sizes, to try it out; the numbers say little"
    )
    what = parser.add_argument_group("what is raced")
    what.add_argument(
        "--only",
        default=None,
        metavar="NAMES",
        help="these alone, with commas between: network (the small classifier), fraud (the regression), "
        "sweep (one operation over sizes); script leaves all but your own --script out",
    )
    what.add_argument(
        "--network",
        default=KINDS[0],
        choices=KINDS,
        help="fully connected or convolutional (default %(default)s)",
    )
    what.add_argument(
        "--fraud-data",
        default=None,
        metavar="FILE",
        help="your own table, CSV or Parquet, for the regression",
    )
    what.add_argument(
        "--target", default=None, metavar="COLUMN", help="its column of two values that is to be predicted"
    )
    what.add_argument(
        "--fraud-precision",
        default=Fraud.dtype,
        choices=("float64", "float32"),
        help="digits of the regression (default %(default)s)",
    )
    what.add_argument(
        "--script",
        default=None,
        metavar="FILE",
        help="your own training script, raced beside the others; --only script: it alone",
    )
    what.add_argument(
        "--device-arg",
        default="--device",
        metavar="ARG",
        help="its argument that takes cpu or cuda (default %(default)s)",
    )
    what.add_argument(
        "--script-args",
        default="",
        metavar="TEXT",
        help="its other arguments, in one word, quoted as in a shell",
    )
    money = parser.add_argument_group("what an hour costs")
    money.add_argument("--price-cpu", default=None, metavar="AMOUNT", help="of this machine without a card")
    money.add_argument(
        "--price-card",
        "--price-gpu",
        dest="price_card",
        default=None,
        metavar="AMOUNT",
        help="of this machine with its card",
    )
    money.add_argument("--currency", default="EUR", metavar="NAME", help="of both (default %(default)s)")
    return parser.parse_args(argv)


def settings(options: argparse.Namespace) -> Settings:
    """Return the settings that the options ask for; raise UsageError where they contradict."""
    if options.repeats is not None and options.repeats < 1:
        raise UsageError(f"--repeats {options.repeats}: a race needs at least 1 repeat, 6 for an interval")
    if options.others is not None and options.others < 0:
        raise UsageError(f"--others {options.others}: give how many other processes are on the card, from 0")
    try:
        budget = None if options.budget is None else seconds_of(options.budget)
    except ValueError as error:
        raise UsageError(f"--budget: {error}") from None
    found = settings_for(
        options.repeats, quick=options.quick, budget_s=budget,
        network=Network(kind=options.network), fraud=Fraud(dtype=options.fraud_precision),
        only=_only(options.only, script=options.script is not None),
    )  # fmt: skip
    if options.target is not None and options.fraud_data is None:
        raise UsageError(
            f"--target {options.target} names a column of --fraud-data FILE, which is not given: give both"
        )
    if options.fraud_data is not None:
        if options.target is None:
            raise UsageError(
                f"--fraud-data {options.fraud_data} needs --target COLUMN: the column to be predicted"
            )
        if "fraud" not in found.only:
            raise UsageError(
                f"--fraud-data {options.fraud_data} with --only {options.only}: the table is for fraud: "
                "name it in --only, too, or leave the table out"
            )
        found = replace(found, fraud=replace(found.fraud, data=FraudData(options.fraud_data, options.target)))
    if options.script is not None:
        arguments = _words(options.script_args)
        script = Script(options.script, options.device_arg, arguments, _sha256(options.script))
        found = replace(found, script=script)
    elif options.script_args or options.device_arg != Script.device_arg:
        name = "--script-args" if options.script_args else "--device-arg"
        raise UsageError(f"{name} is for --script FILE, which is not given: give both")
    return found


def prices(options: argparse.Namespace) -> dict[str, Any] | None:
    """Return race.json's prices; None where neither is given."""
    found = {f"{name}_per_hour": _price(name, getattr(options, f"price_{name}")) for name in ("cpu", "card")}
    return None if set(found.values()) == {None} else {**found, "currency": options.currency}


def _price(name: str, said: str | None) -> float | None:
    if said is None:
        return None
    try:
        amount = float(said)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise UsageError(f"--price-{name} {said}: give an amount per hour such as 0.35, in --currency")
    return amount


def _only(said: str | None, *, script: bool) -> tuple[str, ...]:
    """Return the names; the script is raced wherever it is given, and --only script leaves out all else."""
    if said is None:
        return NAMES
    names = tuple(dict.fromkeys(name.strip() for name in said.split(",") if name.strip()))
    known = (*NAMES, "script") if script else NAMES
    wrong = [name for name in names if name not in known]
    if "script" in wrong:
        raise UsageError(f"--only {said}: script is raced where --script FILE gives one")
    if wrong or not names:
        what = f"nothing that is raced is called {' or '.join(wrong)}" if wrong else "it names nothing"
        raise UsageError(f"--only {said}: {what}: give any of {', '.join(known)}, with commas between")
    return tuple(name for name in NAMES if name in names)


def _joined(argv: Sequence[str]) -> list[str]:
    """Tie the options whose values begin with dashes to them: argparse takes such a value for an option."""
    joined: list[str] = []
    for word in argv:
        if joined and joined[-1] in DASHED:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _sha256(file: str) -> str:
    if not Path(file).is_file() and Path(file).exists():  # a pipe would be waited for, and read only once
        raise UsageError(f"--script {file or 'is empty'}: no file: give the path of a Python script")
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"--script {file} cannot be read ({said}): give the path of a Python script"
        ) from None


def _words(said: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(said))
    except ValueError as error:
        raise UsageError(f"--script-args {said}: {error}: quote it as in a shell") from None
