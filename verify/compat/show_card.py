"""What one card can run, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.compat.show import line, print_builds
from verify.compat.tables import print_peaks
from verify.text import plain

if TYPE_CHECKING:
    from rich.console import Console

    from verify.compat.card import CardAnswer

_FORWARD = {
    True: "it may use the cuda-compat package of an image: a newer CUDA on an older driver",
    False: "not for cards of this kind: a CUDA needs a driver that serves it",
    None: "its name does not say whether it may use the cuda-compat package of an image",
}


def print_card(answer: CardAnswer, out: Console) -> None:
    """Print what a card can run by any driver."""
    line(out, "card", plain(answer.card.shown))
    line(out, "module", answer.module)
    line(out, "driver", _drivers(answer))
    line(out, "CUDA", _cudas(answer))
    if answer.card.architecture.served:
        line(out, "forward", _FORWARD[answer.card.forward])
    on_it = "on it" if len(answer.card.capabilities) <= 1 else "on all that it may be"
    print_builds(answer.builds, out, f"{on_it}, where the driver serves their CUDA")
    if answer.peaks:
        print_peaks(out, answer.peaks)
    else:
        line(out, "peaks", "not in our table: `gpu-verify compat --peaks` prints it")


def _drivers(answer: CardAnswer) -> str:
    last = answer.card.architecture.last_branch
    first = (
        f"CUDA {answer.first_cuda} (driver {answer.first_driver}) is the first that knows its generation: an "
        "older driver most likely does not drive it"
        if answer.first_driver
        else "the oldest that drives it is not in our table"
    )
    return f"{first}; R{last} is the last branch that knows it" if last else first


def _cudas(answer: CardAnswer) -> str:
    if answer.last_cuda is None:
        return "which compilers and libraries know it is not in our table"
    if answer.newest_of_table:
        return f"up to {answer.last_cuda}, the newest of our table"
    return f"up to {answer.last_cuda}: the compilers and libraries of a newer one do not know it any more"
