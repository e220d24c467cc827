"""Fingerprints of OpenPGP keys: compare, and say in one sentence what is wrong. Pure."""

from __future__ import annotations

import re

FULL = re.compile(r"^(?:[0-9A-F]{40}|[0-9A-F]{64})$")


def normal(fingerprint: str) -> str:
    """Return a fingerprint without spaces and in capitals, as gpg prints it."""
    return re.sub(r"\s", "", fingerprint).upper()


def objection(found: list[str], needed: str, source: str) -> str | None:
    """Say why these keys must not be trusted; None where the one key found is the one needed."""
    if found == [needed]:
        return None
    if not found:
        return (
            f"{source} holds no OpenPGP key; needed is the one with fingerprint {needed}. "
            "Look at what that address answers (a proxy's or a 404 page, perhaps) and correct the address."
        )
    return (
        f"{source} holds the key {', '.join(found)}; needed is {needed} and nothing else. "
        "Nothing was trusted or installed. Compare with the fingerprint that the owner publishes; "
        "only where the owner really changed the key, set the new fingerprint."
    )
