from __future__ import annotations

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.container_kind import container_kind
from verify.facts.fabric import fabric_facts

OVERLAY = "overlay / overlay rw,relatime{more} 0 0\n"


def xml(*fabric: str) -> str:
    cards = "".join(
        f'<gpu id="00000000:{n:02d}:00.0"><uuid>GPU-{n}</uuid>{f}</gpu>' for n, f in enumerate(fabric)
    )
    return f"<nvidia_smi_log>{cards}</nvidia_smi_log>"


def block(state: str, status: str) -> str:
    return f"<fabric><state>{state}</state><status>{status}</status></fabric>"


@pytest.mark.parametrize(
    ("text", "states"),
    [
        (xml(block("Completed", "Success"), block("In Progress", "N/A")), ["Completed", "In Progress"]),
        (xml(block("N/A", "N/A")), []),
        (xml(block("Not Supported", "N/A")), []),
    ],
)
def test_c8_the_cards_that_have_a_fabric(text: str, states: list[str]) -> None:
    found = fabric_facts(recording(commands={"nvidia-smi-xml": said(text)}))
    assert [one.state for one in found.states or ()] == states


@pytest.mark.parametrize("commands", [{}, {"nvidia-smi-xml": said(xml(""))}])
def test_c8_no_word_of_a_fabric_is_not_no_fabric(commands: dict[str, object]) -> None:
    assert fabric_facts(recording(commands=commands)).states is None


@pytest.mark.parametrize(
    ("row", "package", "version"),
    [
        ("nvidia-fabricmanager-570 570.86.15-1 installed", "nvidia-fabricmanager-570", "570.86.15"),
        ("nvidia-fabricmanager 580.159.03-1 installed", "nvidia-fabricmanager", "580.159.03"),
        ("nvidia-fabric-manager 575.57.08-1 installed", "nvidia-fabric-manager", "575.57.08"),
    ],
)
def test_c8_the_package_under_each_name(row: str, package: str, version: str) -> None:
    found = fabric_facts(recording(commands={"driver-packages": said(row + "\n")}))
    assert (found.package, str(found.version)) == (package, version)


def test_c8_the_services_own_complaint() -> None:
    line = (
        "fabric manager NVIDIA GPU driver interface version 530.30.02 don't match with driver version "
        "530.41.03. Please update with matching NVIDIA driver package."
    )
    unit = "LoadState=loaded\nActiveState=failed\n"
    found = fabric_facts(
        recording(commands={"fabricmanager-log": said(line + "\n"), "fabricmanager-unit": said(unit)})
    )
    assert (found.mismatch, found.unit_state, found.unit_there) == (
        ("530.30.02", "530.41.03"),
        "failed",
        True,
    )


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"/.dockerenv": ""}, "docker"),
        ({"/run/.containerenv": 'engine="podman-5.1.0"\n'}, "podman"),
        ({"/proc/1/cgroup": "5:devices:/docker/e727\n"}, "docker"),
        ({"/proc/1/cgroup": "0::/machine.slice/libpod-9d.scope\n"}, "podman"),
        ({"/proc/1/cgroup": "3:cpu:/kubepods/burstable/pod1/2\n"}, "kubernetes"),
        ({"/proc/1/cgroup": "3:cpu:/lxc/101\n"}, "lxc"),
        ({"/proc/mounts": OVERLAY.format(more=",lowerdir=/var/lib/docker/overlay2/l/A")}, "docker"),
        ({"/proc/mounts": OVERLAY.format(more=",lowerdir=/var/lib/containerd/io/1/fs")}, "containerd"),
        ({"/proc/1/comm": "tini\n", "/proc/mounts": OVERLAY.format(more="")}, "unnamed"),
        # A machine, with containers on it; and a container that has a system of its own.
        ({"/proc/1/comm": "systemd\n", "/.dockerenv": ""}, None),
        ({"/proc/1/comm": "systemd\n", "/proc/mounts": OVERLAY.format(more="")}, None),
        ({"/proc/1/cgroup": "0::/init.scope\n", "/proc/mounts": "/dev/vda1 / ext4 rw 0 0\n"}, None),
        ({"/proc/1/comm": "bash\n", "/proc/mounts": "/dev/vda1 / ext4 rw 0 0\n"}, None),
        ({}, None),
    ],
)
def test_i1_containers_of_every_kind_and_machines(files: dict[str, str], kind: str | None) -> None:
    found = container_kind(recording(files={path: {"text": text} for path, text in files.items()}))
    assert (found.container if found else None) == kind


@pytest.mark.parametrize("entry", [{"missing": True}, {"error": "timed out"}])
def test_i1_a_mark_that_was_not_seen_is_none(entry: dict[str, object]) -> None:
    assert container_kind(recording(files={"/.dockerenv": entry})) is None


def test_i1_a_simulated_host_is_the_machine_that_it_plays() -> None:
    assert container_kind(recording(simulated=True, files={"/.dockerenv": {"text": ""}})) is None
