"""Layer framework, what is installed beside torch: compiled extensions made for it, and one pynvml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, count, failed, not_applicable, not_recorded, passed, warned
from verify.checks.wheel import install
from verify.facts.extensions import cuda_tag
from verify.facts.version import Version

if TYPE_CHECKING:
    from verify.facts.extensions import Extension
    from verify.facts.state import State

_ASKED = "the extensions of torch in the container"
# From here on the distribution pynvml has no module of its own and asks for nvidia-ml-py.
_WRAPPER_SINCE = Version.of("12.0.0")


def extensions(state: State) -> Verdict:
    """Whether every installed extension imports, and was built for this torch."""
    found, torch = state.container.packages, state.container.framework
    if not found.recorded or torch.version is None:
        return not_recorded(_ASKED)
    if not found.extensions:
        return not_applicable("not applicable: no compiled extension of torch is installed", found.evidence)
    broken = [one for one in found.extensions if one.imports is False]
    if broken:
        words = "; ".join(f"{one.name} {one.version}: {one.error or 'no reason given'}" for one in broken)
        return failed(
            f"{count(len(broken), 'extension')} of torch {torch.version} cannot be imported: {words}",
            f"pip install --force-reinstall --no-deps {broken[0].name}  # a build for torch "
            f"{torch.version}; flash-attn, apex: with --no-build-isolation",
            found.evidence,
        )
    odd = [text for one in found.extensions if (text := _other(one, torch.version, torch.cuda))]
    if odd:
        return warned(
            f"not made for torch {torch.version}: {'; '.join(odd)}",
            f"{install(state)} torchvision torchaudio  # in one command; others: a build for this torch",
            found.evidence,
        )
    untried = [one.name for one in found.extensions if one.imports is None]
    if len(untried) == len(found.extensions):
        return not_recorded(f"whether {', '.join(untried)} can be imported")
    names = ", ".join(f"{one.name} {one.version}" for one in found.extensions if one.imports)
    return passed(f"each extension of torch can be imported: {names}", found.evidence)


def _other(one: Extension, torch: str | None, cuda: Version | None) -> str | None:
    """Say how an extension that imports was built for something else than is here."""
    if one.half:
        return f"{one.name} {one.version} says: {one.half}"
    if one.cuda_tag and torch:
        ours = cuda_tag(torch) or (f"{cuda.major}{cuda.parts[1]}" if cuda and len(cuda.parts) > 1 else None)
        # A tag that names the major version alone (cu12) goes with all of them.
        if ours and not ours.startswith(one.cuda_tag) and not _same_major(ours, one.cuda_tag, one.name):
            return f"{one.name} {one.version} is built for CUDA {one.cuda_tag}, torch for {ours}"
    built, here = Version.parse(one.for_torch), Version.parse((torch or "").partition("+")[0])
    if built and here and not (here.starts_with(built) or built.starts_with(here)):
        return f"{one.name} {one.version} is made for torch {one.for_torch}"
    return None


def _same_major(ours: str, theirs: str, name: str) -> bool:
    """Whether two tags of one major version go together: not PyTorch's own, which are built as one."""
    return ours[:2] == theirs[:2] and name not in ("torchvision", "torchaudio")


def pynvml(state: State) -> Verdict:
    """Whether one distribution alone brings the module pynvml: of two, the one installed last wins."""
    found = state.container.packages
    if not found.recorded:
        return not_recorded("the distributions of pynvml in the container")
    ours, other = found.nvml.get("nvidia-ml-py"), found.nvml.get("pynvml")
    version = Version.parse(other)
    if ours and version and version < _WRAPPER_SINCE:
        return warned(
            f"pynvml {other} and nvidia-ml-py {ours} are both installed: both bring the module pynvml, and "
            "the one installed last wins",
            "pip uninstall -y pynvml && pip install --force-reinstall nvidia-ml-py",
            found.evidence,
        )
    names = (
        ", ".join(f"{name} {one}" for name, one in found.nvml.items()) or "neither pynvml nor nvidia-ml-py"
    )
    return passed(f"no two distributions bring the module pynvml: {names}", found.evidence)
