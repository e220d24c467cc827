"""Collect what an offer is: the recorder's look, then the probes that try things out, in one recording."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

from verify.errors import VerifyError
from verify.image.reference import is_loopback
from verify.json_values import json_object
from verify.offer import manifest
from verify.offer.manifest import METADATA, REGISTRY, TRIES
from verify.recorder import redact as without_secrets
from verify.take import ssh_argv, take

if TYPE_CHECKING:
    import argparse

    from verify.image.reference import Reference

Json = dict[str, Any]
_PYTHON = ["python3", "-"]
_ENDING_S = 60  # a probe that is told to stop takes away what it made, first
_REGISTRY_S, _METADATA_S = 120, 30


def collect(options: argparse.Namespace, image: Reference | None, password: str) -> Json:
    """Return a recording of this machine, or of one that SSH reaches."""
    text = take(
        "host",
        host=options.host,
        image=options.image if image is not None else None,
        ssh_config=options.ssh_config,
        content=manifest.offer_manifest(),
    )
    document: Json = json.loads(text)
    commands = document.setdefault("commands", {})
    if options.tries or options.forget:
        source = manifest.tries_source(
            mounts=tuple(options.mount),
            docker=options.tries and not options.forget,
            measure=options.tries and not options.forget,
            mark=options.marker,
            forget=options.forget,
        )
        commands[TRIES] = probe(options, source, manifest.TRIES_DEADLINE_S + _ENDING_S)
    if options.registry or image is not None:
        source = _registry(options, image, password)
        commands[REGISTRY] = probe(options, source, _REGISTRY_S)
    if options.ask_metadata:
        commands[METADATA] = probe(options, manifest.metadata_source(), _METADATA_S)
    return document


def _registry(options: argparse.Namespace, image: Reference | None, password: str) -> str:
    host = image.host if image is not None else options.registry
    name = host if host.endswith("]") else host.rsplit(":", 1)[0]
    return manifest.registry_source(
        host,
        plain=is_loopback(name.strip("[]")),
        image=image,
        username=options.username or "",
        password=password,
        ca=options.ca_file.read_text(encoding="utf-8") if options.ca_file else "",
    )


def probe(options: argparse.Namespace, source: str, limit: float) -> Json:
    """Run one of our programs there, its text on standard input; return it as a recording has a command."""
    argv = list(_PYTHON)
    if options.host is not None:
        argv = ssh_argv(options.host, argv, options.ssh_config)
    began = time.monotonic()
    out, error, status = _ran(argv, source, limit)
    entry: Json = {"argv": list(_PYTHON), "seconds": round(time.monotonic() - began, 3)}
    if status is None:
        return {**entry, "timed_out": True}
    answer = json_object((out.strip().splitlines() or [""])[-1])
    said = without_secrets(error)[-2000:]
    if answer is None:
        return {**entry, "rc": status or 1, "stdout": "", "stderr": said}
    return {**entry, "rc": status, "stdout": json.dumps(cleaned(answer), sort_keys=True), "stderr": said}


def cleaned(value: Any) -> Any:  # noqa: ANN401  # JSON
    """Take secrets out text by text: in a document as a whole, quotes within quotes might be cut."""
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, dict):
        return {name: cleaned(item) for name, item in value.items()}
    return [cleaned(item) for item in value] if isinstance(value, list) else value


def _ran(argv: list[str], text: str, limit: float) -> tuple[str, str, int | None]:
    """Run it; interrupted, it is told so, and given the time to take away what it made."""
    try:
        # A session of its own: Ctrl-C is for us, and we pass it on once.
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise VerifyError(f"{argv[0]} is not installed here: install it, or add it to PATH") from error
    with process:
        try:
            out, err = process.communicate(text, timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            return "", "", None
        except BaseException:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=_ENDING_S)
            process.kill()
            raise
    return out, err, process.returncode
