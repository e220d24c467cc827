"""Text for a terminal or a log file: nothing that steers it, wrapped under its label."""

from __future__ import annotations

import re
import textwrap

# Control characters, halves of pairs, and what is not seen and changes what is: marks and overrides of the
# direction, joiners, separators of lines, tags.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
    r"\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_NARROWEST = 20


def plain(text: str) -> str:
    """Take out of recorded text what steers a terminal, or shows it as something else."""
    return _CONTROL.sub("\ufffd", text)


def hang(text: str, width: int, indent: int) -> list[str]:
    """Wrap a text; every line but the first begins under its beginning, which stands at ``indent``."""
    room = max(_NARROWEST, width - indent)
    lines = [
        part
        for line in plain(text).replace("\t", " ").splitlines()
        for part in textwrap.wrap(line, room, break_on_hyphens=False)
    ]
    return [lines[0], *(" " * indent + line for line in lines[1:])] if lines else [""]
