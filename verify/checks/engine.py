"""Layer engine: the Docker Engine is installed, runs and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, failed, not_recorded, passed
from verify.checks.daemon_file import config
from verify.checks.disk import disk
from verify.checks.strangers import STRANGERS
from verify.facts.daemon_file import DAEMON_JSON
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.engine import EngineFacts
    from verify.facts.state import State

_ROLE = "make site LIMIT=HOST  # role docker_engine installs it"


def installed(state: State) -> Verdict:
    """Whether there are a daemon and its command."""
    engine = state.engine
    if not engine.recorded:
        return not_recorded("docker version and docker info")
    if engine.podman and not engine.answers:
        beside = "; dockerd is there all the same" if engine.daemon_installed else ""
        return failed(
            f"the docker command is Podman's (podman-docker), it reaches no Docker Engine{beside}",
            f"{'apt-get remove podman-docker' if beside else _ROLE}  # or stay with it: podman run "
            "--device nvidia.com/gpu=all IMAGE",
            engine.evidence,
        )
    if not engine.client:
        found = (
            "dockerd is there, the docker command is not" if engine.daemon_installed else "there is no Docker"
        )
        remedy = "apt-get install docker-cli" if engine.daemon_installed else _ROLE
        return failed(f"{found} on this host", remedy, engine.evidence)
    if engine.daemon_installed is False and not engine.answers:
        return failed("the docker command is there, the Docker Engine is not", _ROLE, engine.evidence)
    if not engine.daemon_installed and not engine.answers:
        return not_recorded("whether dockerd is there (the docker command is)")
    version = f" {engine.version}" if engine.version else ""
    return passed(f"Docker Engine{version} is installed", engine.evidence)


def answers(state: State) -> Verdict:
    """Whether the daemon answers; if not, whether it is stopped, forbidden, or hangs."""
    engine = state.engine
    if not engine.recorded:
        return not_recorded("docker info")
    if engine.answers:
        version = engine.version or "of unknown version"
        default = engine.default_runtime or "unknown"
        return passed(f"Docker Engine {version} answers, default runtime {default}", engine.evidence)
    found, remedy = _silence(engine)
    units = (("docker.service", engine.unit_state), ("docker.socket", engine.socket_state))
    states = ", ".join(f"{unit} is {state}" for unit, state in units if state)
    # A daemon that was stopped said that of an earlier start.
    said = f'; it said: "{engine.log}"' if engine.log and engine.unit_state != "inactive" else ""
    return failed(
        f"the Docker Engine {found}" + (f" ({states})" if states else "") + said,
        remedy,
        (*engine.evidence, *((f"docker-log: {engine.log}",) if said else ())),
        because=("engine.disk",),  # a full disk stops it too
    )


def _silence(engine: EngineFacts) -> tuple[str, str]:
    """Why the daemon does not answer, and the next command."""
    if engine.unit_state in ("inactive", "deactivating"):
        return "is stopped", "systemctl start docker"
    if engine.unit_state == "failed":
        return (
            "failed to start",
            "journalctl -u docker -n 20; systemctl reset-failed docker docker.socket; systemctl start docker",
        )
    if engine.timed_out:
        return "did not answer within its time limit", "journalctl -u docker -n 50; systemctl restart docker"
    if engine.denied:
        return (
            f"does not let this user in: {engine.said}",
            "sudo gpu-verify record  # or: usermod -aG docker USER, then log in again",
        )
    said = engine.said or "docker said nothing"
    return f"does not answer: {said}", "systemctl status docker; systemctl start docker"


def kind(state: State) -> Verdict:
    """Whether the daemon that answers reads the system's daemon.json, or knows the cards anyway (A6)."""
    engine = state.engine
    if not engine.described:
        return not_recorded("docker info")
    context = f"docker-context: {engine.contexts[0]} is in use" if engine.contexts else ""
    evidence = (*engine.evidence[:1], *((context,) if context else ()))
    if engine.stranger is None:
        return passed("the daemon that answers is the system's own", evidence)
    called, remedy = STRANGERS[engine.stranger]
    if "nvidia" in engine.runtimes or engine.cdi_devices:
        return passed(f"the daemon that answers is {called}; it knows NVIDIA's cards", evidence)
    others = [name for name in engine.contexts[1:] if name == "default"]
    beside = "; the engine of the system is beside it (context default)" if others else ""
    return failed(
        f"the daemon that answers is {called}: it does not read {DAEMON_JSON} and knows no card{beside}",
        "docker context use default" if others else remedy,
        evidence,
        (Layer.ENGINE, Layer.RUNTIME),
    )


CHECKS = (
    Check("engine.installed", installed),
    Check("engine.config", config, needs=("engine.installed",)),
    Check("engine.disk", disk, needs=("engine.installed",)),
    Check("engine.answers", answers, needs=("engine.installed", "engine.config")),
    Check("engine.kind", kind, needs=("engine.answers",)),
)
