"""The controller's half of collecting: what to run, where recordings are staged, when a race is due.

The ``gpu_verify`` role calls this as ``python -m verify.collect COMMAND --evidence DIR``, with JSON on
standard input and JSON on standard output. Everything of one run is staged in ``DIR/.staging``
and becomes evidence host by host, each in one rename (``publish``). A command is one start of Python, and for
every host there is one: what only some of them need is imported where it is used.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from verify.commands import some_path
from verify.errors import VerifyError
from verify.facts.container import image_facts
from verify.facts.smi import parse_query
from verify.files import put_in_place, replace_file
from verify.launch import CLEANUP, container_name, docker_run
from verify.manifest import recorder_argv, recorder_source
from verify.recording import Recording
from verify.redact import redact_recordings
from verify.report.layout import LOCK, RACE, RECORDINGS, RUN, dump

STAGING = ".staging"
HOSTS = "hosts.json"
SSH_CONFIG = "ssh_config"
ROOT = Path(__file__).resolve().parents[1]
# Names what the callback gpu_host_provisioned has written.
PROVISIONED = "GPU_HOST_PROVISIONED"
# Of a failure's message, which may be a whole log.
SAID = 1000
Document = dict[str, Any]


def _read(path: Path) -> Document | None:
    """Return a JSON object, or None where there is none that can be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def start(evidence: Path, given: Document) -> Document:
    """Begin a run; return what is to be run on each host, with ``{image}`` and its ``{number}`` in it."""
    staging = evidence / STAGING
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True, exist_ok=True)
    for name in given["hosts"]:
        _folder(staging, name)
    replace_file(staging / HOSTS, dump(given["hosts"]))
    return {
        "recorder": recorder_source(),
        "host": recorder_argv("host", "{image}"),
        "container": recorder_argv("container", "{image}", f"{container_name()}-{{number}}"),
        "cleanup": CLEANUP,
    }


def _folder(parent: Path, host: object) -> Path:
    """Return a host's folder; a name that would lead elsewhere, or be overlooked there, is refused."""
    name = str(host)
    taken = {HOSTS, SSH_CONFIG, LOCK, "README.md", "index.html", "failed.hosts"}
    if not re.fullmatch(r"[^./\x00-\x1f\x7f-\x9f][^/\x00-\x1f\x7f-\x9f]*", name) or name in taken:
        raise VerifyError(
            f"the inventory's host name {name!r} cannot be the name of a folder of evidence: "
            "give the host another name, and its address as ansible_host"
        )
    return parent / name


def _recording(text: str) -> Document | None:
    try:
        document = json.loads(text)
        Recording.from_document(document)
    except (ValueError, RecursionError, VerifyError):
        return None
    return dict(document)


def _sentence(said: str) -> str:
    """Return Ansible's message on one line, without the words that it puts before every one."""
    return " ".join(said.replace("Task failed: ", "").split())


def _outcome(given: Document, *, recorded: bool) -> Document:
    if recorded:
        return {"outcome": "ok", "detail": None}
    if given["unreachable"]:
        return {"outcome": "unreachable", "detail": _sentence(given["unreachable"])}
    if given["detail"]:
        return {"outcome": "timed-out", "detail": _sentence(given["detail"])}
    said = (given["stderr"].strip().splitlines() or ["the recorder printed no recording"])[-1]
    return {"outcome": "failed", "detail": said}


def _provisioning(name: str, fact: bool | None) -> Document:  # noqa: FBT001
    """Return why a host was not provisioned to the end; nothing where it was, or where nobody was to do it.

    In one run with provisioning a fact of the host says it; where that was a run of its own, its file.
    """
    file = os.environ.get(PROVISIONED)
    if not file:
        known: Document = {"through": [] if fact is False else [name]}
    else:
        known = _read(Path(file)) or {}
    if name in known.get("through", ()):
        return {}
    said = (known.get("said") or {}).get(name) or "the run that provisions ended before; it printed why"
    return {"provisioning": {"outcome": "failed", "detail": _sentence(str(said))[:SAID]}}


def race_key(host: Document | None, container: Document | None, settings: Document) -> Document:
    """Return what a race depends on: first card and driver as the container sees them, image, settings."""
    query = Recording.from_document(container).command("nvidia-smi-query") if container else None
    card = next(iter(parse_query(query.stdout if query else "")), None)
    return {
        "card": card.name if card else None,
        "driver": card.driver_version if card else None,
        "image_digest": _image_digest(host),
        "settings": settings,
    }


def _image_digest(host: Document | None) -> str | None:
    return image_facts(Recording.from_document(host)).id if host else None


def stage(evidence: Path, given: Document) -> Document:
    """Stage one host's recordings; say whether its race is due and, where it is, how it is started."""
    name = str(given["host"])
    folder = _folder(evidence / STAGING, name)
    settings = _settings(given)
    recordings = {where: _recording(given[f"recording_{where}"]) for where in RECORDINGS}
    host, container = recordings["host"], recordings["container"]
    found = {where: document for where, document in recordings.items() if document is not None}
    kept = list(found.values()) if given["raw"] else redact_recordings(list(found.values()))
    for where, document in zip(found, kept, strict=True):
        replace_file(folder / RECORDINGS[where], dump(document))
    run = {
        "schema": 1,
        "host": name,
        "expected": given["expected"],
        "image": given["image"],
        "image_digest": _image_digest(host),
        "collection": _outcome(given, recorded=host is not None),
        "settings": {
            "race": given["race"],
            **{name: given[name] for name in ("repeats", "budget", "network", "deadline")},
        },
        **_provisioning(name, given["provisioned"]),
    }
    replace_file(folder / RUN, dump(run))
    if settings is None or container is None:
        return {"race": "no", "argv": []}
    return _due(evidence / name, folder, given, race_key(host, container, settings), host)


def _settings(given: Document) -> Document | None:
    """Return the settings of the host's race, None where there is to be none."""
    if given["race"] == "never":
        return None
    from verify.collect_race import race_settings  # noqa: PLC0415

    return race_settings(given).document()


def _due(known: Path, folder: Path, given: Document, key: Document, host: Document | None) -> Document:
    """Stage the race that is known and still holds; else say how it is started."""
    from verify.collect_race import others_on_card, race_options, reused  # noqa: PLC0415
    from verify.race.cache import reusable  # noqa: PLC0415

    old = _read(known / RACE) or {}
    if given["race"] == "cached" and reusable(old, **key):
        replace_file(folder / RACE, dump(reused(old, given)))
        return {"race": "cached", "argv": []}
    program = [
        "python3",
        "-m",
        "verify.race",
        *race_options(given, key["image_digest"], others_on_card(host)),
    ]
    return {
        "race": "due",
        "argv": docker_run(given["image"], program, gpus="all", name=container_name()),
    }


def race(evidence: Path, given: Document) -> Document:
    """Stage what a race printed; one that printed no race leaves none, and the reason on standard error."""
    from verify.race.markdown import markdown  # noqa: PLC0415

    try:
        document = json.loads(given["race"])
        markdown(document)  # one host's nonsense must not keep the others from their reports
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError):
        said = (str(given["stderr"]).strip().splitlines() or ["it printed no race"])[-1]
        print(f"{given['host']}: the race did not end: {said}", file=sys.stderr)
        return {"staged": False}
    replace_file(_folder(evidence / STAGING, given["host"]) / RACE, dump(document))
    return {"staged": True}


def complete(evidence: Path, _given: Document) -> Document:
    """Give every host of the run that staged nothing its own row: it was not reached."""
    from verify.report.evidence import write as write_reports  # noqa: PLC0415

    staging = evidence / STAGING
    missing = [
        name for name in json.loads((staging / HOSTS).read_text()) if not (staging / name / RUN).is_file()
    ]
    for name in missing:
        run = {
            "schema": 1,
            "host": name,
            "expected": [],
            "image": None,
            "image_digest": None,
            "collection": {
                "outcome": "unreachable",
                "detail": "the run ended before it was recorded",
            },
            "settings": {},
        }
        replace_file(staging / name / RUN, dump(run))
    write_reports(staging)
    return {"unreachable": missing}


def publish(evidence: Path, _given: Document) -> Document:
    """Make the staged hosts' folders evidence, each in one rename, and write the fleet's reports."""
    from verify.report.evidence import write as write_reports  # noqa: PLC0415

    staging = evidence / STAGING
    folders = sorted(run.parent for run in staging.glob(f"*/{RUN}"))
    for folder in folders:
        put_in_place(folder, evidence / folder.name)
    shutil.rmtree(staging)
    return {"hosts": [folder.name for folder in folders], "failed": write_reports(evidence).failed}


def judge(evidence: Path, given: Document) -> Document:
    """Complete, run the suite over it and publish, whatever the suite says; return what it said."""
    import pytest  # noqa: PLC0415

    from verify.suite.second_look import SecondLook  # noqa: PLC0415

    complete(evidence, given)
    staging = evidence / STAGING
    config = staging / SSH_CONFIG
    config.touch(mode=0o600)
    config.write_text(given["ssh_config"], encoding="utf-8")
    words = [f"--evidence={staging}", f"--hosts={','.join(given['hosts'])}", f"--ssh-config={config}"]
    look, out, err = SecondLook(), io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        # hypothesis, where it is installed, loads slowly, and the suite has no use for it.
        quick = ["-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
        status = pytest.main([str(ROOT / "verify/suite"), *words, *quick], plugins=[look])
    for name, said in look.said.items():
        path = _folder(staging, name) / RUN
        replace_file(path, dump({**(_read(path) or {}), "second_look": said}))
    suite = {"rc": int(status), "lines": out.getvalue().splitlines(), "stderr": err.getvalue()}
    return {**publish(evidence, given), "suite": suite}


COMMANDS = {"start": start, "stage": stage, "race": race, "judge": judge}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 2 where its input is not what it needs."""
    parser = argparse.ArgumentParser(prog="python -m verify.collect", description=__doc__)
    parser.add_argument("command", choices=sorted(COMMANDS))
    parser.add_argument("--evidence", type=some_path, required=True)
    options = parser.parse_args(arguments)
    try:
        print(json.dumps(COMMANDS[options.command](options.evidence, json.load(sys.stdin))))
    except (VerifyError, OSError, ValueError) as error:
        print(f"{options.command}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
