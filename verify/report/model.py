"""What the reports show of one host and of all of them, drawn from findings and race."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from verify.checks import exit_status
from verify.findings import Finding, Layer, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class HostReport:
    """One host: what was found, what was measured, and how its collection went."""

    host: str
    simulated: bool
    image_digest: str | None
    outcome: str
    findings: tuple[Finding, ...]
    cards: tuple[str, ...]
    race: Mapping[str, Any] | None
    damage: str | None = None
    """Why its race cannot be read, though there is one."""

    @property
    def failed(self) -> bool:
        """Whether this host counts as failed for the exit status."""
        return self.damage is not None or exit_status(self.findings) != 0

    @property
    def culprits(self) -> tuple[Finding, ...]:
        """The failures that nobody expected."""
        return tuple(f for f in self.findings if f.status is Status.FAIL and not f.expected)

    @property
    def remarks(self) -> tuple[Finding, ...]:
        """What does not count as failed and is worth a line: expected failures, warnings."""
        return tuple(
            f for f in self.findings if f.status is Status.WARN or (f.status is Status.FAIL and f.expected)
        )

    @property
    def skipped(self) -> int:
        """Count the layers of which nothing was judged: nobody looked, or there is no such thing here."""
        return sum(worst(self.findings, layer) is Status.SKIP for layer in Layer)

    @property
    def mostly_skipped(self) -> bool:
        """Whether a pass says little: fewer than half of the layers were judged."""
        return 2 * self.skipped > len(Layer)

    @property
    def verdict(self) -> str:
        """Say the outcome in a few words."""
        if not self.failed:
            expected = sum(f.expected and f.status is Status.FAIL for f in self.findings)
            warnings = sum(f.status is Status.WARN for f in self.findings)
            notes = [f"{expected} expected failure{'s' * (expected > 1)}"] if expected else []
            notes += [f"{warnings} warning{'s' * (warnings > 1)}"] if warnings else []
            notes += [f"{self.skipped} of {len(Layer)} layers skipped"] if self.skipped else []
            return "pass" + (f" ({', '.join(notes)})" if notes else "")
        if self.outcome != "ok":
            return f"FAIL: {self.outcome}"
        layers = list(dict.fromkeys(f.layer.value for f in self.culprits))
        layers += ["race.json is damaged"] if self.damage else []
        return f"FAIL: {', '.join(layers)}" if layers else "FAIL: nothing passed"

    @property
    def card_text(self) -> str:
        """Count the cards by name."""
        return ", ".join(f"{count} x {name}" for name, count in Counter(self.cards).items()) or "none seen"

    @property
    def sentence(self) -> str:
        """Return the race's one sentence, or why there is none."""
        if self.damage:
            return self.damage
        return str(self.race.get("sentence") or "") if self.race else "not measured"

    def document(self) -> dict[str, Any]:
        """Return findings.json as a document."""
        return {
            "schema": SCHEMA,
            "host": self.host,
            "simulated": self.simulated,
            "image_digest": self.image_digest,
            "findings": [finding_document(finding) for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class Fleet:
    """All hosts, by name."""

    hosts: tuple[HostReport, ...]
    drifts: Mapping[str, str] = field(default_factory=dict)
    """Of the hosts that differ from the lock file, or from most others: in what."""

    @property
    def failed(self) -> bool:
        """No host at all has proven nothing."""
        return not self.hosts or any(host.failed for host in self.hosts)

    def document(self) -> dict[str, Any]:
        """Return what ``gpu-verify report --json`` prints."""
        rows = [
            {
                **host.document(),
                "verdict": host.verdict,
                "failed": host.failed,
                "sentence": host.sentence,
                "drift": self.drifts.get(host.host),
            }
            for host in self.hosts
        ]
        return {"schema": SCHEMA, "failed": self.failed, "hosts": rows}


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return one finding as it stands in findings.json."""
    return {
        "id": finding.id,
        "layer": finding.layer.value,
        "status": finding.status.value,
        "expected": finding.expected,
        "culprit": finding.culprit,
        "summary": finding.summary,
        "between": [layer.value for layer in finding.between] if finding.between else None,
        "remedy": finding.remedy,
        "evidence": list(finding.evidence),
    }


def worst(findings: tuple[Finding, ...], layer: Layer) -> Status | None:
    """Return the status that stands for a whole layer; None where nothing was checked."""
    order = (Status.FAIL, Status.BLOCKED, Status.WARN, Status.PASS, Status.SKIP)
    seen = {finding.status for finding in findings if finding.layer is layer}
    return next((status for status in order if status in seen), None)
