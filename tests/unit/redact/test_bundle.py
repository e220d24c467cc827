"""The support bundle: each kind of secret is put everywhere a recording can hold it, then searched for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verify import cli, recorder, take
from verify.redact import redact, redact_recordings

# What a text may look like that holds it, and what must not be found afterwards.
IDENTITY = {
    "host name": ("Linux gandalf-7 says hello to gandalf-7.corp.example", "gandalf-7"),
    "user name": ("/home/mithrandir/train.py of mithrandir", "mithrandir"),
    "user's path": ("/data/mithrandir/x, container mithrandir-jupyter", "mithrandir"),
    "MAC": ("link/ether de:ad:be:ef:12:34 brd ff:ff:ff:ff:ff:ff", "de:ad:be:ef"),
    "IPv4": ("connect to 10.77.3.9 failed", "10.77.3.9"),
    "IPv4 network": ('{"bip": "10.77.3.1/24"}', "10.77.3.1"),
    "public IPv4": ("from 81.2.69.142 port 22", "81.2.69.142"),
    "IPv6": ("listen [2a02:8071:abcd::17]:22", "2a02:8071"),
    "link-local IPv6": ("fe80::dead:beef%eth0", "dead:beef"),
    "serial": ("NVRM: GPU Board Serial Number: 0321217063480", "0321217063480"),
    "serial in XML": ("<serial>1320921098765</serial>", "1320921098765"),
    "boot_id": ("5b3f7c1e-8a54-4f0a-9c5e-0c6b1f7ad001", "5b3f7c1e"),
    "machine id": ("machine-id 0a1b2c3d4e5f60718293a4b5c6d7e8f9", "0a1b2c3d4e5f"),
    "card": ("GPU 0: NVIDIA A10 (UUID: GPU-1c2d3e4f-5a6b-4c7d-8e9f-a0b1c2d3e4f5)", "1c2d3e4f"),
    "MIG device": ("MIG 1g.5gb (UUID: MIG-9c2d3e4f-5a6b-4c7d-8e9f-a0b1c2d3e4f5)", "9c2d3e4f"),
    "card's beginning": (
        '"DeviceIDs":["GPU-1c2d3e4f"] of GPU-1c2d3e4f-5a6b-4c7d-8e9f-a0b1c2d3e4f5',
        "1c2d3e4f",
    ),
    "e-mail": ("maintainer=frodo.baggins@shire.example", "frodo"),
    "registry": ("registry.mordor.example:5000/team/train:1", "mordor"),
    "registry without a domain": ("image barad-dur:5000/team/train:1", "barad-dur"),
    "mirror": ("deb http://mirror.mordor.example/debian trixie main", "mordor"),
    "NFS server": ("orthanc:/export /mnt nfs rw 0 0", "orthanc"),
    "no_proxy": ('Environment="NO_PROXY=localhost,.mordor.example,sauron"', "sauron"),
    "engine": ('{"ID": "AAAA:BBBB:CCCC:DDDD:EEEE:FFFF:GGGG:HHHH:IIII:JJJJ:KKKK:LLLL"}', "AAAA:BBBB"),
}
SECRET = "Xy7-very-secret"  # noqa: S105  # what must not be found
SECRETS = {
    "bearer": f"Authorization: Bearer {SECRET}",
    "basic": f"authorization: Basic {SECRET}",
    "auth of docker": f'{{"auths": {{"reg": {{"auth": "{SECRET}"}}}}}}',
    "flag": f"tool --password {SECRET} --x",
    "flag in an array": f'["tool", "--password", "{SECRET}"]',
    "docker login": f"docker login -u me -p {SECRET} reg",
    "curl": f"curl -u me:{SECRET} x",
    "PASS": f"FTP_PASS={SECRET}",
    "AWS": f"AWS_SECRET_ACCESS_KEY={SECRET}",
    "HF": f'"HF_TOKEN":"{SECRET}"',
    "NGC": f"-e NGC_API_KEY={SECRET}",
    "wandb": f'{{"labels":{{"WANDB_API_KEY":"{SECRET}"}}}}',
    "URL": f"https://me:{SECRET}@host/x",
    "proxy": f"HTTPS_PROXY=http://me:{SECRET}@proxy:3128",
    "proxy without a scheme": f"https_proxy=me:{SECRET}@proxy:3128",
    "credential": f"credentials = '{SECRET}'",
}
KNOWN_TOKENS = (
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "glpat-0123456789abcdefghij",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "nvapi-abcdefghijklmnopqrstuvwxyz0123456789",
    "dckr_pat_abcdefghijklmnopqrstuvwx",
    "xoxb-123456789012-abcdefghij",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
)


def everywhere(text: str) -> dict[str, Any]:
    """Return a recording that holds a text in every place that can hold one."""
    entry = {"argv": ["sh", text], "rc": 0, "stdout": f"{text}\n", "stderr": text, "error": text}
    commands = {name: dict(entry) for name in ("nvidia-smi", "docker-ps", "dmesg-nvidia", "docker-unit", "a")}
    commands["uname"] = {"argv": ["uname"], "rc": 0, "stdout": "Linux gandalf-7 6.12.1 #1 x86_64\n"}
    commands["gpu-processes"] = {"argv": [], "stdout": f"  71 mithrandir tool {text}\n71 cgroup 0::/\n"}
    return {
        "schema": 1,
        "where": "host",
        "files": {
            "/etc/a": {"text": text, "error": text},
            f"/srv/{text}": {"missing": True},
        },
        "globs": {"/a/*": [text]},
        "links": {"/usr/bin/docker": text},
        "paths": {},
        "commands": commands,
        "disks": {"/": {"error": text}},
        "env": {"LD_LIBRARY_PATH": text},
    }


@pytest.mark.parametrize("kind", IDENTITY)
def test_what_identifies_somebody_is_nowhere(kind: str) -> None:
    text, private = IDENTITY[kind]
    whole = everywhere(text)
    assert private in json.dumps(whole)
    shown = redact(whole, verbatim=False)
    assert private.lower() not in json.dumps(shown).lower()
    assert redact(shown, verbatim=False) == shown


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_nowhere_by_the_recorder_alone_and_in_the_bundle(kind: str) -> None:
    text = SECRETS[kind]
    assert SECRET not in recorder.redact(text)
    assert recorder.redact(recorder.redact(text)) == recorder.redact(text)
    assert SECRET not in json.dumps(redact(everywhere(text), verbatim=False))


@pytest.mark.parametrize("token", KNOWN_TOKENS)
def test_a_token_is_known_by_how_it_begins(token: str) -> None:
    assert token not in recorder.redact(f'said "{token}" and went on')
    assert "went on" in recorder.redact(f'said "{token}" and went on')


@pytest.mark.parametrize(
    "text",
    [
        "docker run -p 8080:80 -u 1000:1000 image",
        "bypass = yes",
        "author: me",
        "docker login --username me --password-stdin",
        "gpu-host/race:abc@sha256:0123",
        "proxy_pass http://inner/",
        "Basic options",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert recorder.redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "nvidia-curand-cu12 10.3.9.90",
        '"nvidia-cublas-cu12": "12.8.4.1"',
        "nvidia-cudnn-cu12==9.10.2.21",
        "Version: 12.8.4.1",
        "libcudnn9 9.20.0.48-1",
        "0000:3b:00.0 at 10:15:30, Xid (PCI:0000:44:00): 79",
        "user@1000.service and getty@tty1.service",
        "(debian-kernel@lists.debian.org) (dvs-builder@U22-I3-B03-4-5)",
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
        "https://developer.download.nvidia.com/compute/cuda/repos",
        "com.docker.compose.project io.containerd.runc.v2 nvidia.com/gpu=0",
        "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "c10::Error std::vector",
        "127.0.0.1 0.0.0.0 255.255.255.0 ::1",
    ],
)
def test_what_only_looks_like_somebody_stays(text: str) -> None:
    assert redact(everywhere(text), verbatim=False)["files"]["/etc/a"]["text"] == text


@pytest.mark.parametrize(
    "name", ["docker", "gpu", "nvidia", "host", "error", "driver", "text", "a100", "stdout"]
)
def test_a_host_or_user_named_like_a_word_of_the_trade_changes_no_other_text(name: str) -> None:
    text = f"<{name}>1</{name}> {name} version"
    whole = everywhere(text)
    whole["commands"]["uname"]["stdout"] = f"Linux {name} 6.12.1 #1 x86_64\n"
    whole["commands"]["docker-info"] = {"stdout": json.dumps({"Name": name, "Driver": name})}
    whole["commands"]["gpu-processes"] = {"stdout": f"  71 {name} python x.py\n71 cgroup 0::/\n"}
    shown = redact(whole)
    assert shown["files"]["/etc/a"]["text"] == text
    assert shown["commands"]["uname"]["stdout"] == "Linux this-host 6.12.1 #1 x86_64\n"
    assert json.loads(shown["commands"]["docker-info"]["stdout"]) == {"Name": "this-host", "Driver": name}
    assert shown["commands"]["gpu-processes"]["stdout"].split()[1] in ("this-host", "user-1", name)


def test_host_and_container_still_see_the_same_card_and_two_cards_stay_two() -> None:
    one, two = (f"GPU-{n}c2d3e4f-5a6b-4c7d-8e9f-a0b1c2d3e4f5" for n in "12")
    host, container = redact_recordings([everywhere(f"{one} {two}"), everywhere(two)])
    first, second = host["files"]["/etc/a"]["text"].split()
    assert first != second
    assert container["files"]["/etc/a"]["text"] == second
    assert redact(everywhere(two))["files"]["/etc/a"]["text"] == second  # on its own too


@pytest.mark.parametrize("raw", [True, False])
def test_record_is_redacted_unless_raw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, raw: bool
) -> None:
    text, private = IDENTITY["IPv4"]
    monkeypatch.setattr(take, "take", lambda *_, **__: json.dumps(everywhere(text)))
    flag = ["--raw"] if raw else []
    assert cli.main(["record", *flag]) == 0
    assert (private in capsys.readouterr().out) is raw
    assert cli.main(["record", "--out", str(tmp_path / "r.json"), *flag]) == 0
    assert (private in (tmp_path / "r.json").read_text()) is raw
