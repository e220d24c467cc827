"""Layer engine: daemon.json is one that dockerd starts with, and has lost nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from verify.checks.check import (
    Verdict,
    count,
    failed,
    not_applicable,
    not_recorded,
    passed,
    warned,
)
from verify.checks.strangers import STRANGERS

if TYPE_CHECKING:
    from verify.facts.daemon_file import DaemonFileFacts
    from verify.facts.state import State

_START = "systemctl reset-failed docker docker.socket; systemctl restart docker"
_LATER = "; the running daemon read it before that: it will not start again"


def config(state: State) -> Verdict:
    """Whether dockerd can start with its file (cases A2, A3, A5), and whether settings were lost (A1)."""
    file, engine = state.daemon_file, state.engine
    if engine.stranger:
        called, _ = STRANGERS[engine.stranger]
        return not_applicable(f"not applicable: the daemon that answers is {called}", file.evidence)
    if not file.recorded:
        return not_recorded(file.path)
    trouble = _damaged(file) or _flagged(file)
    if trouble is not None:
        later = _LATER if engine.answers else ""
        said = f'; it said: "{engine.log}"' if engine.log and not engine.answers else ""
        cited = (f"docker-log: {engine.log}",) if said else ()
        return replace(
            trouble,
            summary=f"{trouble.summary}{later}{said}",
            evidence=(*file.evidence, *cited),
            blocks=not engine.answers,
        )
    return _lost(file)


def _damaged(file: DaemonFileFacts) -> Verdict | None:
    if file.damage is None:
        return None
    if file.empty:
        remedy = f"echo '{{}}' > {file.path}; {_START}"
    elif file.misplaced:
        remedy = f"mv {file.path} {file.path}.aside; {_START}"
    else:
        remedy = (
            f"python3 -m json.tool {file.path}  # correct it until this is silent of errors; then: {_START}"
        )
    return failed(f"{file.path} is damaged: {file.damage}", remedy, file.evidence)


def _flagged(file: DaemonFileFacts) -> Verdict | None:
    if not file.flagged:
        return None
    told = "; ".join(
        f'"{key}" is set by a flag ({written}) and in {file.path} ({json.dumps(value, default=str)})'
        for key, written, value in file.flagged
    )
    keys = " and ".join(f'"{key}"' for key, _, _ in file.flagged)
    remedy = f"take {keys} out of {file.path}, then: {_START}"
    if any(key == "hosts" for key, _, _ in file.flagged):
        remedy += (
            "; to keep it: systemctl edit docker, with an empty ExecStart= and then "
            "ExecStart=/usr/bin/dockerd --containerd=/run/containerd/containerd.sock"
        )
    return failed(f"{told}: dockerd refuses a key that is in both", remedy, file.evidence)


def _lost(file: DaemonFileFacts) -> Verdict:
    if file.dangling:
        return warned(
            f"{file.path} is a symbolic link to {file.dangling}, which is not there: Docker has its defaults",
            f"ls -l {file.path}  # bring {file.dangling} back, or: rm {file.path}",
            (*file.evidence, f"{file.path}: -> {file.dangling}"),
        )
    if file.backup:
        return warned(
            f"{file.path} lacks {count(len(file.lost), 'setting')} that the backup {file.backup} has: "
            f"{', '.join(file.lost)}",
            f"diff {file.backup} {file.path}  # put back what is missed, then: systemctl restart docker; "
            f"meant so? rm {file.backup}",
            (*file.evidence, *file.backup_evidence),
        )
    if file.missing:
        return passed(f"there is no {file.path}: Docker runs with its defaults", file.evidence)
    return passed(f"{file.path} is sound, and no flag sets the same", file.evidence)
