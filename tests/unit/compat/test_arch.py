"""What of an arch list runs on a card: case E2, and NVIDIA's rules for suffixes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.compat.arch import Code, runs

OLD = ["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"]
CU130 = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120", "compute_120"]
CAPABILITIES = st.tuples(st.integers(1, 14), st.integers(0, 9))


@pytest.mark.parametrize(
    ("arch_list", "capability", "how"),
    [
        (["sm_80", "sm_86", "sm_90"], (8, 9), Code.MACHINE_CODE),
        (OLD, (12, 0), None),
        ([*OLD, "compute_90"], (12, 0), Code.PTX),
        (["sm_60"], (6, 1), Code.MACHINE_CODE),
        (CU130, (7, 0), None),
        (CU130, (6, 1), None),
        (CU130, (12, 1), Code.MACHINE_CODE),
        (["sm_86"], (8, 0), None),
        (["sm_90+PTX"], (12, 0), Code.PTX),
        ([], (8, 0), None),
        (["nonsense", "sm_"], (8, 0), None),
    ],
)
def test_e2_machine_code_runs_in_its_major_and_ptx_upwards(
    arch_list: list[str], capability: tuple[int, int], how: Code | None
) -> None:
    assert runs(arch_list, capability) is how


@pytest.mark.parametrize(
    ("name", "runs_on", "not_on"),
    [
        ("sm_90a", [(9, 0)], [(8, 9), (10, 0), (12, 0)]),
        ("compute_90a", [(9, 0)], [(10, 0), (12, 0)]),
        ("sm_100a", [(10, 0)], [(10, 3), (11, 0)]),
        ("sm_100f", [(10, 0), (10, 3), (10, 7)], [(9, 0), (11, 0), (12, 0)]),
        ("sm_103f", [(10, 3), (10, 7)], [(10, 0), (12, 0)]),
        ("compute_100f", [(10, 0), (10, 3)], [(12, 0)]),
        ("sm_110f", [(11, 0)], [(10, 0), (12, 0)]),
        ("sm_120f", [(12, 0), (12, 1)], [(10, 0), (11, 0)]),
        ("sm_121f", [(12, 1)], [(12, 0)]),
        ("sm_120", [(12, 0), (12, 1)], [(10, 3), (9, 0)]),
    ],
)
def test_e2_a_suffix_ties_code_to_a_capability_or_a_family(
    name: str, runs_on: list[tuple[int, int]], not_on: list[tuple[int, int]]
) -> None:
    assert all(runs([name], capability) for capability in runs_on)
    assert not any(runs([name], capability) for capability in not_on)


@given(built=CAPABILITIES, card=CAPABILITIES)
def test_e2_machine_code_never_leaves_its_major(built: tuple[int, int], card: tuple[int, int]) -> None:
    found = runs([f"sm_{built[0]}{built[1]}"], card)
    assert (found is Code.MACHINE_CODE) == (built[0] == card[0] and built[1] <= card[1])


@given(built=CAPABILITIES, card=CAPABILITIES)
def test_e2_ptx_runs_on_everything_newer(built: tuple[int, int], card: tuple[int, int]) -> None:
    assert (runs([f"compute_{built[0]}{built[1]}"], card) is Code.PTX) == (built <= card)


@given(st.lists(st.text(max_size=12)), CAPABILITIES)
def test_e2_whatever_an_arch_list_holds_nothing_breaks(names: list[str], card: tuple[int, int]) -> None:
    assert runs(names, card) in (None, Code.MACHINE_CODE, Code.PTX)
