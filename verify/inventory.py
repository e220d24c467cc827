"""``gpu-verify doctor --inventory``: every host of an Ansible inventory, several at once.

``ansible-inventory`` reads it, as a process; the connection is plain SSH with the inventory's own options.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.commands import FINDINGS_FAILED, OK, print_document
from verify.console import console
from verify.errors import VerifyError
from verify.facts.usage import UsageFacts, usage_facts
from verify.recording import Recording
from verify.report.board import documents as board_documents
from verify.report.findings import judge_host
from verify.report.model import Fleet, HostReport
from verify.report.terminal import print_hosts
from verify.take import record_both

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

Json = dict[str, Any]
AT_ONCE = 8  # connections, not processors: nearly all of the time is waiting
_LISTING_S = 60
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_DEPTH = 8
_LOCAL, _SSH = frozenset({"local"}), frozenset({"ssh", "smart", "ansible.builtin.ssh"})
_ADDRESS = re.compile(r"[\w:\[][\w.:%@\]-]*")
_NO_NAME = "{!r} is no name or address of a host: mend the inventory, or set ansible_host"
_SHOWN = 3
_ARGUMENTS = ("ansible_ssh_common_args", "ansible_ssh_extra_args")


@dataclass(frozen=True, slots=True)
class Target:
    """How one host of an inventory is reached."""

    name: str
    address: str | None
    """None is this machine."""
    options: tuple[str, ...] = ()
    problem: str | None = None


def diagnose_fleet(options: argparse.Namespace) -> int:
    """Record and judge every host; print one row a host, then each culprit."""
    targets = listed(options.inventory, options.limit)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        judged = list(pool.map(lambda target: _judged(target, options), targets))
    fleet = Fleet(tuple(report for report, _ in judged))
    if options.json:
        document = fleet.document()
        for row, (_, usage) in zip(document["hosts"], judged, strict=True):
            row.update(board_documents(usage))
        print_document(document)
    else:
        print_hosts(judged, console())
    return FINDINGS_FAILED if fleet.failed else OK


def _judged(target: Target, options: argparse.Namespace) -> tuple[HostReport, UsageFacts]:
    documents, problem = _recorded(target, options)
    collection = {"outcome": "unreachable" if problem else "ok", "detail": problem}
    run = {"host": target.name, "expected": options.expect, "collection": collection}
    usage = usage_facts(Recording.from_document(documents.get("host") or {"schema": 1, "where": "host"}))
    return judge_host(run, documents, None, container_due=bool(options.image)), usage


def _recorded(target: Target, options: argparse.Namespace) -> tuple[dict[str, Json], str | None]:
    if target.problem:
        return {}, target.problem
    how = {"image": options.image, "ssh_config": options.ssh_config, "ssh_options": target.options}
    try:
        return record_both(host=target.address, **how), None
    except VerifyError as error:
        return {}, str(error)


def listed(inventory: Path, limit: str | None = None) -> list[Target]:
    """Ask ansible-inventory for the hosts, by name."""
    if not inventory.exists():
        raise VerifyError(f"{inventory} does not exist: give --inventory the file or folder of an inventory")
    program = shutil.which("ansible-inventory") or shutil.which(
        "ansible-inventory", path=str(Path(sys.executable).parent)
    )
    if program is None:
        raise VerifyError("ansible-inventory is not installed here: make venv, or pip install ansible-core")
    argv = [program, "-i", str(inventory), "--list", *([f"--limit={limit}"] if limit else [])]
    try:
        done = subprocess.run(
            argv, capture_output=True, encoding="utf-8", errors="replace", timeout=_LISTING_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise VerifyError(f"ansible-inventory did not answer within {_LISTING_S} s") from error
    said = (done.stderr.strip() or "nothing").splitlines()[-1]
    try:
        document = json.loads(done.stdout) if done.returncode == 0 else None
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise VerifyError(
            f"ansible-inventory cannot read {inventory} (exit status {done.returncode}): {said}"
        )
    hosts = _hosts(document)
    if not hosts:
        chosen = f" that match {limit!r}" if limit else ""
        raise VerifyError(f"{inventory} names no hosts{chosen}: see `{shlex.join(argv)}`")
    folder = inventory if inventory.is_dir() else inventory.parent
    targets = [
        _target(name, {**hosts[name], "inventory_dir": str(folder.resolve())}) for name in sorted(hosts)
    ]
    if all(target.problem == _NO_NAME.format(target.name) for target in targets):
        raise VerifyError(f"{inventory} is no inventory: the names of hosts in it would be {_some(targets)}")
    return targets


def _some(targets: list[Target]) -> str:
    return ", ".join(repr(target.name) for target in targets[:_SHOWN]) + (
        f" and {len(targets) - _SHOWN} more" if len(targets) > _SHOWN else ""
    )


def _hosts(document: Mapping[str, Any]) -> dict[str, Json]:
    variables = document.get("_meta", {}).get("hostvars", {})
    groups = (group for key, group in document.items() if key != "_meta" and isinstance(group, dict))
    names = {str(name) for group in groups for name in group.get("hosts", [])}
    return {name: dict(variables.get(name) or {}) for name in names}


def _target(name: str, variables: Json) -> Target:
    variables = {"inventory_hostname": name, **variables}
    try:
        read = {key: _filled(key, value, variables) for key, value in variables.items() if _is_ours(key)}
    except VerifyError as error:
        return Target(name, name, problem=str(error))
    address = read.get("ansible_host", name)
    connection = read.get("ansible_connection", "ssh")
    if connection in _LOCAL:
        return Target(name, None)
    if connection not in _SSH:
        return Target(
            name, name, problem=f"ansible_connection is {connection}, the doctor goes by ssh: make verify"
        )
    if not _ADDRESS.fullmatch(address):
        return Target(name, name, problem=_NO_NAME.format(address))
    options: list[str] = []
    for key in _ARGUMENTS:
        try:
            options += shlex.split(read.get(key, ""))
        except ValueError as error:
            return Target(name, name, problem=f"{key} cannot be split into words: {error}")
    for flag, key in (("-p", "ansible_port"), ("-l", "ansible_user"), ("-i", "ansible_ssh_private_key_file")):
        options += (
            [flag, str(Path(read[key]).expanduser()) if flag == "-i" else read[key]] if read.get(key) else []
        )
    return Target(name, address, tuple(options))


def _is_ours(key: str) -> bool:
    ours = ("ansible_connection", "ansible_host", "ansible_port", "ansible_user")
    return key in (*ours, "ansible_ssh_private_key_file", *_ARGUMENTS)


def _is_secret(value: object) -> bool:
    """Whether it is how ansible-inventory writes what Ansible Vault encrypts."""
    return isinstance(value, dict) and "__ansible_vault" in value


def _filled(key: str, value: object, variables: Mapping[str, Any]) -> str:
    """Fill in plain variables; what else a template can do is left to Ansible."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        if _is_secret(value):
            raise VerifyError(f"{key} is a secret that only Ansible can read: make verify, or --host")
        raise VerifyError(f"{key} is {json.dumps(value)}: write a name, an address or a whole number")
    text = str(value)
    for _ in range(_DEPTH):
        if "{{" not in text:
            return text
        text = _VARIABLE.sub(lambda match: str(variables.get(match.group(1), match.group())), text)
    raise VerifyError(f"{key} is a template that only Ansible can fill: make verify, or --host")
