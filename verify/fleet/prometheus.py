"""gpu-host.prom: one host's findings and figures as node_exporter's textfile collector reads them.

A figure that was not recorded has no sample: 0 W and 0 % look healthy. Every sample names its host, so that
one machine can serve the files of a whole fleet.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from verify.facts.driver import driver_facts
from verify.facts.usage import usage_facts
from verify.findings import Layer, Status
from verify.recording import Recording
from verify.report.model import worst
from verify.text import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.facts.usage import CardUsage
    from verify.report.model import HostReport

    Sample = tuple[Mapping[str, str], float]

FILE = "gpu-host.prom"
MIB = 1 << 20
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_HELP = {
    "gpu_host_ok": "Whether the last verification counts this host as ready: 1 yes, 0 no.",
    "gpu_host_info": "How the host was looked at, and the image that it was proven with.",
    "gpu_host_recorded_timestamp_seconds": "When the host was recorded, in seconds since 1970.",
    "gpu_host_finding": "One check of the last verification; the status is a label.",
    "gpu_host_layer_ok": "Whether a layer passes: 1 yes, 0 no; absent where nobody looked.",
    "gpu_host_driver_info": "The driver, and the newest CUDA that it runs.",
    "gpu_host_card_info": "A card as the driver names it.",
    "gpu_host_card_utilization_ratio": "Share of the last moment in which something ran on the card.",
    "gpu_host_card_memory_used_bytes": "Memory of the card in use.",
    "gpu_host_card_memory_size_bytes": "Memory of the card.",
    "gpu_host_card_temperature_celsius": "Temperature of the card.",
    "gpu_host_card_power_watts": "Power that the card draws.",
    "gpu_host_card_power_limit_watts": "Power that the card may draw.",
}


def prometheus(report: HostReport, documents: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of one host; each metric with its help and type, and none without a sample."""
    host = Recording.from_document(dict(documents["host"])) if "host" in documents else None
    found: dict[str, list[Sample]] = {name: [] for name in _HELP}
    _verdict(report, found)
    if host is not None:
        _recorded(host, found)
        _cards(usage_facts(host).cards, found)
    lines = []
    for name, samples in found.items():
        if samples:
            lines += [f"# HELP {name} {_HELP[name]}", f"# TYPE {name} gauge"]
            # Two of the same name and labels would make node_exporter refuse the whole file.
            told = {_name(name, {"host": report.host, **labels}): value for labels, value in samples[::-1]}
            lines += [f"{sample} {_number(value)}" for sample, value in reversed(told.items())]
    return "\n".join(lines) + "\n"


def _verdict(report: HostReport, found: dict[str, list[Sample]]) -> None:
    found["gpu_host_ok"].append(({}, float(not report.failed)))
    simulated = "true" if report.simulated else "false"
    told = {"simulated": simulated, "outcome": report.outcome, "image_digest": report.image_digest or ""}
    found["gpu_host_info"].append((told, 1.0))
    for one in report.findings:
        expected = "true" if one.expected else "false"
        labels = {"layer": one.layer.value, "id": one.id, "status": one.status.value, "expected": expected}
        found["gpu_host_finding"].append((labels, 1.0))
    for layer in Layer:
        status = worst(report.findings, layer)
        if status not in (None, Status.SKIP):
            ok = float(status in (Status.PASS, Status.WARN))
            found["gpu_host_layer_ok"].append(({"layer": layer.value}, ok))


def _recorded(host: Recording, found: dict[str, list[Sample]]) -> None:
    try:
        taken = dt.datetime.fromisoformat(host.taken_at or "")
    except ValueError:
        taken = None
    if taken is not None and taken.tzinfo is not None:
        found["gpu_host_recorded_timestamp_seconds"].append(({}, taken.timestamp()))
    driver = driver_facts(host)
    if driver.version is not None:
        cuda = driver.cuda.text if driver.cuda else ""
        found["gpu_host_driver_info"].append(({"version": driver.version.text, "cuda": cuda}, 1.0))


def _cards(cards: Sequence[CardUsage], found: dict[str, list[Sample]]) -> None:
    for place, usage in enumerate(cards):
        card = usage.card
        label = {"card": str(place if card.index is None else card.index)}
        found["gpu_host_card_info"].append(({**label, "name": card.name or "", "uuid": card.uuid or ""}, 1.0))
        for name, value, unit in (
            ("utilization_ratio", card.utilization_percent, 0.01),
            ("memory_used_bytes", card.memory_used_mib, MIB),
            ("memory_size_bytes", card.memory_total_mib, MIB),
            ("temperature_celsius", card.temperature_c, 1),
            ("power_watts", card.power_w, 1),
            ("power_limit_watts", card.power_limit_w, 1),
        ):
            if value is not None:
                found[f"gpu_host_card_{name}"].append((label, value * unit))


def _name(name: str, labels: Mapping[str, str]) -> str:
    """Return a sample's name and labels; a text of somebody else's cannot leave its quotes or its line."""
    told = ",".join(f'{key}="{plain(text).translate(_ESCAPES)}"' for key, text in labels.items())
    return f"{name}{{{told}}}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(round(value, 6))
