"""In which way a driver serves a CUDA: cases E3 (driver too old) and E5 (compatibility libraries)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.compat.cuda import How, carried, first_cuda, minor, newest_cuda, packaged_drivers, serves
from verify.compat.forward import compat_package, forward_compatible, kind_of_card
from verify.facts.version import Version

VERSIONS = st.lists(st.integers(0, 999), min_size=1, max_size=4).map(
    lambda parts: Version.of(".".join(map(str, parts)))
)
DRIVERS = st.tuples(st.integers(450, 700), st.integers(0, 200), st.integers(0, 20)).map(
    lambda parts: Version.of(".".join(map(str, parts)))
)
CUDAS = st.sampled_from([cuda for cuda, _ in packaged_drivers()])


@pytest.mark.parametrize(
    ("driver", "cuda", "how"),
    [
        ("470.86", "11.4", How.RUNS),
        ("470.86", "11.8", How.MINOR),
        ("470.86", "12.1", How.NO),
        ("525.60.13", "12.4", How.MINOR),
        ("525.60.12", "12.4", How.NO),
        ("550.144.03", "12.4", How.RUNS),
        ("550.144.03", "12.8", How.MINOR),
        ("550.144.03", "13.0", How.NO),
        ("580.65.06", "13.0", How.RUNS),
        ("580.65.06", "13.0.2", How.RUNS),
        ("580.65.06", "13.5", How.MINOR),
        ("580.65.06", "10.2", How.RUNS),
        ("580.65.06", "6.5", How.RUNS),
        ("580.65.06", "14.0", None),
        ("340.108", "10.2", None),
    ],
)
def test_e3_a_driver_serves_a_cuda(driver: str, cuda: str, how: How | None) -> None:
    found = serves(Version.of(driver), Version.of(cuda))
    assert found.how is how
    assert driver in found.why or how is None


def test_e3_minor_version_compatibility_says_what_it_costs() -> None:
    why = serves(Version.of("535.261.03"), Version.of("12.8")).why
    assert "525.60.13" in why
    assert "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" in why


def test_e3_a_driver_that_is_newer_than_the_table_is_not_called_too_old() -> None:
    found = serves(Version.of("700.10"), newest_cuda())
    assert found.how is How.MINOR
    assert "at least" in found.why


@pytest.mark.parametrize(
    ("driver", "cuda", "package"),
    [
        ("535.261.03", "13.0", "cuda-compat-13-0"),
        ("535.261.03", "13.4.1", "cuda-compat-13-4"),
        ("550.163.01", "13.0", None),  # past its end: not in NVIDIA's table any more
        ("580.95.05", "13.0", None),  # it carries that itself
        ("610.43.02", "13.4", "cuda-compat-13-4"),
        ("535.261.03", "13.5", None),
    ],
)
def test_e5_nvidia_has_a_package_for_some_pairs(driver: str, cuda: str, package: str | None) -> None:
    assert compat_package(Version.of(driver), Version.of(cuda)) == package


def test_e5_forward_compatibility_is_for_cards_that_may_use_it() -> None:
    driver, cuda = Version.of("535.261.03"), Version.of("13.0")
    assert serves(driver, cuda, forward=False).how is How.NO
    found = serves(driver, cuda, forward=True)
    assert (found.how, found.package) == (How.FORWARD, "cuda-compat-13-0")


@pytest.mark.parametrize(
    ("name", "kind", "allowed"),
    [
        ("NVIDIA GeForce RTX 3090", "GeForce", False),
        ("NVIDIA GeForce GTX 1650", "GeForce", False),
        ("NVIDIA H100 80GB HBM3", "data centre", True),
        ("Tesla T4", "data centre", True),
        ("NVIDIA L40S", "data centre", True),
        ("NVIDIA A10G", "data centre", True),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "data centre", True),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX workstation", None),
        ("NVIDIA RTX A6000", "RTX workstation", None),
        ("Quadro P4000", "RTX workstation", None),
        ("Orin (nvgpu)", "Jetson", None),
        ("NVIDIA GB10", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_e5_which_cards_may_use_the_libraries(
    name: str | None, kind: str | None, *, allowed: bool | None
) -> None:
    assert kind_of_card(name) == kind
    assert forward_compatible(name) is allowed


@given(DRIVERS, DRIVERS, CUDAS)
def test_a_newer_driver_never_serves_less(one: Version, other: Version, cuda: Version) -> None:
    older, newer = sorted((one, other))
    order = [How.NO, How.FORWARD, How.MINOR, How.RUNS]
    before, after = serves(older, cuda).how, serves(newer, cuda).how
    assert before is not None
    assert after is not None
    assert order.index(after) >= order.index(before)


@given(DRIVERS, CUDAS)
def test_cards_that_may_use_the_libraries_never_run_less(driver: Version, cuda: Version) -> None:
    assert serves(driver, cuda, forward=True).starts >= serves(driver, cuda, forward=False).starts


@given(VERSIONS, VERSIONS)
def test_any_two_versions_have_an_answer(driver: Version, cuda: Version) -> None:
    found = serves(driver, cuda, forward=True)
    assert found.why
    assert found.how in (None, *How)


@given(CUDAS, st.integers(0, 9))
def test_an_update_of_a_toolkit_needs_the_same_driver(cuda: Version, update: int) -> None:
    patched = Version.of(f"{cuda}.{update}")
    assert minor(patched) == cuda
    assert serves(Version.of("550.54.14"), patched) == serves(Version.of("550.54.14"), cuda)


def test_what_a_driver_carries() -> None:
    assert carried(Version.of("535.54.03")) == Version.of("12.2")
    assert carried(Version.of("535.54.02")) == Version.of("12.1")
    assert carried(Version.of("390.157")) is None


def test_the_first_cuda_that_knows_a_card() -> None:
    assert first_cuda((12, 0)) == Version.of("12.8")
    assert first_cuda((9, 0)) == Version.of("11.8")
    assert first_cuda((7, 5)) is None  # the table begins with it
    assert first_cuda((14, 0)) is None
