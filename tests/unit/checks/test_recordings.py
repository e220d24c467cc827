"""Small recordings, each with its verdict; those of field cases are in test_field_recordings.py."""

from __future__ import annotations

import pytest

from tests.unit.checks.cases import RECORDINGS
from verify.checks import judge
from verify.findings import Finding, Status
from verify.recording import load

# What fails (or, with "warn", warns) when the recording is judged alone, and words of the summary.
VERDICTS: dict[str, tuple[str, str, str]] = {
    "card-absent": ("card.present", "fail", "no NVIDIA card"),
    "cdi-switched-off": (
        "runtime.cdi-enabled",
        "fail",
        "features.cdi, the running engine 26.1.5 did not take it up",
    ),
    "container-card-hidden": ("container.visible-devices", "fail", "CUDA_VISIBLE_DEVICES is set but empty"),
    "container-all-reduce-no-shm": ("framework.peer-to-peer", "fail", "joined by 1 pair PHB"),
    "container-copies-hang": ("framework.peer-to-peer", "fail", "no answer within 25 s"),
    "container-copies-wrong": ("framework.peer-to-peer", "fail", "first 0 to 1 (joined by PHB)"),
    "container-driver-too-old": (
        "framework.cuda-driver",
        "fail",
        "needs driver 580.65.06 or newer; the driver is 550.163.01",
    ),
    "container-extension-half": (
        "framework.extensions",
        "warn",
        "was built for: PyTorch 2.3.0+cu121",
    ),
    "container-extension-other-torch": ("framework.extensions", "fail", "undefined symbol"),
    "container-kernel-hangs": ("framework.kernel", "fail", "no answer within 50 s"),
    "container-no-cudnn": ("framework.cudnn", "fail", "has no cuDNN"),
    "container-no-kernel-image": ("framework.kernel", "fail", "no kernel image is available"),
    "container-nvml-unknown-error": ("container.answers", "fail", "Unknown Error"),
    "container-second-card-broken": ("framework.every-card", "fail", "torch's card 1, nvidia-smi's 1"),
    "container-torch-absent": ("framework.torch", "fail", "No module named 'torch'"),
    "container-torch-crashes": ("framework.torch", "fail", "Segmentation fault"),
    "container-torch-sees-one-of-two": ("framework.every-card", "fail", "torch sees 1 card, nvidia-smi in"),
    "driver-below-security-floor": ("driver.security-floor", "warn", "below 580.159.03"),
    "driver-infocorrupt-14": ("driver.answers", "warn", "infoROM is corrupted"),
    "driver-library-emptied": ("driver.answers", "fail", "couldn't find libnvidia-ml.so"),
    "driver-library-of-another-version": (
        "driver.version-mismatch",
        "fail",
        "530.30.02, the NVML library is 535.54.03",
    ),
    "driver-not-installed": ("driver.answers", "fail", "nvidia-smi is not installed"),
    "driver-serves-one-of-two": ("driver.every-card", "fail", "2 cards on the PCI bus, the driver serves 1"),
    "driver-smi-15-lost": ("card.lost", "fail", 'Reboot the system to recover this GPU"; 1 card still'),
    "driver-smi-17-blocked": ("driver.answers", "fail", "operating system blocks"),
    "driver-smi-18-mismatch": (
        "driver.version-mismatch",
        "fail",
        "module is 580.159.03, the NVML library is 580.178",
    ),
    "driver-smi-255-unknown": ("driver.answers", "fail", "Unknown Error"),
    "driver-smi-4-permissions": ("driver.answers", "fail", "may not open the device nodes"),
    "driver-smi-6-no-devices": ("driver.answers", "fail", "finds no card"),
    "driver-smi-9-no-module": ("driver.answers", "fail", "cannot reach the kernel module"),
    "driver-smi-hangs": ("driver.answers", "fail", "does not answer"),
    "driver-xml-fails": ("driver.answers", "warn", "nvidia-smi-xml exit status 255"),
    "engine-failed-to-start": ("engine.answers", "fail", "failed to start"),
    "engine-hangs": ("engine.answers", "fail", "time limit"),
    "engine-not-installed": ("engine.installed", "fail", "there is no Docker"),
    "engine-permission-denied": ("engine.answers", "fail", "does not let this user in"),
    "engine-stopped": (
        "engine.answers",
        "fail",
        "is stopped (docker.service is inactive, docker.socket is inactive)",
    ),
    "engine-stopped-socket-listens": (
        "engine.answers",
        "fail",
        "is stopped (docker.service is inactive, docker.socket is active)",
    ),
    "engine-without-client": ("engine.installed", "fail", "the docker command is not"),
    "image-absent": ("image.present", "fail", "No such image"),
    "module-reboot-needed": ("module.reboot-needed", "fail", "loaded 530.30.02, on disk 535.54.03"),
    "module-not-loaded": ("module.loaded", "fail", "not loaded"),
    "module-nouveau": ("module.owner", "fail", "nouveau is loaded"),
    "runtime-file-comment": ("engine.config", "fail", "damaged: line 1, column 1"),
    "runtime-file-damaged-comma": ("engine.config", "fail", "damaged: line 2"),
    "runtime-file-empty": ("engine.config", "fail", "it is empty"),
    "runtime-file-missing": ("runtime.in-file", "fail", "does not name the runtime nvidia"),
    "runtime-daemon-is-a-snap": ("engine.kind", "fail", "is a snap"),
    "runtime-daemon-is-desktop": ("engine.kind", "fail", "is Docker Desktop"),
    "runtime-no-cgroups-on": ("runtime.no-cgroups", "fail", "no-cgroups is true, which is for rootless"),
    "runtime-no-cgroups-rootless-off": ("runtime.no-cgroups", "fail", "rootless and no-cgroups is false"),
    "runtime-no-cgroups-two-engines": ("runtime.no-cgroups", "warn", "never both"),
    "runtime-toolkit-config-damaged": ("runtime.no-cgroups", "fail", "config.toml is damaged"),
    "runtime-not-restarted": ("runtime.in-daemon", "fail", "the running daemon does not have it"),
    "runtime-unregistered": ("runtime.in-file", "fail", "does not name the runtime nvidia"),
    "toolkit-below-safe": (
        "toolkit.safe-version",
        "fail",
        "1.17.8, below the lowest safe version 1.19.1: CVE-2026-24260",
    ),
    "toolkit-damaged-cdi-spec": ("toolkit.cdi-spec", "fail", "not a readable CDI specification"),
    "toolkit-no-cdi-spec": ("toolkit.cdi-spec", "fail", "0 CDI specifications"),
    "toolkit-not-installed": ("toolkit.installed", "fail", "4 of the toolkit's 4 packages"),
    "toolkit-skew": ("toolkit.one-version", "fail", "2 versions"),
    "toolkit-two-of-four": ("toolkit.installed", "fail", "2 of the toolkit's 4 packages"),
    "toolkit-uvm-fault": ("toolkit.known-fault", "warn", "nvidia-container-toolkit#1967"),
    "way-cdi-first-unresolvable": ("container.run-cdi-first", "fail", "does not describe this card"),
    "way-cdi-stale": ("container.run-cdi", "fail", "names a file that is gone"),
    "way-gpus-first-sees-two": ("container.run-gpus-first", "fail", "asked for 1 card and sees 2 cards"),
    "way-gpus-legacy-no-cli": ("container.run-gpus-all", "fail", "nvidia-container-cli is missing"),
    "way-gpus-no-hook": ("container.run-gpus-all", "fail", "the daemon knows nobody who gives cards"),
    "way-gpus-no-vendor": ("container.run-gpus-all", "fail", "the daemon knows nobody who gives cards"),
    "way-none-nvidia-is-default": ("container.run-none", "warn", "every container gets every card"),
    "way-none-sees-all": ("container.run-none", "fail", "did not ask sees 2 cards"),
    "way-runtime-first-is-another": ("container.run-runtime-first", "fail", "sees another card"),
    "way-runtime-program-missing": ("container.run-runtime", "fail", "runtime's program is missing"),
}
# Judged in tests of their own: nothing is wrong with them.
SOUND = {
    "cdi-without-runtime",
    "engine-older-than-25",
    "healthy-lab-container",
    "healthy-lab-host",
    "healthy-simulated-container",
    "healthy-simulated-host",
}


def alone(name: str) -> dict[str, Finding]:
    recording = load(RECORDINGS / f"{name}.json")
    on_host = recording.where == "host"
    found = judge(
        recording if on_host else None, None if on_host else recording, None, container_due=not on_host
    )
    return {finding.id: finding for finding in found}


@pytest.mark.parametrize("name", VERDICTS)
def test_the_right_check_complains(name: str) -> None:
    check, status, words = VERDICTS[name]
    finding = alone(name)[check]
    assert finding.status == status, finding.summary
    assert words in finding.summary
    assert finding.remedy
    assert finding.evidence


@pytest.mark.parametrize("name", [n for n, (_, status, _) in VERDICTS.items() if status == "fail"])
def test_nothing_above_the_culprit_fails_too(name: str) -> None:
    found = alone(name)
    culprit = found[VERDICTS[name][0]]
    # Without a second recording that half is missing, and says so; file and daemon go together.
    excused = {"verify.no-recording", "runtime.in-daemon"}
    failing = {f.id for f in found.values() if f.status is Status.FAIL} - excused
    assert failing <= {culprit.id, "framework.cpu-build"} | excused


@pytest.mark.parametrize("name", [name for name in VERDICTS if name.startswith("driver-smi-")])
def test_only_the_driver_is_the_culprit_of_a_broken_driver(name: str) -> None:
    blocked = [f for f in alone(name).values() if f.status is Status.BLOCKED]
    assert {f.culprit for f in blocked} == {VERDICTS[name][0]}
    assert {f.layer for f in blocked}.isdisjoint({"host", "card", "module", "engine", "runtime"})
