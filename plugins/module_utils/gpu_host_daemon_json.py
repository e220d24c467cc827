"""Docker's daemon.json: read strictly, written with everything that was in it. Pure."""

from __future__ import annotations

import json
import re

DEPTH = 100
LINE = 100
BOM = b"\xef\xbb\xbf"
# On a text that json accepted these are all the tokens that matter; a string swallows what stands in it.
TOKEN = re.compile(
    r'(?P<string>"(?:\\.|[^"\\])*")(?P<key>\s*:)?|(?P<open>[{\[])|(?P<close>[}\]])|(?P<bad>NaN|-?Infinity)'
)


class DaemonJsonError(Exception):
    """The file may not be changed: it says what was found, what is needed, what to do."""


class Number:
    """A number as it stands in the file: 1e5, 1.10 and integers of any size keep their digits."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Number({self.text})"


def refuse(path: str, text: str, at: int, found: str) -> DaemonJsonError:
    """Return the refusal that points at a place in the text."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].split("\n", 1)[0].rstrip("\r")
    column = at - start
    shown = line if len(line) <= 2 * LINE else line[max(0, column - LINE) : column + LINE]
    return DaemonJsonError(
        f"{path}, line {text.count(chr(10), 0, at) + 1}, column {column + 1}: {found}. "
        f"The line is: {shown.strip()}\n"
        "Needed is one JSON object, as dockerd reads it. Nothing was changed and Docker was not restarted: "
        "correct that line (`python3 -m json.tool` checks it), and run again."
    )


# What stands where json stopped, and what that is. json's own words differ between Python's versions.
DAMAGE = (
    (r",\s*[}\]]", "a comma before a closing bracket"),
    (r"//|/\*|#", "a comment, which Docker's JSON does not have"),
    (r"'", "single quotes where JSON has double quotes"),
)


def found_at(text: str, error: json.JSONDecodeError) -> tuple[int, str]:
    """Return where the damage is, and what it is in words."""
    at = error.pos
    comma = re.search(r",\s*\Z", text[:at])
    if comma and text[at : at + 1] in ("}", "]"):
        at = comma.start()
    rest = text[at:]
    found = error.msg[:1].lower() + error.msg[1:]
    if error.msg == "Extra data":
        found = "more text after the end of the object (a closing brace too many before it?)"
    elif error.msg == "Expecting ',' delimiter" and rest[:1] == '"':
        found = "a comma is missing before this"
    elif not rest.strip():
        at, found = max(len(text.rstrip()) - 1, 0), "the file ends too early (a closing bracket is missing)"
    elif rest.startswith("<") and not text[:at].strip():
        found = "a web page (HTML or XML), saved in the place of the file"
    for pattern, meaning in DAMAGE:
        if re.match(pattern, rest):
            found = meaning
    return at, found


def scan(path: str, text: str) -> None:
    """Refuse what json lets pass: keys that come twice (the last would win), NaN, bottomless nesting."""
    stack: list = []
    for token in TOKEN.finditer(text):
        if token["open"]:
            stack.append(set())
            if len(stack) > DEPTH:
                raise refuse(path, text, token.start(), f"brackets more than {DEPTH} deep")
        elif token["close"]:
            if stack:
                stack.pop()
        elif token["bad"]:
            raise refuse(path, text, token.start(), f"{token['bad']}, which is no number of JSON's")
        elif token["key"] and stack:
            key = json.loads(token["string"], strict=False)
            if key in stack[-1]:
                raise refuse(path, text, token.start(), f'the key "{key}" for the second time in one object')
            stack[-1].add(key)


def parse(data: bytes, path: str) -> dict:
    """Return the object in a file; an empty file counts as {}."""
    if data.startswith(BOM):
        raise refuse(
            path, data[len(BOM) :].decode("utf-8", "replace"), 0, "a byte order mark before the text"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = data.decode("utf-8", "replace")
        at = len(data[: error.start].decode("utf-8"))
        raise refuse(path, shown, at, "bytes that are not UTF-8") from error
    if not text.strip():
        return {}
    try:
        document = json.loads(text, parse_int=Number, parse_float=Number)
    except json.JSONDecodeError as error:
        raise refuse(path, text, *found_at(text, error)) from error
    except RecursionError:
        document = None
    scan(path, text)
    if not isinstance(document, dict):
        at = len(text) - len(text.lstrip())
        raise refuse(path, text, at, "the whole is not an object in braces")
    return document


def indent_of(data: bytes) -> str:
    """Return the indentation that a file uses; four blanks where it shows none, as nvidia-ctk writes."""
    shown = re.search(rb"^([ \t]+)\S", data, re.MULTILINE)
    return shown.group(1).decode() if shown else "    "


def quoted(text: str) -> str:
    plain = json.dumps(text, ensure_ascii=False)
    # Half of a surrogate pair can only be written as an escape.
    return plain if plain.isascii() or not re.search("[\ud800-\udfff]", plain) else json.dumps(text)


def written(value: object, indent: str, margin: str = "") -> str:
    """Return a value as JSON; lists of plain values stay on one line where they fit."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, str):
        return quoted(value)
    if not value or not isinstance(value, (dict, list)):
        return json.dumps(value)
    deeper = margin + indent
    if isinstance(value, dict):
        inner = [f"{quoted(key)}: {written(below, indent, deeper)}" for key, below in value.items()]
    else:
        inner = [written(below, indent, deeper) for below in value]
        line = f"[{', '.join(inner)}]"
        if len(line) <= LINE and not any(isinstance(below, (dict, list)) for below in value):
            return line
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    body = f",\n{deeper}".join(inner)
    return f"{opening}\n{deeper}{body}\n{margin}{closing}"


def dump(document: dict, indent: str = "    ") -> bytes:
    return (written(document, indent) + "\n").encode("utf-8")
