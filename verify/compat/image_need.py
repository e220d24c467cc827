"""What ``NVIDIA_REQUIRE_CUDA`` of an image asks for, in words, and whether a driver and its cards meet it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.compat.cuda import minimum_driver, minor, packaged_drivers
from verify.compat.requirement import parse
from verify.errors import VerifyError

if TYPE_CHECKING:
    from verify.compat.requirement import Condition, Requirement
    from verify.facts.version import Version

_WORDS = {"cuda": "the driver's own CUDA", "driver": "driver", "arch": "compute capability", "brand": "brand"}
_OPERATORS = {"=": "exactly", "!=": "not", "<": "below", "<=": "at most", ">": "above", ">=": "at least"}
_SET = re.compile(r"^NVIDIA_REQUIRE_\w+=")


@dataclass(frozen=True, slots=True)
class ImageNeed:
    """A demand: its alternatives in words, and what they mean for the driver."""

    text: str
    requirement: Requirement
    cuda: Version | None
    alternatives: tuple[str, ...]
    sentences: tuple[str, ...]


def image_need(text: str) -> ImageNeed:
    """Read a demand; a sentence where it is none."""
    text = _SET.sub("", text.strip())
    requirement = parse(text)
    conditions = [condition for alternative in requirement.alternatives for condition in alternative]
    if not conditions:
        raise VerifyError(
            "--image-require is empty: give the value of NVIDIA_REQUIRE_CUDA, as in 'cuda>=12.8'"
        )
    strange = [str(one) for one in conditions if not one.known]
    if strange:
        raise VerifyError(
            f"--image-require: {strange[0]!r} is no condition; they are cuda, driver or arch, one of "
            "= != < <= > >=, and a version, or brand, = or !=, and a word, "
            "as in 'cuda>=12.8 brand=tesla,driver>=535,driver<536'"
        )
    cuda = requirement.cuda
    return ImageNeed(
        text,
        requirement,
        cuda,
        tuple(" and ".join(_said(one) for one in alternative) for alternative in requirement.alternatives),
        tuple(_sentences(cuda)),
    )


def _said(condition: Condition) -> str:
    return f"{_WORDS[condition.name]} {_OPERATORS[condition.operator]} {condition.value}"


def _sentences(cuda: Version | None) -> list[str]:
    if cuda is None:
        return ["it names no CUDA: what it needs of the driver is in its conditions alone"]
    packaged = dict(packaged_drivers()).get(minor(cuda))
    lowest = minimum_driver(cuda)
    said = []
    if packaged is not None:
        said.append(f"a driver carries CUDA {minor(cuda)} itself from {packaged} on")
    if lowest is not None:
        said.append(f"its programs start from driver {lowest} on all the same (minor-version compatibility)")
    said.append(
        "the legacy runtime alone checks the demand: where Docker takes CDI (--gpus from 29.2 on), nothing "
        "refuses the image, and a driver that is too old shows in cuInit; NVIDIA_DISABLE_REQUIRE=1 "
        "in the container's environment switches the check off"
    )
    return said
