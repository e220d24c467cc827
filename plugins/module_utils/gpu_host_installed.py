"""Which packages are installed, in which version."""

from __future__ import annotations

from typing import Any


def packages(look: Any, names: list[str]) -> dict[str, str]:
    """Return the versions of those names that are installed (fully: not half-configured, not removed)."""
    if not names or not look.which("dpkg-query"):
        return {}
    _, out = look.run(["dpkg-query", "-W", "-f", "${Package}\t${db:Status-Abbrev}\t${Version}\n", *names])
    rows = (line.split("\t") for line in out.splitlines())
    return {row[0]: row[2].strip() for row in rows if len(row) == 3 and row[1].startswith(("ii", "hi"))}  # noqa: PLR2004
