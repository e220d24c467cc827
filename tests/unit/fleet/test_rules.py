"""The alert examples name what gpu-host.prom really has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.unit.fleet.exposition import parse
from tests.unit.fleet.generated import write_host
from verify.fleet.prometheus import FILE
from verify.report.evidence import write

ROOT = Path(__file__).resolve().parents[3]
RULES = yaml.safe_load((ROOT / "examples/prometheus/gpu-host.rules.yml").read_text(encoding="utf-8"))
ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}


@pytest.fixture
def samples(tmp_path: Path) -> dict[str, set[str]]:
    """Return the labels of each metric that a host may have."""
    write_host(tmp_path, 1, "healthy-lab-host", "healthy-lab-container")
    write(tmp_path)
    found = parse((tmp_path / "node-001" / FILE).read_text(encoding="utf-8"))
    return {name: {key for labels in one for key, _ in labels} for name, one in found.items()}


def test_there_is_one_for_a_sleeping_card_and_one_for_a_failed_layer() -> None:
    assert 'status="fail"' in ALERTS["GpuHostLayerFailed"]["expr"]
    assert "gpu_host_card_utilization_ratio" in ALERTS["GpuHostCardAsleep"]["expr"]


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_every_metric_and_label_is_there(name: str, samples: dict[str, set[str]]) -> None:
    rule = ALERTS[name]
    metrics = set(re.findall(r"gpu_host_\w+", rule["expr"]))
    assert metrics
    assert metrics <= set(samples)
    labels = set().union(*(samples[metric] for metric in metrics))
    asked = set(re.findall(r"(\w+)=\"", rule["expr"]))
    asked |= set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    for group in re.findall(r"(?:by|on) \(([^)]*)\)", rule["expr"]):
        asked |= {label.strip() for label in group.split(",")}
    assert asked <= labels


def test_the_document_lists_every_metric(samples: dict[str, set[str]]) -> None:
    said = (ROOT / "docs/fleet.md").read_text(encoding="utf-8")
    for metric in samples:
        assert metric in said or f"`{metric.removeprefix('gpu_host_card')}`" in said
