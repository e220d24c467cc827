"""Recordings of cards in use. The elements and their bodies are as nvidia-smi 550 and 580 print them."""

from __future__ import annotations

import json
from typing import Any

CONTAINER = "0123456789abcdef" * 4
UUID = "GPU-1c2d3e4f-5a6b-4c7d-8e9f-a0b1c2d3e4f5"

# An A100 with absolute thresholds, in use; and an H200 that tells how far away its limit is.
AMPERE = {
    "temperature": """<gpu_temp>84 C</gpu_temp><gpu_temp_tlimit>N/A</gpu_temp_tlimit>
        <gpu_temp_max_threshold>92 C</gpu_temp_max_threshold>
        <gpu_temp_slow_threshold>89 C</gpu_temp_slow_threshold>""",
    "reasons": "clocks_throttle_reason",
}
HOPPER = {
    "temperature": """<gpu_temp>45 C</gpu_temp><gpu_temp_tlimit>39 C</gpu_temp_tlimit>
        <gpu_temp_max_tlimit_threshold>-5 C</gpu_temp_max_tlimit_threshold>
        <gpu_temp_slow_tlimit_threshold>-2 C</gpu_temp_slow_tlimit_threshold>""",
    "reasons": "clocks_event_reason",
}
PROCESS = """<process_info><pid>71</pid><type>C</type><process_name>python</process_name>
    <used_memory>20480 MiB</used_memory></process_info>"""
ECC = """<ecc_errors><volatile><sram_uncorrectable_parity>0</sram_uncorrectable_parity>
    <sram_uncorrectable_secded>1</sram_uncorrectable_secded><dram_uncorrectable>2</dram_uncorrectable></volatile>
    <aggregate><sram_uncorrectable>N/A</sram_uncorrectable><dram_uncorrectable>7</dram_uncorrectable></aggregate>
    </ecc_errors><remapped_rows><remapped_row_corr>1</remapped_row_corr><remapped_row_unc>3</remapped_row_unc>
    <remapped_row_pending>Yes</remapped_row_pending><remapped_row_failure>No</remapped_row_failure></remapped_rows>"""


def xml(
    kind: dict[str, str] = AMPERE,
    *,
    util: str = "97 %",
    free: str = "<free>4096 MiB</free>",
    active: str = "",
    processes: str = f"<processes>{PROCESS}</processes>",
    more: str = "",
) -> str:
    """Return ``nvidia-smi -q -x`` for one card."""
    reason = kind["reasons"]
    names = ("gpu_idle", "sw_power_cap", "hw_thermal_slowdown", "sw_thermal_slowdown")
    reasons = "".join(
        f"<{reason}_{name}>{'Active' if name == active else 'Not Active'}</{reason}_{name}>" for name in names
    )
    return f"""<?xml version="1.0" ?><nvidia_smi_log><driver_version>580.65.06</driver_version>
    <attached_gpus>1</attached_gpus><gpu id="00000000:3B:00.0"><product_name>NVIDIA A100</product_name>
    <uuid>{UUID}</uuid><fb_memory_usage><total>40960 MiB</total><reserved>500 MiB</reserved>
    <used>36364 MiB</used>{free}</fb_memory_usage><utilization><gpu_util>{util}</gpu_util></utilization>
    <temperature>{kind["temperature"]}</temperature><{reason}s>{reasons}</{reason}s>
    <gpu_power_readings><instant_power_draw>287.10 W</instant_power_draw>
    <current_power_limit>400.00 W</current_power_limit></gpu_power_readings>
    {more}{processes}</gpu></nvidia_smi_log>"""


def document(text: str, **commands: str) -> dict[str, Any]:
    """Return a host's recording with that XML and the output of other commands."""
    said = {
        "nvidia-smi-list": f"GPU 0: NVIDIA A100 (UUID: {UUID})\n",
        "nvidia-smi-xml": text,
        **{name.replace("_", "-"): out for name, out in commands.items()},
    }
    entries = {name: {"argv": [name], "rc": 0, "stdout": out, "stderr": ""} for name, out in said.items()}
    return {"schema": 1, "where": "host", "taken_at": "2026-12-01T10:00:00Z", "commands": entries}


HELD = f"""     71 alice    python train.py --epochs 3
71 cgroup 0::/system.slice/docker-{CONTAINER}.scope
     99 root     /usr/bin/nvidia-persistenced --verbose
99 cgroup 0::/system.slice/nvidia-persistenced.service
"""
PS = json.dumps({"id": CONTAINER, "name": "/alice-train"}) + "\n"
LOG = """[1.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=71, name=python, MMU Fault
[2.0] NVRM: Xid (PCI:0000:3b:00): 94, pid=71, name=python, Contained ECC error
[3.0] NVRM: Xid (PCI:0000:af:00): 79, GPU has fallen off the bus.
"""
