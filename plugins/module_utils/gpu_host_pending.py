"""What stands in the way of a change: other installers at work, a full disk, a package half configured."""

from __future__ import annotations

from typing import Any


def pending(look: Any) -> dict[str, Any]:
    """Return what has to be waited for or repaired before anything is changed."""
    rc, said = look.run(["cloud-init", "status"], 5.0) if look.which("cloud-init") else (None, "")
    return {"cloud_init": said.removeprefix("status:").strip() if rc is not None else None}
