"""Parse what nvidia-smi prints: the list, the query's CSV, the XML. Never the table made for people."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.card import QUERY_FIELDS, Card
from verify.facts.reading import is_sentinel, number, whole, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LIST_LINE = re.compile(r"^GPU (\d+): (.+?) \(UUID: ([^)\s]+)\)\s*$", re.MULTILINE)


def parse_list(text: str) -> tuple[Card, ...]:
    """Read ``nvidia-smi -L``; a MIG device's line belongs to its card."""
    return tuple(Card(int(index), name, uuid) for index, name, uuid in _LIST_LINE.findall(text))


def asked_fields(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the fields that a query asked for, by its own words; the usual ones where it does not say."""
    asked = next((word for word in argv if word.startswith("--query-gpu=")), "")
    names = tuple(filter(None, asked.partition("=")[2].split(",")))
    return names or QUERY_FIELDS


def parse_query(text: str, names: Sequence[str] = QUERY_FIELDS) -> tuple[Card, ...]:
    """Read the query's CSV, one row a card; a field that is missing costs no other field."""
    rows = (row for row in csv.reader(text.splitlines(), skipinitialspace=True) if row)
    cards = []
    for row in rows:
        if len(row) != len(names) or whole(row[0]) is None:
            continue  # a warning, an error text or a header between the rows
        cards.append(_card(dict(zip(names, row, strict=True))))
    return tuple(cards)


def _card(fields: Mapping[str, str | None]) -> Card:
    return Card(
        index=whole(fields.get("index")),
        name=word(fields.get("name")),
        uuid=word(fields.get("uuid")),
        bus_id=word(fields.get("pci.bus_id")),
        driver_version=word(fields.get("driver_version")),
        memory_total_mib=whole(fields.get("memory.total")),
        memory_used_mib=whole(fields.get("memory.used")),
        utilization_percent=number(fields.get("utilization.gpu")),
        temperature_c=number(fields.get("temperature.gpu")),
        power_w=number(fields.get("power.draw")),
        power_limit_w=number(fields.get("power.limit")),
        compute_capability=word(fields.get("compute_cap")),
        mig=word(fields.get("mig.mode.current")),
        ecc=word(fields.get("ecc.mode.current")),
        throttle_reasons=word(fields.get("clocks_throttle_reasons.active")),
    )


# Where the XML of `nvidia-smi -q -x` holds the query's fields; tags moved between branches.
_XML_TAGS: Mapping[str, tuple[str, ...]] = {
    "name": ("product_name",),
    "uuid": ("uuid",),
    "memory.total": ("fb_memory_usage/total",),
    "memory.used": ("fb_memory_usage/used",),
    "utilization.gpu": ("utilization/gpu_util",),
    "temperature.gpu": ("temperature/gpu_temp",),
    "power.draw": (
        "gpu_power_readings/instant_power_draw",
        "gpu_power_readings/power_draw",
        "gpu_power_readings/average_power_draw",
        "power_readings/power_draw",
    ),
    "power.limit": ("gpu_power_readings/current_power_limit", "power_readings/power_limit"),
    "mig.mode.current": ("mig_mode/current_mig",),
    "ecc.mode.current": ("ecc_mode/current_ecc",),
}
_TAG = re.compile(r"<(/?)([A-Za-z_][\w.-]*)((?:\s[^<>]*?)?)(/?)>")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}


@dataclass(frozen=True, slots=True)
class Gpu:
    """One card's part of the XML: its address, its text, and what every element holds, by its path."""

    bus: str | None
    body: str
    leaves: dict[str, str]


def parse_xml(text: str) -> tuple[Card, ...]:
    """Read ``nvidia-smi -q -x``; a document that was cut gives the cards that are whole."""
    cards = []
    driver = re.search(r"<driver_version>([^<]*)</driver_version>", text)
    for index, gpu in enumerate(xml_gpus(text)):
        values = gpu.leaves
        fields: dict[str, str | None] = {
            field: next((values[tag] for tag in tags if tag in values and not is_sentinel(values[tag])), None)
            for field, tags in _XML_TAGS.items()
        }
        fields |= {
            "index": str(index),
            "pci.bus_id": values.get("pci/pci_bus_id") if gpu.bus is None else gpu.bus,
            "driver_version": driver.group(1) if driver else None,
        }
        cards.append(_card(fields))
    return tuple(cards)


def xml_gpus(text: str) -> tuple[Gpu, ...]:
    """Return each card that is whole in the XML."""
    found = re.findall(r"<gpu(\s[^<>]*|)>(.*?)</gpu>", text, re.DOTALL)
    return tuple(Gpu(_bus(attributes), body, _leaves(body)) for attributes, body in found)


def xml_cards(text: str) -> tuple[tuple[str, dict[str, str]], ...]:
    """Return each card's address, and what its elements hold."""
    return tuple((gpu.bus or "?", gpu.leaves) for gpu in xml_gpus(text))


def _bus(attributes: str) -> str | None:
    found = re.search(r'id="([^"]*)"', attributes)
    return found.group(1) if found else None


def xml_elements(body: str, name: str) -> tuple[dict[str, str], ...]:
    """Return what every element of one name holds: a card has several processes."""
    parts = re.findall(rf"<{name}>(.*?)</{name}>", body, re.DOTALL)
    return tuple(_leaves(part) for part in parts)


def _leaves(body: str) -> dict[str, str]:
    """Return the text of every element by its path. No XML parser: the text comes from a foreign machine."""
    values: dict[str, str] = {}
    path: list[str] = []
    end = 0
    for tag in _TAG.finditer(body):
        closing, name, _, empty = tag.groups()
        if closing:
            if path and path[-1] == name:
                values.setdefault("/".join(path), _unescape(body[end : tag.start()]))
                path.pop()
        elif not empty:
            path.append(name)
        end = tag.end()
    return values


def _unescape(text: str) -> str:
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text.strip()
