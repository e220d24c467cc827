"""What a pull costs: bytes on their way, room on the disk, time and money. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.compat.table import rows

if TYPE_CHECKING:
    from verify.image.manifest import Image

SHORT = 16  # digits of a layer's id that a recording keeps
_BITS, _HOUR_S = 8, 3600


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes. ``disk`` is an estimate between ``low`` and ``high``; ``shared`` is None where nobody looked."""

    compressed: int
    disk: int
    low: int
    high: int
    layers: int
    shared: int | None
    pull: int
    needed: int
    exact: bool
    factor: float

    @property
    def there(self) -> int:
        """Return how many of the bytes need not be sent."""
        return self.compressed - self.pull


@dataclass(frozen=True, slots=True)
class Pull:
    """Time and money of a pull at a given rate and price."""

    mbit: float
    seconds: float
    price_per_hour: float | None
    currency: str
    money: float | None


def sizes(image: Image, on_host: tuple[tuple[str, ...], ...] | None) -> Sizes:
    """Add up layers; the host keeps those that stand, in this order, at the bottom of one of its images."""
    factor, low, high = _factors()
    shared = None if on_host is None else shared_layers(image.diff_ids, on_host)
    # Without its ids in the configuration an image cannot be compared.
    if len(image.diff_ids) != len(image.layers):
        shared = None
    missing = image.layers[shared or 0 :]
    compressed = sum(layer.size for layer in image.layers)
    pull = sum(layer.size for layer in missing)

    def unpacked(by: float) -> int:
        return sum(round(layer.size * by) if layer.packed else layer.size for layer in image.layers)

    missing_disk = sum(round(layer.size * factor) if layer.packed else layer.size for layer in missing)
    return Sizes(
        compressed=compressed,
        disk=unpacked(factor),
        low=unpacked(low),
        high=unpacked(high),
        layers=len(image.layers),
        shared=shared,
        pull=pull,
        # Docker keeps what came until it is unpacked, containerd's store for good.
        needed=pull + missing_disk,
        exact=not any(layer.packed for layer in image.layers),
        factor=factor,
    )


def shared_layers(diff_ids: tuple[str, ...], on_host: tuple[tuple[str, ...], ...]) -> int:
    """Count the layers from the bottom up that one image of the host has too."""
    mine = [short(one) for one in diff_ids]
    best = 0
    for theirs in on_host:
        same = 0
        for one, other in zip(mine, theirs, strict=False):
            if one != other:
                break
            same += 1
        best = max(best, same)
    return best


def short(diff_id: str) -> str:
    """Cut a layer's id as a recording does."""
    return diff_id.partition(":")[2][:SHORT]


def pull(bytes_: int, mbit: float, price_per_hour: float | None, currency: str) -> Pull:
    """Say how long so many bytes take, and what the machine costs meanwhile."""
    seconds = bytes_ * _BITS / (mbit * 1_000_000)
    money = None if price_per_hour is None else seconds / _HOUR_S * price_per_hour
    return Pull(mbit, seconds, price_per_hour, currency, money)


def _factors() -> tuple[float, float, float]:
    row = rows("image", "unpacked")[0]
    return float(row["factor"]), float(row["low"]), float(row["high"])
