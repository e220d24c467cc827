"""Layer runtime: NVIDIA's runtime is registered in the file and in the running daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.applies import no_cdi
from verify.checks.cgroups import daemon_reload, no_cgroups
from verify.checks.check import Check, Verdict, failed, not_applicable, not_recorded, passed
from verify.checks.mode import mode
from verify.compat.engine import has_cdi, needs_cdi_feature
from verify.facts.daemon_file import DAEMON_JSON
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.state import State

_REGISTER = "nvidia-ctk runtime configure --runtime=docker && systemctl restart docker"


def cdi_alone(state: State) -> bool:
    """Whether this engine gives cards by CDI devices that it has found, and has no runtime of NVIDIA's."""
    registered = "nvidia" in state.engine.runtimes or state.runtime.path or state.runtime.by_flag
    return bool(state.engine.cdi_devices) and not registered


def in_file(state: State) -> Verdict:
    """Whether daemon.json (or a flag) names the runtime, so that it is still there after a restart."""
    runtime = state.runtime
    if runtime.by_flag:
        return passed(f"runtime nvidia is registered by a flag: {runtime.by_flag}", runtime.evidence)
    if cdi_alone(state):
        return not_applicable(
            f"not applicable: the engine has {len(state.engine.cdi_devices)} CDI devices and no runtime"
        )
    if runtime.config_file != DAEMON_JSON or not runtime.recorded or not runtime.readable:
        instead = f", which this daemon reads in the place of {DAEMON_JSON}"
        return not_recorded(runtime.config_file + (instead if runtime.config_file != DAEMON_JSON else ""))
    if runtime.damage or runtime.empty:
        return not_recorded(f"the runtimes in {DAEMON_JSON}: it is damaged, engine.config says where")
    if runtime.path is None:
        still = (
            " (the running daemon still has it: the next restart loses it)"
            if "nvidia" in state.engine.runtimes
            else ""
        )
        return failed(f"{DAEMON_JSON} does not name the runtime nvidia{still}", _REGISTER, runtime.evidence)
    return passed(f"{DAEMON_JSON} names the runtime nvidia: {runtime.path}", runtime.evidence)


def in_daemon(state: State) -> Verdict:
    """Whether the running daemon has it: the file alone is no proof."""
    engine = state.engine
    if not engine.described:
        return not_recorded("docker info")
    evidence = (f"docker-info: Runtimes: {', '.join(engine.runtimes) or 'none'}",)
    if cdi_alone(state):
        devices = ", ".join(engine.cdi_devices)
        return passed(
            f"the running daemon found {len(engine.cdi_devices)} CDI devices: {devices}",
            (*evidence, f"docker-info: DiscoveredDevices: {devices}"),
        )
    if "nvidia" in engine.runtimes:
        return passed(f"the running daemon has the runtime nvidia: {engine.runtimes['nvidia']}", evidence)
    return _unknown_to_it(state, evidence)


def _unknown_to_it(state: State, evidence: tuple[str, ...]) -> Verdict:
    listed, because = ", ".join(state.engine.runtimes) or "none", ("engine.kind",)
    if state.runtime.path:
        written, since = state.daemon_file.written, state.toolkit.daemon_since
        late = written is not None and since is not None and since < written
        when = f": it started at {since}, the file was written at {written}" if late else ""
        still = "still missing? This daemon reads another file: systemctl cat docker"
        return failed(
            f"{DAEMON_JSON} names the runtime nvidia, the running daemon does not have it (it has: {listed})"
            f"{when}",
            "systemctl restart docker  # " + ("a reload is not enough" if late else still),
            (*evidence, *state.runtime.evidence),
            (Layer.ENGINE, Layer.RUNTIME),
            because,
        )
    return failed(
        f"the running daemon does not have the runtime nvidia (it has: {listed})",
        _REGISTER,
        evidence,
        because=because,
    )


def cdi_enabled(state: State) -> Verdict:
    """Whether the running daemon gives CDI devices."""
    engine = state.engine
    if not engine.described or engine.version is None:
        return not_recorded("docker info")
    evidence = (f"docker-info: ServerVersion {engine.version}, CDISpecDirs {list(engine.cdi_dirs or ())}",)
    if not has_cdi(engine.version):
        return no_cdi(engine.version, evidence)
    if engine.cdi_dirs:
        return passed(
            f"engine {engine.version} reads CDI devices from {', '.join(engine.cdi_dirs)}", evidence
        )
    if state.runtime.cdi_feature:
        return failed(
            f"{DAEMON_JSON} sets features.cdi, the running engine {engine.version} did not take it up",
            "systemctl restart docker",
            (*evidence, f"{DAEMON_JSON}: features.cdi = true"),
            (Layer.ENGINE, Layer.RUNTIME),
        )
    why = "features.cdi is not set" if needs_cdi_feature(engine.version) else "it is switched off"
    return failed(
        f"engine {engine.version} does not give CDI devices: {why}",
        f'add "cdi": true to "features" in {DAEMON_JSON}, then: systemctl restart docker',
        evidence,
        (Layer.ENGINE, Layer.RUNTIME),
    )


CHECKS = (
    Check("runtime.in-file", in_file, needs=("toolkit.installed",)),
    Check("runtime.in-daemon", in_daemon, needs=("engine.answers", "toolkit.installed")),
    Check("runtime.no-cgroups", no_cgroups, needs=("engine.answers", "toolkit.installed")),
    Check("runtime.daemon-reload", daemon_reload, needs=("engine.answers", "toolkit.installed")),
    Check("runtime.mode", mode, needs=("toolkit.installed",)),
    Check("runtime.cdi-enabled", cdi_enabled, needs=("engine.answers",)),
)
