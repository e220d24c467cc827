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


def failed(registry, host, reason):
    """Return the sentence for a registry that did not answer."""
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
    if isinstance(reason, socket.gaierror):
        why = "its name has no address here"
    elif isinstance(reason, ConnectionRefusedError):
        why = "nothing listens there"
    elif isinstance(reason, (socket.timeout, TimeoutError)):
        why = f"no answer within {TIMEOUT_S} s"
    else:
        why = text or type(reason).__name__
    return RefusedError(
        "unreachable",
        f"{host}{other} cannot be reached from this host ({why}); needed is a registry that answers on "
        f"https://{host}/v2/. Try `curl -sSI https://{host}/v2/` there; registry_login_proxy names a proxy "
        "where one is needed. Nothing was changed.",
    )


def wrong(registry, username, status):
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
