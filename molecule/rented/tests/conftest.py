"""Fixtures of this scenario: the first instance, killed three times, and the second one on its volume."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import instance

BOOTSTRAP, PULL = "gpu-host-bootstrap", "gpu-host-pull"
# Each step is waited for, and some seconds of it: the preflight comes after the locks were waited for.
KILLS = (("look", 0), ("packages", 6), ("toolkit", 3))
KILL = """
until [ "$(tail -n 1 {steps} 2> /dev/null | cut -f 2)" = {step} ]; do
  if systemctl is-failed --quiet {unit}; then journalctl -u {unit} -o cat | tail -n 40 >&2; exit 1; fi
  sleep 0.1
done
sleep {seconds}
tail -n 1 {steps} | cut -f 2
systemctl kill --signal=KILL {unit}
"""


@dataclass(frozen=True)
class First:
    """What the first instance left: its steps when it was killed, its state, its seconds to ready."""

    killed: list[str]
    restarts: str
    journal: str
    state: dict[str, Any]
    ready_s: float


@dataclass(frozen=True)
class Second:
    """What was on the volume before, and what the second instance did."""

    layers: set[str]
    epoch: int
    journal: str
    state: dict[str, Any]
    ready_s: float


@pytest.fixture(scope="session")
def first() -> First:
    """Boot with the cloud-init example; kill what it started, everything at once, three times."""
    instance.prepare()
    instance.write(f"{instance.SEED}/user-data", instance.user_data(), "0600")
    instance.boot()
    steps = f"{instance.CLONE}/.cache/bootstrap/steps.tsv"
    killed = [
        instance.sh(KILL.format(steps=steps, step=step, seconds=seconds, unit=BOOTSTRAP)).strip()
        for step, seconds in KILLS
    ]
    instance.wait_for(BOOTSTRAP)
    journal = instance.journal(BOOTSTRAP)
    ready = next(line for line in journal.splitlines() if line.startswith("time to ready")).split()[3]
    return First(killed, instance.show(BOOTSTRAP, "NRestarts"), journal, instance.state(), float(ready))


@pytest.fixture(scope="session")
def second(first: First) -> Second:  # noqa: ARG001 - the first has to have been there
    """Destroy the first instance; boot another on its volume with the ansible-pull example."""
    instance.sh("docker stop -t 10 gpu-workload")
    before, epoch = instance.layers(), instance.checkpoint()
    instance.replace()
    instance.prepare()
    example = instance.EXAMPLES / "ansible-pull"
    # The same cloud-init, with nothing to do: what it does to every system is no difference.
    instance.write(f"{instance.SEED}/user-data", "#cloud-config\n{}\n", "0600")
    instance.sh(
        "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq git python3-venv > /dev/null\n"
        f"git clone -q {instance.REPOSITORY} {instance.CLONE}\n"
        f"git -C {instance.CLONE} checkout -q --detach {instance.commit()}\n"
    )
    given = f"REPOSITORY={instance.REPOSITORY}\nCOMMIT={instance.commit()}\nOPTIONS=\n{instance.PIP}"
    instance.write("/etc/gpu-host/pull.env", given, "0600")
    instance.write("/etc/gpu-host/settings.yml", instance.yaml.safe_dump(instance.settings()), "0600")
    for name in ("gpu-host-pull.service", "gpu-host-pull.timer"):
        instance.write(f"/etc/systemd/system/{name}", (example / name).read_text(encoding="utf-8"))
    instance.sh("systemctl enable -q gpu-host-pull.timer")
    instance.boot()
    instance.wait_for(PULL)
    began = int(instance.show(PULL, "InactiveExitTimestampMonotonic"))
    ended = int(instance.show(PULL, "InactiveEnterTimestampMonotonic"))
    return Second(before, epoch, instance.journal(PULL), instance.state(), (ended - began) / 1e6)
