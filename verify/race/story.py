"""What race.md and race.html say, and in which order: tables and lines, from race.json alone.

Each of them renders this in its own form; what is said and where is decided here, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.race import decision, price, shares, why
from verify.race.conditions import conditions, usage_line
from verify.race.notes import Notes
from verify.race.phrases import host_title, shown, title
from verify.race.rows import LANE_COLUMNS, RESULT_COLUMNS, SIZE_COLUMNS, lane_row, result_row, size_rows
from verify.race.svg_sweep import even_texts, operation_title, reason_text
from verify.race.words import Message, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Document = Mapping[str, Any]

METHOD = ("clock", "copy", "interval", "ratio", "mixed", "guard", "money")
# Reasons that stand in the table; all of them stand below it.
TELLING = 2
RESULTS = "results"


@dataclass(frozen=True)
class Table:
    """A table in words."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A part of the report: lines, a table, lines; each may be missing."""

    name: str
    title: str
    before: tuple[str, ...] = ()
    table: Table | None = None
    after: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.before or self.table or self.after)


@dataclass(frozen=True)
class Teller:
    """A race that is told in a language."""

    race: Document
    lang: str

    @property
    def heading(self) -> str:
        """What the race is called; of a simulated one, that it is one."""
        return self.titled("race-title", host=host_title(self.race["host"]))

    def sections(self) -> tuple[Section, ...]:
        """Return the parts that have something in them, in their order; the result first."""
        notes = Notes(self.race, self.lang)
        found = (
            self._results(notes),
            Section("why", self.said("race-section-why"), tuple(self._why())),
            Section("cost", self.said("race-section-cost"), tuple(self._cost())),
            self._lanes(notes),
            Section("warnings", self.said("race-section-warnings"), tuple(self._warnings())),
            self._sweep(notes),
            Section(
                "conditions", self.said("race-section-conditions"), tuple(conditions(self.race, self.lang))
            ),
            Section(
                "method",
                self.said("race-section-method"),
                tuple(self.said(f"race-method-{line}") for line in METHOD),
            ),
        )
        return tuple(section for section in found if section)

    def said(self, name: str, **values: Any) -> str:  # noqa: ANN401
        """Say a message."""
        return text(message(name, **values), self.lang)

    def titled(self, name: str, **values: Any) -> str:  # noqa: ANN401
        """Return a title; a simulated race says so at each, for a part may be cut out and shown alone."""
        found = message(name, **values)
        simulated = self.race.get("simulated")
        return text(message("race-simulated", title=found) if simulated else found, self.lang)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table | None:
        """Return a table under the columns' names; none without rows."""
        heads = tuple(self.said(f"race-column-{column}") for column in columns)
        return Table(heads, tuple(map(tuple, rows))) if rows else None

    def every(self) -> list[tuple[Document, Document]]:
        """Return all lanes, each with its contestant."""
        return [(c, lane) for c in self.race["contestants"] for lane in c["lanes"]]

    def _results(self, notes: Notes) -> Section:
        reasons, decided = why.reasons(self.race), decision.decide(self.race)
        rows = []
        for contestant in self.race["contestants"]:
            said = [*reasons[contestant["name"]][:TELLING], decided[contestant["name"]]]
            rows.append(result_row(contestant, self.race.get("prices"), said, notes, self.lang))
        found = self.table(RESULT_COLUMNS, rows)
        return Section(RESULTS, self.titled("page-results"), table=found, after=tuple(notes.lines))

    def _why(self) -> list[str]:
        reasons, lines = why.reasons(self.race), []
        for contestant in self.race["contestants"]:
            lines += [self._named(contestant, reason) for reason in reasons[contestant["name"]]]
            card = shares.lane_of(contestant, contestant.get("ratio_card"))
            facts = shares.facts(card, (self.race.get("card") or {}).get("peak")) if card else []
            lines += [self._named(contestant, message("race-went-to", facts=facts))] if facts else []
        return lines

    def _cost(self) -> list[str]:
        decided, lines = decision.decide(self.race), []
        for contestant in self.race["contestants"]:
            found = price.bill(contestant, self.race.get("prices"))
            said = [decided[contestant["name"]], *price.lines(found)] if found else []
            lines += [self._named(contestant, part) for part in said]
        return lines

    def _lanes(self, notes: Notes) -> Section:
        rows = [lane_row(contestant, lane, notes, self.lang) for contestant, lane in self.every()]
        used = [(c, lane, usage_line(lane, self.lang)) for c, lane in self.every()]
        return Section(
            "lanes",
            self.said("race-section-lanes"),
            table=self.table(LANE_COLUMNS, rows),
            after=tuple(self._of_lane(c, lane, line) for c, lane, line in used if line),
        )

    def _warnings(self) -> list[str]:
        return [
            self._of_lane(contestant, lane, shown(warning, self.lang))
            for contestant, lane in self.every()
            for warning in lane["warnings"]
        ]

    def _sweep(self, notes: Notes) -> Section:
        found = self.race.get("sweep") or {}
        operations = found.get("operations") or ()
        lines = []
        if found.get("reason"):
            lines.append(reason_text(found, notes, self.lang))
        lines += [
            f"{operation_title(operation, self.lang)}{self.said('colon')}{said}"
            for operation in operations
            for said in even_texts(operation, self.lang)
        ]
        rows = [row for operation in operations for row in size_rows(operation, notes, self.lang)]
        table = self.table(SIZE_COLUMNS, rows)
        return Section("sweep", self.titled("race-section-sweep"), tuple(lines), table)

    def _named(self, contestant: Document, said: Message) -> str:
        name = shown(title(contestant["name"]), self.lang)
        return f"{name}{self.said('colon')}{text(said, self.lang)}"

    def _of_lane(self, contestant: Document, lane: Document, said: str) -> str:
        return f"{contestant['name']}, {lane['name']}{self.said('colon')}{said}"
