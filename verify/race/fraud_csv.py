"""Read a CSV by Python's own reader, where pandas is not installed: the same numbers, the same holes."""

from __future__ import annotations

import array
import csv
from typing import TYPE_CHECKING, Any

from verify.race.fraud_raw import MISSING, Raw, Refused, Shape, count, decimal, number

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def read(np: Any, path: Path, found: Shape, target: str) -> Raw:  # noqa: ANN401  # the numpy module
    """Read the whole file."""
    at = found.names.index(target)
    names = tuple(name for name in found.names if name != target)
    missing: dict[str, int] = {}
    text: dict[str, str] = {}
    flat, codes, seen = array.array("d"), array.array("q"), {}  # type: ignore[var-annotated]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        for row in _rows(path, stream, found):
            value = row.pop(at).strip()
            codes.append(-1 if value in MISSING else seen.setdefault(value, len(seen)))
            try:
                flat.extend([decimal(entry) for entry in row])
            except ValueError:
                flat.extend(_slowly(names, row, text))
    x = (
        np.frombuffer(flat, dtype="float64").reshape(len(codes), len(names))
        if flat
        else np.empty((0, len(names)))
    )
    for i, name in enumerate(names):
        count(np, missing, name, x[:, i])
    numbers = [number(value) for value in seen]
    if None in numbers:
        return Raw(x, names, np.array(codes), tuple(seen), missing, text)
    # "1" and "1.0" are one value
    values = tuple(dict.fromkeys(n for n in numbers if n is not None))
    again = np.array([*(values.index(n) for n in numbers if n is not None), -1])
    return Raw(x, names, again[np.array(codes, dtype="int64")], values, missing, text)


def _rows(path: Path, stream: io.TextIOBase, found: Shape) -> Iterator[list[str]]:
    reader = csv.reader(stream, delimiter=found.delimiter, skipinitialspace=True)
    next(reader, None)
    try:
        for row in reader:
            if not row:
                continue
            if len(row) > len(found.names):
                raise Refused(
                    f"{path} cannot be read as CSV: line {reader.line_num} has {len(row)} fields, "
                    f"the first line names {len(found.names)}"
                )
            yield row + [""] * (len(found.names) - len(row))
    except csv.Error as error:
        raise Refused(f"{path} cannot be read as CSV: line {reader.line_num}: {error}") from None


def _slowly(names: Sequence[str], row: Sequence[str], text: dict[str, str]) -> Iterator[float]:
    for name, entry in zip(names, row):  # noqa: B905  # Python 3.9
        found = number(entry)
        if found is None and entry.strip() not in MISSING:
            text.setdefault(name, repr(entry.strip()))
        yield float("nan") if found is None else found
