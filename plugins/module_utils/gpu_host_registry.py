"""A registry asked whether it takes a name and a password, as Docker itself would ask. Nothing is pulled."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from .gpu_host_refused import RefusedError
from .gpu_host_registry_names import basic, host_of
from .gpu_host_registry_refusals import TIMEOUT_S, failed, odd, wrong

ANSWER = 64 * 1024
REFUSED = (401, 403)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A password does not follow to wherever an answer points."""

    def redirect_request(self, *_arguments):
        return None


def trust(registry, ca, certs):
    """Return what Docker would trust: the system's CAs, those in certs.d, and the one that is to come."""
    context = ssl.create_default_context()
    # Python 3.13 refuses what Docker takes: private CAs that lack an extension or two.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    for file in Path(certs, host_of(registry)).glob("*.crt"):
        with contextlib.suppress(OSError, ssl.SSLError):
            context.load_verify_locations(file)
    if ca:
        try:
            context.load_verify_locations(cadata=ca)
        except (ssl.SSLError, ValueError) as error:
            raise RefusedError(
                "ca_file",
                "The file of registry_login_ca_file holds no certificate that can be read "
                f"({getattr(error, 'reason', None) or error}). Needed is a CA's certificate in PEM form "
                "(-----BEGIN CERTIFICATE-----): look at it with `openssl x509 -noout -subject -in FILE`. "
                "Nothing was changed.",
            ) from error
    return context


class Asked:
    """One conversation with a registry."""

    def __init__(self, registry, context, proxy):
        self.registry, self.host = registry, host_of(registry)
        proxies = [urllib.request.ProxyHandler({"https": proxy, "http": proxy})] if proxy else []
        # Without one of ours the host's own environment counts, as it does for urllib.
        own = "" if urllib.request.proxy_bypass(self.host) else urllib.request.getproxies().get("https", "")
        self.proxy = proxy or own
        self.opener = urllib.request.build_opener(
            _NoRedirect, urllib.request.HTTPSHandler(context=context), *proxies
        )

    def get(self, url, authorization=None):
        """Return status, headers and the beginning of the body, whatever the status is."""
        headers = {"User-Agent": "gpu-host", **({"Authorization": authorization} if authorization else {})}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310  # https alone is asked
        try:
            with self.opener.open(request, timeout=TIMEOUT_S) as answer:
                return answer.status, answer.headers, answer.read(ANSWER)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, _beginning(error)
        except urllib.error.URLError as error:
            raise failed(
                self.registry, urllib.parse.urlsplit(url).netloc, error.reason, self.proxy
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise failed(self.registry, urllib.parse.urlsplit(url).netloc, error, self.proxy) from error


def _beginning(answer):
    """Return what a refusal says of itself, where it says something."""
    try:
        return answer.read(ANSWER)
    except (OSError, http.client.HTTPException):
        return b""


def _told(headers, body):
    """Return the words of a refusal: registries put them into the body, or into the header."""
    return " ".join([*(headers.get_all("WWW-Authenticate") or []), body.decode("utf-8", "replace")])


def challenges(headers):
    """Return what a registry wants, by scheme: {"bearer": {"realm": …}, "basic": {…}}."""
    found = {}
    for line in headers.get_all("WWW-Authenticate") or []:
        for scheme, rest in re.findall(r'(?i)\b(basic|bearer)\s+((?:\w+="[^"]*"(?:,\s*)?)*)', line):
            found[scheme.lower()] = {
                name.lower(): value for name, value in re.findall(r'(\w+)="([^"]*)"', rest)
            }
    return found


def log_in(asked, username, password):
    """Log in; return a note where there is one, refuse with a sentence where it does not work."""
    url, plain = f"https://{asked.host}/v2/", f"Basic {basic(username, password)}"
    status, headers, _ = asked.get(url)
    if status == http.client.OK:
        return (
            f"{asked.registry} answers anybody, without a name and a password: whether these are right "
            "was not shown."
        )
    wanted = challenges(headers) if status == http.client.UNAUTHORIZED else {}
    if "bearer" in wanted:
        plain = f"Bearer {token(asked, wanted['bearer'], username, plain)}"
    elif "basic" not in wanted:
        raise odd(asked, url, status)
    status, headers, body = asked.get(url, plain)
    if status in REFUSED:
        raise wrong(asked.registry, username, status, _told(headers, body))
    if status != http.client.OK:
        raise odd(asked, url, status)
    return ""


def token(asked, wanted, username, authorization):
    """Fetch a token from where the registry says, for nothing in particular: that is a login."""
    realm = wanted.get("realm", "")
    if not realm.startswith("https://"):
        raise RefusedError(
            "tls",
            f"{asked.registry} wants the password sent to {realm or 'nowhere'}; needed is an address with "
            "https. Correct the registry's auth.token.realm. Nothing was changed.",
        )
    query = {"service": wanted.get("service", ""), "account": username}
    url = f"{realm}{'&' if '?' in realm else '?'}{urllib.parse.urlencode(query)}"
    status, headers, body = asked.get(url, authorization)
    if status in REFUSED:
        raise wrong(asked.registry, username, status, _told(headers, body))
    if status != http.client.OK:
        raise odd(asked, realm, status)
    try:
        document = json.loads(body)
        return document.get("token") or document["access_token"]
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise odd(asked, realm, "an answer without a token") from error
