"""Read a CSV or Parquet file into columns, and remember what in it is no number.

Parquet takes pyarrow; CSV is read by pandas where it is installed, else by Python's own reader. What is
refused of a table that could be read is decided in fraud_data.
"""

from __future__ import annotations

import csv
import importlib
import warnings
from typing import TYPE_CHECKING, Any

from verify.race import fraud_csv
from verify.race.fraud_raw import TRUTHS, Raw, Refused, Shape, count, number

if TYPE_CHECKING:
    from pathlib import Path

DELIMITERS = ",;\t"
FIRST_BYTES = 1 << 20


def shape(path: Path) -> Shape:
    """Look at the beginning of a file."""
    with path.open("rb") as stream:
        first = stream.read(FIRST_BYTES)
    if first.startswith(b"PAR1"):
        file = _pyarrow(path).ParquetFile(path)
        return Shape("parquet", tuple(file.schema_arrow.names), int(file.metadata.num_rows))
    if first.startswith((b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd")):
        raise Refused(f"{path} is compressed: unpack it first, the race reads CSV and Parquet")
    if b"\0" in first:
        raise Refused(f"{path} is neither text nor Parquet: the race reads CSV and Parquet")
    text = first.decode("utf-8-sig", errors="replace")
    line = text.split("\n", 1)[0].rstrip("\r")
    delimiter = max(DELIMITERS, key=line.count)
    try:
        names = tuple(name.strip() for name in next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error as error:  # a name without end, or lines that end as on the first Macs
        raise Refused(
            f"{path} cannot be read as CSV: its first line: {str(error).rstrip('?')}: save it again as CSV, "
            "with line ends \\n"
        ) from None
    lines = max(text.count("\n"), 1)
    whole = len(first) < FIRST_BYTES
    return Shape("csv", names, lines if whole else int(path.stat().st_size / len(first) * lines), delimiter)


def read(np: Any, path: Path, found: Shape, target: str) -> Raw:  # noqa: ANN401  # the numpy module
    """Read the whole file."""
    if found.kind == "parquet":
        return _parquet(np, path, found, target)
    pandas = _optional("pandas")
    try:
        if pandas is not None:
            return _pandas(np, pandas, path, found, target)
        return fraud_csv.read(np, path, found, target)
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None


def _optional(name: str) -> Any:  # noqa: ANN401  # a module
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001  # one that is there and broken raises anything: the other way works
        return None


def _pyarrow(path: Path) -> Any:  # noqa: ANN401  # a module
    try:
        return importlib.import_module("pyarrow.parquet")
    except Exception as error:  # noqa: BLE001  # one that is there and broken raises anything
        raise Refused(
            f"{path} is Parquet, and pyarrow, which reads it, cannot be imported ({error}): "
            "install pyarrow for this Python, or save the table as CSV"
        ) from None


def _parquet(np: Any, path: Path, found: Shape, target: str) -> Raw:  # noqa: ANN401
    types = importlib.import_module("pyarrow").types
    table = _pyarrow(path).read_table(path)
    names = tuple(name for name in found.names if name != target)
    x = np.empty((table.num_rows, len(names)))
    missing: dict[str, int] = {}
    text: dict[str, str] = {}
    for i, name in enumerate(names):
        column = table.column(name)
        kind = column.type
        if not any(
            is_(kind) for is_ in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        ):
            text[name] = f"of type {kind}"
        elif column.null_count:
            missing[name] = column.null_count
        else:
            x[:, i] = np.asarray(column.to_numpy(), dtype="float64")
            count(np, missing, name, x[:, i])
    coded = table.column(target).dictionary_encode().combine_chunks()
    coded = coded.chunk(0) if hasattr(coded, "chunk") else coded
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    values = tuple(
        float(v) if isinstance(v, (bool, int, float)) else str(v) for v in coded.dictionary.to_pylist()
    )
    return Raw(x, names, codes, values, missing, text)


def _pandas(np: Any, pandas: Any, path: Path, found: Shape, target: str) -> Raw:  # noqa: ANN401
    options = {"sep": found.delimiter, "names": list(found.names), "header": 0, "index_col": False}
    try:
        with warnings.catch_warnings():
            # It only warns of lines that are too long, and leaves out what is too much.
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            # Its newest versions say that exact numbers are their default; the older ones must be asked.
            warnings.simplefilter("ignore", DeprecationWarning)
            frame = pandas.read_csv(
                path, **options, encoding="utf-8-sig", skipinitialspace=True, float_precision="round_trip"
            )
    except (pandas.errors.ParserError, pandas.errors.ParserWarning) as error:
        raise Refused(f"{path} cannot be read as CSV: {str(error).strip()}") from None
    names = tuple(name for name in found.names if name != target)
    x = np.empty((len(frame), len(names)))
    missing: dict[str, int] = {}
    text: dict[str, str] = {}
    is_numeric, is_bool = pandas.api.types.is_numeric_dtype, pandas.api.types.is_bool_dtype
    for i, name in enumerate(names):
        column = frame[name]
        if is_numeric(column) or is_bool(column):
            x[:, i] = column.to_numpy(dtype="float64", na_value=np.nan)
            count(np, missing, name, x[:, i])
            continue
        there = column.dropna().unique()
        if len(there) < len(column) and all(str(value) in TRUTHS for value in there):  # truths with holes
            missing[name] = int(column.isna().sum())
        elif len(there):
            text[name] = repr(str(next((v for v in there if number(str(v)) is None), there[0])))
    codes, values = pandas.factorize(frame[target])
    plain = is_numeric(frame[target]) or is_bool(frame[target])
    return Raw(x, names, codes, tuple(float(v) if plain else str(v) for v in values), missing, text)
