"""The cards: as the bus shows them, and as the driver describes them."""

from __future__ import annotations

QUERY_FIELDS = (
    "index",
    "name",
    "uuid",
    "pci.bus_id",
    "driver_version",
    "memory.total",
    "memory.used",
    "utilization.gpu",
    "temperature.gpu",
    "power.draw",
    "power.limit",
    "compute_cap",
    "mig.mode.current",
    "persistence_mode",
    "ecc.mode.current",
    "clocks_throttle_reasons.active",
)
"""The fields of ``nvidia-smi-query``, in the order of its columns."""
