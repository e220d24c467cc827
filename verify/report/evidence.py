"""Read an evidence folder, write its reports; `files` puts each in its place.

Reads run.json, the recordings and race.json of every host and nothing else, so that a second run
over its own output gives the same bytes.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from verify import burn_in
from verify.errors import VerifyError
from verify.files import recover, replace_file, replace_folder
from verify.fleet.lock import read_lock
from verify.fleet.member import fleet_host
from verify.fleet.page import index
from verify.fleet.prometheus import FILE, prometheus
from verify.json_values import as_list
from verify.race import SCHEMA
from verify.race.markdown import markdown
from verify.race.page import page
from verify.race.svg import svg
from verify.report.findings import judge_host
from verify.report.fleet_lines import drifts
from verify.report.junit import junit
from verify.report.layout import LOCK, RACE, RECORDINGS, RUN, dump
from verify.report.markdown import fleet_page
from verify.report.model import Fleet, HostReport
from verify.report.standings import check

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from verify.fleet.member import FleetHost

_WRITTEN = frozenset(
    {"findings.json", "junit.xml", "nvidia-smi.txt", "race.md", "race.svg", "race.html", FILE}
)

Json = dict[str, Any]


def host_folders(source: Path) -> list[Path]:
    """List the hosts' folders; a folder without run.json is not a host's."""
    if not source.is_dir():
        raise VerifyError(f"{source} is not a folder: give the evidence folder that a run has written")
    for left in sorted(source.glob(".*.old")):
        recover(source / left.name[1 : -len(".old")])
    folders = sorted(f for f in source.iterdir() if not f.name.startswith(".") and (f / RUN).is_file())
    if not folders:
        raise VerifyError(f"{source} holds no host's evidence (no */{RUN}): run the verification first")
    return folders


def write(source: Path, lang: str | None = None) -> Fleet:
    """Write all reports of an evidence folder and return what they say; races in their language, or this."""
    # All are read before any is written: what is damaged in one leaves all as they were.
    read = [(folder, *read_host(folder)) for folder in host_folders(source)]
    lock = read_lock(source / LOCK)
    for folder, report, documents in read:
        _write_host(folder, report, documents, lang)
    seen = [_seen(*host) for host in read]
    fleet = Fleet(tuple(report for _, report, _ in read), drifts(seen, lock))
    replace_file(source / "README.md", fleet_page(fleet))
    replace_file(source / "index.html", index(seen, lock))
    replace_file(source / "failed.hosts", "".join(f"{host.host}\n" for host in fleet.hosts if host.failed))
    for left in source.glob(".*.new"):
        shutil.rmtree(left, ignore_errors=True)
    return fleet


def read_host(folder: Path) -> tuple[HostReport, dict[str, Json]]:
    """Judge one host's folder; also return its recordings."""
    run = _run(folder / RUN)
    race, damage = _race(folder / RACE)
    documents = {
        where: _json(folder / name) for where, name in RECORDINGS.items() if (folder / name).is_file()
    }
    burnt = _json(folder / burn_in.FILE) if (folder / burn_in.FILE).is_file() else None
    return replace(_judged(run, documents, race, burnt), damage=damage), documents


def _judged(run: Json, documents: dict[str, Json], race: Json | None, burnt: Json | None) -> HostReport:
    """Judge the stack, then the burn-in where there was one; each knows its own expected findings."""
    if burnt is None:
        return judge_host(run, documents, race)
    expected = frozenset(run.get("expected") or ())
    report = judge_host({**run, "expected": sorted(expected - {*burn_in.ids()})}, documents, race)
    return replace(report, findings=(*report.findings, *burn_in.judge(burnt, expected)))


def _seen(folder: Path, report: HostReport, documents: dict[str, Json]) -> FleetHost:
    """Bring together what the page shows: nvidia-smi as it ran in the container, or else on the host."""
    smi = {where: nvidia_smi_text(documents.get(where)) for where in ("container", "host")}
    return fleet_host(report, documents, smi, os.fsencode(folder.name))


def _write_host(folder: Path, report: HostReport, documents: dict[str, Json], lang: str | None) -> None:
    findings = report.document()
    files = {"findings.json": dump(findings), "junit.xml": junit(findings)}
    files[FILE] = prometheus(report, documents)
    smi = nvidia_smi_text(documents.get("container"))
    if smi is not None:
        files["nvidia-smi.txt"] = smi
    if report.race is not None:
        files |= race_files(report.race, lang)
    replace_folder(folder, files, drop=_WRITTEN - set(files))


def nvidia_smi_text(container: Json | None) -> str | None:
    """Return what nvidia-smi printed in the container; where the table failed, also -L and the query."""
    commands = (container or {}).get("commands", {})
    table = commands.get("nvidia-smi")
    if table is None or table.get("missing"):
        return None
    if table.get("rc") == 0:
        return str(table.get("stdout", ""))
    parts = []
    for name in ("nvidia-smi", "nvidia-smi-list", "nvidia-smi-query"):
        entry = commands.get(name)
        if entry is None:
            continue
        ended = "timed out" if entry.get("timed_out") else f"exit status {entry.get('rc')}"
        said = str(entry.get("stdout") or "") + str(entry.get("stderr") or "")
        argv = " ".join(map(str, as_list(entry.get("argv"))))
        parts.append(f"$ {argv}    ({ended})\n{said}")
    return "\n".join(parts)


def race_files(race: Mapping[str, Any], lang: str | None = None) -> dict[str, str]:
    """Return what is drawn from a race: the table, the picture, the page; in the language it was run in."""
    known = lang or str(race.get("lang") or "en")
    return {"race.md": markdown(race, known), "race.svg": svg(race, known), "race.html": page(race, known)}


def _race(path: Path) -> tuple[Json | None, str | None]:
    """Read a race; one that cannot be read is a sentence of that host, and keeps no other from its report."""
    if not path.is_file():
        return None, None
    try:
        race = _json(path)
        if race.get("schema") != SCHEMA:
            of = f"of schema {race.get('schema')!r}, this version reads {SCHEMA}"
            return None, f"{path.name} is no race of this version ({of}): race again"
        race_files(race)
        check(race)
    except VerifyError as error:
        return None, str(error).replace(str(path), path.name)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        return None, f"{path.name} is no race of this version ({error!r}): race again"
    return race, None


def _run(path: Path) -> Json:
    run = _json(path)
    expected = run.get("expected") or []
    right = (
        isinstance(run.get("host"), str)
        and isinstance(run.get("collection") or {}, dict)
        and all(isinstance(run.get(name) or {}, dict) for name in ("second_look", "provisioning"))
        and isinstance(run.get("image_digest") or "", str)
        and isinstance(expected, list)
        and all(isinstance(name, str) for name in expected)
    )
    if not right:
        raise VerifyError(f"{path} does not say which host was collected, and how: collect again")
    return run


def _json(path: Path) -> Json:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise VerifyError(f"cannot read {path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise VerifyError(f"{path} is not JSON ({error}): take it out, or collect again") from error
    if not isinstance(document, dict):
        raise VerifyError(
            f"{path} holds {type(document).__name__}, it must hold a JSON object: collect again"
        )
    return document
