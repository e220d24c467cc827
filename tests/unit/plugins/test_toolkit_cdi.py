"""What is done about CDI specifications and device nodes, from recorded looks: field cases D6 and C10."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.filter.gpu_host_toolkit_cdi import KEPT, REFRESH_ENV, REFRESHED, RULE, FilterModule, toolkit_cdi

VERSION = "1.20.2-1"
FLAG = "no-additional-gids-for-device-nodes"


def spec(path: str = REFRESHED, because: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "path": path, "made": "nvidia-ctk", "schema": "0.7.0", "devices": ["0", "all"], "because": because,
    } | more  # fmt: skip


def found(
    *specs: dict[str, Any],
    docker: str | None = "28.2.2",
    works: bool = True,
    unlinked: list[str] | None = None,
    twins: list[str] | None = None,
    **toolkit: Any,
) -> dict[str, Any]:
    """The last one is what counts."""
    counting = specs[-1] if specs else spec(path="", because="there is none")
    because = f"{' and '.join(twins)} describe the same devices" if twins else counting["because"]
    judged = {"path": counting["path"] or None, "because": because, "fresh": because is None}
    return {
        "cdi": judged | {"specs": list(specs), "unlinked": unlinked or [], "twins": twins or []},
        "engine": {"version": docker},
        "driver": {"works": works},
        "toolkit": {"udev": True, "rule": None, "refresh_env": None} | toolkit,
    }


def test_what_fits_is_left_alone() -> None:
    plan = toolkit_cdi(found(spec()), VERSION)
    assert not plan["due"]
    assert not plan["stuck"]
    assert (plan["because"], plan["notes"], plan["rule"], plan["env"]) == ("", [], "", "")


@pytest.mark.parametrize(
    "look", [found(), found(spec(because="it is empty")), found(unlinked=["/dev/nvidia0"])]
)
def test_nothing_is_made_while_the_driver_does_not_answer(look: dict[str, Any]) -> None:
    assert toolkit_cdi(look, VERSION)["due"]
    assert not toolkit_cdi(look | {"driver": {"works": False}}, VERSION)["due"]


def test_other_packages_make_it_anew() -> None:
    assert toolkit_cdi(found(spec()), VERSION, changed=True)["due"]


@pytest.mark.parametrize(
    ("version", "path"), [("1.20.2-1", REFRESHED), ("1.18.0-1", REFRESHED), ("1.17.8-1", KEPT)]
)
def test_d6_without_the_unit_it_lies_where_it_outlives_a_boot(version: str, path: str) -> None:
    assert toolkit_cdi(found(), version)["spec"] == path


@pytest.mark.parametrize(
    ("docker", "schema", "due", "flags"),
    [
        ("25.0.3", "0.7.0", True, FLAG),
        ("26.0.2", "0.8.0", True, FLAG),
        ("26.0.2", "0.5.0", False, FLAG),
        ("26.1.0", "0.7.0", False, ""),
        ("29.4.3", "0.7.0", False, ""),
        ("20.10.24+dfsg1", "0.7.0", False, ""),
        (None, "0.7.0", False, ""),
    ],
)
def test_d6_a_version_of_cdi_that_docker_does_not_read(
    docker: str | None, schema: str, *, due: bool, flags: str
) -> None:
    plan = toolkit_cdi(found(spec(schema=schema), docker=docker), VERSION)
    assert (plan["due"], plan["flags"]) == (due, flags)
    assert plan["env"] == (f"NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS={FLAG}" if due else "")


def test_d6_settings_of_the_unit_that_a_person_wrote_stay() -> None:
    look = found(spec(), docker="25.0.3", refresh_env="NVIDIA_CTK_DEBUG=1\n")
    plan = toolkit_cdi(look, VERSION)
    assert plan["env"] == ""
    assert plan["notes"][0].startswith(f"{REFRESH_ENV} lacks NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS={FLAG}")
    look = found(spec(), docker="25.0.3", refresh_env=f"A=1\nNVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS={FLAG}\n")
    assert toolkit_cdi(look, VERSION)["notes"] == []


def test_d6_a_stale_one_by_nvidia_ctk_is_made_again_where_it_lies() -> None:
    plan = toolkit_cdi(found(spec(KEPT, "it was made for driver 550"), spec()), VERSION)
    assert plan["due"]
    assert plan["again"] == [KEPT]
    assert plan["because"] == ""


def test_d6_a_stale_one_by_a_person_is_left_alone_and_named() -> None:
    plan = toolkit_cdi(found(spec(KEPT, "it names /x", made="by hand"), spec()), VERSION)
    assert not plan["due"]
    assert plan["again"] == []
    assert plan["notes"][0].startswith(f"{KEPT} was made by hand and does not fit this machine: it names /x.")


def test_d6_one_by_a_person_is_never_written_over() -> None:
    look = found(spec(KEPT, "it names /x", made="by hand"))
    assert toolkit_cdi(look, VERSION)["due"], "the one that the unit makes wins over it"
    old = toolkit_cdi(look, "1.17.8-1")
    assert old["stuck"]
    assert not old["due"]


def test_d6_of_two_by_nvidia_ctk_the_units_stays() -> None:
    other = "/var/run/cdi/nvidia.json"
    plan = toolkit_cdi(found(spec(other), spec(), twins=[REFRESHED, other]), VERSION)
    assert plan["due"]
    assert plan["aside"] == [other]


def test_d6_beside_a_persons_file_nothing_steps_aside() -> None:
    mine = "/var/run/cdi/mine.yaml"
    plan = toolkit_cdi(found(spec(mine, made="by hand"), spec(), twins=[mine, REFRESHED]), VERSION)
    assert plan["stuck"]
    assert not plan["due"]
    assert plan["aside"] == []
    assert mine in plan["because"]


def test_d6_an_engine_that_knows_no_cdi_has_no_need_of_it() -> None:
    plan = toolkit_cdi(found(docker="20.10.24+dfsg1"), VERSION)
    assert plan["due"], "harmless, and there for the next engine"
    assert not plan["needed"]
    assert plan["notes"] == ["Docker 20.10.24+dfsg1 knows no CDI, so this does not matter to it."]
    assert toolkit_cdi(found(), VERSION)["needed"]
    assert toolkit_cdi(found(docker=None), VERSION)["needed"]


@pytest.mark.parametrize(
    ("unlinked", "toolkit", "rule"),
    [
        (["/dev/nvidia0"], {}, RULE),
        ([], {}, ""),  # a driver that makes the links itself
        (["/dev/nvidia0"], {"rule": "/lib/udev/rules.d/71-nvidia-dev-char.rules"}, ""),
        (["/dev/nvidia0"], {"udev": False}, ""),
    ],
)
def test_c10_links_for_systemd_and_what_makes_them_at_every_boot(
    unlinked: list[str], toolkit: dict[str, Any], rule: str
) -> None:
    plan = toolkit_cdi(found(spec(), unlinked=unlinked, **toolkit), VERSION)
    assert plan["due"] is bool(unlinked)
    assert plan["rule"] == rule


def test_the_filter_has_its_name() -> None:
    assert FilterModule().filters() == {"gpu_host_toolkit_cdi": toolkit_cdi}
