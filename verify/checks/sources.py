"""Layer host: apt can read its sources, and NVIDIA's repositories are named once, with a living key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, failed, not_applicable, not_recorded, passed, warned
from verify.facts.source import cite
from verify.facts.sources import CUDA_REPO, SOURCES_LIST

if TYPE_CHECKING:
    from verify.facts.sources import Entry, SourcesFacts
    from verify.facts.state import State

_APT = frozenset({"debian", "ubuntu"})
_UPDATE = "apt-get update"
_KEYRING = "make site LIMIT=HOST  # role nvidia_driver brings it with its present key (cuda-keyring)"


def package_sources(state: State) -> Verdict:
    """Whether apt reads its sources at all (B1, B3), and the CUDA repository's key is alive (B4)."""
    sources = state.sources
    if not sources.recorded:
        family = state.host.os_family
        if family and not _APT.intersection(family):
            return not_applicable(f"not applicable: {state.host.os_id} has no apt", state.host.evidence[:1])
        return not_recorded("apt's source files")
    for judge in (_page, _conflict, _retired, _no_repository, _twice):
        verdict = judge(state)
        if verdict is not None:
            return verdict
    return passed(
        f"{len(sources.files)} source files name each repository with one key",
        tuple(cite(path, "read") for path in sources.files[:3]),
    )


def _page(state: State) -> Verdict | None:
    if not state.sources.pages:
        return None
    path, line = state.sources.pages[0]
    return failed(
        f"{path} holds a web page in the place of a source list ({line[:60]}): apt reads no source at all",
        f"rm {path} && {_UPDATE}  # then add the repository again: make site LIMIT=HOST",
        (cite(path, line), *state.sources.complaints),
    )


def _conflict(state: State) -> Verdict | None:
    by_place: dict[tuple[str, str], list[Entry]] = {}
    for entry in state.sources.entries:
        by_place.setdefault((entry.url, entry.suite), []).append(entry)
    for (url, suite), entries in sorted(by_place.items()):
        keys = {entry.key: entry for entry in reversed(entries)}
        if len(keys) < 2:  # noqa: PLR2004  # one key: no conflict
            continue
        told = " and ".join(f"{entry.path} ({_key(key)})" for key, entry in sorted(keys.items()))
        # The entry without a key is the older way of writing it.
        old = keys.get("", min(entries, key=lambda one: one.path)).path
        return failed(
            f"{url} {suite} is named twice with different keys: {told}; apt then reads no source at all",
            f"{_aside(old)} && {_UPDATE}",
            (*(cite(entry.path, _written(entry)) for entry in keys.values()), *state.sources.complaints),
        )
    return None


def _key(key: str) -> str:
    """Name a key; a file may hold the whole key in the place of its path."""
    return "a key of its own" if key.startswith("-----BEGIN") else key or "no Signed-By"


def _aside(path: str) -> str:
    if path == SOURCES_LIST:
        return f"put a # before that line in {path}"
    return f"mv {path} {path}.save"  # apt does not read that name


def _written(entry: Entry) -> str:
    return f"{entry.url} {entry.suite} signed-by: {_key(entry.key)}"


def _retired(state: State) -> Verdict | None:
    sources = state.sources
    named = [(path, line) for path, line in sources.retired if path in sources.files]
    unsigned = [line for line in sources.complaints if "NO_PUBKEY A4B469963BF863CC" in line]
    if named or unsigned:
        where = f"{named[0][0]} names" if named else "apt says that it lacks"
        return failed(
            f"{where} the CUDA repository's key: 7fa2af80 was retired in April 2022, 3bf863cc took its place",
            f"{_aside(_cuda_file(sources))}; {_KEYRING}",
            (*(cite(path, line) for path, line in named), *sources.complaints),
        )
    if sources.retired:
        place, path = sources.retired[0]
        return warned(
            f"the CUDA repository's retired key 7fa2af80 is still trusted: {path}",
            f"rm {path}",
            (cite(place, path),),
        )
    return None


def _cuda_file(sources: SourcesFacts) -> str:
    return next((entry.path for entry in sources.entries if CUDA_REPO in entry.url), SOURCES_LIST)


def _no_repository(state: State) -> Verdict | None:
    if not state.sources.comments:
        return None
    path, line = state.sources.comments[0]
    summary = f'{path} names no repository, its first line is "{line[:80]}": an error page saved as a list'
    remedy = f"rm {path} && make site LIMIT=HOST  # the generic list serves every Debian and Ubuntu"
    # Without the toolkit this is why it cannot be installed.
    missing = state.toolkit.packages is not None and not state.toolkit.packages
    blame = failed if missing else warned
    return blame(summary, remedy, (cite(path, line),))


def _twice(state: State) -> Verdict | None:
    cuda = [entry for entry in state.sources.entries if CUDA_REPO in entry.url]
    paths = sorted({entry.path for entry in cuda})
    if len(paths) < 2:  # noqa: PLR2004  # one file: named once
        return None
    folders = sorted({entry.url.partition(CUDA_REPO)[2] for entry in cuda})
    return warned(
        f"the CUDA repository is named in {len(paths)} files ({', '.join(folders)}): {' and '.join(paths)}",
        f"{_aside(_older(paths))} && {_UPDATE}  # one owner: the package cuda-keyring",
        tuple(cite(entry.path, _written(entry)) for entry in cuda),
    )


def _older(paths: list[str]) -> str:
    """Choose the file that cuda-keyring did not bring: its own is cuda-<release>-<architecture>.list."""
    return next((path for path in paths if path.rpartition("/")[2].count("-") < 2), paths[0])  # noqa: PLR2004
