"""Whether two results differ by more than their digits explain, and whether TF32's missing digits explain it.

Errors are relative: the largest difference from a calculation in float64, over the largest value there. A sum
of products in another order and with other digits is off by at most the rounding of one number times the
length of the sum, layer after layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

FLOAT32_BITS, TF32_BITS = 23, 10  # of the mantissa
SAME, TF32, OTHER = "same", "tf32", "other"


def tolerance(length: int, layers: int) -> float:
    """Return the largest error that float32 explains, over sums so long in so many layers."""
    return float(layers * length * 2.0 ** -(FLOAT32_BITS + 1))


def judged(error: float, length: int, layers: int) -> str:
    """Say what explains an error. TF32 rounds what goes into a product; the sum is float32's."""
    if error <= tolerance(length, layers):
        return SAME
    # Two factors a product, each off by half a unit of its last bit, in every layer; twice that for the ends
    # of the distribution, because the error is held against the largest value and not against each.
    return TF32 if error <= 4 * layers * 2.0 ** -(TF32_BITS + 1) else OTHER


def rounded_to_tf32(np: ModuleType, values: Any) -> Any:  # noqa: ANN401  # arrays
    """Return float32 numbers with TF32's digits: the last 13 bits rounded away, as the card does it."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    dropped = FLOAT32_BITS - TF32_BITS
    half = np.uint32(1 << (dropped - 1))
    kept = (bits.astype(np.uint64) + half) & np.uint64(0xFFFFFFFF ^ ((1 << dropped) - 1))
    return kept.astype(np.uint32).view(np.float32)
