"""Whether the machine may be taken away: by the cloud's own metadata, where the user had it asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.json_values import as_object, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPOT = (
    ("aws-life-cycle", "spot", "AWS calls it a spot instance"),
    ("google-preemptible", "true", "Google calls it preemptible"),
    ("azure-priority", "spot", "Azure calls it a Spot machine"),
    ("azure-priority", "low", "Azure calls it a low-priority machine"),
)
_FIRM = (
    ("aws-life-cycle", "on-demand", "AWS calls it on demand"),
    ("google-preemptible", "false", "Google does not call it preemptible"),
    ("azure-priority", "regular", "Azure calls it regular"),
)


@dataclass(frozen=True, slots=True)
class Interruption:
    """``spot`` is None where nobody knows."""

    spot: bool | None
    soon: bool
    text: str


def interruption(metadata: Mapping[str, object] | None) -> Interruption:
    """Read what the metadata services said."""
    if metadata is None:
        return Interruption(None, soon=False, text="not asked; --ask-metadata asks the cloud's own service")

    def said(name: str) -> str:
        return (as_text(as_object(metadata.get(name)).get("text")) or "").strip().lower()

    soon = bool(said("aws-action")) or said("google-preempted") == "true"
    ending = "; it has been told that it ends soon" if soon else ""
    for rows, spot in ((_SPOT, True), (_FIRM, False)):
        for name, word, text in rows:
            if said(name) == word:
                return Interruption(spot, soon, f"{text}{ending}")
    return Interruption(None, soon, f"no metadata service of AWS, Google or Azure answers here{ending}")
