"""The host's shell commands, run here: the lock's holder by name, a card that reads as ff, POSIX sh only."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from verify.facts.card import QUERY_FIELDS
from verify.manifest import manifest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOST: dict[str, dict[str, Any]] = {spec["name"]: spec for spec in manifest("host")["commands"]}
HOLD = (
    "import fcntl,sys;f=open(sys.argv[1],'w');fcntl.lockf(f,fcntl.LOCK_EX);print(flush=True);sys.stdin.read()"
)


def script(name: str) -> str:
    argv = HOST[name]["argv"]
    assert argv[:2] == ["sh", "-c"]
    return str(argv[2])


def run(text: str) -> str:
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock-frontend")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    process.stdout.readline()
    yield process
    process.communicate()


@pytest.mark.skipif(not os.access("/proc/locks", os.R_OK), reason="this kernel does not show its locks")
def test_b6_the_holder_of_a_lock_is_named(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    text = script("package-locks").replace("/var/lib/dpkg/lock-frontend", str(tmp_path / "lock-frontend"))
    (line,) = [line for line in run(text).splitlines() if line.startswith(str(tmp_path))]
    path, pid, name = line.split(" ", 2)
    assert (path, int(pid)) == (str(tmp_path / "lock-frontend"), holder.pid)
    assert name.startswith("python")


def test_b6_a_lock_that_nobody_holds_is_none(tmp_path: Path) -> None:
    (tmp_path / "lock-frontend").touch()
    text = script("package-locks").replace("/var/lib/dpkg/lock-frontend", str(tmp_path / "lock-frontend"))
    assert str(tmp_path) not in run(text)


def test_c9_the_bus_itself_is_asked_for_the_cards(tmp_path: Path) -> None:
    for address, vendor, config in (
        ("0000:01:00.0", "0x10de", b"\xff" * 64),
        ("0000:02:00.0", "0x10de", b"\xde\x10\x84\x26" + b"\x00" * 60),
        ("0000:03:00.0", "0x8086", b"\x86\x80" + b"\x00" * 62),
    ):
        folder = tmp_path / address
        folder.mkdir()
        (folder / "vendor").write_text(vendor + "\n")
        (folder / "config").write_bytes(config)
    lines = run(script("pci-config").replace("/sys/bus/pci/devices", str(tmp_path))).splitlines()
    assert lines == [
        "0000:01:00.0" + " ff" * 16,
        "0000:02:00.0 de 10 84 26" + " 00" * 12,
    ]


def test_f6_an_old_driver_is_asked_without_the_field_that_it_does_not_know() -> None:
    spec = HOST["nvidia-smi-query-old"]
    assert spec["if_failed"] == "nvidia-smi-query"
    asked = (
        next(word for word in spec["argv"] if word.startswith("--query-gpu=")).partition("=")[2].split(",")
    )
    assert asked == [field for field in QUERY_FIELDS if field != "compute_cap"]


def test_f4_the_tool_of_wsl_is_asked_by_its_path() -> None:
    assert HOST["nvidia-smi-wsl"]["argv"] == ["/usr/lib/wsl/lib/nvidia-smi", "-L"]


@pytest.mark.parametrize("name", [name for name, spec in HOST.items() if spec["argv"][:2] == ["sh", "-c"]])
def test_every_script_is_posix_shell(name: str) -> None:
    subprocess.run(["sh", "-n", "-c", script(name)], check=True)
