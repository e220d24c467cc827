"""Which role a package belongs to, where several roles' packages come in one run of apt. Pure."""

from __future__ import annotations

import re

FIELD = re.compile(r"(?m)^(Package|Depends|Pre-Depends|Provides|Size): (.*)$")


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


def sizes(shown: str) -> int:
    """Return the bytes of the packages' archives: what is downloaded at most."""
    return sum(int(fields.get("Size", 0)) for fields in paragraphs(shown).values())


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
