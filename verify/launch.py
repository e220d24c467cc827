"""The one place that builds ``docker run`` arguments: the quoting of ``--gpus`` lives here only.

``--gpus`` takes a comma-separated record, so ``device=0,1`` means device 0 *and* a count of 1. The
element that reaches docker must itself hold double quotes: ``"device=0,1"``. These functions make
argument lists; whoever sends one through a shell quotes every element (shlex.join), nothing else.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Literal, TypeAlias

from verify.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CDI_KIND = "nvidia.com/gpu"
# A client that is stopped by its deadline leaves its container behind: by these names it is found again.
CONTAINERS = "gpu-host-run-"
CLEANUP = ["timeout", "20", "sh", "-c", f"docker ps -aq --filter name={CONTAINERS} | xargs -r docker rm -f"]

# docker.socket starts a stopped engine for its first client: a recording must not.
_GUARD = (
    "if [ -d /run/systemd/system ] && ! systemctl -q is-active docker.service"
    " && systemctl -q is-active docker.socket; then"
    " echo 'not run: docker.service is not active and docker.socket would start it' >&2; exit 125; fi;"
    ' exec "$@"'
)

Cards: TypeAlias = "Literal['all'] | int | Sequence[str | int]"
"""``"all"``, a count, or the ids (indexes or UUIDs) of the cards."""


def container_name() -> str:
    """Return a name for one container, by which it is found again."""
    return f"{CONTAINERS}{uuid.uuid4().hex[:12]}"


def gpus_value(cards: Cards) -> str:
    """Write the value of ``--gpus``, with the quotes that docker itself must see."""
    if cards == "all" or isinstance(cards, int):
        return str(cards)
    return f'"device={",".join(_ids(cards))}"'


def _ids(cards: Cards) -> list[str]:
    if isinstance(cards, int):
        raise VerifyError(
            f"a count of cards ({cards}) works with --gpus only: name the cards by index or UUID"
        )
    ids = ["all"] if cards == "all" else [str(card) for card in cards]
    if not ids:
        raise VerifyError('no card named: give "all" or at least one index or UUID')
    for card in ids:
        if not card.replace("-", "").replace("/", "").replace(":", "").isalnum():
            raise VerifyError(f"{card!r} is not the name of a card: give an index (0) or a UUID (GPU-…)")
    return ids


def docker_run(
    image: str,
    command: Sequence[str],
    *,
    gpus: Cards | None = None,
    runtime: str | None = None,
    cdi: Cards | None = None,
    env: Mapping[str, str] | None = None,
    name: str | None = None,
    interactive: bool = False,
    options: Sequence[str] = (),
) -> list[str]:
    """Build the argument list of one throw-away, unprivileged container without a network."""
    argv = ["docker", "run", "--rm"]
    argv += ["-i"] if interactive else []
    argv += ["--pull=never", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
    # The entry point of NVIDIA's images prints a banner into the output.
    argv += ["--entrypoint="]
    argv += [f"--name={name}"] if name else []
    argv += [f"--runtime={runtime}"] if runtime else []
    argv += ["--gpus", gpus_value(gpus)] if gpus is not None else []
    for card in _ids(cdi) if cdi is not None else []:
        argv += ["--device", f"{CDI_KIND}={card}"]
    for key, value in (env or {}).items():
        argv += ["-e", f"{key}={value}"]
    return [*argv, *options, image, *command]


def unless_asleep(argv: Sequence[str]) -> list[str]:
    """Wrap a docker command so that it fails (125) where asking would start a stopped engine."""
    return ["sh", "-c", _GUARD, "sh", *argv]
