"""Layer engine: there is room for images where Docker keeps them (case I3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, failed, not_recorded, passed, warned

if TYPE_CHECKING:
    from verify.facts.disk import Store
    from verify.facts.state import State

_GB = 10**9
# Below this nothing can be pulled, and containers cannot write.
_FULL_BYTES, _FULL_INODES = 1 * _GB, 1000
# About 2.5 times the 8 GB of a large CUDA image: while it is pulled, archive and layers are both there.
_SCARCE_BYTES, _SCARCE_INODES = 20 * _GB, 100_000
_LOOK = "docker system df"
_MOVE = 'put "data-root" in /etc/docker/daemon.json on a larger disk'


def disk(state: State) -> Verdict:
    """Whether bytes and inodes are left on the file systems that hold Docker's data."""
    if not state.stores:
        return not_recorded("the disk that holds Docker's data")
    evidence = tuple(line for store in state.stores for line in store.evidence)
    full = next((store for store in state.stores if _below(store, _FULL_BYTES, _FULL_INODES)), None)
    if full is not None:
        return failed(
            f"{_place(full)} is full: {_left(full)}; no image can be pulled",
            f"df -h {full.path}; df -i {full.path}; {_LOOK}  # make room there, or {_MOVE}",
            evidence,
        )
    scarce = next((store for store in state.stores if _below(store, _SCARCE_BYTES, _SCARCE_INODES)), None)
    if scarce is not None:
        return warned(
            f"{_place(scarce)} has {_left(scarce)}: a CUDA image with PyTorch takes about "
            f"{_SCARCE_BYTES // _GB} GB while it is pulled",
            f"{_LOOK}  # before a large image is pulled; or {_MOVE}",
            evidence,
        )
    return passed("; ".join(f"{_place(store)} has {_left(store)}" for store in state.stores), evidence)


def _below(store: Store, size: int, inodes: int) -> bool:
    few = store.inodes_free is not None and store.inodes_free < inodes
    return few or (store.free is not None and store.free < size)


def _place(store: Store) -> str:
    mount = f" (on {store.mount})" if store.mount and store.mount != store.path else ""
    return f"{store.path}{mount}"


def _left(store: Store) -> str:
    room = "an unknown size" if store.free is None else f"{store.free / _GB:.1f} GB"
    of = "" if store.total is None else f" of {store.total / _GB:.0f} GB"
    inodes = "" if store.inodes_free is None else f", {store.inodes_free} inodes"
    return f"{room}{of}{inodes} free"
