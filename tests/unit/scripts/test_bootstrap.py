"""bootstrap.sh's decisions, with fake programs on PATH: nothing is installed, nothing is provisioned."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# What the script may use of the system it runs on.
TOOLS = (
    "sh", "cat", "sed", "tr", "grep", "date", "mkdir", "mv", "rm", "find", "head", "stat", "sleep", "uname",
    "cut", "dirname", "mktemp", "tail", "sha256sum", "env", "flock", "touch", "printf", "cp", "ln",
)  # fmt: skip
MACHINE = "echo '{words}' >&2; echo {mode}"
# A Python of the fake environment, which notes what it is asked to do.
ANSIBLE = """#!/bin/sh
printf '%s\\n' "ansible-playbook $*" >> "$FAKE_LOG"
printf '%s\\tengine\\n' "$(date +%s)" >> "$GPU_HOST_STEPS"
{body}
"""
PYTHON = """#!/bin/sh
case "$*" in
  *machine.py*) {machine} ;;
  *steps.py*) exec {real} "$@" ;;
  "-c import ensurepip") {ensurepip} ;;
  "-m pip --version") {pip} ;;
  "-c import torch") {torch} ;;
  "-c import sys; sys.exit"*) exit 0 ;;
  "-c import sys; print"*) echo 3.13 ;;
  "-c "*) exit 0 ;;
  "-m venv "*) printf '%s\\n' "python $*" >> "$FAKE_LOG"; for last; do :; done
     mkdir -p "$last/bin" "$last/lib/python3.13/site-packages"; cp "$FAKE_PYTHON" "$last/bin/python"
     ln -s "$FAKE_ANSIBLE" "$last/bin/ansible-playbook" ;;
  *) printf '%s\\n' "python $*" >> "$FAKE_LOG"; {rest} ;;
esac
"""


class Instance:
    """A clone in a folder of the test's own, and what stands on PATH there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin, self.log = folder / "clone", folder / "bin", folder / "log"
        self.bin.mkdir()
        self.folder.mkdir()
        shutil.copy(ROOT / "bootstrap.sh", self.folder)
        for name in ("scripts", "verify/recorder.py"):
            source, target = ROOT / name, self.folder / name
            target.parent.mkdir(exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        for tool in TOOLS:
            if found := shutil.which(tool):
                (self.bin / tool).symlink_to(found)
        self.log.touch()
        self.program("id", 'case "$1" in -u) echo ${FAKE_UID:-0} ;; *) echo somebody ;; esac')
        self.python()
        self.ansible()
        self.locks = folder / "lock"

    def program(self, name: str, body: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f'#!/bin/sh\nprintf \'%s\\n\' "{name} $*" >> "$FAKE_LOG"\n{body}\n')
        path.chmod(0o755)

    def python(
        self,
        mode: str = "full",
        *,
        ensurepip: bool = True,
        pip: bool = True,
        torch: bool = False,
        rest: str = "exit 0",
    ) -> None:
        path = self.bin / "python3"
        text = PYTHON.format(
            machine=MACHINE.format(words=f"a machine of the test: {mode}", mode=mode), real=sys.executable,
            ensurepip=f"exit {int(not ensurepip)}", pip=f"exit {int(not pip)}",
            torch=f"exit {int(not torch)}", rest=rest,
        )  # fmt: skip
        path.write_text(text)
        path.chmod(0o755)

    def ansible(self, body: str = "exit 0") -> None:
        path = self.bin / "fake-ansible"
        path.write_text(ANSIBLE.format(body=body))
        path.chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": str(self.bin), "FAKE_LOG": str(self.log), "FAKE_PYTHON": str(self.bin / "python3"),
            "FAKE_ANSIBLE": str(self.bin / "fake-ansible"), "GPU_HOST_LOCKS": str(self.locks),
        }  # fmt: skip

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", self.folder / "bootstrap.sh", *arguments],
            env={**self.environment, **settings}, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["/bin/sh", self.folder / "bootstrap.sh"],
            env=self.environment, stderr=subprocess.PIPE, text=True, start_new_session=True,
            # A run in the background ignores it, and a shell cannot trap what it began ignoring.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no threads here
        )  # fmt: skip

    @property
    def did(self) -> str:
        return self.log.read_text()


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return Instance(tmp_path)


def test_a_full_machine_runs_site_on_itself(instance: Instance) -> None:
    done = instance.run("--price", "0.80", "--currency", "USD", "-e", "a=b c", "-e", "@x.yml")
    assert done.returncode == 0, done.stderr
    name = os.uname().nodename
    limited = f"-i .cache/bootstrap/hosts.json --limit {name},localhost"
    assert f"ansible-playbook {limited} playbooks/site.yml -e a=b c -e @x.yml\n" in instance.did
    hosts = json.loads((instance.folder / ".cache/bootstrap/hosts.json").read_text())
    assert hosts == {"gpu_hosts": {"hosts": {name: {"ansible_connection": "local"}}}}
    assert "time to ready" in done.stderr
    assert re.search(r"cost so far: [\d.]+ USD, which is \d+ s at 0.8 USD an hour", done.stderr)


def test_what_is_installed_is_checked_by_its_hash(instance: Instance) -> None:
    instance.run()
    assert "-m pip install" in instance.did
    assert "--require-hashes --only-binary=:all:" in instance.did
    assert "-r scripts/bootstrap/requirements.txt" in instance.did


def test_what_is_there_is_not_made_again(instance: Instance) -> None:
    instance.run()
    before = instance.did.count("-m venv")
    instance.run()
    assert (before, instance.did.count("-m venv")) == (1, 1)


def test_no_price_no_cost(instance: Instance) -> None:
    assert "cost" not in instance.run().stderr


def test_an_inventory_of_the_user_s_comes_first(instance: Instance) -> None:
    (instance.folder / "mine").mkdir()
    assert instance.run("--inventory", "mine").returncode == 0
    assert "ansible-playbook -i mine -i .cache/bootstrap/hosts.json" in instance.did


def test_setup_alone_provisions_nothing(instance: Instance) -> None:
    done = instance.run("--setup")
    assert done.returncode == 0
    assert "ansible-playbook" not in instance.did
    assert (instance.folder / ".cache/bootstrap/hosts.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--price"], "--price needs a value"),
        (["--price", "cheap"], "--price is cheap"),
        (["--price", "0"], "--price is 0"),
        (["--price", "1,5"], "--price is 1,5"),
        (["--inventory", "nowhere"], "--inventory is nowhere"),
        (["--nonsense"], "--nonsense is not known"),
    ],
)
def test_usage(instance: Instance, arguments: list[str], word: str) -> None:
    done = instance.run(*arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert "--help" in done.stderr
    assert instance.did == ""


def test_help(instance: Instance) -> None:
    done = instance.run("--help")
    assert done.returncode == 0
    assert "--price N" in done.stdout
    assert instance.did == ""


def test_a_failed_run_records_why_and_says_how_to_go_on(instance: Instance) -> None:
    instance.ansible("exit 2")
    done = instance.run()
    assert done.returncode == 1
    assert re.findall(r"playbooks/(\w+)", instance.did) == ["site", "verify"]
    assert "time so far" in done.stderr
    assert "Run the same command again: it continues." in done.stderr


def test_a_run_whose_evidence_is_there_is_not_recorded_twice(instance: Instance) -> None:
    instance.ansible("sleep 1.1; mkdir -p evidence/x; touch evidence/x/run.json; exit 2")
    instance.run()
    assert "verify.yml" not in instance.did


def test_after_a_killed_run_it_continues_and_counts_all_of_it(instance: Instance) -> None:
    instance.ansible("exit 2")
    instance.run()
    instance.ansible()
    done = instance.run()
    assert done.returncode == 0
    assert "An earlier run did not get to its end: continuing." in done.stderr
    assert "in 2 runs" in done.stderr
    # The next one begins anew.
    assert "continuing" not in instance.run().stderr


# --- A container offer


def test_a_container_offer_judges_and_races_and_leaves_docker_alone(instance: Instance) -> None:
    for name in ("docker", "dockerd", "apt-get", "systemctl", "sudo"):
        instance.program(name, "exit 1")
    instance.python("bare", torch=True)
    done = instance.run("--price", "0.2", FAKE_UID="1000")
    assert done.returncode == 0, done.stderr
    assert "verify.cli record" in instance.did
    assert "verify.cli doctor" in instance.did
    assert "-m verify.race" in instance.did
    assert not re.search(
        r"^(docker|dockerd|apt-get|systemctl|sudo|ansible-playbook) ", instance.did, re.MULTILINE
    )
    assert "cost so far" in done.stderr


def test_a_container_offer_without_torch_says_why_there_is_no_race(instance: Instance) -> None:
    instance.python("bare")
    done = instance.run(FAKE_UID="1000")
    assert done.returncode == 1
    assert "No race: no python3 on PATH imports torch." in done.stderr
    assert "verify.race" not in instance.did


def test_a_container_offer_that_fails_the_doctor_still_races(instance: Instance) -> None:
    instance.python("bare", torch=True, rest='case "$*" in *doctor*) exit 1 ;; esac')
    done = instance.run()
    assert done.returncode == 1
    assert "-m verify.race" in instance.did


def test_a_container_offer_without_pip_is_recorded_all_the_same(instance: Instance) -> None:
    instance.python("bare", ensurepip=False, pip=False)
    instance.program("apt-get", "exit 0")
    done = instance.run(FAKE_UID="1000")
    assert done.returncode == 1
    assert "python3.13-venv is missing, and this user (somebody) may not install it" in done.stderr
    assert "As root: apt-get install -y --no-install-recommends python3.13-venv" in done.stderr
    assert "python verify/recorder.py" in instance.did
    assert "apt-get " not in instance.did.replace("apt-get install -y", "")


def test_pip_from_outside_fills_an_environment_where_ensurepip_is_missing(instance: Instance) -> None:
    instance.python("bare", ensurepip=False)
    instance.run(FAKE_UID="1000")
    assert "-m venv --without-pip" in instance.did
    assert "-m pip --python .cache/bootstrap/venv/bin/python install" in instance.did
    assert "--require-hashes" in instance.did


# --- Who may do what


def test_as_root_what_is_missing_is_installed(instance: Instance) -> None:
    instance.python(ensurepip=False, pip=False)
    mended = 's/ensurepip\\") exit 1/ensurepip\\") exit 0/'
    instance.program("apt-get", f'case "$*" in *python3.13-venv*) sed -i "{mended}" "$FAKE_PYTHON" ;; esac')
    done = instance.run()
    assert done.returncode == 0, done.stderr
    assert "apt-get install -y --no-install-recommends python3.13-venv" in instance.did


def test_without_root_and_sudo(instance: Instance) -> None:
    done = instance.run(FAKE_UID="1000")
    assert done.returncode == 1
    assert "not root and there is no sudo" in done.stderr
    assert "ansible-playbook" not in instance.did


def test_sudo_is_no_surprise(instance: Instance) -> None:
    instance.program("sudo", "exit 0")
    done = instance.run(FAKE_UID="1000")
    assert done.returncode == 0
    assert "what changes the system goes through sudo" in done.stderr
    assert [line for line in instance.did.splitlines() if line.startswith("sudo")] == ["sudo -n true"]


def test_sudo_with_a_password_and_no_terminal(instance: Instance) -> None:
    instance.program("sudo", "exit 1")
    done = instance.run(FAKE_UID="1000")
    assert done.returncode == 1
    assert "sudo asks for a password and there is no terminal" in done.stderr
    assert "ansible-playbook" not in instance.did


# --- Who else is at work

HOLD = """
import fcntl, sys, time
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(3)
"""
RUNNING_ONCE = """
if [ -e "$FAKE_LOG.done" ]; then echo "status: done"; else touch "$FAKE_LOG.done"; echo "status: running"; fi
"""


def test_a_lock_is_waited_for_and_its_holder_named(instance: Instance) -> None:
    instance.locks.touch()
    with subprocess.Popen([sys.executable, "-c", HOLD, instance.locks], stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        done = instance.run()
    assert done.returncode == 0
    assert f"(process {holder.pid}), which holds {instance.locks}" in done.stderr
    assert instance.locks.exists()


def test_cloud_init_is_waited_for(instance: Instance) -> None:
    instance.program("cloud-init", RUNNING_ONCE)
    done = instance.run()
    assert done.returncode == 0
    assert "Waiting for cloud-init" in done.stderr


def test_started_by_cloud_init_itself_it_refuses(instance: Instance) -> None:
    # cloud-init's process is Python, with the script's path as a word of its command line.
    script = instance.bin / "cloud-init"
    script.write_text(
        "import subprocess, sys\nsys.exit(subprocess.run(sys.argv[1:], check=False).returncode)\n"
    )
    done = subprocess.run(
        [sys.executable, script, "/bin/sh", instance.folder / "bootstrap.sh"],
        env=instance.environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "started by cloud-init itself" in done.stderr
    assert "examples/cloud-init" in done.stderr
    assert instance.did == ""


def test_two_at_once_are_one_after_the_other(instance: Instance) -> None:
    (instance.folder / ".cache/bootstrap").mkdir(parents=True)
    with (instance.folder / ".cache/bootstrap/lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = instance.start()
        until(lambda: Path(f"/proc/{waiting.pid}/task/{waiting.pid}/children").read_text() != "")
        time.sleep(0.3)
        assert "ansible-playbook" not in instance.did
    said = waiting.communicate(timeout=60)[1]
    assert waiting.returncode == 0
    assert "Waiting for another run of this script to end" in said


def test_interrupted(instance: Instance) -> None:
    instance.ansible('trap "exit 130" INT; touch "$FAKE_LOG.running"; while :; do sleep 0.1; done')
    running = instance.start()
    until(Path(f"{instance.log}.running").exists)
    os.killpg(running.pid, signal.SIGINT)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert "Interrupted. Run the same command again: it continues." in said


def until(true: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for something that happens in another process."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
