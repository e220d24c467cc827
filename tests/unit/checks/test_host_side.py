"""Card, module and driver: what is not recorded is a skip, and one culprit explains the rest."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.checks.cases import Machine
from verify.checks import judge
from verify.compat.table import rows
from verify.compat.xid import CATALOG, OFF_THE_BUS, meaning
from verify.findings import Finding, Status
from verify.recording import Recording

MODULE = ("/proc/driver/nvidia/version", "/sys/module/nvidia/version", "/proc/modules")
LINK = "/sys/bus/pci/devices/0000:01:00.0/driver"


def alone(**sections: Any) -> dict[str, Finding]:
    document = {"schema": 1, "where": "host", "uid": 0, **sections}
    found = judge(Recording.from_document(document), None, None, container_due=False)
    return {finding.id: finding for finding in found}


def lab(change: Any) -> dict[str, Finding]:
    machine = Machine("lab")
    change(machine)
    return machine.judge()


def _unloaded(machine: Machine) -> None:
    for path in MODULE:
        machine.files[path] = {"missing": True}


def test_an_empty_recording_says_nothing_of_the_host_side() -> None:
    found = alone()
    for finding in found.values():
        if finding.layer in ("card", "module", "driver"):
            assert finding.status is Status.SKIP, finding
    assert found["host.package-manager"].status is Status.SKIP


def test_c2_a_card_without_a_recorded_driver_is_not_a_free_card() -> None:
    def change(machine: Machine) -> None:
        assert machine.host
        machine.host["links"].pop(LINK)
        machine.host["globs"].pop("/sys/bus/pci/devices/*/driver")

    assert lab(change)["module.owner"].status is Status.SKIP


@pytest.mark.parametrize(
    "absence", [None, {"argv": ["x"], "missing": True}, {"argv": ["x"], "timed_out": True}]
)
def test_c4_a_build_that_nobody_looked_at_is_a_skip(absence: dict[str, object] | None) -> None:
    def change(machine: Machine) -> None:
        assert machine.host
        _unloaded(machine)
        machine.host["paths"].pop("/lib/modules/6.8.0-90-generic/build")
        for name in ("dkms-status", "modinfo-nvidia"):
            machine.commands.pop(name)
            if absence:
                machine.commands[name] = dict(absence)

    found = lab(change)
    assert found["module.built"].status is Status.SKIP
    assert found["module.loaded"].status is Status.FAIL


def test_c3_nobody_knows_whether_signatures_are_asked_for() -> None:
    def change(machine: Machine) -> None:
        _unloaded(machine)
        machine.commands.pop("mokutil-sb")

    assert lab(change)["module.signed"].status is Status.SKIP


def test_c3_secure_boot_with_a_signed_module_that_nobody_refused_passes() -> None:
    def change(machine: Machine) -> None:
        _unloaded(machine)
        machine.commands["mokutil-sb"]["stdout"] = "SecureBoot enabled\n"
        machine.commands["modinfo-nvidia"]["stdout"] += "signer:         lab key\n"

    assert lab(change)["module.signed"].status is Status.PASS


def test_c4_a_build_that_fails_is_the_culprit_of_the_package_that_it_leaves_half_done() -> None:
    log = "/var/lib/dkms/nvidia/580.1/build/make.log"
    half = "The following packages are only half configured, x\n nvidia-dkms-580 NVIDIA DKMS package\n"

    def change(machine: Machine) -> None:
        _unloaded(machine)
        machine.commands["dkms-status"]["stdout"] = "nvidia/580.1: added\n"
        machine.commands["modinfo-nvidia"].update(rc=1, stdout="")
        machine.commands["dpkg-audit"]["stdout"] = half
        machine.files[log] = {"text": "nv.c:1:2: error: no such thing\n"}

    found = lab(change)
    assert found["module.built"].status is Status.FAIL
    assert found["host.package-manager"].status is Status.WARN
    assert {f.id for f in found.values() if f.layer in ("host", "module") and f.status is Status.FAIL} == {
        "module.built"
    }


def test_c4_half_done_packages_break_nothing_that_is_loaded() -> None:
    def change(machine: Machine) -> None:
        machine.commands["dpkg-audit"]["stdout"] = "x are only half configured, y\n zoom\n"

    found = lab(change)
    assert found["host.package-manager"].status is Status.FAIL
    assert {f.status for f in found.values() if f.layer in ("card", "module", "driver", "engine")} == {
        Status.PASS
    }


def test_c6_a_card_that_no_table_has_is_not_judged_by_it() -> None:
    def change(machine: Machine) -> None:
        machine.files["/sys/bus/pci/devices/0000:01:00.0/device"]["text"] = "0xfff0\n"

    assert lab(change)["module.supports-card"].status is Status.SKIP


@pytest.mark.parametrize("unit", [None, {"argv": ["systemctl"], "missing": True}])
def test_c8_a_switch_whose_service_nobody_looked_at_is_a_skip(unit: dict[str, object] | None) -> None:
    def change(machine: Machine) -> None:
        for name, text in (("vendor", "0x10de"), ("class", "0x068000"), ("device", "0x22a3")):
            machine.files[f"/sys/bus/pci/devices/0000:07:00.0/{name}"] = {"text": text + "\n"}
        machine.commands.pop("fabricmanager-unit")
        if unit:
            machine.commands["fabricmanager-unit"] = unit

    assert lab(change)["driver.fabric-manager"].status is Status.SKIP


def test_c8_the_chipset_of_an_old_mainboard_is_no_nvswitch() -> None:
    def change(machine: Machine) -> None:
        for name, text in (("vendor", "0x10de"), ("class", "0x068000"), ("device", "0x0364")):
            machine.files[f"/sys/bus/pci/devices/0000:07:00.0/{name}"] = {"text": text + "\n"}

    assert lab(change)["driver.fabric-manager"].status is Status.PASS


def test_c9_a_lost_card_explains_its_other_xids() -> None:
    def change(machine: Machine) -> None:
        machine.commands["dmesg-nvidia"]["stdout"] = (
            "NVRM: Xid (PCI:0000:01:00): 119, Timeout waiting for RPC from GSP!\n"
            "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n"
        )
        for name in ("nvidia-smi", "nvidia-smi-list", "nvidia-smi-query", "nvidia-smi-xml"):
            machine.commands[name].update(rc=15, stdout="GPU is lost\n")

    found = lab(change)
    assert (found["card.lost"].status, found["card.xid"].culprit) == (Status.FAIL, "card.lost")
    assert found["driver.answers"].culprit == "card.lost"


@pytest.mark.parametrize(
    ("number", "status"),
    [(13, "warn"), (31, "warn"), (48, "fail"), (63, "warn"), (95, "fail"), (120, "fail"), (999, "warn")],
)
def test_c9_what_an_xid_means_decides(number: int, status: str) -> None:
    def change(machine: Machine) -> None:
        machine.commands["dmesg-nvidia"]["stdout"] = f"[ 9.1] NVRM: Xid (PCI:0000:01:00): {number}, text\n"

    finding = lab(change)["card.xid"]
    assert finding.status == status
    assert f"Xid {number}" in finding.summary
    assert finding.remedy


def test_every_xid_has_title_action_source_and_date() -> None:
    table = rows("xid", "xids")
    assert len({row["xid"] for row in table}) == len(table)
    for row in table:
        assert row["title"]
        assert row["source"]
        assert row["date"]
        assert row["status"] in ("warn", "fail")
        known = meaning(row["xid"])
        assert known
        assert known.remedy("0000:01:00.0")
    assert meaning(OFF_THE_BUS)
    assert meaning(4711) is None
    assert CATALOG.startswith("https://docs.nvidia.com/")


def test_i1_in_a_container_only_the_cards_that_were_given_are_ours() -> None:
    def change(machine: Machine) -> None:
        machine.files["/.dockerenv"] = {"text": ""}
        machine.commands["dmesg-nvidia"]["stdout"] = "[ 9.1] NVRM: Xid (PCI:0000:44:00): 119, text\n"
        for name, text in (("vendor", "0x10de"), ("class", "0x030000"), ("device", "0x2684")):
            machine.files[f"/sys/bus/pci/devices/0000:44:00.0/{name}"] = {"text": text + "\n"}

    found = lab(change)
    assert found["card.xid"].status is Status.PASS
    assert found["driver.every-card"].status is Status.SKIP
    # An engine that answers in a container is judged like any other.
    assert found["engine.answers"].status is Status.PASS


@pytest.mark.parametrize("entry", [None, {"error": "timed out"}])
@pytest.mark.parametrize("name", ["vendor", "class"])
def test_a_device_that_could_not_be_read_is_not_no_card(name: str, entry: dict[str, object] | None) -> None:
    def change(machine: Machine) -> None:
        assert machine.host
        machine.host["globs"]["/dev/nvidia*"] = []
        path = f"/sys/bus/pci/devices/0000:01:00.0/{name}"
        machine.files.pop(path)
        if entry:
            machine.files[path] = entry

    assert lab(change)["card.present"].status is Status.SKIP


def test_no_nodes_alone_are_not_no_card() -> None:
    assert alone(globs={"/dev/nvidia*": []})["card.present"].status is Status.SKIP
