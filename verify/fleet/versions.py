"""What is compared between hosts: driver, toolkit, engine, image. None is "not known", and never differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.facts.driver import driver_facts
from verify.facts.engine import engine_facts
from verify.facts.toolkit import toolkit_facts
from verify.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.report.model import HostReport

FIELDS = ("driver", "toolkit", "engine", "image")


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of one host, as it was recorded."""

    driver: str | None = None
    toolkit: str | None = None
    engine: str | None = None
    image: str | None = None

    def get(self, field: str) -> str | None:
        """Return one of them by its name."""
        return {"driver": self.driver, "toolkit": self.toolkit, "engine": self.engine, "image": self.image}[
            field
        ]


def versions(report: HostReport, documents: Mapping[str, Mapping[str, Any]]) -> Versions:
    """Read the versions of a host; the driver's from inside a container where the host does not tell it."""
    read = {where: Recording.from_document(dict(document)) for where, document in documents.items()}
    host = read.get("host")
    drivers = (driver_facts(read[where]).version for where in ("host", "container") if where in read)
    driver = next((version for version in drivers if version), None)
    engine = engine_facts(host).version if host else None
    return Versions(
        driver=driver.text if driver else None,
        toolkit=_toolkit(host) if host else None,
        engine=engine.text if engine else None,
        image=report.image_digest or None,
    )


def _toolkit(host: Recording) -> str | None:
    """Return the toolkit's version; all of them where its packages do not agree."""
    found = sorted(set(toolkit_facts(host).versions.values()))
    return ", ".join(version.text for version in found) or None
