"""The toolkit's switch no-cgroups, and what is wrong with it for which engine (field case A8)."""

from __future__ import annotations

import pytest

from plugins.module_utils.gpu_host_daemon_cgroups import advice, no_cgroups

SHIPPED = """#accept-nvidia-visible-devices-as-volume-mounts = false
disable-require = false

[nvidia-container-cli]
#debug = "/var/log/nvidia-container-toolkit.log"
environment = []
load-kmods = true
#no-cgroups = false
path = "/usr/bin/nvidia-container-cli"

[nvidia-container-runtime]
mode = "auto"
"""


@pytest.mark.parametrize(("text", "on"), [
    (None, False),
    ("", False),
    (SHIPPED, False),
    (SHIPPED.replace("#no-cgroups = false", "#no-cgroups = true"), False),
    (SHIPPED.replace("#no-cgroups = false", "no-cgroups = true"), True),
    (SHIPPED.replace("#no-cgroups = false", "no-cgroups=false"), False),
    (SHIPPED.replace("#no-cgroups = false", "  no-cgroups = true  # for rootless"), True),
    ("no-cgroups = true\n" + SHIPPED, False),
    (SHIPPED + "no-cgroups = true\n", False),
    ("nvidia-container-cli.no-cgroups = true\n", True),
    ('["nvidia-container-cli"]\n"no-cgroups" = true\n', True),
    ('[nvidia-container-cli]\nno-cgroups = "true"\n', False),
])  # fmt: skip
def test_a8_the_switch_counts_in_its_section_alone(text: str | None, on: bool) -> None:  # noqa: FBT001
    assert no_cgroups(text) is on


def test_a8_on_is_wrong_for_the_systems_engine_and_no_file_serves_two() -> None:
    assert advice(on=False, rootless_too=False) is None
    alone = advice(on=True, rootless_too=False) or ""
    assert "Failed to initialize NVML: Unknown Error" in alone
    assert "nvidia-container-cli.no-cgroups=false" in alone
    assert "CDI" not in alone
    for on in (True, False):
        both = advice(on=on, rootless_too=True) or ""
        assert "can serve only one of the two" in both
        assert "--device nvidia.com/gpu=all" in both
