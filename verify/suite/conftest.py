"""Options and cases: every host of the evidence and of --hosts, times every finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import testinfra

from verify.errors import VerifyError
from verify.report.evidence import host_folders, read_host
from verify.report.findings import judge_host
from verify.report.model import HostReport
from verify.suite.backends import register
from verify.suite.limit import DEADLINE_S, turn_of

if TYPE_CHECKING:
    from collections.abc import Iterator

register()
_REPORTS = pytest.StashKey[list[HostReport]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--evidence", type=Path, metavar="DIR", help="evidence folder: one folder a host")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what would pass for the wrong reason, before a single test is collected."""
    if config.getoption("help"):
        return
    folder: Path | None = config.getoption("--evidence")
    backends: str | None = config.getoption("--hosts")
    if folder is None:
        raise pytest.UsageError("this suite judges evidence: give --evidence DIR")
    if not backends:
        raise pytest.UsageError(
            "without --hosts testinfra examines the controller itself: "
            "give --hosts ssh://HOST and --ssh-config FILE"
        )
    local = [name for name in backends.split(",") if name.strip().split("://")[0] == "local"]
    if local:
        raise pytest.UsageError(
            "--hosts local is the controller under no host's name: give --hosts ssh://HOST, or here://HOST "
            "where the controller is that host"
        )
    try:
        config.stash[_REPORTS] = list(_reports(folder, _host_names(config, backends)))
    except VerifyError as error:
        raise pytest.UsageError(str(error)) from error


def _host_names(config: pytest.Config, backends: str) -> set[str]:
    """Return the inventory's names of --hosts, as testinfra reads them. Connects to nothing."""
    options = ("connection", "ssh_config", "ansible_inventory", "force_ansible")
    hosts = testinfra.get_hosts(backends.split(","), **{name: config.getoption(name) for name in options})
    return {str(host.backend.hostname) for host in hosts}


def _reports(folder: Path, names: set[str]) -> Iterator[HostReport]:
    found = {path.name: path for path in host_folders(folder)}
    for path in found.values():
        yield read_host(path)[0]
    # A host that was to be verified and left nothing behind is a failure, not an absence.
    for name in sorted(names - set(found)):
        yield judge_host({"host": name, "collection": {"outcome": "failed"}}, {}, None)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    reports = metafunc.config.stash[_REPORTS]
    if "report" in metafunc.fixturenames:
        metafunc.parametrize("report", reports, ids=[report.host for report in reports])
    if {"finding", "of_host"} <= set(metafunc.fixturenames):
        cases = [(report.host, finding) for report in reports for finding in report.findings]
        metafunc.parametrize(
            ("of_host", "finding"), cases, ids=[f"{host}-{finding.id}" for host, finding in cases]
        )


@pytest.fixture
def run(host: Any, request: pytest.FixtureRequest) -> dict[str, Any]:  # noqa: ANN401  # testinfra has no types
    """Return run.json of the host that testinfra is connected to."""
    folder: Path = request.config.getoption("--evidence")
    path = folder / str(host.backend.hostname) / "run.json"
    if not path.is_file():
        pytest.fail(f"there is no {path}: {host.backend.hostname} was not collected")
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    collection = document.get("collection") or {}
    # What hung while it was recorded would hang here for ever, and hide all other hosts.
    if collection.get("outcome", "ok") != "ok":
        pytest.fail(f"{host.backend.hostname} was not recorded ({collection['outcome']}): no second look")
    if not document.get("image"):
        pytest.fail(f"{host.backend.hostname} has no image to look with: {document.get('collection')}")
    deadline = (document.get("settings") or {}).get("deadline")
    turn_of(str(host.backend.hostname)).deadline_s = float(deadline or DEADLINE_S)
    return document
