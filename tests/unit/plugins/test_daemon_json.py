"""daemon.json: damage is named by line and column; what is read is written again, down to the digits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils.gpu_host_daemon_json import DaemonJsonError, Number, dump, indent_of, parse

PATH = "/etc/docker/daemon.json"
# The inputs of field case A2, and what else people leave in that file.
DAMAGED: list[tuple[str, str, int, int, str]] = [
    ("A2 comma before the brace", '{\n  "debug": true,\n}\n', 2, 16, "comma before a closing bracket"),
    ("comma before the bracket", '{"hosts": ["fd://", ]}', 1, 19, "comma before a closing bracket"),
    ("A2 comma missing", '{\n  "debug": true\n  "runtimes": {}\n}', 3, 3, "a comma is missing before this"),
    ("A2 stray brace", '{\n "exec-opts": ["a"]\n},\n "runtimes": {}}', 3, 2, "after the end of the object"),
    ("one brace too many", '{"debug": true}\n}', 2, 1, "closing brace too many"),
    ("A2 web page", "<!DOCTYPE html>\n<html></html>", 1, 1, "a web page"),
    ("A2 comment", '{\n  // log less\n  "debug": true\n}', 2, 3, "a comment"),
    ("hash comment", '{"debug": true # why\n}', 1, 16, "a comment"),
    ("comment above all", '/* ours */\n{"debug": true}', 1, 1, "a comment"),
    ("A2 single quotes", "{'debug': true}", 1, 2, "single quotes"),
    ("no end", '{"debug": true,\n "runtimes": {', 2, 14, "ends too early"),
    ("key twice", '{"debug": true,\n "debug": false}', 2, 2, 'the key "debug" for the second time'),
    ("inner key twice", '{"runtimes": {"a": {},\n"\\u0061": {}}}', 2, 1, 'the key "a" for the second time'),
    ("byte order mark", '\ufeff{"debug": true}', 1, 1, "a byte order mark"),
    ("a list", '\n ["debug"]', 2, 2, "not an object in braces"),
    ("null", "null", 1, 1, "not an object in braces"),
    ("no number", '{"a": "NaN",\n"b": NaN}', 2, 6, "NaN, which is no number"),
    ("bottomless", '{"a": ' + "[" * 200 + "]" * 200 + "}", 1, 106, "brackets more than 100 deep"),
    ("far too deep", "[" * 200_000 + "]" * 200_000, 1, 101, "brackets more than 100 deep"),
]


@pytest.mark.parametrize(
    ("text", "line", "column", "found"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED]
)
def test_damage_is_named_with_file_line_column_and_the_line(
    text: str, line: int, column: int, found: str
) -> None:
    with pytest.raises(DaemonJsonError) as refused:
        parse(text.encode(), PATH)
    said = str(refused.value)
    assert said.startswith(f"{PATH}, line {line}, column {column}: ")
    assert found in said
    shown = text.removeprefix("\ufeff").split("\n")[line - 1].strip()
    assert (shown if len(shown) < 100 else "[[[[") in said
    assert "Nothing was changed and Docker was not restarted" in said
    assert "run again" in said


@pytest.mark.parametrize("data", [b'{"debug": \xff}', '{"debug": true}'.encode("utf-16")])
def test_other_encodings_are_refused(data: bytes) -> None:
    with pytest.raises(DaemonJsonError, match=r"line 1, column \d+: bytes that are not UTF-8"):
        parse(data, PATH)


@pytest.mark.parametrize("data", [b"", b"\n", b" \t\r\n"])
def test_an_empty_file_counts_as_an_empty_object(data: bytes) -> None:
    assert parse(data, PATH) == {}


def test_a_long_line_is_shown_around_the_place() -> None:
    text = '{"a": "' + "x" * 5000 + '", HERE}'
    with pytest.raises(DaemonJsonError, match="HERE") as refused:
        parse(text.encode(), PATH)
    assert len(str(refused.value)) < 700


def test_numbers_keep_their_digits_and_keys_their_order() -> None:
    text = '{\n  "z": 1.10,\n  "a": 1e5,\n  "m": 123456789012345678901234567890,\n  "e": "<&>é\\u2028"\n}\n'
    assert dump(parse(text.encode(), PATH), "  ").decode() == text.replace("\\u2028", "\u2028")


def test_an_integer_beyond_pythons_limit_of_digits() -> None:
    text = f'{{\n    "a": {"9" * 6000}\n}}\n'
    assert dump(parse(text.encode(), PATH)).decode() == text


def test_half_a_surrogate_pair_stays_an_escape() -> None:
    assert b"\\ud800" in dump(parse(b'{"a": "\\ud800"}', PATH))


def test_braces_and_keys_inside_strings_are_text() -> None:
    assert parse(b'{"a": "{\\"b\\": 1, \\"b\\": NaN}", "c": "\\\\"}', PATH)["c"] == "\\"


def test_the_same_key_in_different_objects_is_no_repetition() -> None:
    assert parse(b'{"a": {"x": 1}, "b": {"x": 2}, "c": [{"x": 1}, {"x": 1}]}', PATH).keys() == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("text", "indent"), [("{}", "    "), ('{\n\t"a": 1\n}', "\t"), ('{\n  "a": 1\n}', "  ")]
)
def test_the_files_own_indentation_is_used(text: str, indent: str) -> None:
    assert indent_of(text.encode()) == indent


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=20,
)


@given(document=st.dictionaries(st.text(), JSON, max_size=6), indent=st.sampled_from(["\t", "  ", "    "]))
def test_whatever_is_read_is_written_again(document: dict[str, Any], indent: str) -> None:
    read = parse(json.dumps(document).encode(), PATH)
    again = dump(read, indent)
    assert json.loads(again) == document
    assert list(json.loads(again)) == list(document)
    assert parse(again, PATH) == read


@given(st.binary(max_size=60) | st.text("{}[]\",:/#<'\\ \n1eNa", max_size=40).map(str.encode))
def test_any_bytes_are_an_object_or_a_sentence(data: bytes) -> None:
    try:
        assert isinstance(parse(data, PATH), dict)
    except DaemonJsonError as refused:
        assert str(refused).startswith(f"{PATH}, line ")  # noqa: PT017  # either is right


def test_numbers_are_compared_as_they_are_written() -> None:
    assert Number("1") == Number("1")
    assert Number("1") != Number("1.0")
    assert len({Number("1"), Number("1")}) == 1
    assert repr(Number("7")) == "Number(7)"
