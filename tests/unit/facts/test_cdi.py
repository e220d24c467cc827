"""What a CDI specification names (case D6)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.facts.build import recording
from verify.facts.cdi import CdiSpec, cdi_specs

PATH = "/var/run/cdi/nvidia.yaml"
HEAD = "cdiVersion: 0.7.0\nkind: nvidia.com/gpu\ndevices:\n- name: '0'\n"


def spec(edits: str, **sections: Any) -> CdiSpec:
    text = f"{HEAD}  containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\ncontainerEdits:\n{edits}"
    found, _, _ = cdi_specs(recording(files={PATH: {"text": text, "mode": "0600"}}, **sections))
    assert found is not None
    return found[0]


def mount(path: str) -> str:
    return f"  mounts:\n  - hostPath: {path}\n    containerPath: {path}\n"


@pytest.mark.parametrize(
    ("path", "driver"),
    [
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.550.144.03", "550.144.03"),
        ("/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.550.163.01", "550.163.01"),
        ("/usr/lib64/libcuda.so.580.95", "580.95"),
        # Libraries with versions of their own say nothing about the driver.
        ("/usr/lib/x86_64-linux-gnu/libnvidia-egl-wayland.so.1.1.13", None),
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.1", None),
    ],
)
def test_d6_the_driver_that_it_was_made_for(path: str, driver: str | None) -> None:
    found = spec(mount(path))
    assert str(found.driver) == str(driver)
    assert (str(found.schema), found.mode, found.devices) == ("0.7.0", "0600", ("0",))


def test_d6_files_that_are_gone_nodes_and_hooks_among_them() -> None:
    edits = (
        mount("/usr/lib/libcuda.so.580.1")
        + "  hooks:\n  - hookName: createContainer\n    path: /usr/bin/nvidia-cdi-hook\n"
    )
    paths = {"/usr/lib/libcuda.so.580.1": True, "/usr/bin/nvidia-cdi-hook": False, "/dev/nvidia0": False}
    assert spec(edits, paths=paths).gone == ("/usr/bin/nvidia-cdi-hook", "/dev/nvidia0")


def test_d6_a_path_that_nobody_looked_at_is_not_gone() -> None:
    assert spec(mount("/usr/lib/libcuda.so.580.1")).gone == ()


@pytest.mark.parametrize(
    "edits", ["  mounts: 1\n", "  mounts:\n  - 1\n", "  hooks: {}\n", "  mounts:\n  - hostPath: 7\n"]
)
def test_d6_nonsense_names_nothing(edits: str) -> None:
    assert spec(edits).gone == ()
