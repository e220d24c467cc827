"""Layer framework, torch's build: whether it is for CUDA, one that the driver has, and has its cuDNN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, count, failed, not_applicable, not_recorded, passed, warned
from verify.checks.wheel import install
from verify.compat.cuda import minimum_driver
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.state import State
    from verify.facts.version import Version

_NOT_ASKED = "torch in the container"


def torch(state: State) -> Verdict:
    """Whether torch can be imported."""
    found = state.container.framework
    if not found.recorded:
        return not_recorded(_NOT_ASKED)
    if found.version is None:
        return failed(
            f"torch cannot be imported in the container: {found.error or 'the probe said nothing'}",
            "docker run --rm IMAGE python3 -c 'import torch'  # then build the image again (race_image); "
            "an image that needs none: --expect framework.torch",
            found.evidence,
        )
    return passed(f"torch {found.version} is in the container", found.evidence)


def cpu_build(state: State) -> Verdict:
    """Whether torch was built for CUDA: a CPU build never finds a card, whatever the driver."""
    found = state.container.framework
    if not found.recorded or found.version is None:
        return not_recorded(_NOT_ASKED)
    if found.cuda is None:
        what = (
            f"a ROCm build (HIP {found.hip}), for AMD's cards"
            if found.hip
            else "a CPU build: it was built for no CUDA"
        )
        return failed(
            f"torch {found.version} is {what}",
            f"{install(state)}  # in the image, instead of this build",
            found.evidence,
            (Layer.IMAGE, Layer.FRAMEWORK),
        )
    return passed(f"torch {found.version} is built for CUDA {found.cuda}", found.evidence)


def cuda_driver(state: State) -> Verdict:
    """Whether the driver is new enough for torch's CUDA, by minor-version compatibility."""
    found, inside = state.container.framework, state.container.inside
    driver, cuda = state.container.driver, found.cuda
    version = driver.version or state.driver.version
    if cuda is None:
        return not_recorded("the CUDA of torch")
    minimum = minimum_driver(cuda)
    evidence = (*found.evidence, *(driver.evidence or state.driver.evidence)[-1:])
    if minimum is None:
        return not_applicable(f"our table does not know CUDA {cuda.major}", evidence)
    if inside.init == 0 and inside.cuda and inside.cuda.major >= cuda.major:
        # Whatever the driver's number says: this libcuda may be a newer one, by forward compatibility.
        return passed(f"libcuda serves CUDA {inside.cuda}, torch is built for {cuda}", evidence)
    too_old = version < minimum if version else None
    if too_old is None and found.found_cuda:
        too_old = found.found_cuda.major < cuda.major
    if too_old is None or (not too_old and version is None):
        return not_recorded("the version of the driver")
    if too_old:
        return failed(
            f"torch is built for CUDA {cuda}, which needs driver {minimum} or newer; "
            f"{_driver(version, found.found_cuda)}",
            f"install driver {minimum} or newer; or: {install(state)}",
            evidence,
            (Layer.DRIVER, Layer.FRAMEWORK),
        )
    return passed(
        f"driver {version} serves CUDA {cuda} (any CUDA {cuda.major} needs {minimum} or newer)", evidence
    )


def _driver(version: Version | None, found: Version | None) -> str:
    number = f"its CUDA is {found} (torch says: found version {found.major}{_three(found)})" if found else ""
    if version is None:
        return f"the driver is older: {number}"
    return f"the driver is {version}" + (f", {number}" if number else "")


def _three(version: Version) -> str:
    minor = version.parts[1] if len(version.parts) > 1 else 0
    return f"{minor * 10:03d}"


def cudnn(state: State) -> Verdict:
    """Whether torch has cuDNN, and where the one that it really loads comes from."""
    found = state.container.framework
    if found.version is None:
        return not_recorded(_NOT_ASKED)
    error = found.errors.get("cudnn")
    used = found.convolution_error if found.kernel_ok else None
    if found.cudnn is None or used:
        said = error or used
        return failed(
            f"torch {found.version} " + (f"cannot use its cuDNN: {said}" if said else "has no cuDNN"),
            "pip install --force-reinstall torch in the image: the wheel brings its cuDNN along"
            + ("; and take other folders with libcudnn out of LD_LIBRARY_PATH" if said else ""),
            found.evidence,
        )
    folders = sorted({path.rpartition("/")[0] for path in found.cudnn_files})
    version = f"cuDNN {_cudnn(found.cudnn)}"
    if len(folders) > 1:
        return warned(
            f"{version} is loaded from {count(len(folders), 'folder')}: {', '.join(folders)}",
            "unset LD_LIBRARY_PATH, or uninstall one of them: parts of two versions do not go together",
            found.evidence,
        )
    source = f", loaded from {folders[0]}" if folders else ""
    return passed(f"{version} is in the container{source}", found.evidence)


def _cudnn(number: int) -> str:
    """Write 91900 as 9.19.0, and the older 8907 as 8.9.7."""
    major = 10_000 if number >= 10_000 * 9 else 1_000  # the unit changed with cuDNN 9
    return f"{number // major}.{number % major // 100}.{number % 100}"
