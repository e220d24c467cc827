"""Every table of this folder that a person asks about, to be looked at, or as a document with its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from verify.compat.documents import SCHEMA
from verify.compat.pictures import print_pictures
from verify.compat.show import print_table, table
from verify.compat.table import cited, rows
from verify.text import hang

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console

    from verify.compat.table import Row

_PEAKS = (
    "Arithmetic peaks, dense, in TFLOPS at the boost clock, by tensor cores where a precision has them",
    "peaks",
    "peaks",
    {
        "card": "name",
        "float32": "float32_tflops",
        "float64": "float64_tflops",
        "TF32": "tf32_tflops",
        "bfloat16": "bfloat16_tflops",
        "float16": "float16_tflops",
        "GB/s": "memory_gbs",
        "L2 MiB": "l2_mib",
    },
)
# What is printed: title, table, section, then heading and key of each column.
_TABLES: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
    (
        "Oldest driver that starts a CUDA (minor-version compatibility)",
        "cuda",
        "minimum_drivers",
        {"CUDA": "cuda_major", "driver": "driver"},
    ),
    (
        "The driver that carries a CUDA itself",
        "cuda",
        "packaged_drivers",
        {"CUDA": "cuda", "update": "update", "driver": "driver"},
    ),
    (
        "Cards of a CUDA toolkit, by compute capability",
        "cuda",
        "toolkit_cards",
        {"from CUDA": "from", "to": "to", "oldest card": "oldest", "newest": "newest"},
    ),
    (
        "Forward compatibility, by kind of card",
        "forward",
        "cards",
        {"kind": "kind", "allowed": "allowed", "by this in the name": "pattern"},
    ),
    (
        "Forward compatibility, by package",
        "forward",
        "packages",
        {"cuda-compat": "package", "driver branches": "branches"},
    ),
    (
        "PyTorch releases",
        "torch",
        "releases",
        {"release": "release", "newest": "newest", "Python from": "python", "on PyPI": "pypi"},
    ),
    (
        "PyTorch builds",
        "torch",
        "builds",
        {
            "release": "release",
            "index": "index",
            "CUDA": "cuda",
            "status": "status",
            "cuDNN": "cudnn",
            "NCCL": "nccl",
        },
    ),
    (
        "What the builds have code for",
        "torch",
        "arch_lists",
        {"index": "index", "from": "from", "to": "to", "machine": "machine", "arch list": "archs"},
    ),
    (
        "Architectures",
        "cards",
        "architectures",
        {
            "architecture": "title",
            "open module": "open",
            "proprietary": "proprietary",
            "last branch": "last_branch",
        },
    ),
    (
        "Compute capability of each architecture",
        "cards",
        "capabilities",
        {"architecture": "architecture", "capabilities": "capabilities"},
    ),
    (
        "Cards by PCI id",
        "cards",
        "devices",
        {"from 10de:": "first", "to": "last", "architecture": "architecture", "capability": "capabilities"},
    ),
    _PEAKS,
    (
        "Driver branches",
        "driver",
        "branches",
        {
            "branch": "branch",
            "kind": "kind",
            "end": "end",
            "CUDA": "cuda",
            "modules": "flavours",
            "oldest card": "oldest",
        },
    ),
    (
        "Security floor of a driver branch",
        "driver",
        "security_floors",
        {"branch": "branch", "safe from": "version"},
    ),
    (
        "Holes in the container toolkit",
        "toolkit",
        "cves",
        {"CVE": "id", "score": "score", "last affected": "last_affected", "fixed": "fixed"},
    ),
    (
        "Known faults of safe toolkits",
        "toolkit",
        "field_bugs",
        {"versions": "versions", "what": "summary", "fixed": "fixed"},
    ),
    ("Docker Engine", "engine", "features", {"feature": "name", "since": "since", "note": "note"}),
)


def print_tables(out: Console) -> None:
    """Print the two pictures, then each table with its sources below."""
    print_pictures(out)
    for title, name, section, columns in _TABLES:
        _print_rows(out, title, columns, rows(name, section))
        out.print()


def print_peaks(out: Console, some: Iterable[Row] | None = None) -> None:
    """Print the table of peaks, or some rows of it."""
    title, name, section, columns = _PEAKS
    _print_rows(out, title, columns, rows(name, section) if some is None else some)


def _print_rows(out: Console, title: str, columns: Mapping[str, str], some: Iterable[Row]) -> None:
    shown = table(*columns, "source")
    sources: dict[str, int] = {}
    for row in some:
        number = sources.setdefault(cited(row), len(sources) + 1)
        cells = (Text(_cell(row.get(key))) for key in columns.values())
        shown.add_row(*cells, Text(f"[{number}]", style="dim"))
    print_table(out, title, shown)
    for source, number in sources.items():
        label = f"[{number}] "
        for text in hang(label + source, out.width, len(label)):
            out.print(Text(text, style="dim"), soft_wrap=True)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value).strip()


def document(*, peaks_alone: bool = False) -> dict[str, object]:
    """Return the tables as they are."""
    found: dict[str, dict[str, list[Row]]] = {}
    for _, name, section, _ in (_PEAKS,) if peaks_alone else _TABLES:
        found.setdefault(name, {})[section] = list(rows(name, section))
    return {"schema": SCHEMA, "question": "the tables", "tables": found}
