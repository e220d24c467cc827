"""Layer container: a container that asked for every card, seen from inside."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, count, failed, not_recorded, passed, warned
from verify.checks.driver import TROUBLES
from verify.checks.inside import capabilities, cuda, shm
from verify.checks.seen import compat, visible_devices
from verify.checks.ways import gives_all, gives_first, gives_none
from verify.facts.trouble import Trouble
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.state import State


def recorded(state: State) -> Verdict:
    """Whether there is a recording from inside a container."""
    if not state.container.recorded:
        if state.container.python.absent:
            return _without_python(state)
        if not state.runs or not state.container_due:
            return not_recorded("a container")
        return failed(
            "there is no recording from inside a container",
            "gpu-verify record --where container --image IMAGE  # it says why",
            (),
        )
    return passed(
        "a container that asked for every card was recorded from inside",
        ("recording-container.json: where container",),
    )


def _without_python(state: State) -> Verdict:
    """Say that the recorder cannot run in this image: what its runs said is all there is."""
    python, run = state.container.python, state.runs.get("run-gpus-all")
    seen = f"; there nvidia-smi lists {count(len(run.cards), 'card')}" if run and run.cards else ""
    return warned(
        f"the image has no Python that can run the recorder ({python.said}): only nvidia-smi was asked"
        f"{seen}; CUDA itself is not proven",
        "gpu-verify doctor --image IMAGE  # with Python 3.6 or newer, to have CUDA and torch asked too",
        (*python.evidence, *(run.evidence if run else ())),
    )


def answers(state: State) -> Verdict:
    """Whether nvidia-smi answers inside, for the same cards as on the host."""
    inside, host = state.container.driver, state.driver
    if not inside.recorded:
        return not_recorded("nvidia-smi in the container")
    between = (Layer.RUNTIME, Layer.CONTAINER)
    if not inside.answers:
        meaning, remedy = TROUBLES[inside.trouble or Trouble.UNKNOWN]
        if host.answers:
            remedy = (
                "make a new container (systemctl daemon-reload takes the card from running ones); "
                "still so? systemctl restart nvidia-cdi-refresh docker"
            )
        return failed(
            f"in the container: {meaning}; it says {inside.said!r}", remedy, inside.evidence, between
        )
    seen, there = ([card.uuid for card in facts.cards] for facts in (inside, host))
    if host.answers and seen != there:
        return failed(
            f"nvidia-smi in the container lists {count(len(seen), 'card')}, on the host {len(there)}: "
            f"{', '.join(map(str, seen))} against {', '.join(map(str, there))}",
            "nvidia-smi -L  # on the host and in the container",
            (*inside.evidence[:1], *host.evidence[:1]),
            between,
        )
    cuda = f", CUDA {inside.cuda}" if inside.cuda else ""
    return passed(
        f"nvidia-smi in the container lists {count(len(seen), 'card')}, driver {inside.version}{cuda}",
        inside.evidence,
    )


_WAY = ("driver.answers", "engine.answers", "image.present", "toolkit.one-version")


def _way(name: str, *needs: str) -> Check:
    judge = gives_first if name.endswith("-first") else gives_all
    return Check(f"container.{name}", partial(judge, name), (*_WAY, *needs))


CHECKS = (
    _way("run-gpus-all"),
    _way("run-gpus-first", "container.run-gpus-all"),
    _way("run-runtime", "runtime.in-daemon"),
    _way("run-runtime-first", "runtime.in-daemon", "container.run-runtime"),
    _way("run-cdi", "runtime.cdi-enabled", "toolkit.cdi-spec"),
    _way("run-cdi-first", "runtime.cdi-enabled", "toolkit.cdi-spec", "container.run-cdi"),
    Check(
        "container.run-none",
        gives_none,
        # Where no card can be given at all, seeing none proves nothing.
        needs=("driver.answers", "engine.answers", "image.present"),
    ),
    Check(
        "container.recorded", recorded, needs=("engine.answers", "image.present", "container.run-gpus-all")
    ),
    Check("container.answers", answers, needs=("container.recorded", "driver.answers")),
    Check("container.visible-devices", visible_devices, needs=("container.recorded",)),
    Check("container.compat", compat, needs=("container.recorded", "container.answers")),
    Check("container.capabilities", capabilities, needs=("container.recorded", "container.answers")),
    Check(
        "container.cuda",
        cuda,
        needs=("container.capabilities", "container.compat", "container.visible-devices"),
    ),
    Check("container.shm", shm, needs=("container.recorded",)),
)
