# ruff: noqa: INP001
"""How large the race image is, by its parts: each variant and flavour, and one that is built here.

``sizes.py`` prints the table of what the variants' wheels come to; ``--image NAME`` measures a built image
beside them, ``--write`` keeps the table in docs/race-image.md. ``--check NAME`` measures that image and holds
it against budget.yml; it asks no index.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))
import inside  # noqa: E402  # these two lie beside this
import wheels  # noqa: E402

DOCUMENT = ROOT / "docs/race-image.md"
BUDGET = HERE / "budget.yml"
BEGIN, END = "<!-- sizes: begin -->", "<!-- sizes: end -->"
TITLES = {
    "base": "base image without CUDA's libraries",
    "cuda-base": "CUDA's libraries in the base image",
    "python": "Python, from apt",
    "cuda-wheels": "CUDA's libraries in PyTorch's wheels",
    "torch": "torch, triton",
    "science": "scikit-learn, scipy, numpy",
    "rest": "the other packages and the race",
}
SCIENCE = ("numpy", "scikit-learn", "scipy")
# What NVIDIA's runtime images add to its base images (their Dockerfiles): these, and NCCL.
RUNTIME = (
    "cublas", "cufft", "cufile", "curand", "cusolver", "cusparse", "npp", "nvfatbin", "nvjitlink", "nvjpeg",
    "nvrtc", "nvtx", "opencl",
)  # fmt: skip
MADE = """\
Made on {date} by `python roles/race_image/files/sizes.py --image NAME --write`. The variants were not built
here: their columns are what the wheels of their locks keep in the image, and the wheels of the libraries that
NVIDIA's runtime image of that CUDA release has. The last column was built here, on the stand-in base (Debian
12); on its way it is its wheels."""
Parts = dict[str, "int | None"]


def part(name: str) -> str:
    """Return which part of the image a wheel belongs to."""
    if name in ("torch", "triton"):
        return "torch"
    if name.startswith(("nvidia-", "cuda-")) and name != "nvidia-ml-py":
        return "cuda-wheels"
    return "science" if name in SCIENCE else "rest"


def summed(found: list[wheels.Wheel], packed: str) -> Parts:
    """Add up wheels by part; ``packed`` or ``unpacked``."""
    parts: Parts = dict.fromkeys(TITLES)
    for wheel in found:
        parts[part(wheel.name)] = (parts[part(wheel.name)] or 0) + getattr(wheel, packed)
    return parts


def base_libraries(row: dict[str, Any], tree: list[wheels.Wheel]) -> list[wheels.Wheel]:
    """Return the wheels with the libraries that the variant's runtime base has, of the same CUDA release.

    NCCL, which has no release of CUDA's, is taken to be as large as torch's own.
    """
    release = row["bases"]["runtime"].partition(":")[2].partition("-")[0]
    found = wheels.resolved([f"cuda-toolkit[{','.join(RUNTIME)}]=={release}"])
    return [wheels.measured(one) for one in found] + [one for one in tree if "-nccl-" in one.name]


def columns() -> dict[str, dict[str, Parts]]:
    """Return the parts of every variant and flavour, from wheels: nothing of it is built."""
    table = yaml.safe_load((ROOT / "verify/compat/race_images.yml").read_text(encoding="utf-8"))
    found: dict[str, dict[str, Parts]] = {}
    for row in table["variants"]:
        if not row["lock"]:
            continue
        tree = wheels.locked(HERE / "locks" / row["lock"])
        libraries = base_libraries(row, tree)
        for flavour in row["bases"]:
            both = {packed: summed(tree, packed) for packed in ("packed", "unpacked")}
            for packed, parts in both.items():
                twice = sum(getattr(one, packed) for one in libraries)
                parts["cuda-base"] = twice if flavour == "runtime" else 0
            found[f"{row['name']} {flavour}"] = both
    return found


def built(image: str) -> Parts:
    """Return the parts of an image that is here."""
    return dict.fromkeys(TITLES) | inside.measured(image)


def packed_wheels() -> Parts:
    """Return the wheels that the image built here was made of: its base and Python were never packed."""
    import build  # noqa: PLC0415  # lies beside this, and needs the stand-in builders

    found = [wheels.of_file(file) for file in sorted(build.wheelhouse().glob("*.whl"))]
    return {**summed(found, "packed"), "cuda-base": 0, "cuda-wheels": 0}


def over(image: str, parts: Parts) -> list[str]:
    """Return what is larger than budget.yml allows, one sentence each."""
    budget = yaml.safe_load(BUDGET.read_text(encoding="utf-8"))
    sizes = {**parts, "whole": sum(size or 0 for size in parts.values())}
    return [
        f"{image}: {TITLES.get(name, 'the whole image')}: {megabytes(sizes[name])} MB, and {BUDGET.name} "
        f"allows {most} MB. Find what came in and keep it out, or raise the budget there and say why."
        for name, most in budget["megabytes"].items()
        if (sizes[name] or 0) > most * 1_000_000
    ]


def megabytes(size: int | None) -> str:
    """Write a size; what nobody could measure is not zero."""
    return "not known here" if size is None else f"{size / 1e6:,.0f}".replace(",", " ")


def table(found: dict[str, Parts]) -> str:
    """Write one table: a row for each part, a column for each image."""
    lines = [f"| MB | {' | '.join(found)} |", f"|---|{'---:|' * len(found)}"]
    lines += [
        f"| {title} | {' | '.join(megabytes(parts[name]) for parts in found.values())} |"
        for name, title in TITLES.items()
    ]
    sums = [
        ("" if None not in parts.values() else "more than ") + megabytes(sum(p or 0 for p in parts.values()))
        for parts in found.values()
    ]
    return "\n".join([*lines, f"| **together** | {' | '.join(f'**{one}**' for one in sums)} |"])


def written(found: dict[str, dict[str, Parts]], today: dt.date) -> str:
    """Write both tables with their date."""
    titles = {"unpacked": "On the disk (unpacked)", "packed": "On its way (packed)"}
    said = [MADE.format(date=today.isoformat())]
    for packed, title in titles.items():
        said += [f"### {title}", table({name: both[packed] for name, both in found.items()})]
    return "\n\n".join(said)


def keep(text: str) -> None:
    """Put the tables where they were in the document."""
    document = DOCUMENT.read_text(encoding="utf-8")
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{DOCUMENT.name} has no lines {BEGIN} and {END} for the table to stand between.")
    DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Print the table; 1 where an image is larger than its budget."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--image", metavar="NAME", help="measure this image beside the variants")
    parser.add_argument("--write", action="store_true", help=f"keep the tables in docs/{DOCUMENT.name}")
    parser.add_argument("--check", metavar="NAME", help="hold this image against budget.yml; nothing else")
    arguments = parser.parse_args()
    if arguments.check:
        parts = built(arguments.check)
        print(table({arguments.check: parts}))  # noqa: T201
        objections = over(arguments.check, parts)
        print("\n".join(objections), file=sys.stderr, end="\n" if objections else "")  # noqa: T201
        return 1 if objections else 0
    found = columns()
    if arguments.image:
        found["CPU-only"] = {"unpacked": built(arguments.image), "packed": packed_wheels()}
    text = written(found, dt.datetime.now(tz=dt.UTC).date())
    print(text)  # noqa: T201
    if arguments.write:
        keep(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
