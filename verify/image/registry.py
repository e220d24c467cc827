"""A registry, asked for manifests and configurations: never for a layer. Bearer and basic authentication."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from verify.errors import VerifyError
from verify.image.challenge import basic, challenges, clean, fits_header, said, wait_s
from verify.image.credentials import Found
from verify.image.reference import is_digest, is_loopback
from verify.image.refusals import altered, limited, refused, unknown
from verify.image.web import Answer, UnencryptedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from verify.image.reference import Reference
    from verify.image.web import Web

KIB = 1024
MANIFEST_LIMIT = 4 * KIB * KIB  # what registries take, too
CONFIG_LIMIT = 8 * KIB * KIB
TOKEN_LIMIT = 256 * KIB
LONGEST_WAIT_S = 15
_TRIES = 3
_MOST_TAGS = 6
OK, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TOO_MANY, UNAVAILABLE = 200, 401, 403, 404, 429, 503


@dataclass(frozen=True, slots=True)
class Blob:
    """A document of the registry's, its digest verified."""

    digest: str
    kind: str
    body: bytes


@dataclass(slots=True)
class Registry:
    """One repository of a registry; it remembers how it was let in."""

    reference: Reference
    web: Web
    find_login: Callable[[], Found]
    sleep: Callable[[float], None] = time.sleep
    scheme: str = "https"
    _authorization: str | None = field(default=None, repr=False)
    _found: Found | None = field(default=None, repr=False)

    def manifest(self, wanted: str, accept: str) -> Blob:
        """Return the manifest that a tag or a digest means."""
        self._checked(wanted)
        answer = self._get(f"manifests/{wanted}", MANIFEST_LIMIT, accept)
        if answer.status == NOT_FOUND:
            raise unknown(self.reference, wanted, self._tags() if ":" not in wanted else ())
        digest = wanted if ":" in wanted else answer.headers.get("Docker-Content-Digest") or ""
        kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
        return Blob(self._verified(digest or None, answer.body), kind, answer.body)

    def blob(self, digest: str) -> Blob:
        """Return a configuration."""
        self._checked(digest)
        answer = self._get(f"blobs/{digest}", CONFIG_LIMIT, "*/*")
        if answer.status == NOT_FOUND:
            raise VerifyError(
                f"{self.reference.host} has the manifest of {self.reference} and not what it names, "
                f"{digest}: the image was pushed by halves; push it again"
            )
        return Blob(self._verified(digest, answer.body), "", answer.body)

    def _checked(self, wanted: str) -> None:
        if wanted != self.reference.wanted and not is_digest(wanted):
            raise VerifyError(
                f"{self.reference}: its manifest names {clean(wanted, 80)!r}, which is no digest"
            )

    def _url(self, path: str) -> str:
        repository = quote(self.reference.repository)
        return f"{self.scheme}://{self.reference.host}/v2/{repository}/{quote(path, safe='/:?=')}"

    def _get(self, path: str, limit: int, accept: str) -> Answer:
        """Get one document, let in and out again; whatever else comes back is a sentence."""
        answer = self._patiently(path, limit, accept)
        if answer.status == UNAUTHORIZED:
            self._let_in(answer.headers.get("WWW-Authenticate", ""))
            answer = self._patiently(path, limit, accept)
        if answer.status in (UNAUTHORIZED, FORBIDDEN):
            raise self._refused(answer)
        if answer.status not in (OK, NOT_FOUND):
            raise VerifyError(
                f"{self.reference.host} answers {answer.status} for {self.reference}{said(answer)}: it may "
                "be in trouble, try again later, or ask who runs it"
            )
        return answer

    def _patiently(self, path: str, limit: int, accept: str) -> Answer:
        for number in range(_TRIES):
            answer = self._once(path, limit, accept)
            if answer.status not in (TOO_MANY, UNAVAILABLE):
                return answer
            wait = wait_s(answer.headers.get("Retry-After"), number)
            last = number == _TRIES - 1 or wait > LONGEST_WAIT_S or wait > self.web.left()
            if last and answer.status == TOO_MANY:
                raise self._limited(wait)
            if last:
                return answer
            self.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _once(self, path: str, limit: int, accept: str) -> Answer:
        def ask() -> Answer:
            return self.web.get(
                self._url(path), limit=limit, accept=accept, authorization=self._authorization
            )

        with contextlib.suppress(UnencryptedError):
            if self.scheme == "https" and self.reference.loopback:
                return ask()
            # As Docker does for this machine, and nowhere else; once the first answer came, it is settled.
        if self.reference.loopback:
            self.scheme = "http"
        return ask()

    def _let_in(self, challenge: str) -> None:
        offers = challenges(challenge)
        if self._found is None:
            self._found = self.find_login()
        login = self._found.login
        if "bearer" in offers:
            self._authorization = f"Bearer {self._token(offers['bearer'])}"
        elif "basic" in offers and login is not None and login.username:
            self._authorization = basic(login.username, login.password)
        elif "basic" in offers:
            raise self._refused()
        else:
            raise VerifyError(
                f"{self.reference.host} asks for a kind of login that is neither bearer nor basic: "
                f"{clean(challenge, 60) or 'it does not say which'}"
            )

    def _token(self, offer: dict[str, str]) -> str:
        realm = offer.get("realm", "").partition("#")[0]  # what stands behind it would hide what is asked
        try:
            parts = urlsplit(realm)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("https", "http") or not parts.hostname:
            raise VerifyError(
                f"{self.reference.host} sends us for a token to {clean(realm, 80)!r}, which is no address: "
                "ask who runs it"
            )
        if parts.scheme == "http" and (self.scheme == "https" or not is_loopback(parts.hostname)):
            raise VerifyError(
                f"{self.reference.host} sends us for a token to {clean(realm, 80)!r}, which has no TLS: "
                "no login is sent there"
            )
        login = self._found.login if self._found else None
        scope = offer.get("scope") or f"repository:{self.reference.repository}:pull"
        asked = {"service": offer.get("service", ""), "scope": scope}
        asked = {name: value for name, value in asked.items() if value}
        if login is not None and login.token:
            form = {"grant_type": "refresh_token", "client_id": "gpu-verify", "refresh_token": login.token}
            answer = self.web.post(realm, limit=TOKEN_LIMIT, data={**asked, **form})
        else:
            known = basic(login.username, login.password) if login else None
            url = f"{realm}{'&' if parts.query else '?'}{urlencode(asked)}"
            answer = self.web.get(url, limit=TOKEN_LIMIT, authorization=known)
        if answer.status in (UNAUTHORIZED, FORBIDDEN):
            raise self._refused(answer)
        if answer.status == TOO_MANY:
            raise self._limited(wait_s(answer.headers.get("Retry-After"), 0))
        try:
            given = json.loads(answer.body)
            token = given.get("token") or given.get("access_token")
        except (ValueError, RecursionError, AttributeError):
            token = None
        # What is put into a header must not end it.
        if answer.status != OK or not isinstance(token, str) or not fits_header(token):
            raise VerifyError(
                f"{parts.netloc}, to which {self.reference.host} sends for a token, answers {answer.status} "
                "without one: try again later, or ask who runs it"
            )
        return token

    def _verified(self, expected: str | None, body: bytes) -> str:
        """Return the digest of what came; a sentence where it is not what was promised."""
        name = (expected or "sha256:").partition(":")[0]
        if name not in ("sha256", "sha512"):
            raise VerifyError(f"{self.reference.host}: digests by {clean(name, 20)} are not known here")
        digest = f"{name}:{hashlib.new(name, body).hexdigest()}"
        if expected and digest != expected:
            raise altered(self.reference, expected, digest)
        return digest

    def _refused(self, answer: Answer | None = None) -> VerifyError:
        return refused(self.reference, self._found or Found(), said(answer) if answer else "")

    def _limited(self, wait: float) -> VerifyError:
        return limited(self.reference, wait, known=bool(self._found and self._found.login))

    def _tags(self) -> tuple[str, ...]:
        """Return some tags, to be helpful; whatever goes wrong here is not worth a word."""
        try:
            listed = json.loads(self._once("tags/list?n=100", TOKEN_LIMIT, "application/json").body)
            tags = {tag for tag in listed["tags"] if isinstance(tag, str) and tag.isprintable()}
            return (*sorted(tags)[:_MOST_TAGS], *(["…"] if len(tags) > _MOST_TAGS else []))
        except (VerifyError, ValueError, KeyError, TypeError, RecursionError):
            return ()
