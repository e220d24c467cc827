from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.facts.test_reading import SENTINELS
from verify.facts.card import QUERY_FIELDS
from verify.facts.smi import parse_list, parse_query, parse_xml

ROW = (
    "0", "NVIDIA A10", "GPU-51515151-0000-4000-8000-000000000000", "00000000:3B:00.0", "550.163.01", "23028",
    "12", "7", "31", "20.50", "150.00", "8.6", "Disabled", "Enabled", "Enabled", "0x0000000000000001",
)  # fmt: skip
XML = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
 <driver_version>550.163.01</driver_version>
 <gpu id="00000000:3B:00.0">
  <product_name>NVIDIA A10 &amp; more</product_name>
  <mig_mode><current_mig>Disabled</current_mig></mig_mode>
  <mig_devices><mig_device><fb_memory_usage><total>1 MiB</total></fb_memory_usage></mig_device></mig_devices>
  <uuid>GPU-0</uuid>
  <fb_memory_usage><total>23028 MiB</total><used>N/A</used></fb_memory_usage>
  <utilization><gpu_util>7 %</gpu_util></utilization>
  <temperature><gpu_temp>31 C</gpu_temp></temperature>
  <gpu_power_readings><instant_power_draw>N/A</instant_power_draw>
   <power_draw>20.50 W</power_draw></gpu_power_readings>
 </gpu>
 <gpu id="00000000:AF:00.0"><uuid>GPU-1</uuid></gpu>
</nvidia_smi_log>
"""


def line(*row: str) -> str:
    return ", ".join(row) + "\n"


def test_the_row_has_a_value_for_every_field() -> None:
    assert len(ROW) == len(QUERY_FIELDS)


def test_query() -> None:
    (card,) = parse_query(line(*ROW))
    assert (card.index, card.name, card.memory_total_mib, card.memory_used_mib) == (
        0,
        "NVIDIA A10",
        23028,
        12,
    )
    assert (card.power_w, card.power_limit_w, card.temperature_c, card.utilization_percent) == (
        20.5,
        150.0,
        31.0,
        7.0,
    )
    assert (card.compute_capability, card.mig, card.driver_version) == ("8.6", "Disabled", "550.163.01")


@pytest.mark.parametrize("count", [1, 2, 8])
def test_one_row_a_card(count: int) -> None:
    text = "".join(line(str(number), *ROW[1:]) for number in range(count))
    assert [card.index for card in parse_query(text.replace("\n", "\r\n") + "\r\n\n")] == list(range(count))


@pytest.mark.parametrize("sentinel", SENTINELS)
@pytest.mark.parametrize("column", range(1, len(QUERY_FIELDS)))
def test_a_sentinel_costs_its_own_field_only(column: int, sentinel: str) -> None:
    row = list(ROW)
    row[column] = sentinel
    (card,) = parse_query(line(*row))
    (whole,) = parse_query(line(*ROW))
    differing = [f for f in whole.__dataclass_fields__ if getattr(card, f) != getattr(whole, f)]
    assert len(differing) == (0 if QUERY_FIELDS[column] == "persistence_mode" else 1)  # recorded, not read
    assert [getattr(card, field) for field in differing] == [None] * len(differing)


@pytest.mark.parametrize(
    "noise",
    [
        "index, name, uuid\n",
        "WARNING: infoROM is corrupted at gpu 0000:B3:00.0\n",
        "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost\n",
        'Field "compute_cap" is not a valid field to query.\n',
        "\n",
    ],
)
def test_what_is_no_row_is_left_out(noise: str) -> None:
    assert len(parse_query(noise + line(*ROW) + noise)) == 1


def test_list() -> None:
    mig = "  MIG 1g.5gb  Device  0: (UUID: MIG-1)\n"
    text = f"GPU 0: NVIDIA A10 (simulated) (UUID: GPU-0)\n{mig}GPU 10: X (UUID: GPU-10)\r\n"
    cards = parse_list(text)
    assert [(card.index, card.name, card.uuid) for card in cards] == [
        (0, "NVIDIA A10 (simulated)", "GPU-0"),
        (10, "X", "GPU-10"),
    ]


def test_xml() -> None:
    one, other = parse_xml(XML)
    assert (one.name, one.uuid, one.bus_id, one.driver_version) == (
        "NVIDIA A10 & more",
        "GPU-0",
        "00000000:3B:00.0",
        "550.163.01",
    )
    assert (one.memory_total_mib, one.memory_used_mib, one.utilization_percent) == (23028, None, 7.0)
    assert one.power_w == 20.5  # the first reading is N/A, the next one is there
    assert (other.uuid, other.memory_total_mib) == ("GPU-1", None)


@given(st.integers(0, len(XML)))
def test_a_cut_document_gives_whole_cards_only(length: int) -> None:
    assert [card.uuid for card in parse_xml(XML[:length])] in ([], ["GPU-0"], ["GPU-0", "GPU-1"])


@given(st.text(alphabet='<>/gpu "=id&;,\n0', max_size=80))
def test_no_text_breaks_a_parser(text: str) -> None:
    parse_list(text)
    parse_query(text)
    parse_xml(text)
