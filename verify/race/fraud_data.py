"""The user's own table: what of it can be raced, refused before any time is spent where it cannot.

``python -m verify.race --fraud-data FILE --target COLUMN``. A refusal is one text: what was found, what is
needed, what to do.
"""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.race import fraud_read
from verify.race.device import Array
from verify.race.fraud_raw import Raw, Refused, Shape, Value, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Refused", "Table", "free_memory", "read"]

LEAST = 2  # of either kind: one to learn from, one to be tested with
COPIES = 4  # of the table in memory at once: as read, standardised, a step between, the reference's
NUMBER = 8  # bytes
SHOWN = 5  # names in a message
LONGEST = 120  # characters of each
GIB = 1 << 30
ROOT = Path("/")
BINARY = 2


@dataclass(frozen=True)
class Table:
    """Numbers, one row a record, and the target: 1.0 where it is the positive value."""

    x: Array
    y: Array
    names: tuple[str, ...]
    dropped: tuple[str, ...]  # constant: nothing can be learned from them
    positive: str
    sha256: str


@lru_cache(maxsize=1)
def read(np: Any, file: str, target: str) -> Table:  # noqa: ANN401  # the numpy module
    """Return the table in a file; raise ``Refused`` with the reason.

    The last one is kept, for it is asked for twice: when the options are read, and when the race begins.
    """
    path = Path(file)
    found = _look(file, target)
    _refuse_size(path, found, free_memory())
    digest = _sha256(path)
    raw = fraud_read.read(np, path, found, target)
    _refuse_columns(np, path, raw)
    y, positive = _target(path, target, raw)
    kept = np.ptp(raw.x, axis=0) > 0
    if not kept.any():
        raise Refused(f"{path}: no column but {target!r} has more than one value to learn from")
    names = [(name, bool(keep)) for name, keep in zip(raw.names, kept)]  # noqa: B905  # Python 3.9
    return Table(
        raw.x if kept.all() else raw.x[:, kept],
        y,
        tuple(name for name, keep in names if keep),
        tuple(name for name, keep in names if not keep),
        positive,
        digest,
    )


def free_memory(root: Path = ROOT) -> int | None:
    """Return the bytes that this process may still take: of the machine, or of its container if less."""
    free = []
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            free.append(int(value.split()[0]) * 1024)
    cgroup = root / "sys/fs/cgroup"
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        limit, now = _text(cgroup / most).strip(), _text(cgroup / used).strip()
        if limit.isdigit() and now.isdigit():
            free.append(max(int(limit) - int(now), 0))
    return min(free) if free else None


def _look(file: str | Path, target: str) -> Shape:
    path = Path(file)
    try:
        _refuse_kind(file, path)
        found = fraud_read.shape(path)
    except FileNotFoundError:
        raise Refused(f"{path}: there is no such file (in {Path.cwd()})") from None
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # what pyarrow raises for a Parquet file that is damaged
        said = str(error).strip().rstrip(".")
        raise Refused(f"{path} cannot be read: {said}. Write it again, or save the table as CSV") from None
    twice = sorted(name for name, times in Counter(found.names).items() if times > 1)
    if twice:
        raise Refused(f"{path} has more than one column named {_list(twice)}: name every column differently")
    if target not in found.names:
        raise Refused(_no_such_column(path, target, found.names))
    if len(found.names) < BINARY:
        raise Refused(f"{path} has no column but {target!r}: there is nothing to learn it from")
    return found


def _refuse_kind(file: str | Path, path: Path) -> None:
    if not str(file).strip():
        raise Refused("--fraud-data is empty: give one CSV or Parquet file")
    if path.is_dir():
        raise Refused(f"{path} is a folder: give one CSV or Parquet file")
    if path.exists() and not path.is_file():  # it is read more than once
        raise Refused(f"{path} is a pipe or a device: save the table to a file first, and give that")
    if not path.stat().st_size:
        raise Refused(f"{path} is empty: give a CSV whose first line names the columns, or a Parquet file")


def _no_such_column(path: Path, target: str, names: Sequence[str]) -> str:
    folded = {name.casefold(): name for name in reversed(names)}
    near = difflib.get_close_matches(target.casefold(), folded, 1)
    said = f"{path} has no column {target!r}"
    if near:
        return f"{said}: did you mean --target {folded[near[0]]!r}?"
    if all(number(name) is not None for name in names):
        return f"{said}: its first line holds numbers; it must name the columns"
    return f"{said}: it has {_list(names)}"


def _refuse_size(path: Path, found: Shape, free: int | None) -> None:
    need = found.rows * len(found.names) * NUMBER * COPIES
    if free is not None and need > free:
        fit = max(free // (len(found.names) * NUMBER * COPIES), 0)
        raise Refused(
            f"{path} holds about {found.rows:,} rows of {len(found.names)} columns: racing it takes "
            f"{need / GIB:.1f} GiB of memory, and {free / GIB:.1f} GiB are free. "
            f"Give it at most {fit:,} of the rows, drawn at random"
        )


def _refuse_columns(np: Any, path: Path, raw: Raw) -> None:  # noqa: ANN401
    if raw.text:
        said = _list([f"{name!r} ({example})" for name, example in raw.text.items()], quote=False)
        raise Refused(
            f"{path} has columns that are not numbers: {said}. Encode them as numbers or leave them out"
        )
    if raw.missing:
        said = _list([f"{count:,} in {name!r}" for name, count in raw.missing.items()], quote=False)
        raise Refused(f"{path} has missing values: {said}. Fill them or leave those rows or columns out")
    endless = np.isinf(raw.x).sum(axis=0)
    if endless.any():
        counts = [(name, int(count)) for name, count in zip(raw.names, endless) if count]  # noqa: B905
        said = _list([f"{count:,} in {name!r}" for name, count in counts], quote=False)
        raise Refused(f"{path} has infinite values: {said}. Replace them or leave those rows out")


def _target(path: Path, target: str, raw: Raw) -> tuple[Array, str]:
    """Return the target as 0.0 and 1.0: the larger number is the positive, of two words the rarer one."""
    holes = int((raw.codes < 0).sum())
    if holes:
        raise Refused(f"{path} has missing values: {holes:,} in the target {target!r}. Leave those rows out")
    if not len(raw.codes):
        raise Refused(f"{path} has columns but no rows: there is nothing to learn from")
    if len(raw.values) != BINARY:
        some = _list([_say(value) for value in raw.values], quote=False)
        count = (
            f"only the value {some}"
            if len(raw.values) == 1
            else f"{len(raw.values)} different values: {some}"
        )
        raise Refused(f"{path}: the target {target!r} has {count}. It must have two values, such as 0 and 1")
    counts = [int((raw.codes == code).sum()) for code in range(BINARY)]
    words = any(isinstance(value, str) for value in raw.values)
    said = [_say(value) for value in raw.values]
    ranked: list[Any] = list(raw.values)
    if words:
        ranked = [(-counts[code], said[code]) for code in range(BINARY)]
    one = ranked.index(max(ranked))
    for code in (one, 1 - one):
        if counts[code] < LEAST:
            raise Refused(
                f"{path}: {counts[code]} of {sum(counts):,} rows has {said[code]} as target {target!r}: "
                f"at least {LEAST} are needed, one to learn from and one to be tested with"
            )
    return (raw.codes == one).astype("float64"), said[one]


def _say(value: Value) -> str:
    return repr(value) if isinstance(value, str) else f"{value:.10g}"


def _list(names: Iterable[str], *, quote: bool = True) -> str:
    said = [_short(repr(name) if quote else name) for name in names]
    more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return ", ".join(said[:SHOWN]) + more


def _short(said: str) -> str:
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
