"""Which role a package belongs to, where several roles' packages come in one run of apt. Pure."""

from __future__ import annotations

import re

UPSTREAM = re.compile(r"^\d+:|-[^-]*$")  # what a Debian version has around the upstream one
FIELD = re.compile(r"(?m)^(Package|Depends|Pre-Depends|Provides): (.*)$")


def paragraphs(shown: str) -> dict:
    """Return the fields that count of `apt-cache show`, by package; the first entry of a name is taken."""
    found: dict = {}
    for text in re.split(r"\n\s*\n", shown):
        fields = dict(FIELD.findall(text))
        if "Package" in fields:
            found.setdefault(fields["Package"], fields)
    return found


def named(relation: str) -> list:
    """Return every name in a relation such as `a (>= 1), b | c:any`: versions and architectures left out."""
    return re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", relation)


def shares(shown: str, wanted: list) -> dict:
    """Return for each role the packages that it brings, as if the roles came one after the other.

    ``shown``: `apt-cache show` of what is new. ``wanted``: (role, names or name=version) in the roles' order:
    a package is the first role's that needs it. What nobody seems to need is the first role's, so that it has
    an owner.
    """
    fields = paragraphs(shown)
    served: dict = {}
    for name, row in fields.items():
        for word in [name, *named(row.get("Provides", ""))]:
            served.setdefault(word, []).append(name)
    left, found = set(fields), {}
    for role, names in wanted:
        mine, ahead = set(), [name.partition("=")[0] for name in names]
        while ahead:
            for name in served.get(ahead.pop(), []):
                if name in left:
                    left.discard(name)
                    mine.add(name)
                    ahead += named(
                        fields[name].get("Depends", "") + "," + fields[name].get("Pre-Depends", "")
                    )
        found[role] = sorted(mine)
    if wanted:
        found[wanted[0][0]] = sorted({*found[wanted[0][0]], *left})
    return found


def of_one_version(names: list, asked: list, coming: list) -> list:
    """Return those of a role's packages that have the upstream version of the first one that it asked for.

    ``coming``: name=version of all that comes. The rest is a library's or a tool's own version.
    """
    versions = {
        name: UPSTREAM.sub("", version) for name, _, version in (word.partition("=") for word in coming)
    }
    led = next(
        (versions[name] for name in (word.partition("=")[0] for word in asked) if name in versions), None
    )
    return [name for name in names if led is not None and versions.get(name) == led]
