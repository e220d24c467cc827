"""What the sweep times at every size: a matrix product, and one training step of the small network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from verify.race.network_model import CNN, model, row_flops

if TYPE_CHECKING:
    from types import ModuleType

    from verify.race.settings import Settings


class Operation(Protocol):
    """One operation of one size on one device."""

    def run(self, times: int) -> None:
        """Do it so many times; on a card this only queues it."""

    def copy(self) -> None:
        """Copy what goes in to the device, and what comes out back, as one operation needs it."""


class Matmul:
    """The product of two square matrices of side ``size``; both go in, the product comes out."""

    NAME, SIZE_IS = "matmul", "n"

    def __init__(self, torch: ModuleType, device: str, size: int, settings: Settings) -> None:
        self._torch, self._device = torch, device
        random = torch.Generator().manual_seed(settings.seed)
        dtype = getattr(torch, settings.sweep.dtype)
        self._host = [torch.randn(size, size, generator=random, dtype=dtype) for _ in range(2)]
        self._here = [matrix.to(device) for matrix in self._host]
        self._out = torch.empty(size, size, dtype=dtype, device=device)

    @staticmethod
    def flops(size: int, _settings: Settings) -> float:
        """Return the multiplications and additions of one product."""
        return 2.0 * size**3

    def run(self, times: int) -> None:
        """Multiply."""
        multiply, (a, b), out = self._torch.mm, self._here, self._out
        for _ in range(times):
            multiply(a, b, out=out)

    def copy(self) -> None:
        """Copy both factors in and the product out, from and to ordinary memory."""
        for matrix in self._host:
            matrix.to(self._device)
        self._out.cpu()


class Step:
    """Forward, backward and SGD on a batch of ``size`` rows; the batch goes in, the weights stay."""

    NAME, SIZE_IS = "step", "batch"

    def __init__(self, torch: ModuleType, device: str, size: int, settings: Settings) -> None:
        self._torch, self._device, n = torch, device, settings.network
        random = torch.Generator().manual_seed(settings.seed)
        shape = (size, 1, n.side, n.side) if n.kind == CNN else (size, n.features)
        dtype = getattr(torch, settings.sweep.dtype)
        rows = torch.randn(shape, generator=random, dtype=dtype)
        self._host = [rows, torch.randint(n.classes, (size,), generator=random)]
        self._here = [tensor.to(device) for tensor in self._host]
        torch.manual_seed(settings.seed)
        self._model = model(torch, n).to(device=device, dtype=dtype)
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=n.learning_rate, momentum=n.momentum)

    @staticmethod
    def flops(size: int, settings: Settings) -> float:
        """Return the multiplications and additions of one step."""
        return size * row_flops(settings.network)

    def run(self, times: int) -> None:
        """Train on the same batch; nothing in it waits for the card."""
        (x, y), net, optimizer = self._here, self._model, self._optimizer
        loss_of = self._torch.nn.functional.cross_entropy
        for _ in range(times):
            optimizer.zero_grad(set_to_none=True)
            loss_of(net(x), y).backward()
            optimizer.step()

    def copy(self) -> None:
        """Copy the batch in, from ordinary memory."""
        for tensor in self._host:
            tensor.to(self._device)


OPERATIONS: tuple[Any, ...] = (Matmul, Step)  # how they are called with a library that is not there: Any
