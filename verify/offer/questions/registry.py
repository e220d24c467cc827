"""Question 3: authentication at a private registry, tried with the user's own where one is named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verify.facts.source import cite
from verify.offer.answer import Answer, Word
from verify.offer.manifest import REGISTRY

if TYPE_CHECKING:
    from verify.offer.facts import OfferFacts
    from verify.offer.registry import RegistryFacts

_WRONG = re.compile(
    r"unauthorized|incorrect username or password|authentication required|denied|\b401\b", re.IGNORECASE
)
_TRUST = re.compile(r"x509|certificate|CERTIFICATE_VERIFY_FAILED|unknown authority", re.IGNORECASE)
_PROXY = re.compile(r"proxyconnect|Proxy Authentication|Tunnel connection failed|\b407\b", re.IGNORECASE)
_OK, _UNAUTHORIZED = 200, 401
_Said = tuple[Word, str, str, str | None]


def registry(offer: OfferFacts) -> Answer:
    """Answer whether a login at the user's registry works from here."""
    found = offer.registry
    if found is None:
        advice = "--registry HOST --username NAME tries yours; the password is asked for"
        summary = "no registry was named"
        return Answer("registry", 3, "a private registry", Word.UNKNOWN, "not tried", summary, advice)
    word, value, summary, todo = _judged(found)
    return Answer("registry", 3, "a private registry", word, value, summary, todo, _evidence(found))


def _evidence(found: RegistryFacts) -> tuple[str, ...]:
    lines = []
    if found.login is not None:
        said = [line.strip() for line in found.login.said.splitlines() if line.strip()]
        lines.append(f"docker login {found.login.ended}" + (f": {said[-1]}" if said else ""))
    if found.status is not None or found.trouble:
        lines.append(f"GET /v2/ of {found.host}: {found.trouble or f'status {found.status}'}")
    return tuple(cite(REGISTRY, line) for line in lines)


def _judged(found: RegistryFacts) -> _Said:  # noqa: PLR0911  # one an outcome
    login = found.login
    if login is not None and login.ok:
        return (
            Word.YES,
            "login works",
            f"docker login at {found.host} worked from here; it was forgotten again",
            None,
        )
    if login is not None and login.ran:
        return _refused(found, login.said)
    if login is not None and login.timed_out:
        return Word.NO, "out of reach", f"docker login at {found.host} got no answer in time", _reach(found)
    if found.trouble and found.status is None:
        return _refused(found, found.trouble)
    if login is not None and login.missing and found.status == _OK:
        return (
            Word.UNKNOWN,
            "lets you in",
            f"{found.host} lets this login in; there is no Docker here to use it, the provider pulls",
            "the offer's page must have a field for the registry's login",
        )
    if found.named and found.status == _UNAUTHORIZED:
        return _refused(found, "unauthorized")
    if found.status is not None:
        asks = "and asks who we are" if found.status == _UNAUTHORIZED else f"with status {found.status}"
        return (
            Word.UNKNOWN,
            "answers",
            f"{found.host} answers here, {asks}; no login was tried",
            "--username NAME tries one",
        )
    return Word.UNKNOWN, "not recorded", f"what {found.host} answers was not recorded", "run it again"


def _reach(found: RegistryFacts) -> str:
    return f"ask the provider whether {found.host} may be reached from here, and through which proxy"


def _refused(found: RegistryFacts, said: str) -> _Said:
    if _TRUST.search(said):
        return (
            Word.NO,
            "not trusted",
            f"the certificate of {found.host} is not trusted here",
            f"put its CA in /etc/docker/certs.d/{found.host}/ca.crt on this machine",
        )
    if _PROXY.search(said):
        todo = "correct HTTPS_PROXY of the Docker service, or NO_PROXY"
        return Word.NO, "out of reach", f"a proxy stands between here and {found.host}", todo
    if _WRONG.search(said):
        return (
            Word.UNKNOWN,
            "wrong login",
            f"{found.host} does not take this login: a wrong or expired password says nothing of the offer",
            "try again with a login that works elsewhere",
        )
    line = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "it gives no reason")
    return Word.NO, "out of reach", f"{found.host} cannot be used from here: {line[:200]}", _reach(found)
