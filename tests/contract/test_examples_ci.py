"""The pipelines and the execution environment: their commands exist, their versions are ours.

scripts/lint_examples.sh holds them against the schemas of GitHub and GitLab, and ansible-builder itself.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
ENVIRONMENT = EXAMPLES / "execution-environment"
PIN = re.compile(r"^([A-Za-z][\w.-]*)==(\S+)$", re.MULTILINE)


def read(name: str) -> Any:
    return yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))


GITHUB: dict[str, Any] = read("github-actions/gpu-roles.yml")
GITLAB: dict[str, Any] = read("gitlab-ci/gpu-roles.gitlab-ci.yml")
STEPS: list[dict[str, Any]] = GITHUB["jobs"]["molecule"]["steps"]
SCRIPTS = {
    "github": [line for step in STEPS for line in step.get("run", "").splitlines()],
    "gitlab": [*GITLAB["molecule"]["before_script"], *GITLAB["molecule"]["script"]],
}


def pins(path: Path) -> dict[str, str]:
    """Return names as pip sees them, and versions; with a marker, that of the newest Python."""
    text = path.read_text(encoding="utf-8").replace('; python_version >= "3.12"', "")
    return {name.lower().replace("_", "-"): version for name, version in PIN.findall(text)}


@pytest.mark.parametrize("kind", sorted(SCRIPTS))
def test_what_a_pipeline_runs_is_there(kind: str) -> None:
    text = "\n".join(SCRIPTS[kind])
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    made, files = (
        set(re.findall(pattern, text))
        for pattern in (r"\bmake ([a-z-]+)(?=$|\n)", r"[\w./]+/\w+\.(?:py|sh)\b")
    )
    scenarios = set(re.findall(r"--scenario-name (\w+)", text))
    assert made == {"venv"}
    assert made <= targets
    assert "tests/standins/build.py" in files
    assert [name for name in files if not (ROOT / name).is_file()] == []
    assert scenarios
    assert [name for name in scenarios if not (ROOT / "molecule" / name / "molecule.yml").is_file()] == []


@pytest.mark.parametrize("kind", sorted(SCRIPTS))
def test_a_pipeline_runs_nothing_that_is_not_known(kind: str) -> None:
    path = r"(sudo )?(env \"PATH=\S+\" |PATH=\S+ )?"
    known = path + r"(apt-get|make|scripts/|\.venv/bin/python tests/|molecule test )"
    assert [line for line in SCRIPTS[kind] if not re.match(known, line)] == []


def test_the_evidence_that_is_kept_is_the_scenarios() -> None:
    text = (ROOT / "molecule/default/inventory/group_vars/all/main.yml").read_text(encoding="utf-8")
    values = yaml.safe_load(text)
    folder = f".cache/evidence-{values['simulated_namespace']}/"
    assert values["gpu_verify_evidence_dir"].endswith(".cache/evidence-{{ simulated_namespace }}")
    (upload,) = (step for step in STEPS if "upload-artifact" in step.get("uses", ""))
    assert upload["with"]["path"] == folder
    assert upload["with"]["include-hidden-files"] is True  # it lies below .cache
    artifacts = GITLAB["molecule"]["artifacts"]
    assert artifacts["paths"] == [folder]
    assert artifacts["reports"]["junit"] == f"{folder}*/junit.xml"
    assert (upload["if"], artifacts["when"]) == ("always()", "always")


def test_a_workflow_may_read_and_no_more_and_does_not_run_for_ever() -> None:
    assert GITHUB["permissions"] == {"contents": "read"}
    assert GITHUB["jobs"]["molecule"]["timeout-minutes"] <= 60
    assert GITLAB["molecule"]["timeout"] == "1h"
    checkout = next(step for step in STEPS if "checkout" in step.get("uses", ""))
    assert checkout["with"]["persist-credentials"] is False
    assert "secrets." not in (EXAMPLES / "github-actions/gpu-roles.yml").read_text(encoding="utf-8")


def test_actions_are_githubs_own_and_named_by_a_version() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert len(used) == 2
    assert all(re.fullmatch(r"actions/[a-z-]+@(v\d+|[0-9a-f]{40})", name) for name in used)


def test_each_requirement_of_the_environment_has_the_version_of_constraints_txt() -> None:
    ours, constraints = pins(ENVIRONMENT / "requirements.txt"), pins(ROOT / "constraints.txt")
    assert ours == {name: constraints.get(name) for name in ours}
    lines = (ENVIRONMENT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert len(ours) == len([line for line in lines if line and not line.startswith("#")])  # none unpinned


def test_what_judging_needs_is_in_the_environment() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split(r"[\s\[<>=;]", name)[0].lower() for name in project["dependencies"]}
    assert wanted <= set(pins(ENVIRONMENT / "requirements.txt"))


def test_the_environment_takes_our_ansible_and_our_archive() -> None:
    definition = read("execution-environment/execution-environment.yml")
    assert definition["version"] == 3
    packages = definition["dependencies"]
    assert (
        packages["ansible_core"]["package_pip"]
        == f"ansible-core=={pins(ROOT / 'constraints.txt')['ansible-core']}"
    )
    assert "==" in packages["ansible_runner"]["package_pip"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    archive = f"gpu_host-gpu_host-{project['version']}.tar.gz"
    (added,) = definition["additional_build_files"]
    assert added["src"] == f"../../dist/{archive}"
    (collection,) = read("execution-environment/requirements.yml")["collections"]
    assert collection == {"name": f"{added['dest']}/{archive}", "type": "file"}
    for name in (packages["python"], packages["galaxy"], packages["system"]):
        assert (ENVIRONMENT / name).is_file()


@pytest.mark.parametrize("name", ["github-actions", "gitlab-ci", "execution-environment", "systemd"])
def test_what_was_not_run_is_said(name: str) -> None:
    assert re.search(
        r"\*\*Not run|Not tried here", (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    )
