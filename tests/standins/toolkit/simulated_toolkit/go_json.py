"""JSON as Go's decoder and encoder have it, with Go's error texts. Pure."""

from __future__ import annotations

import json
from typing import Any, NoReturn

_SPACE = " \t\r\n"


class GoJsonError(Exception):
    """What Go's encoding/json says."""


def _invalid(text: str, position: int, where: str) -> GoJsonError:
    if position >= len(text):
        return GoJsonError("unexpected EOF")
    first = chr(text[position].encode()[0])  # Go shows the first byte of what it did not expect
    shown = {"'": r"'\''", "\n": r"'\n'", "\t": r"'\t'", "\r": r"'\r'"}.get(first, f"'{first}'")
    return GoJsonError(f"invalid character {shown} {where}")


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


# What Python's decoder says, in order of the look-up, and how Go calls the place.
_PLACES = {
    "Illegal trailing comma before end of object": "looking for beginning of object key string",
    "Illegal trailing comma before end of array": "looking for beginning of value",
    "Expecting property name": "looking for beginning of object key string",
    "Expecting ':'": "after object key",
    "Expecting ','": "after object key:value pair",
    "Invalid control character": "in string literal",
    "Invalid \\escape": "in string escape code",
}


def _translated(text: str, error: json.JSONDecodeError) -> GoJsonError:
    said, at = error.msg, error.pos
    if said.startswith("Unterminated string"):
        return GoJsonError("unexpected EOF")
    place = next((place for start, place in _PLACES.items() if said.startswith(start)), None)
    if said.startswith("Expecting ','") and _in_list(text[:at]):
        place = "after array element"
    if said.startswith(("Illegal trailing comma", "Invalid \\escape")):
        at += 1  # Python points at the comma or backslash, Go at what follows
    if not said.startswith("Invalid control character"):
        at = _skip(text, at)
    return _invalid(text, at, place or "looking for beginning of value")


def _in_list(text: str) -> bool:
    depth: list[str] = []
    quoted = escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif quoted and character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif not quoted and character in "[{":
            depth.append(character)
        elif not quoted and character in "]}" and depth:
            depth.pop()
    return depth[-1:] == ["["]


def _constant(name: str) -> NoReturn:
    raise _invalid(name, 0, "looking for beginning of value")


def loads(text: str) -> Any:
    """Decode the first value, ignore what follows; numbers become floats, the last of equal keys counts."""
    start = _skip(text, 0)
    if start == len(text):
        raise GoJsonError("EOF")
    decoder = json.JSONDecoder(parse_int=float, parse_constant=_constant)
    try:
        return decoder.raw_decode(text, start)[0]
    except json.JSONDecodeError as error:
        raise _translated(text, error) from None


def _number(value: float) -> str:
    """Write a float64 as Go does: whole numbers without a point below 1e21."""
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        return mantissa
    sign = exponent[0] if exponent[0] in "+-" else "+"
    return f"{mantissa.removesuffix('.0')}e{sign}{exponent.lstrip('+-0')}"


def _string(value: str) -> str:
    text = json.dumps(value, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def dumps(value: Any, indent: str = "") -> str:
    """Encode with sorted keys and four spaces, no newline at the end."""
    inner = indent + "    "
    if isinstance(value, dict):
        items = [f"{inner}{_string(key)}: {dumps(value[key], inner)}" for key in sorted(value)]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}" if items else "{}"
    if isinstance(value, list):
        items = [f"{inner}{dumps(item, inner)}" for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]" if items else "[]"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value)
