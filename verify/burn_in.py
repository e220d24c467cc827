"""A burn-in judged: the cards before, while they worked, and after. Pure; burn_in_run makes one.

Each rule asks one thing of each card. Of several cards the worst answer stands for all of them, and every
card of which it is true is named. What no card tells is skipped, and a skip is never a pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from verify.burn_in_facts import courses, looks, new_xids
from verify.burn_in_rules import BUSY_PERCENT, RULES, power, was_seen, working
from verify.checks import EXPECTED_MISSING
from verify.compat.xid import OFF_THE_BUS, meaning
from verify.errors import VerifyError
from verify.findings import Finding, Layer, Status
from verify.json_values import as_list
from verify.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from verify.burn_in_facts import Course
    from verify.burn_in_rules import Answer, Rule

    Json = Mapping[str, Any]

SCHEMA = 1
FILE = "burn-in.json"
_ORDER = (Status.FAIL, Status.WARN, Status.SKIP, Status.PASS)
_WORK = (
    "the work's own words stand in burn-in.json under work; `gpu-verify doctor` says which layer is broken"
)


@dataclass(frozen=True, slots=True)
class Burn:
    """What was seen: recordings, and how the work ended."""

    before: Recording
    during: tuple[Recording, ...]
    after: Recording
    work: Json
    refused: str | None

    @classmethod
    def read(cls, document: Json) -> Burn:
        """Read burn-in.json."""
        if document.get("schema") != SCHEMA or not isinstance(document.get("work"), dict):
            raise VerifyError(f"{FILE} is no burn-in of schema {SCHEMA}: burn in again")
        return cls(
            Recording.from_document(document.get("before")),
            tuple(Recording.from_document(look) for look in as_list(document.get("during"))),
            Recording.from_document(document.get("after")),
            document["work"],
            document.get("refused"),
        )


def ids() -> tuple[str, ...]:
    """Return the ids of all that a burn-in says."""
    return (
        "burn-in.ran",
        "burn-in.result",
        "burn-in.cards",
        "burn-in.xid",
        *(f"burn-in.{name}" for name in RULES),
    )


def judge(document: Json, expected: Collection[str] = ()) -> tuple[Finding, ...]:
    """Judge burn-in.json; ``expected`` are ids that are to fail, as everywhere."""
    burn = Burn.read(document)
    if burn.refused:
        return (_finding("ran", (Status.SKIP, f"no burn-in: {burn.refused}"), None),)
    cards = courses(burn.before, burn.during, burn.after)
    found = [_ran(burn, cards), _result(burn), _gone(cards), _xids(burn)]
    if found[0].status is Status.PASS:
        found += [_over(name, rule, remedy, cards) for name, (rule, remedy) in RULES.items()]
    found = [replace(one, expected=one.id in expected and one.status is Status.FAIL) for one in found]
    missing = sorted({*expected} & {*ids()} - {one.id for one in found if one.expected})
    if missing:
        said = (Status.FAIL, f"expected to fail, and did not: {', '.join(missing)}")
        remedy = "take them out of the expected findings"
        found.append(replace(_finding("", said, remedy), id=EXPECTED_MISSING))
    return tuple(found)


def refusal(before: Recording) -> str | None:
    """Say why no burn-in is to begin: no card, or one that somebody uses."""
    seen = looks(before)
    if not seen:
        return "the driver describes no card here; `gpu-verify doctor` says which layer is broken"
    busy = [look.title for look in seen.values() if look.users]
    if busy:
        return f"in use, and not disturbed: {', '.join(busy)}; run it again when their processes have ended"
    return None


def _finding(name: str, answer: Answer, remedy: str | None, evidence: tuple[str, ...] = ()) -> Finding:
    status, summary = answer
    wrong = status in (Status.FAIL, Status.WARN)
    return Finding(
        f"burn-in.{name}", Layer.CARD, status, summary, remedy=remedy if wrong else None, evidence=evidence
    )


def _ran(burn: Burn, cards: Sequence[Course]) -> Finding:
    """Whether every card worked: by the work's own word, and by what was seen meanwhile."""
    seconds = burn.work.get("seconds")
    if burn.work.get("status") != "ran" or not isinstance(seconds, int | float):
        reason = str(burn.work.get("reason") or "it said nothing")
        return _finding("ran", (Status.FAIL, f"the work did not run: {reason}"), _WORK, (f"{FILE}: work",))
    idle = [card.title for card in cards if was_seen(card) and not working(card)]
    if idle or not cards:
        told = f"never more than {BUSY_PERCENT} % busy: {', '.join(idle)}" if idle else "no card was seen"
        return _finding("ran", (Status.FAIL, told), _WORK, (f"{FILE}: during",))
    drawn = "; ".join(power(card) for card in cards)
    return _finding("ran", (Status.PASS, f"{seconds:.0f} s of work on {len(cards)} card(s): {drawn}"), None)


def _result(burn: Burn) -> Finding:
    """Whether the same product came out the same each time."""
    rows = [row for row in as_list(burn.work.get("cards")) if isinstance(row, dict)]
    wrong = [
        f"card {row.get('index')}: {row['wrong']} of {row.get('products')}"
        for row in rows
        if row.get("wrong")
    ]
    if wrong:
        said = f"the same product came out different: {'; '.join(wrong)}. Its results cannot be trusted"
        remedy = "dcgmi diag -r 3  # if it fails too, the card is to be replaced"
        return _finding("result", (Status.FAIL, said), remedy, (f"{FILE}: work",))
    if not rows or any(not row.get("products") for row in rows):
        return _finding("result", (Status.SKIP, "no product was computed that could be compared"), None)
    total = sum(row["products"] for row in rows)
    return _finding("result", (Status.PASS, f"{total} products, each as the first one on its card"), None)


def _gone(cards: Sequence[Course]) -> Finding:
    gone = [card.title for card in cards if card.after is None]
    if gone:
        said = f"there before, and gone after: {', '.join(gone)}"
        return _finding(
            "cards",
            (Status.FAIL, said),
            "power off and on; dmesg | grep -i xid says why",
            (f"{FILE}: after",),
        )
    if not cards:
        return _finding("cards", (Status.SKIP, "the driver describes no card"), None)
    return _finding("cards", (Status.PASS, f"{len(cards)} card(s) before and after"), None)


def _xids(burn: Burn) -> Finding:
    found = new_xids(burn.before, burn.after)
    if found is None:
        return _finding("xid", (Status.SKIP, "the kernel's log could not be read whole"), None)
    if not found:
        return _finding("xid", (Status.PASS, "no new Xid in the kernel's log"), None)
    known = [(number, meaning(number)) for _, number, _ in found]
    serious = any(number == OFF_THE_BUS or (row is not None and row.serious) for number, row in known)
    said = "; ".join(
        f"Xid {number} ({row.title if row else 'not in our table'})" for number, row in dict(known).items()
    )
    first, row = found[0], known[0][1]
    remedy = row.remedy(first[0]) if row else "look it up in NVIDIA's Xid catalog"
    status = Status.FAIL if serious else Status.WARN
    return _finding(
        "xid", (status, f"new while it worked: {said}"), remedy, tuple(line for _, _, line in found[:5])
    )


def _over(name: str, rule: Rule, remedy: str, cards: Sequence[Course]) -> Finding:
    """Let the worst answer stand for all cards."""
    answers = [rule(card) for card in cards]
    worst = next(status for status in _ORDER if any(found is status for found, _ in answers))
    said = "; ".join(text for status, text in answers if status is worst)
    return _finding(name, (worst, said), remedy, (f"{FILE}: during",) if worst is not Status.SKIP else ())
