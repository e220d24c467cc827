"""The toolkit's switch no-cgroups: one file for every engine of the machine. Pure."""

from __future__ import annotations

import re

CONFIG = "/etc/nvidia-container-runtime/config.toml"
SECTION = "nvidia-container-cli"
HEAD = re.compile(r"^\[\s*([^\]]+?)\s*\]")
VALUE = re.compile(r"""^["']?([\w.-]+?)["']?\s*=\s*(true|false)\b""")


def no_cgroups(text: str | None) -> bool:
    """Tell whether the switch is on; commented out, in another section or not there it is off.

    Python has a reader of TOML from 3.11 on only, and targets are older: a line is enough for a switch.
    """
    section, on = "", False
    for raw in (text or "").splitlines():
        line = raw.strip()
        head = HEAD.match(line)
        value = VALUE.match(line)
        if head:
            section = head.group(1).replace('"', "").replace("'", "")
        elif value and (f"{section}." if section else "") + value.group(1) == f"{SECTION}.no-cgroups":
            on = value.group(2) == "true"
    return on


def advice(*, on: bool, rootless_too: bool) -> str | None:
    """Return what is wrong with the switch for the system's own engine, None where nothing is."""
    both = (
        f" Docker also runs rootless here, which needs the opposite: {CONFIG} can serve only one of the two. "
        "Leave it to this engine (false), and let the rootless one take cards by CDI "
        "(`--device nvidia.com/gpu=all`), which does not use the switch."
    )
    if on:
        return (
            f"{CONFIG} has no-cgroups = true, which is for rootless Docker only: containers of this engine "
            'whose card comes from the toolkit\'s hook say "Failed to initialize NVML: Unknown Error". '
            "Needed is false: `nvidia-ctk config --in-place --set nvidia-container-cli.no-cgroups=false`."
            + (both if rootless_too else "")
        )
    return f"{CONFIG} has no-cgroups = false, as this engine needs it.{both}" if rootless_too else None
