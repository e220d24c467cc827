"""A refusal: a reason for programs, a sentence for people; and causes known by their words."""

from __future__ import annotations

import re


class RefusedError(Exception):
    """It was not done: a reason for programs and a sentence for people."""

    def __init__(self, reason, sentence, **more):
        super().__init__(sentence)
        self.reason, self.sentence, self.more = reason, sentence, more


def cause_of(said, sentences, noise):
    """Return (reason, sentence) of a failure that has one known cause; ``noise`` goes from its line."""
    for reason, pattern, sentence in sentences:
        shown = re.search(rf"^.*(?:{pattern}).*$", said, re.MULTILINE)
        if shown:
            return reason, sentence.format(line=re.sub(noise, "", shown[0].strip()).strip())
    return None
