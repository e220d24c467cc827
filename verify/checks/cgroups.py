"""Who sets the rules for a container's devices: the toolkit's switch no-cgroups, and systemd's reload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, count, failed, not_recorded, passed, warned
from verify.compat.engine import gpus_come_by_cdi
from verify.facts.runtime import TOOLKIT_CONFIG
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.state import State

_SET = "nvidia-ctk config --in-place --set nvidia-container-cli.no-cgroups="
_BETWEEN = (Layer.ENGINE, Layer.RUNTIME)
_ONE_FILE = (
    "one file serves rootless Docker or the system's own, never both; let the rootless one take cards by "
    "CDI: --device nvidia.com/gpu=all"
)


def no_cgroups(state: State) -> Verdict:
    """Whether the switch fits the kind of the engine that answers."""
    engine, runtime = state.engine, state.runtime
    if not engine.described:
        return not_recorded("docker info")
    if runtime.config_damage:
        return failed(
            f"{TOOLKIT_CONFIG} is damaged: {runtime.config_damage}",
            f"correct that line in {TOOLKIT_CONFIG}; the toolkit gives no card until then",
            runtime.config_evidence,
        )
    if runtime.no_cgroups is None:
        return not_recorded(TOOLKIT_CONFIG)
    return _rootless(state) if engine.rootless else _rootful(state)


def _rootless(state: State) -> Verdict:
    evidence = (*state.runtime.config_evidence, "docker-info: SecurityOptions: name=rootless")
    if state.runtime.no_cgroups:
        return passed("Docker is rootless and no-cgroups is true", evidence)
    return failed(
        "Docker is rootless and no-cgroups is false: it may not set the device rules that the toolkit wants",
        f"{_SET}true",
        evidence,
        _BETWEEN,
    )


def _rootful(state: State) -> Verdict:
    engine = state.engine
    evidence = (
        *state.runtime.config_evidence,
        *(f"/run/user/*/docker.sock: {path}" for path in engine.rootless_sockets),
    )
    both = f"; Docker also runs rootless here: {_ONE_FILE}" if engine.rootless_sockets else ""
    if not state.runtime.no_cgroups:
        found = f"no-cgroups is false, as this engine needs it{both}"
        return warned(found, _ONE_FILE, evidence) if both else passed(found, evidence)
    if gpus_come_by_cdi(engine.version, engine.cdi_devices):
        return warned(
            "no-cgroups is true, which is for rootless Docker; cards come by CDI here, which does not use "
            f"it, and the toolkit's hook would give none{both}",
            f"{_SET}false",
            evidence,
        )
    return failed(
        "no-cgroups is true, which is for rootless Docker; this engine is not: in containers NVML says "
        f'"Unknown Error"{both}',
        f"{_SET}false",
        evidence,
        _BETWEEN,
    )


def daemon_reload(state: State) -> Verdict:
    """Whether running containers keep their card when systemd sets the rules anew that it was told of."""
    engine = state.engine
    if not engine.described or engine.version is None or engine.cgroup_driver is None:
        return not_recorded("docker info")
    evidence = (f"docker-info: ServerVersion {engine.version}, CgroupDriver {engine.cgroup_driver}",)
    if engine.cgroup_driver != "systemd":
        return passed(f"Docker's cgroup driver is {engine.cgroup_driver}: systemd sets no rules", evidence)
    if gpus_come_by_cdi(engine.version, engine.cdi_devices):
        return passed(
            f"engine {engine.version} gives cards by CDI, and systemd knows of them: a daemon-reload "
            "takes none",
            evidence,
        )
    running = f"; running so: {', '.join(engine.hooked)}" if engine.hooked else ""
    return warned(
        f"engine {engine.version} gives cards that are asked for by --gpus through the toolkit's hook, of "
        "which systemd knows nothing: a daemon-reload (any package may do one) takes them from running "
        f"containers{running}",
        "ask by --device nvidia.com/gpu=all or --runtime=nvidia in the place of --gpus"
        + (f"; make {count(len(engine.hooked), 'running container')} anew" if engine.hooked else ""),
        (*evidence, *(f"docker-ps: {name}" for name in engine.hooked)),
    )
