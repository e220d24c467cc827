"""What apt and dpkg say: read into plain values. Pure."""

from __future__ import annotations

import re

from .gpu_host_refused import cause_of

# Second letter of dpkg's status: unpacked, half configured, half installed, triggers awaited or pending.
HALF = "UFHWt"
QUERY = "-f=${Package}\\t${db:Status-Abbrev}\\t${Version}\\n"
TRIGGERED = "-f=${Package}\\t${db:Status-Abbrev}\\t${Version}\\t${Config-Version}\\n"
# Failures that have one known cause: what it is called here, and the sentence.
SENTENCES = (
    (
        "repository",
        r"is not valid yet",
        "this host's clock is behind ({line}): set it (`timedatectl set-ntp true`), and run again",
    ),
    (
        "repository",
        r"Temporary failure resolving|Could not resolve",
        (
            "names are not resolved here ({line}): repair DNS (`resolvectl status`), or set the role's "
            "proxy, and run again"
        ),
    ),
    (
        "disk",
        r"No space left|not enough free space|enough free space in",
        "the disk is full ({line}): make room (`df -h /var /usr`), and run again",
    ),
)
# How `apt-get -V` lists what it would do: `   name (old => new)`, a star where its configuration goes too.
BLOCK = re.compile(
    r"(?m)^The following (?:NEW )?packages will be (installed|upgraded|DOWNGRADED|REMOVED):\n((?:   .*\n)+)"
)
ROW = re.compile(r"(?m)^   ([^\s*]+)\*? \((?:\S+ => )?(\S+)\)$")
COUNTED = re.compile(
    r"(?m)^(\d+) upgraded, (\d+) newly installed, "
    r"(?:\d+ reinstalled, )?(?:(\d+) downgraded, )?(\d+) to remove "
)
# What apt only remarks on: the list was read all the same.
REMARKS = re.compile(
    r"legacy trusted\.gpg|Policy will reject|configured multiple times|support architecture"
    r"|weak (security|digest)|Usage of apt-key|changed its '"
)


def rows(text: str) -> list:
    """Split dpkg-query's lines of `name<tab>status<tab>version`."""
    found = [line.split("\t") for line in text.splitlines()]
    return [row for row in found if len(row) == 3]  # noqa: PLR2004


def installed(text: str) -> dict:
    """Return the versions of packages that are wholly there, held ones (`hi`) included."""
    return {name: version for name, status, version in rows(text) if status[1:2] == "i"}


def half_configured(text: str) -> list:
    """Return the packages that an interrupted or failed installation left behind."""
    return sorted(name for name, status, _ in rows(text) if status[1:2] in HALF)


def cut_off(text: str) -> set:
    """Return the packages that were whole, and were cut off while they served the trigger of another one.

    dpkg then says half configured (F), with the version that was configured, one that never was has none;
    or that a trigger is pending (t).
    """
    found = [line.split("\t") for line in text.splitlines()]
    return {
        row[0]
        for row in found
        if len(row) == 4 and ((row[1][1:2] == "F" and row[2] == row[3]) or row[1][1:2] == "t")  # noqa: PLR2004
    }


def planned(said: str) -> dict:
    """Return what `apt-get --print-uris --yes -V` would do: names by new, changed, removed, and older.

    ``coming``: what would be unpacked, each as name=version. ``understood``: the names are as many as apt
    says in its last line, so that nothing is overlooked that another apt would print in another way.
    """
    found: dict = {"installed": [], "upgraded": [], "DOWNGRADED": [], "REMOVED": []}
    for what, listed in BLOCK.findall(said):
        found[what] += ROW.findall(listed)
    names = {what: sorted({name.partition(":")[0] for name, _ in rows}) for what, rows in found.items()}
    counted = COUNTED.search(said)
    known = [len(found[what]) for what in ("upgraded", "installed", "DOWNGRADED", "REMOVED")]
    return {
        "new": names["installed"],
        "changed": sorted({*names["upgraded"], *names["DOWNGRADED"]}),
        "removed": names["REMOVED"],
        "older": names["DOWNGRADED"],
        "coming": [
            f"{name}={version}"
            for what in ("installed", "upgraded", "DOWNGRADED")
            for name, version in found[what]
        ],
        "understood": counted is not None and [int(number or 0) for number in counted.groups()] == known,
    }


def marked(said: str) -> list:
    """Return apt's error and warning lines, with the letters of any version of apt."""
    short = re.sub(r"(?m)^(E|W)(?:rror|arning): ", r"\1: ", said)
    return [line for line in short.splitlines() if line.startswith(("E: ", "W: "))]


def broken_sources(said: str) -> list:
    """Return the lines in which apt-get update complains of a repository, without their letter."""
    return [
        line[2:].strip()
        for line in marked(said)
        if re.search(r"(https?|file|ftp|cdrom|mirror|copy)\S*:", line) and not REMARKS.search(line)
    ]


def unreadable(said: str) -> str | None:
    """Return what apt says where it cannot read its sources at all."""
    if "list of sources could not be read" not in said:
        return None
    return next((line[2:].strip() for line in marked(said)), "the list of sources could not be read")


def known_cause(said: str) -> tuple | None:
    """Return (reason, sentence) of a failure that has one known cause."""
    return cause_of(said, SENTENCES, r"^(E|W|Error|Warning|dpkg: error.*?): ")


def mentioned(names: list, said: str) -> list:
    """Return those names that a text speaks of."""
    return [name for name in names if re.search(rf"(?<![\w.+-]){re.escape(name)}(?![\w.+-]*\w)", said)]


def fetched(said: str) -> int:
    """Return the bytes that apt-get --print-uris would download: not files of this host."""
    rows = re.findall(r"(?m)^'([^']+)' \S+ (\d+)( |$)", said)
    return sum(int(size) for url, size, _ in rows if not url.startswith("file:"))


def unpacked(said: str) -> dict:
    """Return bytes by package, of `apt-cache show` or of dpkg-query in the same form."""
    found = {}
    for paragraph in re.split(r"\n\s*\n", said):
        name = re.search(r"(?m)^Package: (\S+)", paragraph)
        size = re.search(r"(?m)^Installed-Size: (\d+)", paragraph)
        if name and size:
            found[name[1]] = int(size[1]) * 1024
    return found
