"""The networks that are raced, what their arithmetic amounts to, and the data that they learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.race.device import Array

if TYPE_CHECKING:
    from types import ModuleType

    from verify.race import settings as s
    from verify.race.libraries import Libraries

MLP, CNN = "mlp", "cnn"
KINDS = (MLP, CNN)
KERNEL = 3
# The backward pass multiplies twice, by the weights and by what went in: but nobody asks for the gradient of
# the rows, so the first layer does it once.
FORWARD_AND_BACK = 3
FLOAT_BYTES = 4
# Kernels of one training step, counted in torch's operations: per layer a product with its bias and an
# activation (and a pooling), twice the products and once the rest on the way back; the loss, its gradient,
# and the optimizer, whose parameters go together.
LAUNCHES_A_LAYER = {MLP: 7, CNN: 11}
LAUNCHES_A_STEP = 14


@dataclass(frozen=True)
class Data:
    """Training and test rows with their classes, as numpy arrays."""

    x: Array
    y: Array
    test_x: Array
    test_y: Array


def data(settings: s.Settings, libraries: Libraries) -> Data:
    """Make the data set from the seed: a class is several patterns, so that no line separates them.

    The convolutional network gets images: each pattern coarse, shifted at random, noise over it.
    """
    np, n = libraries["numpy"], settings.network
    random = np.random.default_rng(settings.seed)
    patterns = n.classes * n.clusters_per_class
    total = n.rows + n.test_rows
    which = random.integers(patterns, size=total)
    if n.kind == CNN:
        coarse = random.standard_normal((patterns, n.side // 4, n.side // 4))
        images = np.kron(coarse, np.ones((4, 4)))
        shifts = random.integers(-2, 3, size=(total, 2))
        x = np.empty((total, 1, n.side, n.side), n.dtype)
        for down in range(-2, 3):
            for right in range(-2, 3):
                here = (shifts == (down, right)).all(axis=1)
                x[here, 0] = np.roll(images, (down, right), axis=(1, 2))[which[here]]
    else:
        x = random.standard_normal((patterns, n.features))[which].astype(n.dtype)
    x += n.noise * random.standard_normal(x.shape, dtype=n.dtype)
    y = (which % n.classes).astype("int64")
    return Data(x[: n.rows], y[: n.rows], x[n.rows :], y[n.rows :])


def model(torch: ModuleType, n: s.Network) -> Any:  # noqa: ANN401  # a torch module
    """Return an untrained network."""
    nn = torch.nn
    layers: list[Any] = []
    if n.kind == CNN:
        planes = (1, *n.channels)
        for i in range(len(n.channels)):
            layers += [nn.Conv2d(planes[i], planes[i + 1], KERNEL, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(_flat(n), n.classes))
    widths = (n.features, *n.hidden, n.classes)
    for i in range(len(widths) - 1):
        layers += [nn.Linear(widths[i], widths[i + 1]), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def products(n: s.Network) -> list[tuple[int, int, int]]:
    """Return each layer's multiplications for one row, its weights, and the numbers that come out of it."""
    if n.kind == CNN:
        found, side, planes = [], n.side, (1, *n.channels)
        for i in range(len(n.channels)):
            weights = planes[i] * planes[i + 1] * KERNEL**2
            found.append((weights * side**2, weights, planes[i + 1] * side**2))
            side //= 2
        return [*found, (_flat(n) * n.classes, _flat(n) * n.classes, n.classes)]
    widths = (n.features, *n.hidden, n.classes)
    return [(a * b, a * b, b) for a, b in zip(widths, widths[1:])]  # noqa: B905, RUF007  # Python 3.9


def row_flops(n: s.Network) -> float:
    """Return the multiplications and additions of one row's way forward and back, as torch counts them."""
    layers = [layer[0] for layer in products(n)]
    return 2.0 * (FORWARD_AND_BACK * sum(layers) - layers[0])


def longest_sum(n: s.Network) -> int:
    """Return how many products the longest sum of a forward pass has."""
    if n.kind == CNN:
        return max(*(KERNEL**2 * planes for planes in (1, *n.channels[:-1])), _flat(n))
    return max(n.features, *n.hidden)


def work(n: s.Network) -> dict[str, Any]:
    """Return what one training amounts to, counted from the layers' sizes.

    Operations are the textbook's: a convolution by Winograd's method multiplies less, and a network as small
    as this is far from where that could be taken for an impossible card. Bytes are the least that must move,
    each number once: the rows, and in every step the weights (read, their gradient and momentum read and
    written) and what the layers hand on (written, read on the way back).
    """
    layers = products(n)
    rows = n.rows * n.epochs
    steps = -(-n.rows // n.batch) * n.epochs
    weights, between = sum(layer[1] for layer in layers), sum(layer[2] for layer in layers)
    row = n.side**2 if n.kind == CNN else n.features
    return {
        "flops": rows * row_flops(n),
        "bytes": float(FLOAT_BYTES * (rows * (row + 4 * between) + 7 * steps * weights)),
        "working_set_bytes": float(FLOAT_BYTES * (n.batch * (row + 2 * between) + 3 * weights)),
        "launches": steps * (LAUNCHES_A_LAYER[n.kind] * len(layers) + LAUNCHES_A_STEP),
        "from": "model",
    }


def _flat(n: s.Network) -> int:
    return int(n.channels[-1] * (n.side >> len(n.channels)) ** 2)
