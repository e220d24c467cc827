"""Who we are to a registry: by Docker's own file, or the helper that it names. Nothing here is printed."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.errors import VerifyError

if TYPE_CHECKING:
    from verify.image.reference import Reference

HELPER_LIMIT_S = 20
_TOKEN_USER = "<token>"  # noqa: S105  # how helpers say that what follows is no password
_NOT_FOUND = "credentials not found"


@dataclass(frozen=True, slots=True)
class Login:
    """A user's name with a password, or a token in the place of both."""

    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Found:
    """The login, if there is one, and why there may be none."""

    login: Login | None = None
    trouble: str = ""


def find_login(reference: Reference) -> Found:
    """Look where Docker looks: config.json of DOCKER_CONFIG or ~/.docker, its helpers first."""
    from docker.utils.config import find_config_file  # noqa: PLC0415  # the SDK takes a while to load

    file = find_config_file()
    if file is None:
        return Found()
    document = _document(Path(file))
    helper = _helper(document, reference)
    asked = _ask(helper, reference.credentials_key) if helper else Found()
    if asked.login is not None:
        return asked
    written = _written(document, reference, file)
    return Found(written, "" if written else asked.trouble)


def _document(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        kind = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise VerifyError(
            f"cannot read {file}, where Docker keeps its logins: {kind}; repair or move it"
        ) from None
    return document if isinstance(document, dict) else {}


def _helper(document: dict[str, Any], reference: Reference) -> str | None:
    from docker.auth import AuthConfig  # noqa: PLC0415

    helpers = document.get("credHelpers")
    kept = {
        "credHelpers": helpers if isinstance(helpers, dict) else {},
        "credsStore": document.get("credsStore"),
    }
    name = AuthConfig(kept).get_credential_store(reference.registry)
    return name if isinstance(name, str) and name else None


def _written(document: dict[str, Any], reference: Reference, file: str) -> Login | None:
    """Return what the file itself says; other registries' entries are left alone, whatever is in them."""
    from docker.auth import AuthConfig, resolve_index_name  # noqa: PLC0415
    from docker.errors import DockerException  # noqa: PLC0415

    auths = document.get("auths")
    mine = {
        key: entry
        for key, entry in (auths if isinstance(auths, dict) else {}).items()
        if entry and resolve_index_name(key) == reference.registry
    }
    if not mine:
        return None
    try:
        entry = AuthConfig.load_config(None, {"auths": mine}).resolve_authconfig(reference.registry) or {}
    except (DockerException, ValueError, TypeError, AttributeError):
        raise VerifyError(
            f"{file}: the login for {reference.registry} cannot be read: "
            f"`docker login {reference.registry}` again"
        ) from None
    if entry.get("IdentityToken"):
        return Login(token=str(entry["IdentityToken"]))
    return Login(str(entry["username"]), str(entry["password"])) if entry.get("username") else None


def _ask(  # noqa: PLR0911  # one a way to fail
    helper: str, server: str
) -> Found:
    """Ask a credential helper, as the SDK does, but never for longer than a while."""
    program = f"docker-credential-{helper}"
    try:
        done = subprocess.run(
            [program, "get"],
            input=server,
            capture_output=True,
            text=True,
            timeout=HELPER_LIMIT_S,
            check=False,
        )
    except FileNotFoundError:
        return Found(trouble=f"{program}, which Docker's config.json names, is not installed")
    except (OSError, ValueError):  # not UTF-8, a NUL in its name
        return Found(trouble=f"{program}, which Docker's config.json names, cannot be run")
    except subprocess.TimeoutExpired:
        return Found(trouble=f"{program} did not answer within {HELPER_LIMIT_S} s")
    if done.returncode != 0:
        none = _NOT_FOUND in (done.stdout + done.stderr).lower()
        return Found(trouble="" if none else f"{program} failed with exit status {done.returncode}")
    try:
        said = json.loads(done.stdout)
        user, secret = str(said["Username"]), str(said["Secret"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Found(trouble=f"{program} answered with something else than a login")
    if not secret:
        return Found()
    return Found(Login(token=secret) if user == _TOKEN_USER else Login(user, secret))
