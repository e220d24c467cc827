"""A strict reader of Prometheus' text format: what it does not like, node_exporter may not like either.

Sources: prometheus.io/docs/instrumenting/exposition_formats, prometheus.io/docs/practices/naming.
"""

from __future__ import annotations

import math
import re

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_META = re.compile(rf"# (HELP|TYPE) ({_NAME}) (.+)")
_UNESCAPED = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}

Labels = frozenset[tuple[str, str]]


def parse(text: str) -> dict[str, dict[Labels, float]]:
    """Return the samples by metric; a line that is not of the format, or stands where it must not, fails."""
    assert text.endswith("\n")
    found: dict[str, dict[Labels, float]] = {}
    types: dict[str, str] = {}
    helps: dict[str, str] = {}
    for line in text.split("\n")[:-1]:
        if meta := _META.fullmatch(line):
            kind, name, said = meta.groups()
            target = helps if kind == "HELP" else types
            assert name not in target, f"{kind} of {name} twice"
            assert name not in found, f"{kind} of {name} behind its samples"
            target[name] = said
            continue
        sample = _SAMPLE.fullmatch(line)
        assert sample, f"no sample: {line!r}"
        name, inside, value = sample.groups()
        assert name in types, f"{name} has no type"
        assert name in helps, f"{name} has no help"
        if name not in found:
            found[name] = {}
        assert name == list(found)[-1], f"{name} is not in one group"
        labels = frozenset(_labels(inside or ""))
        assert labels not in found[name], f"twice: {line}"
        number = float(value)
        assert math.isfinite(number)
        found[name][labels] = number
    assert set(found) == set(types) == set(helps), "a metric without a sample"
    assert set(types.values()) <= {"gauge"}
    return found


def _labels(inside: str) -> list[tuple[str, str]]:
    place, found = 0, []
    while place < len(inside):
        match = _LABEL.match(inside, place)
        assert match, f"no label: {inside[place:]!r}"
        name, text = match.groups()
        assert not name.startswith("__")
        found.append((name, re.sub(r"\\.", lambda part: _UNESCAPED[part.group()], text)))
        place = match.end()
    assert len({name for name, _ in found}) == len(found)
    return found
