"""OpenPGP keys as files: armour, packets, fingerprints. Pure; no gpg is needed to check a key with it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

BEGIN, END = "-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----END PGP PUBLIC KEY BLOCK-----"
# RFC 9580, section 5: packets of a transferable public key.
PUBLIC_KEY, SUBKEY = 6, 14
PARTS = {2, PUBLIC_KEY, 10, 12, 13, SUBKEY, 17, 20, 21}
WIDTH = 64


class KeyFormatError(ValueError):
    """It is no OpenPGP public key."""


def crc24(data: bytes) -> bytes:
    """Return the checksum of an armoured block (RFC 9580, section 6.1.1)."""
    crc = 0xB704CE
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1864CFB
    return crc.to_bytes(3, "big")


def armoured(data: bytes) -> bytes:
    """Return packets as the text that rpm reads."""
    coded = base64.b64encode(data).decode()
    lines = [coded[start : start + WIDTH] for start in range(0, len(coded), WIDTH)]
    return "\n".join([BEGIN, "", *lines, f"={base64.b64encode(crc24(data)).decode()}", END, ""]).encode()


def binary(data: bytes) -> bytes:
    """Return the packets of a key file, armoured or not; blocks may be several, with text around them."""
    if data[:1] >= b"\x80":
        return data
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError as error:
        raise KeyFormatError("the armour is not plain text") from error
    found = re.findall(rf"{BEGIN}\r?\n(.*?){END}", text, re.DOTALL)
    if not found:
        raise KeyFormatError("no whole block is in it")
    return b"".join(block(body) for body in found)


def block(body: str) -> bytes:
    """Return the packets of one armoured block, its checksum compared where it has one."""
    lines = [line.strip() for line in body.splitlines()]
    # Headers such as `Version: GnuPG v2` end with an empty line.
    if "" in lines and all(":" in line for line in lines[: lines.index("")]):
        lines = lines[lines.index("") + 1 :]
    checks = [line[1:] for line in lines if line.startswith("=")]
    try:
        data = base64.b64decode("".join(line for line in lines if not line.startswith("=")), validate=True)
        damaged = bool(checks) and base64.b64decode(checks[0], validate=True) != crc24(data)
    except binascii.Error as error:
        raise KeyFormatError("the armour is damaged") from error
    if damaged:
        raise KeyFormatError("the checksum of the armour does not hold")
    return data


def length(data: bytes, at: int, tag: int) -> tuple:
    """Return (length of a packet's body, where it starts); partial and open lengths are none for keys."""
    if tag & 0x40:
        first = data[at]
        if first < 192:  # noqa: PLR2004
            return first, at + 1
        if first < 224:  # noqa: PLR2004
            return ((first - 192) << 8) + data[at + 1] + 192, at + 2
        size = 4 if first == 255 else 0  # noqa: PLR2004
        at += 1
    else:
        size = {0: 1, 1: 2, 2: 4}.get(tag & 3, 0)
    if not size or len(data) < at + size:
        raise KeyFormatError("a packet has no length")
    return int.from_bytes(data[at : at + size], "big"), at + size


def packets(data: bytes) -> list:
    """Split into (type, body)."""
    found, at = [], 0
    while at < len(data):
        tag = data[at]
        if not tag & 0x80:
            raise KeyFormatError("these are no packets")
        kind = tag & 0x3F if tag & 0x40 else (tag >> 2) & 0xF
        try:
            size, start = length(data, at + 1, tag)
        except IndexError as error:
            raise KeyFormatError("the last packet is cut off") from error
        at = start + size
        if at > len(data):
            raise KeyFormatError("the last packet is cut off")
        if kind not in PARTS:
            raise KeyFormatError(f"a packet of type {kind} is no part of a public key")
        found.append((kind, data[start:at]))
    return found


def fingerprint(body: bytes) -> str:
    """Return a key's full fingerprint, as gpg prints it (RFC 9580, section 5.5.4)."""
    version = body[0] if body else 0
    if version == 4:  # noqa: PLR2004
        return hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body).hexdigest().upper()  # noqa: S324
    if version == 6:  # noqa: PLR2004
        return hashlib.sha256(b"\x9b" + len(body).to_bytes(4, "big") + body).hexdigest().upper()
    raise KeyFormatError(f"a key of version {version} is not known here")


def primary_keys(data: bytes) -> list:
    """Return the fingerprints of the primary keys in a key file; none where it is no key file at all."""
    try:
        found = packets(binary(data))
        if not found or found[0][0] != PUBLIC_KEY:
            return []
        return [fingerprint(body) for kind, body in found if kind == PUBLIC_KEY]
    except KeyFormatError:
        return []
