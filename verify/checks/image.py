"""Layer image: the image that the containers use is on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, failed, not_recorded, passed
from verify.checks.requirement import requirement

if TYPE_CHECKING:
    from verify.facts.state import State


def present(state: State) -> Verdict:
    """Whether the image is there, and which it is: by its id, and its digest where a registry gave one."""
    image = state.image
    if not image.recorded:
        return not_recorded("docker image inspect (no image was named)")
    if not state.engine.answers and not image.present:
        return not_recorded("docker image inspect: the engine did not answer")
    if not image.present:
        return failed(
            f"image {image.name} is not on this host: {image.said}",
            "make site LIMIT=HOST  # role race_image; by hand: docker load -i race-image.tar",
            image.evidence,
        )
    digest = f", from a registry as {image.digest}" if image.digest else ", not from a registry (no digest)"
    return passed(f"image {image.name} is {image.id}{digest}", image.evidence)


CHECKS = (
    Check("image.present", present, needs=("engine.answers",)),
    Check("image.requirement", requirement, needs=("image.present", "driver.answers")),
)
