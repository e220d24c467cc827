"""How fast a CPU and a card are: measured by a race of this machine where there is one, else modelled.

What a race measured is carried over to other work within a factor, for no two trainings use a machine alike;
what is modelled has a wider one. Both are said with the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from verify.race.guard import tflops_peak
from verify.race.spans import Span, around

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Json = dict[str, Any]

MEASURED, MODELLED = "measured", "modelled"
TERA, GIGA, MIB = 1e12, 1e9, float(1 << 20)

# float32 operations a second and core: 2 GHz with one fused multiply-add of 8 numbers a tick at a third of
# that, to 3.5 GHz with two of them at nine tenths.
A_CORE = Span(1e10, 1e11)
# Bytes a second of a machine's memory: two channels of a small server's share, to the 50 GB/s and more that
# faiss's "Comparing GPU vs CPU" counts on server CPUs, doubled for newer ones.
MEMORY = Span(1e10, 1e11)
# The same page: PCIe 3 gives some 12 GB/s; 4 twice that; memory that is not pinned half.
BUS = Span(6e9, 2.5e10)
# What is reached of a card's peaks by work that fills it (Megatron-LM reports 41 to 57 % for large models);
# small layers reach less, beyond what their launches cost.
ARITHMETIC_SHARE, MEMORY_SHARE = Span(0.1, 0.75), Span(0.4, 0.92)
# Launching: see shares.LAUNCH_SECONDS; on a CPU the same operations cost their framework's way.
LAUNCH, OPERATION = Span(3e-6, 2e-5), Span(1e-6, 2e-5)
# A card's first call: CUDA's context, kernels, libraries (pytorch #3585: 0.29 s; microsoft/onnxruntime #12197
# and others: seconds; up to 20).
START = Span(0.3, 10.0)
# From one training to another on the same machine: of the same kind, or from one kind of network to another,
# whose layers use a machine otherwise; and from one size of the same product to another.
OTHER_WORK, OTHER_KIND, SAME_KIND = 3.0, 6.0, 2.0

# Trees: numbers of the table times trees, a second. LightGBM's Experiments, 16 threads: Higgs (10.5 million
# rows, 28 columns, 500 trees) 6.2e8, by xgboost_hist 2.7e8; MS LTR 7.2e8. Newer processors up to twice
# that.
CELLS_A_CORE = Span(2.5e8 / 16, 1.2e9 / 16)
MOST_CORES_FOR_TREES = 32
# szilard/GBM-perf, 100 trees: a V100 against 16 cores takes XGBoost from 80 s to 25 s with 10 million rows,
# from 12 s to 8 s with one, and nothing with 100,000; LightGBM is slower on it. Azure/fast_retraining, a
# M60, LightGBM: 119 s to 72 s (Higgs). Newer cards have up to twice the V100's bandwidth, and more.
CELLS_ON_A_CARD = Span(2.5e8 * 0.7, 1.2e9 * 6)
# A tree of few rows costs on a CPU 2 ms (dmlc/xgboost #6025) to 23 ms (GBM-perf, LightGBM), on a card 12 ms
# (#6025) to 130 ms (GBM-perf, LightGBM).
A_TREE, A_TREE_ON_A_CARD = Span(2e-3, 2.3e-2), Span(1.2e-2, 0.13)


@dataclass(frozen=True)
class Device:
    """What a CPU or a card gives, a second; None where nothing is known."""

    name: str
    tflops: dict[str, Span]  # by precision, in operations a second
    bandwidth: Span
    cells: Span  # of trees
    regression: Optional[Span] = None  # noqa: UP045  # Python 3.9; numbers of the table times iterations
    product: Optional[Span] = None  # noqa: UP045  # operations of a matrix product, measured
    memory: Optional[Span] = None  # noqa: UP045  # bytes
    start: Span = START
    measured: frozenset[str] = frozenset()  # what of it: "network", "regression", "product"
    precisions: frozenset[str] = frozenset()  # in which the network was
    kind: Optional[str] = None  # noqa: UP045  # of the network: mlp, cnn
    raced: bool = False  # whether a race stands behind it at all


def cpu(cores: int, race: Mapping[str, Any] | None = None) -> Device:
    """Return what the CPU gives."""
    rate, found, precisions = A_CORE * cores, set(), frozenset[str]()
    network = _rate(_lane(race, "network", "cpu"))
    if network is not None:
        rate, found, precisions = around(network, OTHER_WORK), {"network"}, frozenset({"float32", "float64"})
    regression, product = _regression(race, ("cpu", "cpu-torch")), _product(race, "cpu")
    return Device(
        name=str(((race or {}).get("cpu") or {}).get("model") or "CPU"),
        tflops={"float32": rate, "float64": rate / Span(1.5, 3)},
        bandwidth=MEMORY,
        cells=CELLS_A_CORE * min(cores, MOST_CORES_FOR_TREES),
        regression=None if regression is None else around(regression, OTHER_WORK),
        product=None if product is None else around(product, SAME_KIND),
        start=Span(0, 0),
        precisions=precisions,
        kind=_kind(race),
        raced=race is not None,
        measured=frozenset(
            found | ({"regression"} if regression else set()) | ({"product"} if product else set())
        ),
    )


def card(
    name: str,
    peaks: Iterable[Mapping[str, Any]],
    memory: Span | None = None,
    race: Mapping[str, Any] | None = None,
) -> Device:
    """Return what a card gives: one row of the table of peaks, or several where nobody says which."""
    rows = list(peaks)
    tflops = {}
    for precision in ("float32", "float64", "tf32", "bfloat16", "float16"):
        known = [value for row in rows for value in (tflops_peak(precision, row),) if value]
        if known:
            tflops[precision] = ARITHMETIC_SHARE * Span(min(known) * TERA, max(known) * TERA)
    carried = [float(row["memory_gbs"]) * GIGA for row in rows if row.get("memory_gbs")]
    regression, product = _regression(race, ("cuda",)), _product(race, "cuda")
    start, found, precisions = START, set(), set()
    for raced in (_lane(race, "network", "cuda"), _lane(race, "network", "cuda-mixed")):
        rate, precision = _rate(raced), str((raced or {}).get("precision"))
        if rate is not None and precision in tflops:
            # a small network does not fill the card: larger work gets more out of it, up to the peak's share
            tflops[precision] = Span(rate / OTHER_WORK, max(rate * OTHER_WORK, tflops[precision].high))
            found.add("network")
            precisions.add(precision)
    woken = _woken(_lane(race, "network", "cuda"), race)
    if woken is not None:
        start = around(woken, OTHER_WORK)
    return Device(
        name=name,
        tflops=tflops,
        bandwidth=MEMORY_SHARE * Span(min(carried), max(carried)),
        cells=CELLS_ON_A_CARD,
        regression=None if regression is None else around(regression, OTHER_WORK),
        product=None if product is None else around(product, SAME_KIND),
        memory=memory,
        start=start,
        precisions=frozenset(precisions),
        kind=_kind(race),
        raced=race is not None,
        measured=frozenset(
            found | ({"regression"} if regression else set()) | ({"product"} if product else set())
        ),
    )


def _lane(race: Mapping[str, Any] | None, contestant: str, name: str) -> Json | None:
    for one in (race or {}).get("contestants") or ():
        for lane in one["lanes"] if one["name"] == contestant else ():
            if lane["name"] == name and lane["status"] == "ran" and lane.get("median"):
                return dict(lane)
    return None


def iterations(race: Mapping[str, Any] | None) -> int | None:
    """Return how many iterations the raced regression needed: the most of its lanes."""
    lanes = (_lane(race, "fraud", name) for name in ("cpu", "cpu-torch", "cuda"))
    found = [((lane or {}).get("quality") or {}).get("iterations") for lane in lanes]
    return max((math.ceil(number) for number in found if number), default=None)


def _rate(lane: Mapping[str, Any] | None) -> float | None:
    flops = ((lane or {}).get("work") or {}).get("flops")
    return float(flops / lane["median"]) if lane is not None and flops else None


def _kind(race: Mapping[str, Any] | None) -> str | None:
    """Return which kind of network was raced."""
    kind = (((race or {}).get("settings") or {}).get("network") or {}).get("kind")
    return None if kind is None else str(kind)


def _woken(lane: Mapping[str, Any] | None, race: Mapping[str, Any] | None) -> float | None:
    """Return what the first call cost beside the training itself; with the waking, where that was apart."""
    first = ((lane or {}).get("warmups") or [None])[0]
    wake_s = ((race or {}).get("card") or {}).get("wake_s") or 0.0
    return max(0.05, float(first - lane["median"]) + wake_s) if lane is not None and first else None


def _regression(race: Mapping[str, Any] | None, lanes: Iterable[str]) -> float | None:
    """Return numbers of the table times iterations, a second, of the fastest of these lanes."""
    fraud = ((race or {}).get("settings") or {}).get("fraud") or {}
    data = fraud.get("data") or {}
    columns = data.get("columns") or fraud.get("features")
    rows = next(
        (
            c["training"]["rows"]
            for c in (race or {}).get("contestants") or ()
            if c["name"] == "fraud" and c.get("training")
        ),
        None,
    )
    if not rows or not columns:
        return None
    found = []
    for name in lanes:
        lane = _lane(race, "fraud", name)
        turns = ((lane or {}).get("quality") or {}).get("iterations")
        if lane is not None and turns:
            found.append(float(rows) * columns * turns / lane["median"])
    return max(found, default=None)


def _product(race: Mapping[str, Any] | None, lane: str) -> float | None:
    """Return operations a second of the largest matrix product that a race measured."""
    operations = ((race or {}).get("sweep") or {}).get("operations") or ()
    points = [
        point
        for operation in operations
        for point in (operation["points"] if operation["name"] == "matmul" else ())
        if point["lane"] == lane and point.get("seconds") and point.get("status", "ran") == "ran"
    ]
    largest = max(points, key=lambda point: point["size"], default=None)
    return None if largest is None else float(largest["flops"] / largest["seconds"])
