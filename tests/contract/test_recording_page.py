"""The recording's page is public interface: every name that a manifest records stands there."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from verify.manifest import manifest, usage_manifest
from verify.offer.manifest import METADATA, REGISTRY, TRIES, offer_manifest

PAGE = (Path(__file__).parents[2] / "docs/recording.md").read_text(encoding="utf-8")
MANIFESTS = (manifest("host"), manifest("container"), usage_manifest(), offer_manifest())
NAMES = sorted({spec["name"] for spec in itertools.chain(*(one["commands"] for one in MANIFESTS))})


@pytest.mark.parametrize("name", [*NAMES, TRIES, REGISTRY, METADATA])
def test_each_command_has_its_line(name: str) -> None:
    assert f"`{name.replace('{gpu_index}', 'N')}`" in PAGE
