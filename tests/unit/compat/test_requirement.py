"""The demand of an image (case D2): alternatives, conditions, brands, versions."""

from __future__ import annotations

import pytest

from verify.compat.requirement import Machine, of_environment, parse
from verify.facts.version import Version

REAL = (
    "cuda>=12.8 brand=unknown,driver>=470,driver<471 brand=tesla,driver>=470,driver<471 "
    "brand=tesla,driver>=535,driver<536 brand=tesla,driver>=550,driver<551"
)


def machine(cuda: str | None = None, driver: str | None = None, brand: str | None = None) -> Machine:
    return Machine(Version.parse(cuda), Version.parse(driver), Version.parse("8.9"), brand)


@pytest.mark.parametrize(
    ("text", "have", "met"),
    [
        ("cuda>=12.8", machine("12.10"), True),
        ("cuda>=12.10", machine("12.8"), False),
        ("cuda>=12.8", machine("12.8"), True),
        ("cuda>=12.8", machine("12.4"), False),
        ("cuda>=12.8", machine(), None),
        (REAL, machine("12.4", "550.144.03", "tesla"), True),
        (REAL, machine("12.4", "550.144.03", "Tesla"), True),
        (REAL, machine("12.4", "550.144.03", "geforce"), False),
        (REAL, machine("12.4", "550.144.03"), None),
        (REAL, machine("12.4", "545.23.06", "tesla"), False),
        (REAL, machine("12.8", "570.86.15", "geforce"), True),
        ("brand!=geforce", machine(brand="geforce"), False),
        ("driver<=535", machine(driver="535.104.05"), False),
        ("driver=535.0", machine(driver="535"), True),
        ("arch>=9.0", machine(), False),
        ("arch>=8.0,cuda<12", machine("11.8"), True),
        ("color=red", machine("12.8"), None),
        ("cuda", machine("12.8"), None),
        ("color=red cuda>=12.8", machine("12.8"), True),
        ("", machine(), True),
        (" , ", machine(), True),
    ],
)
def test_d2_alternatives_and_conditions(text: str, have: Machine, *, met: bool | None) -> None:
    assert parse(text).met(have) is met


def test_d2_the_cuda_that_is_asked_for() -> None:
    assert str(parse(REAL).cuda) == "12.8"
    assert parse("brand=tesla").cuda is None


def test_d2_every_variable_counts_unless_the_image_switches_the_check_off() -> None:
    env = {
        "NVIDIA_REQUIRE_CUDA": "cuda>=12.8",
        "NVIDIA_REQUIRE_JETPACK": "l4t>=4",
        "NVIDIA_REQUIRE_X": "arch>=9",
    }
    assert [one.text for one in of_environment(env)] == ["cuda>=12.8", "arch>=9"]
    assert of_environment(env | {"NVIDIA_DISABLE_REQUIRE": "1"}) == ()
    assert of_environment(env | {"NVIDIA_DISABLE_REQUIRE": "0"}) != ()


def test_d2_an_image_of_before_the_variables_demands_its_cuda() -> None:
    assert [one.text for one in of_environment({"CUDA_VERSION": "8.0.61"})] == ["cuda>=8.0"]
    assert of_environment({"CUDA_VERSION": "12.8.1", "NVIDIA_DISABLE_REQUIRE": "true"}) == ()
    assert [
        one.text for one in of_environment({"CUDA_VERSION": "12.8", "NVIDIA_REQUIRE_CUDA": "cuda>=12.0"})
    ] == ["cuda>=12.0"]


def test_what_a_demand_forbids_is_not_what_it_asks_for() -> None:
    assert parse("cuda<13.0").cuda is None
    assert str(parse("cuda<13.0,cuda>=12.4").cuda) == "12.4"
    assert str(parse("cuda>=12").cuda) == "12.0"


@pytest.mark.parametrize(
    "text", ["cuda>=abc", "cuda>=999999999999999.1", "driver>=five", "brand>=tesla", "x=1"]
)
def test_a_condition_that_nobody_can_judge_is_not_known(text: str) -> None:
    assert [one.known for one in parse(text).alternatives[0]] == [False]
