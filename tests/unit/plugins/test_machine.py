"""What kind of machine it is: every kind told apart, each from the observation that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plugins.module_utils.gpu_host_cards import cards
from plugins.module_utils.gpu_host_machine import kind_of, machine, os_release
from tests.unit.plugins.machines import Machine

if TYPE_CHECKING:
    from pathlib import Path

VM = {
    "/proc/cpuinfo": "flags\t\t: fpu hypervisor lahf_lm\n",
    "/sys/class/dmi/id/sys_vendor": "QEMU\n",
    "/sys/class/dmi/id/product_name": "Standard PC\n",
}
KINDS: list[tuple[str, dict[str, str], str]] = [
    ("lab", {}, "neither"),
    ("rented", VM, "QEMU Standard PC"),
    (
        "simulated",
        {"/etc/gpu-host/simulated": "", "/run/systemd/container": "docker\n"},
        "/etc/gpu-host/simulated",
    ),
    ("wsl", {"/proc/sys/kernel/osrelease": "6.6.36-microsoft-standard-WSL2\n"}, "microsoft"),
    ("rented-container", {"/.dockerenv": ""}, "docker"),
    ("rented-container", {"/run/.containerenv": ""}, "podman"),
    ("rented-container", {"/proc/1/environ": "A=b\0KUBERNETES_SERVICE_HOST=10.0.0.1\0"}, "kubernetes"),
    ("rented-container", {"/proc/self/mounts": "overlay / overlay rw 0 0\n"}, "unnamed"),
    ("system-container", {"/proc/1/environ": "container=lxc\0", "/run/systemd/system/x": ""}, "lxc"),
    ("lab", {"/proc/self/mounts": "overlay / overlay rw 0 0\n", "/run/systemd/system/x": ""}, "neither"),
]


@pytest.mark.parametrize(("kind", "files", "because"), KINDS)
def test_kinds(tmp_path: Path, kind: str, files: dict[str, str], because: str) -> None:
    found, why = kind_of(Machine(tmp_path, files, {}))
    assert found == kind
    assert because in why


def test_os_release_survives_damage() -> None:
    text = 'NAME="Debian GNU/Linux"\nID=debian\n# comment\nBROKEN="half\nVERSION_ID=\'13\'\nnonsense\n'
    assert os_release(text) == {"NAME": "Debian GNU/Linux", "ID": "debian", "VERSION_ID": "13"}


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    found = machine(Machine(tmp_path, {}, {}), uid=1000, architecture="riscv64")
    assert (found["os"], found["root"], found["systemd"], found["init"]) == (
        "unknown",
        False,
        False,
        "unknown",
    )


def pci(vendor: str, device: str, kind: str) -> dict[str, str]:
    return {"vendor": vendor, "device": device, "class": kind}


def test_cards_are_nvidia_display_controllers(tmp_path: Path) -> None:
    devices = {
        "0000:3b:00.0": pci("0x10de", "0x2236", "0x030200"),
        "0000:3b:00.1": pci("0x10de", "0x1aef", "0x040300"),  # the card's sound
        "0000:00:02.0": pci("0x8086", "0x3e92", "0x030000"),
    }
    files = {
        f"/sys/bus/pci/devices/{at}/{name}": f"{text}\n"
        for at, it in devices.items()
        for name, text in it.items()
    }
    assert [(card["address"], card["id"]) for card in cards(Machine(tmp_path, files, {}))] == [
        ("0000:3b:00.0", "10de:2236")
    ]


def test_no_pci_bus_is_no_card(tmp_path: Path) -> None:
    assert cards(Machine(tmp_path, {}, {})) == []
