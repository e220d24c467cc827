"""HTTP with limits: how long, how much, where to. What goes wrong is a sentence, and no secret is in it."""

from __future__ import annotations

import contextlib
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from verify.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMEOUT_S = 10  # for a connection, and between two pieces of an answer
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
_PIECE = 64 * 1024
_NEXT = "check it with `curl -v {url}`"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class UnencryptedError(VerifyError):
    """The other side does not speak TLS."""


def tls_context(ca_files: tuple[Path, ...]) -> ssl.SSLContext:
    """Trust what the system trusts, and these; as strict as Docker is, which wants no key ids."""
    context = ssl.create_default_context()
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    for file in ca_files:
        try:
            context.load_verify_locations(cafile=file)
        except (OSError, ssl.SSLError) as error:
            raise VerifyError(
                f"{file} holds no CA certificate in PEM ({error}): give another --ca-file"
            ) from error
    return context


class _Adapter(HTTPAdapter):
    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # as requests has it
        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return super().proxy_manager_for(*args, ssl_context=self._context, **kwargs)


class Web:
    """One visitor: its trust, and the moment at which it gives up."""

    def __init__(self, context: ssl.SSLContext, until: float) -> None:
        self._session = requests.Session()
        self._session.auth = _as_it_is  # else requests puts what ~/.netrc says in the place of ours
        self._session.mount("https://", _Adapter(context))
        self._until = until

    def left(self) -> float:
        """Return how many seconds are left."""
        return self._until - time.monotonic()

    def get(self, url: str, *, limit: int, accept: str = "*/*", authorization: str | None = None) -> Answer:
        """Get what is there, over redirects: another host never sees the authorization."""
        headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": "gpu-verify"}
        for _ in range(_MOST_REDIRECTS + 1):
            sent = {**headers, **({"Authorization": authorization} if authorization else {})}
            answer = self._once("GET", url, limit, headers=sent)
            goal = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not goal:
                return answer
            try:
                following = urljoin(url, goal)
                same = _origin(following) == _origin(url)
                if urlsplit(following).scheme not in ("http", "https"):
                    raise ValueError(following)  # noqa: TRY301  # told like the others
            except ValueError:
                raise VerifyError(f"{_place(url)} sends us to an address that is none") from None
            if urlsplit(url).scheme == "https" and urlsplit(following).scheme != "https":
                raise VerifyError(
                    f"{_place(url)} sends us to {_place(following)} without TLS: it is not followed"
                )
            if not same:
                authorization = None
            url = following
        raise VerifyError(f"{_place(url)}: more than {_MOST_REDIRECTS} redirects, none of them is the answer")

    def post(self, url: str, *, limit: int, data: Mapping[str, str]) -> Answer:
        """Send a form; redirects are not followed, for there is a secret in it."""
        return self._once("POST", url, limit, data=data, headers={"User-Agent": "gpu-verify"})

    def _once(self, method: str, url: str, limit: int, **given: Any) -> Answer:  # noqa: ANN401
        timeout = min(TIMEOUT_S, self.left())
        if timeout <= 0:
            raise VerifyError(f"{_place(url)} took too long: {_NEXT.format(url=_bare(url))}")
        try:
            with contextlib.closing(
                self._session.request(
                    method, url, stream=True, allow_redirects=False, timeout=timeout, **given
                )
            ) as response:
                return Answer(response.status_code, response.headers, self._body(response, url, limit))
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            raise _sentence(error, url) from None  # the error's own chain may name what was sent

    def _body(self, response: requests.Response, url: str, limit: int) -> bytes:
        length = response.headers.get("Content-Length", "")
        pieces, size = [], 0
        if length.isascii() and length.isdigit() and int(length) > limit:
            raise _too_much(url, limit)
        for piece in response.raw.stream(_PIECE, decode_content=False):
            size += len(piece)
            if size > limit:
                raise _too_much(url, limit)
            if self.left() <= 0:
                raise VerifyError(f"{_place(url)} answers too slowly: {_NEXT.format(url=_bare(url))}")
            pieces.append(piece)
        return b"".join(pieces)


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _too_much(url: str, limit: int) -> VerifyError:
    return VerifyError(
        f"{_place(url)} answers with more than {limit // 1024} KiB, far more than is due: it is not read on"
    )


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _place(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or "the registry"


def _bare(url: str) -> str:
    """Drop what may be signed: storage behind a registry is reached by addresses that are keys themselves."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{_place(url)}{parts.path}"


def _sentence(  # noqa: PLR0911  # one a way to fail
    error: Exception, url: str
) -> VerifyError:
    if isinstance(error, VerifyError):
        return error
    place, said, next_step = _place(url), _chain(error), _NEXT.format(url=_bare(url))
    if "CERTIFICATE_VERIFY_FAILED" in said:
        why = said.split("certificate verify failed: ")[-1].split(" (_ssl")[0]
        return VerifyError(
            f"the certificate of {place} is not trusted here ({why}): give the CA that signed it, "
            f"--ca-file FILE, or put it where Docker looks too, /etc/docker/certs.d/{place}/ca.crt"
        )
    if "ProxyError" in said or "Tunnel connection failed" in said:
        why = "wants a name and a password of its own (407)" if " 407" in said else "does not let us through"
        if "NewConnectionError" in said or "NameResolutionError" in said:
            why = "cannot be reached"
        return VerifyError(
            f"the proxy on the way to {place} {why}: correct https_proxy in the environment, or no_proxy"
        )
    if "WRONG_VERSION_NUMBER" in said or "RECORD_LAYER_FAILURE" in said or "HTTP_REQUEST" in said:
        return UnencryptedError(f"{place} does not speak TLS: only a registry on this machine may do without")
    if isinstance(error, requests.ConnectTimeout | requests.ReadTimeout) or "timed out" in said:
        return VerifyError(f"{place} did not answer within {TIMEOUT_S} s: {next_step}")
    if "IncompleteRead" in said or "ended prematurely" in said:
        return VerifyError(f"{place} broke off in the middle of its answer: try again, and then {next_step}")
    for mark, words in (
        ("NameResolutionError", "its name is not known here"),
        ("refused", "connection refused"),
        ("unreachable", "no way to it"),
    ):
        if mark in said:
            return VerifyError(f"cannot reach {place}, {words}: {next_step}")
    return VerifyError(f"cannot reach {place} ({type(error).__name__}): {next_step}")


def _chain(error: BaseException) -> str:
    said: list[str] = []
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, VerifyError) and len(said) < 10:  # noqa: PLR2004  # enough for the deepest
        said.append(f"{type(seen).__name__} {seen}")
        seen = seen.__cause__ or seen.__context__
    return " ".join(said)
