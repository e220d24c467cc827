"""What can be recognised only where it stands: host and user names, serial numbers.

They are collected from the recordings first, each from the places that hold it, then replaced
everywhere. A name that is also a word of the trade (a host called ``docker``) is replaced only in the
places that hold names: elsewhere it gives nothing away, and the findings read it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verify.json_values import as_object, as_text
from verify.redact_addresses import addresses_of, replace_addresses
from verify.redact_rules import abbreviations, replace_abbreviations
from verify.redact_words import KEPT_USERS, is_private_host, is_word

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ENDINGS = (
    "com|org|net|edu|gov|cloud|de|uk|fr|nl|eu|ch|at|es|cz|se|fi|dk|us|ca|au|jp|cn|kr|tw|br"
    "|corp|example|home|internal|intranet|lan|local|localdomain|private"
)
_DOMAIN = re.compile(rf"(?<![\w.@/-])((?:{_LABEL}\.){{1,8}}(?:{_ENDINGS}))(?![\w-]|\.\w)")
_URL_HOST = re.compile(r"(?<=[a-z0-9+.-]:)((?:\\?/){2}\[?)([A-Za-z0-9][A-Za-z0-9.-]*)", re.IGNORECASE)
_PORT = re.compile(rf"(?<![\w.:@/-])({_LABEL}(?:\.{_LABEL}){{0,8}})(:\d{{2,5}}/)")
_MOUNT = re.compile(
    rf"^({_LABEL}(?:\.{_LABEL}){{0,8}})(?=:/\S* /)|^//({_LABEL}(?:\.{_LABEL}){{0,8}})(?=/\S* /)", re.MULTILINE
)
_NO_PROXY = re.compile(
    r"no_?proxy[\"'\\]{0,4}[ \t]{0,4}[=:][ \t]{0,4}[\"'\\]{0,4}([^\"'\\\n ]*)", re.IGNORECASE
)
_MAIL = re.compile(
    r"(?<![\w.+@-])[A-Za-z0-9][\w.+-]{0,63}@((?:[A-Za-z0-9-]{1,63}\.){1,8}([A-Za-z]{2,24}))(?![\w-])"
)
_UNIT = re.compile("service|socket|slice|scope|timer|target|mount|path|device|swap", re.IGNORECASE)
_HOME = re.compile(r"(/(?:home|Users)/)([A-Za-z0-9_][\w.-]*)")
_USER = re.compile(
    r"(?:\b(?:LOGNAME|SUDO_USER|USER)=|\busername=|\"Username\"\s{0,4}:\s{0,4}\")([A-Za-z_][\w.-]*)"
)
_OWNER = re.compile(r"^(\s*\d+\s+)(?!cgroup\s)(\S+)(?=\s)", re.MULTILINE)
_SERIAL = re.compile(
    r"(?:<(?:serial|\w{1,24}_serial_number|serial_number)>"
    r"|serial[ _]?(?:number)?\"?(?: is)?[ \t]{0,3}[:=]?[ \t]{0,3}\"?)"
    r"(?!N/A)([A-Za-z0-9][A-Za-z0-9-]{4,63})(?![\w-])",
    re.IGNORECASE,
)
_OWN, _NUMBERED = "this-host", re.compile(r"this-host|host-\d+\.invalid|user-\d+|serial-\d+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Names:
    """Every name that is replaced, with what stands in for it."""

    own: Mapping[str, str]
    hosts: Mapping[str, str]
    users: Mapping[str, str]
    serials: Mapping[str, str]
    addresses: Mapping[str, str]
    cards: dict[str, str]
    pattern: re.Pattern[str] | None

    def replace(self, text: str) -> str:
        """Replace all of them in one text."""
        text = _MAIL.sub(_mail, replace_abbreviations(text, self.cards))
        text = _URL_HOST.sub(lambda m: m.group(1) + self._host(m.group(2)), text)
        text = _PORT.sub(lambda m: self._host(m.group(1)) + m.group(2), text)
        text = _MOUNT.sub(
            lambda m: m.group().replace(m.group(1) or m.group(2), self._host(m.group(1) or m.group(2))), text
        )
        text = _HOME.sub(lambda m: m.group(1) + self._user(m.group(2)), text)
        if self.pattern is not None:
            text = self.pattern.sub(self._word, text)
        return replace_addresses(text, self.addresses)

    def replace_in(self, command: str, text: str) -> str:
        """Replace what stands where a name is expected, be it a word of the trade or not."""
        if command == "uname":
            kind, name, *rest = [*text.split(" ", 2), "", ""][:3]
            return f"{kind} {self.own.get(name.lower(), name)} {rest[0]}" if rest[0] else text
        if command == "docker-info":
            return re.sub(
                r'("Name"\s*:\s*")([^"\\]+)(?=")',
                lambda m: m.group(1) + self.own.get(m.group(2).lower(), m.group(2)),
                text,
            )
        if command == "gpu-processes":
            return _OWNER.sub(lambda m: m.group(1) + self._user(m.group(2)), text)
        return text

    def _user(self, name: str) -> str:
        return self.users.get(name.lower()) or self.own.get(name.lower(), name)

    def _host(self, name: str) -> str:
        low = name.lower().rstrip(".")
        return self.own.get(low) or self.hosts.get(low, name)

    def _word(self, match: re.Match[str]) -> str:
        low = (match.group("whole") or match.group("own") or match.group("other")).lower()
        return next(m[low] for m in (self.own, self.hosts, self.users, self.serials) if low in m)


def names_of(recordings: Sequence[Mapping[str, Any]], text: str) -> Names:
    """Collect what is to go from all recordings of one host."""
    own = {name: _OWN for recording in recordings for name in _own_names(recording)}
    hosts = _numbered(_hosts(text) - set(own), "host-{}.invalid")
    owners = {owner for recording in recordings for owner in _owners(recording)}
    users = {user.lower() for user in (*owners, *(m[1] for m in _HOME.findall(text)), *_USER.findall(text))}
    accounts = _numbered({user for user in users - set(own) if not _is_everybodys(user)}, "user-{}")
    serials = {found.lower() for found in _SERIAL.findall(text) if any(map(str.isdigit, found))}
    numbers = _numbered(serials, "serial-{}")
    others = [*(name for name in (*hosts, *accounts) if not is_word(name)), *numbers]
    return Names(
        own=own,
        hosts=hosts,
        users=accounts,
        serials=numbers,
        addresses=addresses_of(text),
        cards=abbreviations(text),
        pattern=_pattern([name for name in own if not is_word(name)], others),
    )


def _pattern(own: Sequence[str], others: Sequence[str]) -> re.Pattern[str] | None:
    """Match every name, the longest first, none inside a longer one; an own name with its domain."""

    def any_of(names: Sequence[str]) -> str:
        return "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name)))) or r"(?!)"

    if not own and not others:
        return None
    domain = r"(?:\.[A-Za-z][A-Za-z0-9-]*)*"
    return re.compile(
        # First an own name that ends there: a user may be called like its beginning.
        rf"(?<![A-Za-z0-9])(?:(?P<whole>{any_of(own)})(?!\.)|(?P<other>{any_of(others)})|(?P<own>{any_of(own)}){domain})(?![A-Za-z0-9])",
        re.IGNORECASE,
    )


def _numbered(found: set[str], form: str) -> dict[str, str]:
    fresh = sorted(name for name in found if not _NUMBERED.fullmatch(name))
    return {name: form.format(number) for number, name in enumerate(fresh, start=1)}


def _hosts(text: str) -> set[str]:
    found = {match[1] for match in _URL_HOST.findall(text)} | {match[0] for match in _PORT.findall(text)}
    found |= {first or second for first, second in _MOUNT.findall(text)} | set(_DOMAIN.findall(text))
    for names in _NO_PROXY.findall(text):
        found |= {
            name.strip(" *.")
            for name in names.split(",")
            if re.fullmatch(r"[*.]*[A-Za-z][\w.-]*", name.strip())
        }
    return {host.lower().rstrip(".") for host in found if is_private_host(host)}


def _own_names(recording: Mapping[str, Any]) -> set[str]:
    names = {[*_stdout(recording, "uname").split(" ", 2), "", ""][1]}
    try:
        info = json.loads(_stdout(recording, "docker-info") or "{}")
    except (ValueError, RecursionError):
        info = {}
    names.add(as_text(as_object(info).get("Name")) or "")
    names |= {name.split(".")[0] for name in names}
    return {n.lower() for n in names if n and is_private_host(n) and not _NUMBERED.fullmatch(n)}


def _owners(recording: Mapping[str, Any]) -> set[str]:
    return {owner for _, owner in _OWNER.findall(_stdout(recording, "gpu-processes"))}


def _is_everybodys(user: str) -> bool:
    return user in KEPT_USERS or user.isdigit() or user.startswith("systemd-")


def _stdout(recording: Mapping[str, Any], command: str) -> str:
    return as_text(as_object(as_object(recording.get("commands")).get(command)).get("stdout")) or ""


def _mail(match: re.Match[str]) -> str:
    if _UNIT.fullmatch(match.group(2)) or not is_private_host(match.group(1)):
        return match.group()
    return "someone@host.invalid"
