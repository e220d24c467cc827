"""Recordings that were damaged at random: never a crash, never a pass on what was not recorded."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.checks.cases import document, race
from verify.checks import judge
from verify.findings import Status
from verify.recording import Recording, RecordingError, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.findings import Finding

Json = dict[str, Any]
HOSTS = ("healthy-lab-host", "healthy-simulated-host", "runtime-unregistered", "driver-library-emptied")
CONTAINERS = ("healthy-lab-container", "healthy-simulated-container")
SECTIONS = ("files", "commands", "globs", "links", "paths", "env", "disks")
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn, name: str) -> Json:
    """Take entries out, cut texts, put junk in, at random places."""
    content = document(name)
    for _ in range(draw(st.integers(1, 8))):
        section = content[draw(st.sampled_from([s for s in SECTIONS if content.get(s)] or ["files"]))]
        if not section:
            continue
        key = draw(st.sampled_from(sorted(section)))
        kind = draw(st.sampled_from(["remove", "missing", "error", "timed out", "cut", "junk field", "junk"]))
        entry = section[key]
        if kind == "remove":
            del section[key]
        elif kind == "junk":
            section[key] = draw(JUNK)
        elif isinstance(entry, dict):
            _damage(draw, entry, kind)
    return content


def _damage(draw: st.DrawFn, entry: Json, kind: str) -> None:
    if kind == "missing":
        entry.clear()
        entry["missing"] = True
    elif kind == "error":
        entry.clear()
        entry["error"] = "EACCES"
    elif kind == "timed out":
        entry.update(timed_out=True, rc=None)
    elif kind == "cut":
        for field in ("text", "stdout"):
            if isinstance(entry.get(field), str):
                entry[field] = entry[field][: draw(st.integers(0, len(entry[field])))]
    elif entry:
        entry[draw(st.sampled_from(sorted(entry)))] = draw(JUNK)


def _recording(content: Json) -> Recording | None:
    with contextlib.suppress(RecordingError):
        return Recording.from_document(content)
    return None


def _recorded(source: str, host: Json, container: Json, lanes: object) -> bool:
    if source in ("recording-host.json", "recording-container.json"):
        return True
    if source == "race.json":
        return lanes is not None
    inside = source.startswith("container ")
    content, name = (container, source.removeprefix("container ")) if inside else (host, source)
    globbed = [
        path for paths in content.get("globs", {}).values() if isinstance(paths, list) for path in paths
    ]
    if name == "env":
        return "env" in content
    recorded = ("files", "commands", "globs", "links", "paths", "disks")
    sections = (content.get(section, {}) for section in recorded)
    return name in globbed or any(name in section for section in sections)


def _sound(found: tuple[Finding, ...], host: Json, container: Json, lanes: Mapping[str, Any] | None) -> None:
    by_id = {finding.id: finding for finding in found}
    for finding in found:
        assert finding.summary
        if finding.status is Status.PASS:
            assert finding.evidence, finding
            for line in finding.evidence:
                assert _recorded(line.partition(": ")[0], host, container, lanes), (finding, line)
        if finding.status is Status.FAIL:
            assert finding.remedy, finding
        assert (finding.status is Status.BLOCKED) == (finding.culprit is not None)
        if finding.culprit:
            assert by_id[finding.culprit].status is Status.FAIL


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_recordings_are_judged_or_refused(data: st.DataObject) -> None:
    host = data.draw(st.sampled_from(HOSTS).flatmap(damaged))
    container = data.draw(st.sampled_from(CONTAINERS).flatmap(damaged))
    lanes = data.draw(st.none() | st.just(race("ran")) | st.dictionaries(st.just("contestants"), JUNK))
    recordings = (_recording(host), _recording(container))
    _sound(judge(*recordings, lanes, ()), host, container, lanes)


@settings(max_examples=150, deadline=None)
@given(junk=JUNK)
def test_any_json_is_a_recording_or_refused_in_a_sentence(junk: object) -> None:
    with contextlib.suppress(RecordingError):
        judge(load(json.dumps(junk)), None, None)


def test_what_is_taken_out_is_not_passed() -> None:
    """Take out one entry after the other: no finding may pass and cite it."""
    whole, inside, lanes = document("healthy-lab-host"), document("healthy-lab-container"), race("ran")
    for section in ("files", "commands", "globs", "paths"):
        for key in list(whole[section]):
            content = {**whole, section: {k: v for k, v in whole[section].items() if k != key}}
            found = judge(Recording.from_document(content), Recording.from_document(inside), lanes)
            _sound(found, content, inside, lanes)
