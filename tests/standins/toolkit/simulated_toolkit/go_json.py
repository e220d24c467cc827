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
    shown = {"'": r"'\''", "\n": r"'\n'", "\t": r"'\t'", "\r": r"'\r'"}.get(text[position])
    return GoJsonError(f"invalid character {shown or repr(text[position])} {where}")


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _translated(text: str, error: json.JSONDecodeError) -> GoJsonError:
    at = _skip(text, error.pos)
    said = error.msg
    if said.startswith("Illegal trailing comma"):  # Python 3.13 points at the comma, Go at what follows
        at = _skip(text, error.pos + 1)
        in_object = "object" in said
        return _invalid(text, at, f"looking for beginning of {'object key string' if in_object else 'value'}")
    if said.startswith("Expecting property name"):
        return _invalid(text, at, "looking for beginning of object key string")
    if said.startswith("Expecting ':'"):
        return _invalid(text, at, "after object key")
    if said.startswith("Expecting ','"):
        # Python does not say whether it stood in an object or a list: an enclosing bracket does.
        return _invalid(text, at, f"after {'array element' if _in_list(text[:at]) else 'object key:value pair'}")
    if said.startswith("Unterminated string"):
        return GoJsonError("unexpected EOF")
    if said.startswith("Invalid control character"):
        return _invalid(text, error.pos, "in string literal")
    if said.startswith("Invalid \\escape"):
        return _invalid(text, error.pos + 1, "in string escape code")
    return _invalid(text, at, "looking for beginning of value")


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


def loads(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Decode the first value and ignore what follows it; numbers become floats, the last of equal keys counts."""
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
    if value == int(value) and abs(value) < 1e21:  # noqa: PLR2004 - Go's own limit
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


def dumps(value: Any, indent: str = "") -> str:  # noqa: ANN401 - any JSON value
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
