"""Which builds of torch a driver and its cards run: cases E2 and E3 with the real releases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.compat.arch import runs
from verify.compat.cards import architectures
from verify.compat.cuda import serves
from verify.compat.torch import Build, builds, builds_for, default_build, parse_spec, refusal
from verify.facts.version import Version

CAPABILITIES = [pair for kind in architectures().values() for pair in kind.capabilities]
DRIVERS = st.sampled_from([None, "470.86", "525.60.13", "535.261.03", "570.26", "580.65.06", "620.10"]).map(
    lambda text: Version.of(text) if text else None
)


def names(found: tuple[Build, ...]) -> list[str]:
    return [build.name for build in found]


@pytest.mark.parametrize(
    ("driver", "cards", "newest"),
    [
        ("535.261.03", [(8, 9)], "2.14 cu126"),
        ("580.65.06", [(8, 9)], "2.14 cu130"),
        ("580.65.06", [(6, 1)], "2.14 cu126"),
        ("580.65.06", [(7, 0)], "2.14 cu126"),
        ("580.65.06", [(12, 0)], "2.14 cu130"),
        ("580.65.06", [(12, 1)], "2.14 cu130"),
        ("570.26", [(12, 0)], "2.11 cu128"),
        ("570.26", [(10, 3)], "2.11 cu128"),
        ("470.86", [(8, 6)], "2.7 cu118"),
        ("580.65.06", [(7, 0), (12, 0)], "2.10 cu128"),
        ("580.65.06", [(6, 1), (12, 0)], None),
        ("440.33", [(8, 0)], None),
    ],
)
def test_e3_the_newest_build_that_runs(driver: str, cards: list[tuple[int, int]], newest: str | None) -> None:
    found = builds_for(Version.of(driver), cards)
    assert (names(found)[0] if found else None) == newest


def test_e2_volta_left_cu128_with_release_2_11() -> None:
    assert "2.10 cu128" in names(builds_for(Version.of("570.26"), [(7, 0)]))
    assert "2.11 cu128" not in names(builds_for(Version.of("570.26"), [(7, 0)]))


def test_e2_ptx_of_a_cuda_that_the_driver_does_not_carry_is_no_help() -> None:
    only_ptx = next(build for build in builds() if build.name == "2.8 cu129")
    assert refusal(only_ptx, Version.of("575.51.03"), (13, 0)) is None
    refused = refusal(only_ptx, Version.of("570.26"), (13, 0))
    assert refused is not None
    assert "only PTX" in refused


def test_what_nobody_knows_rules_nothing_out() -> None:
    assert builds_for(None, []) == tuple(build for build in builds() if build.archs is not None)
    assert names(builds_for(None, []))[0] == "2.14 cu130"


def test_a_build_without_an_arch_list_is_judged_by_its_cuda() -> None:
    build = default_build()
    assert build.archs is None
    assert refusal(build, Version.of("595.71.05"), (8, 9)) is None
    assert "begins with compute capability 7.5" in str(refusal(build, Version.of("580.95.05"), (6, 1)))


def test_the_command_names_the_index_and_the_release() -> None:
    build = builds_for(Version.of("535.261.03"), [(8, 9)])[0]
    assert build.command == 'pip install "torch==2.14.*" --index-url https://download.pytorch.org/whl/cu126'
    assert build.command_for(".1").startswith("pip install torch==2.14.1 ")


def test_aarch64_has_its_own_lists() -> None:
    found = builds_for(Version.of("580.65.06"), [(9, 0)], "aarch64")
    assert found
    assert all(build.machine == "aarch64" for build in found)
    assert builds_for(Version.of("580.65.06"), [(7, 5)], "aarch64") == ()


@pytest.mark.parametrize(
    ("text", "release", "patch", "index"),
    [
        ("2.9.1+cu128", "2.9", ".1", "cu128"),
        ("torch==2.9", "2.9", "", None),
        ("2.14.0", "2.14", ".0", None),
        (" 2.10+cpu ", "2.10", "", "cpu"),
    ],
)
def test_what_somebody_writes_is_read(text: str, release: str, patch: str, index: str | None) -> None:
    found = parse_spec(text)
    assert found is not None
    assert (str(found.release), found.patch, found.index) == (release, patch, index)


@pytest.mark.parametrize("text", ["", "two", "2", "2.9.1.2", "2.9;rm -rf", "torch>=2.9"])
def test_what_is_no_version_is_not_read(text: str) -> None:
    assert parse_spec(text) is None


@given(DRIVERS, st.lists(st.sampled_from(CAPABILITIES), max_size=3))
def test_what_is_offered_runs(driver: Version | None, cards: list[tuple[int, int]]) -> None:
    found = builds_for(driver, cards)
    assert list(found) == sorted(found, key=lambda build: build.release, reverse=True)
    for build in found:
        assert driver is None or serves(driver, build.cuda).starts
        assert all(runs(build.archs or (), card) for card in cards)


@given(DRIVERS, st.lists(st.sampled_from(CAPABILITIES), min_size=1, max_size=3))
def test_more_cards_never_run_more(driver: Version | None, cards: list[tuple[int, int]]) -> None:
    assert set(builds_for(driver, cards)) <= set(builds_for(driver, cards[:1]))
