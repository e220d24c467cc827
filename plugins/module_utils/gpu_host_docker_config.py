"""One registry's entry in Docker's config.json: put in, taken out, everything else kept. Pure.

What stands in this file is secret: no sentence here shows a line of it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os

from .gpu_host_daemon_json import BOM, Number
from .gpu_host_refused import RefusedError

ROUNDS = 200_000


def _refusal(path, found):
    return RefusedError(
        "config",
        f"{path}: {found}. Needed is one JSON object, as the docker command writes it. Correct it "
        f"(`python3 -m json.tool {path}` checks it; it holds passwords), and run again. Nothing was changed.",
    )


def parse(data, path):
    """Return the object in the file, numbers as they stand there; nothing and an empty file count as {}."""
    try:
        text = (data or b"").removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refusal(path, f"byte {error.start + 1} is no UTF-8") from error
    if not text.strip():
        return {}

    def once(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise _refusal(path, f'the key "{twice}" is there twice in one object')
        return found

    try:
        document = json.loads(text, parse_int=Number, parse_float=Number, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise _refusal(path, f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise _refusal(path, "brackets without end") from error
    if not isinstance(document, dict):
        raise _refusal(path, "the whole is not an object in braces")
    if not isinstance(document.get("auths") or {}, dict):
        raise _refusal(path, '"auths" is not an object in braces')
    return document


def helper(document, key):
    """Return the credential helper that Docker would ask for this registry, empty where there is none."""
    helpers = document.get("credHelpers") or {}
    return str((helpers.get(key) if isinstance(helpers, dict) else "") or document.get("credsStore") or "")


def refuse_helper(document, path, key):
    """Refuse a file that sends Docker elsewhere: what would be written here nobody would read."""
    name = helper(document, key)
    if name:
        raise RefusedError(
            "helper",
            f"{path} hands the passwords of {key} to the credential helper {name}, so Docker would not read "
            "one that stands in the file; needed is a file without a helper for it. Log in there by hand "
            f"(`docker login {key}`) and leave this role out, or take credsStore, or the entry in "
            "credHelpers, out of the file, and run again. Nothing was changed.",
        )


def entry(document, key):
    """Return a registry's entry, None where there is none."""
    return (document.get("auths") or {}).get(key)


def same(document, key, auth):
    """Tell whether the registry's entry is these very credentials."""
    found = entry(document, key)
    return (
        isinstance(found, dict)
        and hmac.compare_digest(str(found.get("auth") or "").encode(), auth.encode())
        and not found.get("identitytoken")
    )


def put(document, key, value):
    """Return the document with the registry's entry."""
    return {**document, "auths": {**(document.get("auths") or {}), key: value}}


def take(document, key, *, made):
    """Return the document without it; ``made``: the empty ``auths`` that is left was ours too."""
    auths = {name: value for name, value in (document.get("auths") or {}).items() if name != key}
    after = {**document, "auths": auths}
    if made and not auths:
        del after["auths"]
    return after


def mark(auth, salt=None):
    """Return what tells later that an entry is ours, and does not tell what it is."""
    salt = salt or os.urandom(16)
    digest = hashlib.pbkdf2_hmac("sha256", auth.encode(), salt, ROUNDS)
    return {"salt": base64.b64encode(salt).decode(), "digest": digest.hex()}


def marked(found, noted):
    """Tell whether an entry is the one that was noted."""
    auth = found.get("auth") if isinstance(found, dict) else None
    if not auth or not noted:
        return False
    again = mark(str(auth), base64.b64decode(noted["salt"]))
    return hmac.compare_digest(again["digest"], noted["digest"])
