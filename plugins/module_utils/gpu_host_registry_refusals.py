"""Why a login did not work, one sentence a cause: certificate, way there, password, answer. Pure."""

from __future__ import annotations

import http.client
import re
import socket
import ssl

from .gpu_host_refused import RefusedError
from .gpu_host_registry_names import host_of

TIMEOUT_S = 20
EXPIRED, OTHER_NAMES = (9, 10), (62, 63, 64)  # OpenSSL's numbers of what is wrong with a certificate


def failed(registry, host, reason, proxy=""):
    """Return the sentence for a registry, or for the proxy on the way to it, that did not answer."""
    if proxy and (stood := at_the_proxy(proxy, host, reason)):
        return stood
    code = getattr(reason, "verify_code", None)
    other = f" (asked for by {registry})" if host not in (registry, host_of(registry)) else ""
    if code is not None:
        said = getattr(reason, "verify_message", "") or str(reason)
        if code in EXPIRED:
            need = "a certificate that is valid today. Renew it there, or set this host's clock"
        elif code in OTHER_NAMES:
            need = "a certificate for that very name. Give the registry by a name that its certificate has"
        else:
            need = (
                "the certificate of the CA that signed it. Put it into a file on the controller and set "
                "registry_login_ca_file to that"
            )
        return RefusedError(
            "ca",
            f"{host}{other} shows a certificate that this host does not trust ({said}); needed is {need}. "
            "Nothing was changed.",
        )
    text = str(reason)
    if isinstance(reason, ssl.SSLError) and re.search("(?i)wrong.version|record.layer|http.request", text):
        return RefusedError(
            "tls",
            f"{host}{other} speaks no TLS; needed is a registry that does, since a password would be "
            "readable on its way. Give it a certificate (registry_login_ca_file takes a CA of your own). "
            "Nothing was changed.",
        )
    return RefusedError(
        "unreachable",
        f"{host}{other} cannot be reached from this host ({why_not(reason)}); needed is a registry that "
        f"answers on https://{host}/v2/. Try `curl -sSI https://{host}/v2/` there; registry_login_proxy "
        "names a proxy where one is needed. Nothing was changed.",
    )


def why_not(reason):
    """Return why no connection came about."""
    if isinstance(reason, socket.gaierror):
        return "its name has no address here"
    if isinstance(reason, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(reason, (socket.timeout, TimeoutError)):
        return f"no answer within {TIMEOUT_S} s"
    return str(reason) or type(reason).__name__


def at_the_proxy(proxy, host, reason):
    """Return the sentence where it was the proxy that stood in the way, else None."""
    shown = proxy.rpartition("@")[2].rpartition("/")[2] or "the proxy"
    tunnel = re.search(r"Tunnel connection failed: (\d+)", str(reason))
    if tunnel and int(tunnel[1]) == http.client.PROXY_AUTHENTICATION_REQUIRED:
        return RefusedError(
            "proxy",
            f"The proxy {shown} wants a name and a password of its own (HTTP 407); needed are those in its "
            "address, http://NAME:PASSWORD@HOST:PORT. Set registry_login_proxy to that, from a vault. "
            "Nothing was changed.",
        )
    if tunnel:
        return RefusedError(
            "proxy",
            f"The proxy {shown} does not let this host through to {host} (HTTP {tunnel[1]}); needed is a "
            "proxy that does. Ask who runs it to allow that address and port. Nothing was changed.",
        )
    # With a proxy the only name that is looked up, and the only place that is called, is the proxy's.
    if isinstance(reason, (socket.gaierror, ConnectionRefusedError)):
        return RefusedError(
            "proxy",
            f"The proxy {shown} cannot be reached from this host ({why_not(reason)}); needed is one that "
            "answers. Correct registry_login_proxy, or the host's own https_proxy. Nothing was changed.",
        )
    return None


def wrong(registry, username, status, said=""):
    """Return the sentence for a name and a password that the registry does not take."""
    if re.search(r"(?i)\bexpired\b", said):
        return RefusedError(
            "expired",
            f"{registry} says that the token given for {username} has expired (HTTP {status}); needed is a "
            "fresh one. Get it where this one came from, and put it into registry_login_password in its "
            "vault (`ansible-vault edit`). Nothing was changed.",
        )
    return RefusedError(
        "password",
        f"{registry} refuses the user {username} with the password given (HTTP {status}); needed are a name "
        "and a password, or access token, that it takes. Correct registry_login_username, and "
        "registry_login_password in its vault (`ansible-vault edit`). Nothing was changed.",
    )


def odd(asked, url, answer):
    """Return the sentence for an answer that no registry gives."""
    told = f"HTTP {answer}" if isinstance(answer, int) else answer
    if answer == http.client.TOO_MANY_REQUESTS:
        need = "a registry that is not rate-limiting this host. Wait as long as it asks for, and run again"
    elif isinstance(answer, int) and answer >= http.client.INTERNAL_SERVER_ERROR:
        need = "a registry in order. Look at its log, and run again"
    else:
        need = (
            "a registry of Docker's kind, by host and port alone. Check registry_login_registry, and what "
            f"`curl -sSI https://{asked.host}/v2/` prints"
        )
    return RefusedError(
        "answer", f"{asked.registry} answered {url} with {told}; needed is {need}. Nothing was changed."
    )
