"""The examples: variables that exist, a pinned commit, no secret, no shell that is fed from the network."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.roles import ROLES
from verify.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
FILES = sorted(path for path in EXAMPLES.rglob("*") if path.is_file())
PUBLIC = {name for role in ROLES for name in role.defaults}
PINNED = re.compile(r"^COMMIT=[0-9a-f]{40}$", re.MULTILINE)


def user_data() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((EXAMPLES / "cloud-init/user-data").read_text(encoding="utf-8"))
    return document


def written() -> dict[str, dict[str, Any]]:
    return {entry["path"]: entry for entry in user_data()["write_files"]}


def units() -> dict[str, str]:
    found = {
        path: entry["content"] for path, entry in written().items() if path.endswith((".service", ".timer"))
    }
    for path in FILES:
        if path.suffix in (".service", ".timer"):
            found[path.name] = path.read_text(encoding="utf-8")
    return found


def test_each_kind_is_there() -> None:
    kinds = {path.parent.name for path in FILES}
    assert {"cloud-init", "ansible-pull", "prometheus", "systemd"} <= kinds
    assert {"github-actions", "gitlab-ci", "execution-environment"} <= kinds


def test_cloud_init_knows_it_by_its_first_line() -> None:
    assert (EXAMPLES / "cloud-init/user-data").read_text(encoding="utf-8").startswith("#cloud-config\n")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_variables_are_the_roles_own(path: Path) -> None:
    named = set(
        re.findall(
            r"^\s*#? ?((?:gpu|race|docker|nvidia|registry)_\w+):",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    assert named <= PUBLIC, path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_from_the_network_goes_into_a_shell(path: Path) -> None:
    assert not re.search(r"(curl|wget)[^\n]*\|", path.read_text(encoding="utf-8"))


def test_commits_are_pinned() -> None:
    assert PINNED.search(written()["/etc/gpu-host/bootstrap.env"]["content"])
    assert PINNED.search((EXAMPLES / "ansible-pull/pull.env").read_text(encoding="utf-8"))


def test_files_with_settings_are_root_s_alone() -> None:
    for path, entry in written().items():
        assert path.startswith("/etc/gpu-host/") == (entry.get("permissions") == "0600"), path


def test_what_cloud_init_starts_does_not_wait_for_its_end_within_it() -> None:
    """bootstrap.sh waits for cloud-init: as a command of cloud-init's it would wait for itself."""
    unit = written()["/etc/systemd/system/gpu-host-bootstrap.service"]["content"]
    assert "After=network-online.target cloud-final.service" in unit
    assert "bootstrap.sh" not in str(user_data()["runcmd"])
    assert ["systemctl", "start", "--no-block", "gpu-host-bootstrap.service"] in user_data()["runcmd"]


@pytest.mark.parametrize("name", units())
def test_units_can_be_read(name: str) -> None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(re.sub(r" \\\n", " ", units()[name]).replace("ExecStartPre", "ExecStartPre "))
    assert "Unit" in parser
    assert "Service" in parser or "Timer" in parser


def test_what_they_run_is_there() -> None:
    text = "\n".join(units().values())
    assert set(re.findall(r"/opt/gpu-host/([\w.]+\.sh)", text)) == {"bootstrap.sh"}
    assert (ROOT / "bootstrap.sh").is_file()
    for playbook in re.findall(r"playbooks/\w+\.yml", text):
        assert (ROOT / playbook).is_file()


def test_options_of_bootstrap_are_its_own() -> None:
    said = written()["/etc/gpu-host/bootstrap.env"]["content"]
    options = set(re.findall(r"(?<=\s)--?\w+", said.partition("OPTIONS=")[2]))
    script = (ROOT / "bootstrap.sh").read_text(encoding="utf-8")
    assert options
    assert [option for option in options if f" {option} " not in script] == []


def test_the_timer_s_options_are_gpu_verify_s_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["again", "--help"]) == 0
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    unit = units()["gpu-host-again.service"]
    text = (EXAMPLES / "systemd/again.env").read_text(encoding="utf-8") + unit.partition("verify.cli again")[
        2
    ]
    used = set(re.findall(r"(?<![\w-])--[a-z-]+", text))
    assert {"--evidence", "--keep", "--burn-in", "--prometheus", "--image"} <= used
    assert used <= known


def test_the_timer_s_environment_is_the_one_that_bootstrap_makes() -> None:
    command = next(
        line for line in units()["gpu-host-again.service"].splitlines() if line.startswith("ExecStart=")
    )
    script = (ROOT / "bootstrap.sh").read_text(encoding="utf-8")
    assert command.startswith("ExecStart=/opt/gpu-host/.cache/bootstrap/venv/bin/python -m verify.cli again ")
    assert "state=.cache/bootstrap\n" in script
    assert "venv=$state/venv\n" in script
    needed = (ROOT / "scripts/bootstrap/requirements.txt").read_text(encoding="utf-8").lower()
    assert [name for name in ("rich", "pyyaml") if f"\n{name}==" not in needed] == []
