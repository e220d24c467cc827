"""The simulated card itself: who reads it, and the faults that its configuration file makes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pynvml
import pytest

Host = Any
CONFIG = "/etc/gpu-host/simulated"


@pytest.fixture
def configured(host: Host) -> Iterator[Host]:
    """Put the configuration back, whatever a test did to it."""
    host.run_expect([0], f"cp {CONFIG} /root/simulated.kept")
    yield host
    host.run_expect([0], f"cp /root/simulated.kept {CONFIG} && rm /root/simulated.kept")


def test_the_plain_table_and_the_xml_answer(host: Host) -> None:
    assert "NVIDIA A10 (simulated)" in host.check_output("nvidia-smi")
    assert "<attached_gpus>2</attached_gpus>" in host.check_output("nvidia-smi -q -x")


def test_pynvml_reads_it_too(host: Host, ssh: list[str]) -> None:
    source = Path(pynvml.__file__).read_bytes()
    subprocess.run([*ssh, "cat > /tmp/pynvml.py"], input=source, check=True)
    program = (
        "import pynvml as n; n.nvmlInit(); h = n.nvmlDeviceGetHandleByIndex(1); "
        "print(n.nvmlDeviceGetCount(), n.nvmlSystemGetDriverVersion(), n.nvmlDeviceGetName(h))"
    )
    said = host.check_output(f"cd /tmp && python3 -c '{program}'; rm -f /tmp/pynvml.py")
    assert said == "2 550.163.01 NVIDIA A10 (simulated)"


def test_the_kernel_s_readers_see_the_card(host: Host) -> None:
    assert "550.163.01" in host.file("/proc/driver/nvidia/version").content_string
    assert host.file("/sys/module/nvidia/version").content_string.strip() == "550.163.01"
    vendors = host.check_output("cat /sys/bus/pci/devices/*/vendor").split()
    assert vendors.count("0x10de") == 2


@pytest.mark.parametrize(("code", "status"), [(4, 4), (9, 9), (12, 12), (18, 18), (999, 255)])
def test_a_driver_that_does_not_answer(configured: Host, code: int, status: int) -> None:
    configured.run_expect([0], f"sed -i 's/^init_return.*/init_return = {code}/' {CONFIG}")
    # 255 would be taken for ssh's own failure.
    said = configured.check_output("nvidia-smi; echo exit status $?")
    assert said.splitlines()[-1] == f"exit status {status}"


def on_the_first_card(host: Host, key: str, value: str) -> None:
    edit = f"/^\\[card 0\\]/,/^\\[card 1\\]/s/^{key} .*/{key} = {value}/"
    host.run_expect([0], f"sed -i '{edit}' {CONFIG}")


def query(host: Host, fields: str, index: int = 0) -> Any:
    return host.run(f"nvidia-smi -i {index} --query-gpu={fields} --format=csv,noheader")


def test_a_lost_card(configured: Host) -> None:
    on_the_first_card(configured, "fault", "lost")
    lost = configured.run("nvidia-smi")
    assert lost.rc == 15
    assert "GPU is lost" in lost.stdout + lost.stderr
    assert query(configured, "index", 1).stdout.strip() == "1"


def test_sentinel_values_are_no_numbers(configured: Host) -> None:
    on_the_first_card(configured, "fault", "sentinel")
    assert query(configured, "temperature.gpu").stdout.strip() == "[Unknown Error]"


def test_mig_on(configured: Host) -> None:
    on_the_first_card(configured, "mig", "on")
    assert query(configured, "mig.mode.current").stdout.strip() == "Enabled"
