"""The stand-in toolkit's edits of a bundle, its CDI specification, its way into a root file system."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from tests.standins.toolkit import packages
from tests.standins.toolkit.simulated_toolkit import cdi, inject, oci, settings
from tests.standins.toolkit.simulated_toolkit.choose import Card
from tests.standins.toolkit.simulated_toolkit.driver import Driver, File, Link
from tests.standins.toolkit.simulated_toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from pathlib import Path

DRIVER = Driver(
    "550.163.01",
    (Card(0, "GPU-a", 0), Card(1, "GPU-b", 1)),
    (File("/host/libnvidia-ml.so.550", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550", "utility"),),
    (Link("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "libnvidia-ml.so.550", "utility"),),
    ("/dev/nvidiactl",),
)
NUMBERS = {"/dev/nvidiactl": (195, 255), "/dev/nvidia1": (195, 1)}
BUNDLE: dict[str, Any] = {
    "process": {"env": ["PATH=/bin", "NVIDIA_VISIBLE_DEVICES=1"]},
    "hooks": {"prestart": [{"path": "/usr/bin/nvidia-container-runtime-hook"}, {"path": "/usr/bin/other"}]},
    "linux": {"resources": {"devices": [{"allow": False, "access": "rwm"}]}},
    "mounts": [{"destination": "/proc", "type": "proc"}],
}


def edited() -> dict[str, Any]:
    return oci.apply(BUNDLE, cdi.common_edits(DRIVER), ["/dev/nvidia1"], NUMBERS.__getitem__)


def test_one_asked_is_one_given() -> None:
    after = edited()
    assert [node["path"] for node in after["linux"]["devices"]] == ["/dev/nvidiactl", "/dev/nvidia1"]
    assert all(node["fileMode"] == 0o666 for node in after["linux"]["devices"])
    deny, *allowed = after["linux"]["resources"]["devices"]
    assert not deny["allow"], "what denies everything stays in front"
    assert [(rule["major"], rule["minor"]) for rule in allowed] == [(195, 255), (195, 1)]


def test_files_env_and_hooks() -> None:
    after = edited()
    assert after["process"]["env"] == ["PATH=/bin", "NVIDIA_VISIBLE_DEVICES=void"]
    assert [mount["destination"] for mount in after["mounts"]] == [
        "/proc",
        "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550",
    ]
    assert [hook["args"][1] for hook in after["hooks"]["createContainer"]] == [
        "create-symlinks",
        "update-ldcache",
    ]


def test_the_engines_prestart_hook_goes_and_others_stay() -> None:
    assert edited()["hooks"]["prestart"] == [{"path": "/usr/bin/other"}]
    legacy = oci.with_prestart_hook(BUNDLE, "/usr/bin/nvidia-container-runtime-hook")
    assert [hook["path"] for hook in legacy["hooks"]["prestart"]] == [
        "/usr/bin/other",
        "/usr/bin/nvidia-container-runtime-hook",
    ]


def test_the_bundle_itself_is_not_changed() -> None:
    before = copy.deepcopy(BUNDLE)
    edited()
    assert before == BUNDLE


def test_a_bundle_with_nothing_in_it() -> None:
    after = oci.apply({}, cdi.common_edits(DRIVER), [], NUMBERS.__getitem__)
    assert [node["path"] for node in after["linux"]["devices"]] == ["/dev/nvidiactl"]


def test_the_specification_names_each_card_twice_and_all() -> None:
    document = cdi.document(DRIVER)
    assert cdi.device_names(document) == tuple(
        f"nvidia.com/gpu={n}" for n in ("0", "GPU-a", "1", "GPU-b", "all")
    )
    every = document["devices"][-1]["containerEdits"]["deviceNodes"]
    assert every == [{"path": "/dev/nvidia0"}, {"path": "/dev/nvidia1"}]


def test_no_card_no_specification() -> None:
    with pytest.raises(ToolkitError, match='invalid CDI Spec: failed add device "all"'):
        cdi.document(Driver("550.163.01", (), (), (), ()))


@pytest.mark.parametrize("document", [None, [], "text", {"kind": "x"}, {"kind": "x", "devices": [3]}])
def test_what_is_no_specification_offers_nothing(document: object) -> None:
    assert cdi.device_names(document) == ()


def test_links_are_followed_inside_the_root_only(tmp_path: Path) -> None:
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "lib").symlink_to("usr/lib")
    (tmp_path / "abs").symlink_to("/etc")
    (tmp_path / "up").symlink_to("../../../../etc")
    assert inject.inside(tmp_path, "/lib/x.so") == tmp_path / "usr/lib/x.so"
    assert inject.inside(tmp_path, "/abs/passwd") == tmp_path / "etc/passwd"
    assert inject.inside(tmp_path, "/up/passwd") == tmp_path / "etc/passwd"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="too many links"):
        inject.inside(tmp_path, "/loop")


def test_a_link_replaces_what_has_its_name(tmp_path: Path) -> None:
    inject.link(tmp_path, "/usr/lib/a.so.1", "a.so.2")
    inject.link(tmp_path, "/usr/lib/a.so.1", "a.so.3")
    assert str((tmp_path / "usr/lib/a.so.1").readlink()) == "a.so.3"


def test_device_cgroup() -> None:
    assert inject.device_cgroup("6:cpu:/x\n5:devices:/docker/abc\n0::/\n") == "/docker/abc"
    assert inject.device_cgroup("0::/docker/abc\n") is None


def test_settings(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    assert settings.load(path) == {}
    path.write_text(
        '# gone after a rewrite\n[nvidia-container-runtime]\nmode = "auto"\nruntimes = ["runc", "crun"]\n'
    )
    changed = settings.changed(settings.load(path), "nvidia-container-runtime.mode=bogus")
    path.write_text(settings.dumps(changed))
    assert settings.get(settings.load(path), "nvidia-container-runtime.mode", "auto") == "bogus"
    assert settings.get(settings.load(path), "nvidia-container-runtime.runtimes", []) == ["runc", "crun"]
    assert settings.get(settings.load(path), "nvidia-ctk.path", "nvidia-ctk") == "nvidia-ctk"
    path.write_text("[")
    with pytest.raises(ToolkitError, match=r"config\.toml"):
        settings.load(path)


@pytest.mark.parametrize("package", packages.PACKAGES, ids=lambda package: package.name)
def test_every_package_says_simulated(package: packages.Package) -> None:
    text = packages.control(package, "1.20.2")
    assert "(simulated stand-in, not by NVIDIA)" in text
    assert "Version: 1.20.2-1\n" in text


def test_a_skew_of_versions_can_be_installed() -> None:
    top = next(package for package in packages.PACKAGES if package.name == "nvidia-container-toolkit")
    assert "nvidia-container-toolkit-base (>= 1.17.8-1)" in packages.control(top, "1.17.8")
    assert [packages.has_cdi_refresh(version) for version in packages.VERSIONS] == [True, True, False]
