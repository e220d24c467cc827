"""One instance of a provider's: prepared, given its user data or units, switched on, looked at past SSH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import lab
import yaml

HERE = Path(__file__).resolve().parents[1]
EXAMPLES = lab.ROOT / "examples"
STATE = Path(os.environ["GPU_HOST_TEST_SSH_CONFIG"]).parent
NAME = os.environ["GPU_HOST_TEST_HOST"]
# A set-up that takes longer hangs.
LIMIT_S = 900
REPOSITORY = "file:///srv/gpu-host.git"
PERSIST = "/mnt/persist"
CLONE = "/opt/gpu-host"
SEED = "/var/lib/cloud/seed/nocloud"
# Where the machine that tests has no package index that a host may use: what was downloaded before.
PIP = "PIP_NO_INDEX=1\nPIP_FIND_LINKS=/srv/wheels\n"
# What a provider's image has beside the bare system; git may read what another user owns.
PROVIDER = f"""
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends cloud-init > /dev/null
mkdir -p {SEED}
printf 'network: {{config: disabled}}\\n' > {SEED}/network-config
printf 'instance-id: %s\\n' "$(cat /proc/sys/kernel/random/uuid)" > {SEED}/meta-data
printf '[safe]\\n  directory = *\\n' > /etc/gitconfig
"""


def prefix() -> str:
    """Return what the names of this inventory's containers and volumes begin with."""
    argv = [Path(sys.executable).with_name("ansible-inventory"), "-i", lab.INVENTORY, "--host", NAME]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=lab.ROOT).stdout
    return f"gpu-host-sim-{json.loads(said)['simulated_namespace']}"


CONTAINER = f"{prefix()}-{NAME}"


def parts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((STATE / "parts.json").read_text(encoding="utf-8"))
    return found


def commit() -> str:
    return (STATE / "commit").read_text(encoding="utf-8").strip()


def sh(script: str, *, check: bool = True) -> str:
    """Run a script on the instance as root; what it prints."""
    done = subprocess.run(
        ["docker", "exec", "-i", CONTAINER, "sh", "-es"],
        input=script, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0 or not check, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def write(path: str, text: str, mode: str = "0644") -> None:
    argv = [
        "docker",
        "exec",
        "-i",
        CONTAINER,
        "sh",
        "-c",
        'mkdir -p "${0%/*}"; cat > "$0"; chmod "$1" "$0"',
        path,
        mode,
    ]
    subprocess.run(argv, input=text, text=True, check=True, timeout=60)


def settings() -> dict[str, Any]:
    """Return what the instance is told: how it differs from a real one, its volume, the user's container."""
    found = parts()
    return {
        "nvidia_driver_source": "distro",
        "nvidia_driver_kernel_module": False,
        "nvidia_container_toolkit_repository_url": "http://toolkit-repo:8000",
        "nvidia_container_toolkit_key_url": "http://toolkit-repo:8000/gpgkey",
        "nvidia_container_toolkit_key_fingerprint": found["toolkit"]["fingerprint"],
        "race_image_source": "archive",
        "race_image_archive": "/srv/race-image",
        "gpu_verify_image": found["race"]["name"],
        "gpu_verify_race": "never",
        "gpu_verify_expected_findings": ["framework.cpu-build"],
        "gpu_storage_path": PERSIST,
        "gpu_workload_image": found["race"]["name"],
        "gpu_workload_command": ["python3", "/train/train.py", "/checkpoints"],
        "gpu_workload_volumes": [f"{PERSIST}/checkpoints:/checkpoints", f"{PERSIST}/train:/train:ro"],
        "gpu_workload_user": "1000:1000",
        "gpu_workload_env": {"TOKEN": "simulated-secret"},
    }


def user_data() -> str:
    """Return the cloud-init example with the user's own values in its two files, and nothing else changed."""
    document = yaml.safe_load((EXAMPLES / "cloud-init/user-data").read_text(encoding="utf-8"))
    files = {entry["path"]: entry for entry in document["write_files"]}
    options = "--price 0.80 --currency EUR -e @/etc/gpu-host/settings.yml"
    given = f"REPOSITORY={REPOSITORY}\nCOMMIT={commit()}\nOPTIONS={options}\n{PIP}"
    files["/etc/gpu-host/bootstrap.env"]["content"] = given
    files["/etc/gpu-host/settings.yml"]["content"] = yaml.safe_dump(settings())
    return "#cloud-config\n" + yaml.safe_dump(document)


def prepare() -> None:
    """What the provider did, and what the user keeps on the volume."""
    sh(PROVIDER)
    sh(f"mkdir -p {PERSIST}/train {PERSIST}/checkpoints; chown 1000:1000 {PERSIST}/checkpoints")
    write(f"{PERSIST}/train/train.py", (HERE / "files/train.py").read_text(encoding="utf-8"))


def boot() -> None:
    subprocess.run(["docker", "restart", CONTAINER], check=True, capture_output=True, timeout=120)


def show(unit: str, name: str) -> str:
    return sh(f"systemctl show --value -p {name} {unit}", check=False).strip()


def wait_for(unit: str) -> None:
    """Wait until a oneshot has ended well."""
    until = time.monotonic() + LIMIT_S
    while not (
        show(unit, "ActiveState") == "inactive"
        and show(unit, "ExecMainExitTimestampMonotonic") not in ("", "0")
    ):
        assert time.monotonic() < until, f"{unit} has not ended:\n{journal(unit)}"
        assert show(unit, "ActiveState") != "failed", journal(unit)
        time.sleep(1)


def journal(unit: str) -> str:
    return sh(f"journalctl -u {unit} --no-pager -o cat")


def state() -> dict[str, Any]:
    """Return the state of the host, as the harnesses list it."""
    script = (lab.ROOT / "tests/harness/listing_on_host.py").read_text(encoding="utf-8")
    argv = ["docker", "exec", "-i", CONTAINER, "python3", "-"]
    done = subprocess.run(argv, input=script, capture_output=True, text=True, check=True, timeout=120)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def replace() -> None:
    """Destroy the instance with all that is its own, and make another one: only the volume stays."""
    subprocess.run(["docker", "rm", "-f", "-v", CONTAINER], check=True, capture_output=True, timeout=120)
    subprocess.run(
        ["docker", "volume", "rm", f"{CONTAINER}-docker"], check=True, capture_output=True, timeout=60
    )
    made = lab.play("simulated_host")
    assert made.returncode == 0, made.stdout


def layers() -> set[str]:
    """Return the images' layers in Docker's data-root on the volume."""
    return set(sh(f"ls {PERSIST}/docker/image/overlay2/layerdb/sha256").split())


def checkpoint() -> int:
    return int(json.loads(sh(f"cat {PERSIST}/checkpoints/state.json"))["epoch"])


def begun() -> list[int]:
    """Return the epoch at which each start of the training began."""
    return [int(line) for line in sh(f"cat {PERSIST}/checkpoints/begun").split()]


def findings() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(sh(f"cat {CLONE}/evidence/{NAME}/findings.json"))["findings"]
    return found


def proven() -> None:
    """Assert what a proven host's evidence says, whoever collected it."""
    found = findings()
    assert [one["id"] for one in found if one["status"] in ("fail", "blocked") and not one["expected"]] == []
    assert len([one for one in found if one["status"] == "pass"]) >= 20
    assert "NVIDIA-SMI" in sh(f"cat {CLONE}/evidence/{NAME}/nvidia-smi.txt")
