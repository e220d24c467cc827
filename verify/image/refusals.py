"""What a registry refuses, in sentences: what was found, what is needed, what to do. No secret is in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verify.errors import VerifyError

if TYPE_CHECKING:
    from verify.image.credentials import Found
    from verify.image.reference import Reference


def refused(reference: Reference, who: Found, why: str = "") -> VerifyError:
    """Say that a login is wrong, has expired, or that there is none; ``why`` is what the registry said."""
    again = f"`docker login {reference.registry}`"
    if who.login is not None and re.search(r"(?i)\bexpired\b", why):
        return VerifyError(
            f"{reference.host} says that the token that Docker's config.json has for it has expired: {again} "
            "with a fresh one"
        )
    if who.login is not None:
        user = f"the user {who.login.username}" if who.login.username else "the token"
        return VerifyError(
            f"{reference.host} refuses {user} that Docker's config.json has for it, for {reference.name}: "
            f"{again} again, or ask for access to this repository"
        )
    trouble = f" ({who.trouble})" if who.trouble else ""
    return VerifyError(
        f"{reference.host} shows {reference.name} to nobody without a login, or has none of that name, and "
        f"there is no login for it{trouble}: {again}, then once more; or check the name"
    )


def limited(reference: Reference, wait: float, *, known: bool) -> VerifyError:
    """Say that we ask too often."""
    login = "" if known else f", or `docker login {reference.registry}`, which raises the limit"
    return VerifyError(
        f"{reference.host} limits how often it answers (429): try again in {wait:.0f} s{login}"
    )


def unknown(reference: Reference, wanted: str, others: tuple[str, ...]) -> VerifyError:
    """Say that there is no such tag or digest, and which tags there are."""
    kind = "digest" if ":" in wanted else "tag"
    has = f"; it has {', '.join(others)}" if others else ""
    return VerifyError(f"{reference.name} has no {kind} {wanted}{has}: check the name, or push it first")


def altered(reference: Reference, expected: str, digest: str) -> VerifyError:
    """Say that what came is not what was asked for."""
    return VerifyError(
        f"{reference.host} sent something else than was asked for: {expected} was due, {digest} came. "
        "A proxy or a damaged registry alters or cuts what it sends; nothing of it is believed"
    )
