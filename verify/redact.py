"""Make recordings fit to be committed: serials, addresses, host and user names are replaced.

The same thing gets the same stand-in in every recording of one host, so that findings still see
what agrees and what does not. What is replaced is valid and recognisable (192.0.2.x, host-1.invalid),
and is left alone by a second pass: redacting twice gives the same bytes. UUIDs of cards stay: the
findings compare them. Secrets are no matter for this module, they never enter a recording.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verify.facts.source import as_list

Json = dict[str, Any]

# Names under these are the public's: a distribution's or a vendor's.
_PUBLIC_HOST = re.compile(
    r"(?:^|\.)(?:(?:almalinux|centos|debian|fedoraproject|freedesktop|kernel|python|pytorch|rockylinux)\.org"
    r"|(?:canonical|docker|github|nvidia|redhat|ubuntu)\.com|(?:docker|github)\.io|nvcr\.io)$"
)
_URL_HOST = re.compile(r"[a-z0-9+.-]://([A-Za-z0-9][A-Za-z0-9.-]*)", re.IGNORECASE)
_IPV4 = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-fA-F:]*:[0-9a-fA-F:]*:)[0-9a-fA-F:]{3,39}(?![\w:]|\.\d)")
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?![\w:])")
_SERIAL = re.compile(r"(<(?:serial|serial_number|chassis_serial_number)>)(?!N/A)([^<]+)(<)")
_ENGINE_ID = re.compile(
    r'("ID":")((?:[A-Z0-9]{4}:){11}[A-Z0-9]{4}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(")'
)
_HOME = re.compile(r"/home/([A-Za-z_][\w.-]*)")
_STAND_IN_V4 = ipaddress.ip_network("192.0.2.0/24")
_STAND_IN_V6 = ipaddress.ip_network("2001:db8::/32")
_VERBATIM = "nvidia-smi"  # its output is evidence as it stands
_LOCAL_NAMES = {"localhost", "localhost.localdomain"}


def redact_recordings(recordings: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Return the recordings of one host with what identifies it replaced, alike in all of them."""
    replace = _replacer(recordings)
    return [_recording(recording, replace) for recording in recordings]


def redact(recording: Mapping[str, Any]) -> Json:
    """Return one recording with what identifies its host replaced."""
    return redact_recordings([recording])[0]


def _recording(recording: Mapping[str, Any], replace: Callable[[str], str]) -> Json:
    redacted: Json = _walk(recording, replace)
    name = "commands"
    original = recording.get(name, {}).get(_VERBATIM)
    if isinstance(original, Mapping) and "stdout" in original:
        redacted[name][_VERBATIM]["stdout"] = original["stdout"]
    query = redacted.get(name, {}).get("nvidia-smi-query")
    if isinstance(query, dict):
        _blank_serial_column(query)
    return redacted


def _walk(value: Any, replace: Callable[[str], str]) -> Any:  # noqa: ANN401  # JSON
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, Mapping):
        return {replace(key): _walk(item, replace) for key, item in value.items()}
    if isinstance(value, list):
        return [_walk(item, replace) for item in value]
    return value


def _blank_serial_column(query: Json) -> None:
    """Blank the serial numbers of the query: only its argument list says which column holds them."""
    fields: list[str] = next(
        (
            a.partition("=")[2].split(",")
            for a in as_list(query.get("argv"))
            if isinstance(a, str) and a.startswith("--query-gpu=")
        ),
        [],
    )
    if "serial" not in fields or not isinstance(query.get("stdout"), str):
        return
    column = fields.index("serial")
    lines = []
    for line in query["stdout"].splitlines():
        cells = line.split(", ")
        if len(cells) == len(fields) and not cells[column].startswith("["):
            cells[column] = "0"
        lines.append(", ".join(cells) + "\n")
    query["stdout"] = "".join(lines)


def _strings(value: Any) -> list[str]:  # noqa: ANN401
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, item in value.items() for text in [key, *_strings(item)]]
    return [text for item in value for text in _strings(item)] if isinstance(value, list) else []


def _replacer(recordings: Sequence[Mapping[str, Any]]) -> Callable[[str], str]:
    """Collect what is to go from all of the recordings, then build one function that replaces it."""
    text = "\n".join(part for recording in recordings for part in _strings(recording))
    names: dict[str, str] = {}
    own = {name for recording in recordings for name in _host_names(recording)}
    for name in sorted(own):
        if name not in _LOCAL_NAMES and not re.fullmatch(r"this-host(-\d+)?", name):
            names[name] = "this-host"
    remote = {host.rstrip(".").lower() for host in _URL_HOST.findall(text)}
    _number(names, {h for h in remote if _is_private_name(h)} - set(names), "host-{}.invalid")
    users = {user for user in _HOME.findall(text) if not re.fullmatch(r"user-\d+", user)}
    users |= {user for recording in recordings for user in _process_owners(recording)}
    _number(names, users - set(names), "user-{}")
    addresses: dict[str, str] = {}
    _number(addresses, {found for found in _IPV4.findall(text) if _is_private_v4(found)}, "192.0.2.{}")
    _number(addresses, {found for found in _IPV6.findall(text) if _is_private_v6(found)}, "2001:db8::{:x}")
    macs = {m for m in _MAC.findall(text) if not m.startswith("02:00:00:00:00:") and m != "00:00:00:00:00:00"}
    _number(addresses, macs, "02:00:00:00:00:{:02x}")
    words = names | addresses
    pattern = _any_of(words)

    def replace(part: str) -> str:
        part = _SERIAL.sub(r"\g<1>0\g<3>", part)
        part = _ENGINE_ID.sub(r"\g<1>engine\g<3>", part)
        return pattern.sub(lambda match: words[match.group()], part) if pattern else part

    return replace


def _number(into: dict[str, str], found: set[str], form: str) -> None:
    for number, name in enumerate(sorted(found), start=1):
        into[name] = form.format(number)


def _any_of(words: Mapping[str, str]) -> re.Pattern[str] | None:
    if not words:
        return None
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    # Not inside a longer name: `lab` must not change `label`, 10.0.0.1 not 10.0.0.12 or a version.
    any_word = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w.-])(?:{any_word})(?![\w-]|\.\w)")


def _host_names(recording: Mapping[str, Any]) -> set[str]:
    commands = recording.get("commands", {})
    names = set()
    uname = str(commands.get("uname", {}).get("stdout", "")).split()
    if len(uname) > 2:  # noqa: PLR2004  # Linux NAME RELEASE …
        names.add(uname[1])
    try:
        info = json.loads(str(commands.get("docker-info", {}).get("stdout") or "{}"))
    except (ValueError, RecursionError):
        info = {}
    if isinstance(info, dict) and isinstance(info.get("Name"), str) and info["Name"]:
        names.add(info["Name"])
    return names


def _process_owners(recording: Mapping[str, Any]) -> set[str]:
    text = str(recording.get("commands", {}).get("gpu-processes", {}).get("stdout", ""))
    rows = (line.split() for line in text.splitlines())
    owners = {row[1] for row in rows if len(row) > 2 and row[0].isdigit() and row[1] != "cgroup"}  # noqa: PLR2004
    return {user for user in owners - {"root"} if not re.fullmatch(r"user-\d+|\d+", user)}


def _is_private_name(host: str) -> bool:
    if host in _LOCAL_NAMES or host.endswith(".invalid") or _PUBLIC_HOST.search(host):
        return False
    return not _IPV4.fullmatch(host) and not host.isdigit()


def _is_private_v4(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (
        address.is_loopback or address.is_unspecified or address in _STAND_IN_V4 or text.startswith("255.")
    )


def _is_private_v6(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address in _STAND_IN_V6)
