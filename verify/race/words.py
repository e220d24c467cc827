"""The words of a message: race.json holds ids and values, and every language says them from its catalogue."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

from verify.race import words_en, words_fr

if TYPE_CHECKING:
    from collections.abc import Mapping

Message = dict[str, Any]

LANGUAGES = {"en": words_en.WORDS, "fr": words_fr.WORDS}
# What a template counts: where it is 1, the template of the same id with "-one" behind it is taken, if any.
COUNTED = ("count", "cores", "threads")


def message(name: str, **values: Any) -> Message:  # noqa: ANN401  # numbers, names, lists of names
    """Return a message: its id and what it is about."""
    return {"id": name, **values}


def text(message: Mapping[str, Any], lang: str = "en") -> str:
    """Say a message. One that this version does not know is shown as it is: it may come from a newer one."""
    known = catalogue(lang)
    try:
        values = {key: value for key, value in message.items() if key != "id"}
        template = _template(known, str(message["id"]), values)
    except (AttributeError, TypeError, KeyError):
        return str(message)
    if template is not None:
        try:
            return _Formatter(lang).vformat(template, (), values)
        except (LookupError, TypeError, ValueError, AttributeError):
            pass
    said = ", ".join(f"{key}={value}" for key, value in values.items())
    return f"{message['id']}: {said}" if said else str(message["id"])


def catalogue(lang: str) -> Mapping[str, str]:
    """Return a language's catalogue; one that there is not is named with those that there are."""
    if lang not in LANGUAGES:
        raise ValueError(f"language {lang!r}: the race speaks {', '.join(sorted(LANGUAGES))}")
    return LANGUAGES[lang]


def _template(known: Mapping[str, str], name: str, values: Mapping[str, Any]) -> str | None:
    """Return a message's template: that of one thing where there is one of what it counts."""
    one = next((values[key] for key in COUNTED if key in values), None) == 1
    return known.get(f"{name}-one", known.get(name)) if one else known.get(name)


class _Formatter(string.Formatter):
    """Numbers as the language writes them, lists with commas, a message inside a message in words."""

    def __init__(self, lang: str) -> None:
        self._lang = lang

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401
        if isinstance(value, dict):
            return text(value, self._lang)
        if isinstance(value, (list, tuple)):
            return ", ".join(self.format_field(item, format_spec) for item in value)
        said = str(super().format_field(value, format_spec))
        if self._lang == "fr" and isinstance(value, (int, float)):
            return said.replace(",", "\u202f").replace(".", ",").replace("%", "\u00a0%")
        return said
