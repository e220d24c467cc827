"""How a registry asks for a login, and how long it asks to wait: the headers of its answers. Pure."""

from __future__ import annotations

import base64
import datetime as dt
import email.utils
import json
import re
from typing import TYPE_CHECKING
from urllib.request import parse_http_list, parse_keqv_list

if TYPE_CHECKING:
    from verify.image.web import Answer

_CHALLENGE = re.compile(r"(?:^|,\s*)(Bearer|Basic)(?:\s+|$)", re.IGNORECASE)
_PAIR = re.compile(r"[\w-]+=.+", re.DOTALL)
_CONTROL = re.compile(r"[^\x20-\x7e]+")


def clean(text: str, longest: int = 120) -> str:
    """Return what a registry said without what steers a terminal, and not all of it."""
    return _CONTROL.sub(" ", text)[:longest]


def fits_header(text: str) -> bool:
    """Whether a text may stand in a header: it must not end it."""
    return not _CONTROL.search(text)


def basic(username: str, password: str) -> str:
    """Return the value of a header."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode("ascii")


def challenges(text: str) -> dict[str, dict[str, str]]:
    """Read ``WWW-Authenticate``: what is offered, with its parameters."""
    parts = _CHALLENGE.split(text)
    offers = {}
    for scheme, words in zip(parts[1::2], parts[2::2], strict=True):
        pairs = [pair for pair in parse_http_list(words) if _PAIR.fullmatch(pair)]
        offers[scheme.lower()] = {name.lower(): value for name, value in parse_keqv_list(pairs).items()}
    return offers


def wait_s(text: str | None, number: int) -> float:
    """Return how long to wait: as ``Retry-After`` says, in seconds or as a date, else longer each time."""
    text = (text or "").strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:9]), 10**6))
    try:
        until = email.utils.parsedate_to_datetime(text)
        return max(0.0, (until - dt.datetime.now(dt.UTC)).total_seconds())
    except (ValueError, TypeError):
        return float(2**number)


def said(answer: Answer) -> str:
    """Return what an answer says of itself, in brackets."""
    try:
        message = json.loads(answer.body)["errors"][0]["message"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return ""
    return f" ({clean(str(message))})"
