"""gpu-host.prom: the format, the names, and that what was not recorded is absent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.fleet.exposition import Labels, parse
from tests.unit.fleet.generated import RECORDINGS, write_host
from tests.unit.report.helpers import host_report, recording
from verify import cli
from verify.facts.card import QUERY_FIELDS
from verify.findings import Finding, Layer, Status
from verify.fleet.prometheus import FILE, prometheus
from verify.report.findings import judge_host

UNITS = ("_ok", "_info", "_ratio", "_bytes", "_celsius", "_watts", "_seconds", "_finding", "_limit_watts")


def recorded(name: str) -> dict[str, Any]:
    return dict(json.loads((RECORDINGS / f"{name}.json").read_text()))


def of(
    *findings: Finding, host: dict[str, Any] | None = None, **changes: Any
) -> dict[str, dict[Labels, float]]:
    documents = {} if host is None else {"host": host}
    return parse(prometheus(host_report(*findings, **changes), documents))


def labels(**given: str) -> Labels:
    return frozenset({"host": "sim-lab-1", **given}.items())


def test_a_healthy_card_is_read_whole() -> None:
    found = of(host=recorded("healthy-lab-host"))
    card = labels(card="0")
    assert found["gpu_host_card_utilization_ratio"] == {card: 0.03}
    assert found["gpu_host_card_power_watts"] == {card: 28.71}
    assert found["gpu_host_card_power_limit_watts"] == {card: 450}
    assert found["gpu_host_card_temperature_celsius"] == {card: 41}
    assert found["gpu_host_card_memory_used_bytes"] == {card: 312 * 2**20}
    assert found["gpu_host_card_memory_size_bytes"] == {card: 24564 * 2**20}
    assert found["gpu_host_driver_info"] == {labels(version="580.159.03", cuda="13.0"): 1}
    assert found["gpu_host_recorded_timestamp_seconds"] == {labels(): 1796098892}


def test_what_a_card_does_not_tell_is_absent_and_never_0() -> None:
    told = ["0", "NVIDIA T", "GPU-1", "0:1:0.0", "580.1"]
    missing = ["[N/A]", "N/A", "[Not Supported]", "ERR!", "[Unknown Error]", "[N/A]"]
    query = ", ".join([*told, *missing, *["[N/A]"] * (len(QUERY_FIELDS) - 11)]) + "\n"
    found = of(host=recording("host", nvidia_smi_query={"rc": 0, "stdout": query}))
    assert {name for name in found if name.startswith("gpu_host_card_")} == {"gpu_host_card_info"}


def test_a_layer_that_nobody_looked_at_is_absent() -> None:
    found = of(
        Finding("driver.answers", Layer.DRIVER, Status.FAIL, "no", expected=True),
        Finding("engine.cdi", Layer.ENGINE, Status.WARN, "off"),
        Finding("runtime.mode", Layer.RUNTIME, Status.BLOCKED, "x", culprit="driver.answers"),
        Finding("race.ran", Layer.RACE, Status.SKIP, "none"),
    )
    assert found["gpu_host_layer_ok"] == {
        labels(layer="driver"): 0,
        labels(layer="engine"): 1,
        labels(layer="runtime"): 0,
    }
    expected = labels(layer="driver", id="driver.answers", status="fail", expected="true")
    assert found["gpu_host_finding"][expected] == 1
    assert len(found["gpu_host_finding"]) == 4


def test_a_host_without_a_recording_has_its_verdict_alone() -> None:
    report = judge_host({"host": "lab", "collection": {"outcome": "unreachable"}}, {}, None)
    found = parse(prometheus(report, {}))
    assert set(found) == {"gpu_host_ok", "gpu_host_info", "gpu_host_finding", "gpu_host_layer_ok"}
    assert set(found["gpu_host_ok"].values()) == {0}
    ((info, _),) = found["gpu_host_info"].items()
    assert dict(info)["outcome"] == "unreachable"


@pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*.json")), ids=lambda path: path.stem)
def test_every_recording_gives_the_format_and_good_names(path: Path) -> None:
    document = json.loads(path.read_text())
    documents = {document["where"]: document}
    found = parse(prometheus(judge_host({"host": "lab"}, documents, None), documents))
    for name, samples in found.items():
        assert name.startswith("gpu_host_")
        assert name.endswith(UNITS)
        if name.endswith(("_info", "_finding")):
            assert set(samples.values()) == {1}
        if name.endswith("_ratio"):
            assert all(0 <= value <= 1 for value in samples.values())


@pytest.mark.parametrize(
    "name", ['a"b', "a\\", "a\nb", 'x"} 1\ngpu_host_ok{host="y', "\u202eb", "\udcff", ""]
)
def test_a_hostile_name_stays_inside_its_label(name: str) -> None:
    found = of(host_ := Finding(name, Layer.HOST, Status.PASS, "x"), host=None)
    ((told, value),) = found["gpu_host_finding"].items()
    assert value == 1
    shown = name.replace("\u202e", "\ufffd").replace("\udcff", "\ufffd")
    assert dict(told)["id"] == shown
    assert host_.id == name
    found = parse(prometheus(host_report(host=name), {}))
    assert dict(next(iter(found["gpu_host_ok"])))["host"] == shown


def test_two_cards_of_one_index_are_not_the_same_sample_twice() -> None:
    row = "0, NVIDIA T, GPU-{0}, 0:{0}:0.0, 580.1, 10, 1, {0}0, 40, 20, 30" + ", [N/A]" * 5 + "\n"
    query = row.format(5) + row.format(6)
    found = of(host=recording("host", nvidia_smi_query={"rc": 0, "stdout": query}))
    assert found["gpu_host_card_utilization_ratio"] == {labels(card="0"): 0.5}


def test_a_fleet_in_one_folder_is_one_set_of_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evidence, folder = tmp_path / "evidence", tmp_path / "textfile"
    for number in (0, 1, 7):
        write_host(evidence, number, "healthy-lab-host", "healthy-lab-container")
    call = ["report", "--from", str(evidence), "--prometheus", str(folder)]
    assert cli.main(call) == 2
    assert "--collector.textfile.directory" in capsys.readouterr().err
    folder.mkdir()
    for _ in range(2):
        assert cli.main(call) == 0
        names = sorted(path.name for path in folder.iterdir())
        assert names == ["gpu-host-node-000.prom", "gpu-host-node-001.prom", "gpu-host-node-007.prom"]
    told = [parse((folder / name).read_text())["gpu_host_ok"] for name in names]
    assert len({sample for samples in told for sample in samples}) == 3
    assert (folder / names[0]).read_text() == (evidence / "node-000" / FILE).read_text()
