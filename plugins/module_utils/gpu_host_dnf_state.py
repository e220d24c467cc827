"""What dnf and rpm say: read into plain values. Pure."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from .gpu_host_refused import cause_of

QUERY = "%{NAME}\\t%{EPOCH}\\t%{VERSION}\\t%{RELEASE}\\t%{ARCH}\\t%{INSTALLTID}\\n"
SECTIONS = {
    "Installing": "new",
    "Installing dependencies": "new",
    "Installing weak dependencies": "new",
    "Installing group/module packages": "new",
    "Upgrading": "changed",
    "Downgrading": "older",
    "Reinstalling": "changed",
    "Removing": "removed",
    "Removing dependent packages": "removed",
    "Removing unused dependencies": "removed",
    "Enabling module streams": "streams",
}
SENTENCES = (
    (
        "repository",
        r"[Cc]ould(?:n't| not) resolve host",
        (
            "names are not resolved here ({line}): repair DNS (`resolvectl status`), or set the role's "
            "proxy, and run again"
        ),
    ),
    (
        "repository",
        r"certificate is not yet valid",
        "this host's clock is behind ({line}): set it (`timedatectl set-ntp true`), and run again",
    ),
    (
        "disk",
        r"more space needed|[Nn]o space left|more free space|At least \d+\w* more",
        "the disk is full ({line}): make room (`df -h /var /usr`), and run again",
    ),
    (
        "repository",
        r"GPG check FAILED|[Pp]ublic key .*not installed|key.*not correct|signature|NOKEY|key import failed",
        (
            "a package is not signed with the key that was checked ({line}). Nothing was installed: correct "
            "the role's repository_url, or its key where the owner really changed it, and run again"
        ),
    ),
)


def rows(said: str) -> list:
    """Split rpm's query lines; what is not installed has a sentence in their place."""
    found = [line.split("\t") for line in said.splitlines()]
    return [row for row in found if len(row) == 6]  # noqa: PLR2004


def older(said: str) -> dict:
    """Return, by name, what an interrupted transaction left: all but the last that came, kernels left out."""
    by_name: dict = {}
    for row in sorted(rows(said), key=lambda row: int(row[5]) if row[5].isdigit() else 0):
        if not row[0].startswith("kernel"):
            by_name.setdefault((row[0], row[4]), []).append(f"{row[0]}-{row[2]}-{row[3]}.{row[4]}")
    return {name: found[:-1] for (name, _), found in by_name.items() if len(found) > 1}


def packages(said: str) -> dict:
    """Return full versions (epoch only where there is one) of what is wholly there."""
    broken = older(said)
    return {
        row[0]: f"{'' if row[1] in ('(none)', '0') else row[1] + ':'}{row[2]}-{row[3]}"
        for row in rows(said)
        if row[0] not in broken
    }


def same_version(there: str, wanted: str) -> bool:
    """Tell whether a version is the wanted one: release and epoch may be left out; 580.* is a branch."""
    if ":" not in wanted:
        there = there.rpartition(":")[2]
    wanted = re.sub(r"^0:", "", wanted)
    return wanted in (there, there.rpartition("-")[0]) or fnmatchcase(there, wanted)


def transaction(said: str) -> dict:
    """Return what `dnf --assumeno` would do: names by new, changed, older, removed, streams.

    A long name has its line to itself, and the rest follows further to the right.
    """
    found: dict = {"new": [], "changed": [], "older": [], "removed": [], "streams": []}
    kind = None
    for line in said.splitlines():
        head = re.match(r"^([A-Z][a-z /]+):$", line)
        if head:
            kind = SECTIONS.get(head[1])
        elif not line.startswith(" "):
            kind = None
        elif replaced := re.match(r"^ +replacing +(\S+)\.[^.\s]+ ", line):
            found["removed"].append(replaced[1])
        elif kind and re.match(r"^ \S", line):
            found[kind].append(line.split()[0])
    found["changed"] += found["older"]
    return {kind: sorted(set(names)) for kind, names in found.items()}


def complaint(said: str) -> str:
    """Return dnf's own reason for a failure."""
    lines = [line.strip() for line in said.splitlines()]
    shown = [line for line in lines if re.match(r"(Error|Problem|- |No match|Unable|missing |\[Errno)", line)]
    shown = [line for line in shown if not line.endswith(":") and line != "Error: Transaction failed"]
    shown = shown or [line for line in lines if line][-1:]
    return "; ".join(shown[:3]) or "no reason given"


def known_cause(said: str) -> tuple | None:
    """Return (reason, sentence) of a failure that has one known cause."""
    return cause_of(said, SENTENCES, r"^\s*(- |Error: )")


def left_out(said: str) -> list:
    """Return the repositories that dnf went on without."""
    shown = re.findall(r"^Ignoring repositories: (.*)$", said, re.MULTILINE)
    return sorted({name.strip() for names in shown for name in names.split(",")})


def locked(said: str) -> set:
    """Return the names in `dnf versionlock list`: `nvidia-open-3:580.159.03-1.el9.*`."""
    pattern = re.compile(r"^(?:\d+:)?([^!\s].*?)-(?:\d+:)?[^-\s]+-[^-\s]+$")
    found = (pattern.match(line) for line in said.splitlines())
    return {shown[1] for shown in found if shown}


def stream(text: str) -> str:
    """Return the stream that a file of /etc/dnf/modules.d switches on; empty where it does not."""
    given = dict(re.findall(r"(?m)^\s*(stream|state)\s*=[ \t]*(.*?)[ \t]*$", text))
    return given.get("stream", "") if given.get("state") == "enabled" else ""
