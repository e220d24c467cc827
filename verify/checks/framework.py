"""Layer framework: torch in the container, from its build to one real kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, count, failed, not_applicable, not_recorded, passed
from verify.compat.cuda import minimum_driver, torch_index
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.checks.state import State

_NOT_ASKED = "torch in the container"


def torch(state: State) -> Verdict:
    """Whether torch can be imported."""
    found = state.container.framework
    if not found.recorded:
        return not_recorded(_NOT_ASKED)
    if found.version is None:
        return failed(
            f"torch cannot be imported in the container: {found.error or 'the probe said nothing'}",
            "docker run --rm IMAGE python3 -c 'import torch'  # then build the image again (role race_image)",
            found.evidence,
        )
    return passed(f"torch {found.version} is in the container", found.evidence)


def cpu_build(state: State) -> Verdict:
    """Whether torch was built for CUDA: a CPU build never finds a card, whatever the driver."""
    found = state.container.framework
    if not found.recorded or found.version is None:
        return not_recorded(_NOT_ASKED)
    if found.cuda is None:
        return failed(
            f"torch {found.version} is a CPU build: it was built for no CUDA",
            f"pip install torch --index-url {_index(state)}  # in the image, instead of this build",
            found.evidence,
            (Layer.IMAGE, Layer.FRAMEWORK),
        )
    return passed(f"torch {found.version} is built for CUDA {found.cuda}", found.evidence)


def _index(state: State) -> str:
    driver = state.container.driver.version or state.driver.version
    return (driver and torch_index(driver)) or "https://download.pytorch.org/whl/cu126"


def cuda_driver(state: State) -> Verdict:
    """Whether the driver is new enough for torch's CUDA, by minor-version compatibility."""
    found = state.container.framework
    driver, cuda = state.container.driver, found.cuda
    version = driver.version or state.driver.version
    if cuda is None or version is None:
        return not_recorded("the CUDA of torch and the version of the driver")
    minimum = minimum_driver(cuda)
    evidence = (*found.evidence, *(driver.evidence or state.driver.evidence)[-1:])
    if minimum is None:
        return not_applicable(f"our table does not know CUDA {cuda.major}", evidence)
    if version < minimum:
        return failed(
            f"torch is built for CUDA {cuda}, which needs driver {minimum} or newer; the driver is {version}",
            f"install driver {minimum} or newer; or: pip install torch --index-url {_index(state)}",
            evidence,
            (Layer.DRIVER, Layer.FRAMEWORK),
        )
    return passed(f"driver {version} serves CUDA {cuda} (it needs {minimum} or newer)", evidence)


def cudnn(state: State) -> Verdict:
    """Whether torch has cuDNN."""
    found = state.container.framework
    if found.version is None:
        return not_recorded(_NOT_ASKED)
    if found.cudnn is None:
        return failed(
            f"torch {found.version} has no cuDNN",
            "pip install --force-reinstall torch in the image: the wheel brings its cuDNN along",
            found.evidence,
        )
    return passed(f"cuDNN {_cudnn(found.cudnn)} is in the container", found.evidence)


def _cudnn(number: int) -> str:
    """Write 91900 as 9.19.0, and the older 8907 as 8.9.7."""
    major = 10_000 if number >= 10_000 * 9 else 1_000  # the unit changed with cuDNN 9
    return f"{number // major}.{number % major // 100}.{number % 100}"


def available(state: State) -> Verdict:
    """Whether torch.cuda.is_available() says True."""
    found = state.container.framework
    if found.available is None or found.version is None:
        return not_recorded("torch.cuda.is_available()")
    cards = len(state.container.driver.cards)
    if not found.available or not found.device_count:
        hidden = f"; CUDA_VISIBLE_DEVICES is set to {found.visible!r}" if found.visible is not None else ""
        remedy = (
            "take CUDA_VISIBLE_DEVICES out of the container's environment"
            if found.visible is not None
            else "python3 -c 'import torch; torch.cuda.init()' in the container  # it says why"
        )
        return failed(
            f"torch.cuda.is_available() is {found.available}, {count(found.device_count or 0, 'device')}, "
            f"while nvidia-smi in the container lists {count(cards, 'card')}{hidden}",
            remedy,
            found.evidence,
            (Layer.CONTAINER, Layer.FRAMEWORK),
        )
    return passed(
        f"torch.cuda.is_available() is True, {count(found.device_count, 'device')}: {', '.join(found.names)}",
        found.evidence,
    )


def kernel(state: State) -> Verdict:
    """Whether one real kernel ran and gave the right result: is_available() alone proves nothing."""
    found = state.container.framework
    if found.kernel_ok is None or found.version is None:
        return not_recorded("one real kernel")
    if not found.kernel_ok:
        return failed(
            f"a kernel does not run on the card: {found.kernel_error or 'no reason given'}",
            "python3 -c 'import torch as t; print(t.cuda.get_arch_list(), t.cuda.get_device_capability())' "
            "in the container",
            found.evidence,
            (Layer.CONTAINER, Layer.FRAMEWORK),
        )
    return passed(f"one real kernel ran on the card, result {found.kernel_result}", found.evidence)


CHECKS = (
    Check("framework.torch", Layer.FRAMEWORK, torch, needs=("container.recorded",)),
    Check("framework.cpu-build", Layer.FRAMEWORK, cpu_build, needs=("framework.torch",)),
    Check(
        "framework.cuda-driver", Layer.FRAMEWORK, cuda_driver, needs=("framework.cpu-build", "driver.answers")
    ),
    Check("framework.cudnn", Layer.FRAMEWORK, cudnn, needs=("framework.cpu-build",)),
    Check(
        "framework.is-available",
        Layer.FRAMEWORK,
        available,
        needs=("framework.cuda-driver", "framework.cpu-build", "container.answers"),
    ),
    Check("framework.kernel", Layer.FRAMEWORK, kernel, needs=("framework.is-available",)),
)
