"""Layer engine: the Docker Engine is installed, runs and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, failed, not_recorded, passed
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.checks.state import State

_ROLE = "ansible-playbook playbooks/site.yml -l HOST (role docker_engine)"


def installed(state: State) -> Verdict:
    """Whether there are a daemon and its command."""
    engine = state.engine
    if not engine.recorded:
        return not_recorded("docker version and docker info")
    if not engine.client:
        found = "dockerd is there, the docker command is not" if engine.daemon_installed else "there is no Docker"
        remedy = "apt-get install docker-cli" if engine.daemon_installed else f"install it: {_ROLE}"
        return failed(f"{found} on this host", remedy, engine.evidence)
    if engine.daemon_installed is False and not engine.answers:
        return failed(
            "the docker command is there, the Docker Engine is not", f"install it: {_ROLE}", engine.evidence
        )
    version = f" {engine.version}" if engine.version else ""
    return passed(f"Docker Engine{version} is installed", engine.evidence)


def answers(state: State) -> Verdict:
    """Whether the daemon answers; if not, whether it is stopped, forbidden, or hangs."""
    engine = state.engine
    if not engine.recorded:
        return not_recorded("docker info")
    if engine.answers:
        return passed(
            f"Docker Engine {engine.version or 'of unknown version'} answers, "
            f"default runtime {engine.default_runtime or 'unknown'}",
            engine.evidence,
        )
    states = ", ".join(
        f"{unit} is {found}"
        for unit, found in (("docker.service", engine.unit_state), ("docker.socket", engine.socket_state))
        if found
    )
    if engine.unit_state in ("inactive", "deactivating"):
        return failed(f"the Docker Engine is stopped: {states}", "systemctl start docker", engine.evidence)
    if engine.unit_state == "failed":
        return failed(
            f"the Docker Engine failed to start: {states}",
            "journalctl -u docker -n 20  # then: systemctl reset-failed docker docker.socket; systemctl start docker",
            engine.evidence,
        )
    if engine.timed_out:
        return failed(
            f"the Docker Engine does not answer within its time limit{f': {states}' if states else ''}",
            "journalctl -u docker -n 50, then: systemctl restart docker",
            engine.evidence,
        )
    if engine.denied:
        return failed(
            f"this user may not talk to the Docker Engine: {engine.said}",
            "record as root, or: usermod -aG docker USER, then log in again",
            engine.evidence,
        )
    return failed(
        f"the Docker Engine does not answer: {engine.said or 'it said nothing'}{f' ({states})' if states else ''}",
        "systemctl status docker; journalctl -u docker -n 20; systemctl start docker",
        engine.evidence,
    )


CHECKS = (
    Check("engine.installed", Layer.ENGINE, installed),
    Check("engine.answers", Layer.ENGINE, answers, needs=("engine.installed",)),
)
