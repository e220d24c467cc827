"""Addresses: IPv4, IPv6 and MAC, told apart from versions, PCI addresses and times."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_IPV4 = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-fA-F:]*:[0-9a-fA-F:]*:)[0-9a-fA-F:]{3,39}(?![\w:]|\.\d)")
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?![\w:])")
# 12.8.4.1 behind the name of a package is a version, whatever else it could be.
_VERSION_BEFORE = re.compile(
    r"(?:[=<>~!]=\s*|\bv(?:ersions?)?\W{0,4}|\brelease\W{0,3}"
    r"|(?:nvidia|cuda|cudnn|cublas|nccl|nvml|cu1\d|lib[a-z]|torch|triton|driver)[\w.+-]{0,40}(?:\W{1,4}|,\s*\"))$",
    re.IGNORECASE,
)
_LOOK_BACK = 64
_STAND_IN_V4 = ipaddress.ip_network("192.0.2.0/24")
_STAND_IN_V6 = ipaddress.ip_network("2001:db8::/32")
_STAND_IN_MAC = "02:00:00:00:"


def addresses_of(text: str) -> dict[str, str]:
    """Return every address in a text with its stand-in."""
    found: dict[str, str] = {}
    v4 = {match.group() for match in _real(_IPV4, text, _is_private_v4)}
    v6 = {match.group() for match in _IPV6.finditer(text) if _is_private_v6(match.group())}
    macs = {match.group() for match in _MAC.finditer(text) if _is_real_mac(match.group())}
    found |= {name: f"192.0.2.{number}" for number, name in enumerate(sorted(v4), start=1)}
    found |= {name: f"2001:db8::{number:x}" for number, name in enumerate(sorted(v6), start=1)}
    for number, name in enumerate(sorted(macs), start=1):
        found[name] = f"{_STAND_IN_MAC}{number >> 8:02x}:{number & 255:02x}"
    return found


def replace_addresses(text: str, known: Mapping[str, str]) -> str:
    """Replace the known addresses, except where one is a version."""
    if not known:
        return text
    text = _MAC.sub(lambda match: known.get(match.group(), match.group()), text)
    text = _IPV6.sub(lambda match: known.get(match.group(), match.group()), text)
    return _IPV4.sub(
        lambda match: match.group() if _is_version(match) else known.get(match.group(), match.group()), text
    )


def _real(pattern: re.Pattern[str], text: str, private: Callable[[str], bool]) -> Iterator[re.Match[str]]:
    return (m for m in pattern.finditer(text) if private(m.group()) and not _is_version(m))


def _is_version(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
    return _VERSION_BEFORE.search(before) is not None


def _is_private_v4(text: str) -> bool:
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        return False
    plain = address.is_loopback or address.is_unspecified or text.startswith("255.")
    return not (plain or address in _STAND_IN_V4)


def _is_private_v6(text: str) -> bool:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address in _STAND_IN_V6)


def _is_real_mac(text: str) -> bool:
    return not text.startswith(_STAND_IN_MAC) and text.lower() not in (
        "00:00:00:00:00:00",
        "ff:ff:ff:ff:ff:ff",
    )
