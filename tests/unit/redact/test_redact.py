from __future__ import annotations

import json
import time
from typing import Any

import pytest

from verify.redact import redact, redact_recordings

HOST: dict[str, Any] = {
    "schema": 1,
    "where": "host",
    "files": {
        "/home/alice/.docker/config.json": {"missing": True},
        "/etc/apt/sources.list": {"text": "deb http://mirror.corp.example:8080/debian trixie main\n"},
        "/etc/docker/daemon.json": {"text": '{"dns": ["10.1.2.3"], "bip": "172.17.0.1/16"}'},
        "/etc/os-release": {"text": 'HOME_URL="https://www.kernel.org/"\nVERSION_ID="13"\n'},
    },
    "commands": {
        "uname": {
            "argv": ["uname", "-a"],
            "rc": 0,
            "stdout": "Linux lab-7 6.12.1-amd64 #1 SMP x86_64 GNU/Linux\n",
        },
        "nvidia-smi": {"argv": ["nvidia-smi"], "rc": 0, "stdout": "| lab-7 verbatim 10.1.2.3 |\n"},
        "nvidia-smi-list": {
            "argv": [],
            "stdout": "GPU 0: NVIDIA A10 (UUID: GPU-51501111-2222-3333-4444-555566667777)\n",
        },
        "nvidia-smi-xml": {
            "argv": [],
            "stdout": "<serial>1320921012345</serial><gpu_serial>N/A</gpu_serial><serial>N/A</serial>",
        },
        "nvidia-smi-query": {
            "argv": ["nvidia-smi", "--query-gpu=index,serial,name", "--format=csv,noheader,nounits"],
            "stdout": "0, 1320921012345, NVIDIA A10\n1, [N/A], NVIDIA A10\n",
        },
        "docker-info": {
            "argv": [],
            "stdout": json.dumps(
                {"ID": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "Name": "lab-7", "ServerVersion": "26.1.5"},
                separators=(",", ":"),
            ),
        },
        "gpu-processes": {
            "argv": [],
            "stdout": "    71 bob      python train.py --data /home/alice/x\n71 cgroup 0::/\n",
        },
        "dmesg-nvidia": {
            "stdout": "lab-7 NVRM: 550.163.01 at 0000:3b:00.0 eth0 aa:bb:cc:dd:ee:ff fe80::1ff:fe23:4567\n"
        },
        "driver-packages": {"stdout": "libcudnn9 9.20.0.48-1 installed\nlabel lab-70 lab\n"},
    },
}
CONTAINER: dict[str, Any] = {
    "schema": 1,
    "where": "container",
    "commands": {"other": {"stdout": "nameserver 10.1.2.3 for lab-7 and 10.9.9.9, not 10.1.2.34\n"}},
}


def text_of(recording: dict[str, Any]) -> str:
    kept = json.loads(json.dumps(recording))
    kept["commands"].pop("nvidia-smi", None)
    return json.dumps(kept)


@pytest.mark.parametrize(
    "private",
    [
        "lab-7 ",
        "mirror.corp.example",
        "10.1.2.3",
        "172.17.0.1",
        "1320921012345",
        "3fa85f64",
        "alice",
        "bob ",
        "aa:bb:cc",
        "fe80::1ff",
    ],
)
def test_what_identifies_the_host_goes(private: str) -> None:
    assert private in text_of(HOST)
    assert private not in text_of(redact(HOST))


@pytest.mark.parametrize(
    "public",
    [
        "https://www.kernel.org/",
        "550.163.01",
        "0000:3b:00.0",
        "6.12.1-amd64",
        "26.1.5",
        "9.20.0.48-1",
        "label lab-70 lab",
        "1, [N/A], NVIDIA A10",
        "<serial>N/A</serial>",
        ":8080/debian trixie",
    ],
)
def test_what_findings_need_stays(public: str) -> None:
    assert public in text_of(redact(HOST))


def test_evidence_shows_what_nvidia_smi_printed_in_the_container_as_it_stands() -> None:
    inside = {**CONTAINER, "commands": {"nvidia-smi": HOST["commands"]["nvidia-smi"]}}
    host, container = redact_recordings([HOST, inside])
    assert container["commands"]["nvidia-smi"] == HOST["commands"]["nvidia-smi"]
    assert "10.1.2.3" not in json.dumps(host)
    assert "10.1.2.3" not in json.dumps(redact(inside, verbatim=False))


def test_the_same_name_gets_the_same_stand_in_in_all_recordings() -> None:
    host, container = redact_recordings([HOST, CONTAINER])
    dns = json.loads(host["files"]["/etc/docker/daemon.json"]["text"])["dns"][0]
    assert f"nameserver {dns} for this-host" in container["commands"]["other"]["stdout"]


def test_twice_is_the_same_and_the_input_is_untouched() -> None:
    before = json.dumps([HOST, CONTAINER])
    once = redact_recordings([HOST, CONTAINER])
    assert json.dumps([HOST, CONTAINER]) == before
    assert redact_recordings(once) == once


def test_json_in_text_stays_json() -> None:
    info = json.loads(redact(HOST)["commands"]["docker-info"]["stdout"])
    assert {**info, "ID": ""} == {"ID": "", "Name": "this-host", "ServerVersion": "26.1.5"}
    assert info["ID"] != "3fa85f64-5717-4562-b3fc-2c963f66afa6"


@pytest.mark.parametrize(
    "odd", [{}, {"commands": {}}, {"commands": {"uname": {"missing": True}, "docker-info": {"stdout": "{"}}}]
)
def test_recordings_with_nothing_in_them(odd: dict[str, Any]) -> None:
    assert redact(odd) == odd


@pytest.mark.parametrize(
    "entry", [{"argv": 3, "stdout": "a"}, {"argv": [[], "--query-gpu=serial"], "stdout": 3}, {"argv": None}]
)
def test_wrong_types_are_left_as_they_are(entry: dict[str, Any]) -> None:
    commands = {"nvidia-smi-query": entry, "docker-info": {"stdout": 3}, "uname": {"stdout": None}}
    document = {"schema": 1, "where": "host", "commands": commands}
    assert redact(document) == document


def test_a_long_run_of_letters_does_not_hold_it_up() -> None:
    began = time.process_time()
    redact({"schema": 1, "where": "host", "files": {"/a": {"text": "a" * 65536}}})
    assert time.process_time() - began < 2
