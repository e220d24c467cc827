# ruff: noqa: E501, ISC004  # the texts are the real ones, whole
"""The error texts of daemon, hook and runtime: what each means, and which check is to be blamed."""

from __future__ import annotations

import pytest

from verify.checks.causes import CAUSES, cause
from verify.checks.stack import STACK

DAEMON = "docker: Error response from daemon: "
LEGACY = "Auto-detected mode as 'legacy'\nnvidia-container-cli: "
NEEDS = {check.id: check.needs for check in STACK}

# Each text as it was reported, with the cause's id.
TEXTS = (
    # D1
    ('could not select device driver "" with capabilities: [[gpu]].', "no-device-driver"),
    ('could not select device driver "nvidia" with capabilities: [[gpu]]', "no-device-driver"),
    ("failed to discover GPU vendor from CDI: no known GPU vendor found", "no-device-driver"),
    # D2
    (
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver "
        "to a newer version, or use an earlier cuda container: unknown",
        "requirement",
    ),
    # D3
    (
        "initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such "
        "file or directory",
        "no-library",
    ),
    ("initialization error: nvml error: driver not loaded", "driver-not-loaded"),
    ("failed to initialize NVML: Driver Not Loaded: unknown.", "driver-not-loaded"),
    ("initialization error: driver rpc error: timed out", "rpc-timeout"),
    ("initialization error: driver rpc error: failed to process request", "rpc-failed"),
    ("initialization error: cuda error: unknown error", "cuda-fault"),
    # D5
    ("cannot set both Count and DeviceIDs on device request.", "gpus-quoting"),
    # D6
    ("CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=9.", "cdi-unresolved"),
    ("failed to inject CDI devices: unresolvable CDI devices runtime.nvidia.com/gpu=all: unknown", "cdi-unresolved"),
    ('CDI device injection failed: failed to inject devices: failed to stat CDI host device "/dev/nvidia1": no '
     "such file or directory.", "cdi-unresolved"),
    ("Error: stat nvidia.com/gpu=0: no such file or directory", "cdi-unresolved"),
    ('could not select device driver "cdi" with capabilities: [].', "cdi-off"),
    ('error mounting "/usr/lib/libnvidia-ml.so.535.1" to rootfs: no such file or directory', "stale-library"),
    ("error mounting: open /run/nvidia-persistenced/socket: no such file or directory", "persistenced"),
    ("error running hook #0: fork/exec /usr/bin/nvidia-cdi-hook: no such file or directory", "no-cdi-hook"),
    # D8
    ("unknown or invalid runtime name: nvidia.", "no-runtime"),
    ("Unknown runtime specified nvidia", "no-runtime"),
    (
        "invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not "
        "supported. Please use the NVIDIA Container Runtime (e.g. specify the --runtime=nvidia flag) instead.",
        "hook-refused",
    ),
    ("nvidia-container-runtime did not terminate successfully: exit status 1: unknown.", "toolkit-config"),
    # A8
    (
        "mount error: failed to add device rules: unable to find any existing device filters attached to the "
        "cgroup: bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted: unknown",
        "device-rules",
    ),
    ("mount error: open failed: /sys/fs/cgroup/devices/user.slice/devices.allow: permission denied", "device-rules"),
    ("Failed to initialize NVML: Unknown Error", "card-forbidden"),
    # I3
    ("write /var/lib/docker/tmp/GetImageBlob1: no space left on device", "disk-full"),
    ("couldn't find binary nvidia-container-cli in PATH", "no-cli"),
)  # fmt: skip


@pytest.mark.parametrize("head", ["", DAEMON, LEGACY])
@pytest.mark.parametrize(("text", "name"), TEXTS)
def test_a8_d1_d2_d3_d5_d6_d8_each_text_has_its_cause(text: str, name: str, head: str) -> None:
    known = cause(f"{head}{text}: unknown.\nSee 'docker run --help'.\n")
    assert known
    assert known.id == name
    assert known.meaning
    assert known.remedy


def test_d3_every_cause_has_a_text_of_the_field() -> None:
    assert {one.id for one in CAUSES} - {name for _, name in TEXTS} <= {"no-runtime-program"}


def test_d3_an_unknown_text_has_no_cause() -> None:
    assert cause("docker: Error response from daemon: something else") is None


def _below(name: str) -> set[str]:
    return set(NEEDS[name]).union(*(_below(need) for need in NEEDS[name]))


@pytest.mark.parametrize("name", ["engine.disk", "host.package-sources", "engine.kind", *sorted(
    {check for one in CAUSES for check in one.because}
)])  # fmt: skip
def test_what_is_blamed_exists_and_does_not_rest_on_a_container(name: str) -> None:
    assert name in NEEDS
    assert not any(below.startswith("container.") for below in {name, *_below(name)})
    # Nor on those that blame it: nothing is judged in a circle.
    assert _below("engine.disk") <= {"engine.installed"}
    assert _below("host.package-sources") == set()
