"""``gpu-verify advise``: whether a training that is not yet written needs a card."""

from __future__ import annotations

import argparse
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.commands import FINDINGS_FAILED, OK, add_command
from verify.errors import VerifyError
from verify.race.advise_work import (
    BATCH,
    BYTES,
    EPOCHS,
    FLOAT32,
    FLOAT64,
    LOGISTIC,
    MODELS,
    NETWORK_EPOCHS,
    NETWORKS,
    Job,
)
from verify.race.words import LANGUAGES, message, text

if TYPE_CHECKING:
    from verify.commands import Commands
    from verify.race.advise import Advice

Json = dict[str, Any]

_SUFFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9, "t": 1e12}
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_STYLES = {"cpu": "bold green", "gpu": "bold cyan", "will-not-fit": "bold red", "undecided": "bold yellow"}


def add(commands: Commands) -> None:
    """Add ``advise`` to the command line."""
    parser = add_command(
        commands,
        "advise",
        "do I need a card? for work not yet written: CPU is enough, GPU, will not fit",
        advise,
    )
    work = parser.add_argument_group("the work (numbers may end in k, M, G)")
    work.add_argument("--model", required=True, choices=MODELS)
    work.add_argument("--rows", required=True, type=_count, metavar="N", help="of the training data")
    work.add_argument(
        "--columns",
        required=True,
        type=_count,
        metavar="N",
        help="numbers in a row; for cnn all of an image (150528 for 3 x 224 x 224), for a transformer its "
        "tokens, for matmul the inner size",
    )
    work.add_argument("--parameters", type=_count, metavar="N", help="of the network")
    work.add_argument("--layers", type=_count, metavar="N", help="of the network, where known")
    work.add_argument(
        "--operations", type=_count, metavar="N", help="multiply-adds of one row, forward, where known"
    )
    work.add_argument(
        "--batch", type=_count, default=BATCH, metavar="N", help="rows a step (default %(default)s)"
    )
    work.add_argument(
        "--precision", choices=sorted(BYTES), help="default float32; of a regression float64, as scikit-learn"
    )
    work.add_argument(
        "--optimizer", choices=("adam", "momentum", "sgd"), default="adam", help="default %(default)s"
    )
    work.add_argument(
        "--epochs",
        type=_count,
        metavar="N",
        help="default 10; iterations of a regression, trees: 100; products: 1",
    )
    work.add_argument("--trainings", type=_count, default=1, metavar="N", help="how many of them (default 1)")
    work.add_argument(
        "--patience",
        type=_time,
        default=600.0,
        metavar="TIME",
        help="what you would wait: 90s, 10m, 2h (10m)",
    )
    machine = parser.add_argument_group("the machine")
    machine.add_argument(
        "--card", metavar="ID|NAME", help="10de:2684, or its name; without it: any of our table"
    )
    machine.add_argument(
        "--memory", type=_gib, metavar="GIB", help="the card's, where our table does not say"
    )
    machine.add_argument(
        "--cores", type=_count, metavar="N", help="default: those of this machine, or the race's"
    )
    machine.add_argument(
        "--race", type=Path, metavar="FILE", help="race.json of that machine: measured instead of modelled"
    )
    parser.add_argument("--lang", default="en", choices=sorted(LANGUAGES), help="language (default en)")
    parser.add_argument("--json", action="store_true", help="a versioned document instead of text")


def _count(said: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\d+)?)([kmgbt]?)", said.strip().lower().replace("_", ""))
    value = float(found.group(1)) * _SUFFIXES[found.group(2)] if found else math.nan
    if not 1 <= value <= 1e18:  # noqa: PLR2004  # more than anybody has
        raise argparse.ArgumentTypeError(
            f"{said!r} is no number: give a whole one, from 1, as 25000, 25k or 1.5G"
        )
    return round(value)


def _time(said: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", said.strip())
    seconds = float(found.group(1)) * _UNITS[found.group(2) or "s"] if found else 0.0
    if not seconds:
        raise argparse.ArgumentTypeError(f"{said!r} is no time: give 90s, 10m, 2h or 1d, more than 0")
    return seconds


def _gib(said: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(g|gb|gib|)", said.strip().lower())
    if not found or not float(found.group(1)):
        raise argparse.ArgumentTypeError(f"{said!r} is no memory: give GiB, as 24")
    return float(found.group(1))


def advise(options: argparse.Namespace) -> int:
    """Answer; exit status 1 where it will not fit in the card's memory."""
    from verify import advise_machine as machine  # noqa: PLC0415  # not loaded by the other commands
    from verify.race import advise as advice  # noqa: PLC0415

    race = machine.race(options.race)
    cpu, card = machine.cpu(options, race), machine.card(options, race)  # a damaged race is refused here
    found = machine.whole(
        lambda: advice.advise(_job(options, race), cpu, card, options.patience), options.race
    )
    if options.json:
        print(json.dumps(found.document(), indent=1))  # noqa: T201
    else:
        _show(found, race, _turns(options, race), options.lang)
    return FINDINGS_FAILED if found.verdict == advice.NO_FIT else OK


def _turns(options: argparse.Namespace, race: Json | None) -> int | None:
    """Return the iterations that the raced regression needed, for one of which nobody said how many."""
    from verify.race.advise_rates import iterations  # noqa: PLC0415  # not loaded by the other commands

    return iterations(race) if options.model == LOGISTIC and options.epochs is None else None


def _job(options: argparse.Namespace, race: Json | None) -> Job:
    model = options.model
    if model in NETWORKS and options.parameters is None:
        raise VerifyError(
            f"--model {model} needs --parameters: sum(p.numel() for p in model.parameters()) says it, "
            "or the page of a known network"
        )
    for name in ("parameters", "layers", "operations"):
        if model not in NETWORKS and getattr(options, name) is not None:
            raise VerifyError(f"--{name} is for networks: leave it out with --model {model}")
    if model == "transformer" and options.operations is None and options.columns == 1:
        raise VerifyError("--columns 1 with --model transformer: give the tokens of a row (its context)")
    return Job(
        model,
        options.rows,
        options.columns,
        parameters=options.parameters,
        batch=min(options.batch, options.rows),
        epochs=options.epochs or _turns(options, race) or EPOCHS.get(model, NETWORK_EPOCHS),
        precision=options.precision or (FLOAT64 if model == LOGISTIC else FLOAT32),
        optimizer=options.optimizer,
        layers=options.layers,
        operations=options.operations,
        trainings=options.trainings,
    )


def _show(found: Advice, race: Json | None, turns: int | None, lang: str) -> None:
    from verify.compat.show import line  # noqa: PLC0415
    from verify.console import console  # noqa: PLC0415
    from verify.text import plain  # noqa: PLC0415

    out = console()
    said = plain(text(found.said, lang))
    line(out, text(message("advise-label-verdict"), lang), said, _STYLES[found.verdict])
    reasons = [text(reason, lang) for reason in found.reasons]
    if turns is not None:
        reasons.append(text(message("advise-iterations", count=turns), lang))
    if (race or {}).get("simulated"):
        reasons.append(text(message("advise-simulated"), lang))
    for reason in reasons:
        line(out, text(message("advise-label-because"), lang), plain(reason))
