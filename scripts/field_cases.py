"""Make docs/field-cases.md: each case of docs/field-cases.yml, findings, tests."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("tests", "molecule")
HEAD = """\
# Field cases

Public bug reports from people who do this job, each with the part that handles it, the
finding by which `gpu-verify doctor` names it, how many recordings of it are judged
(`tests/recordings`, verdicts beside them) and the files of the tests that fail without the handling.
Made by `scripts/field_cases.py` from [field-cases.yml](field-cases.yml), the verdicts and the tests' names.

| case | what goes wrong | handled in | layer: finding | recordings | tests |
|---|---|---|---|---|---|
"""


def names_by_case(root: Path) -> dict[str, list[str]]:
    """Return the files with functions named ``test_<id>_…``, by lower-case id.

    Files and not numbers of tests: one more test must not make the page untrue.
    """
    found: dict[str, list[str]] = {}
    for file in sorted(path for folder in FOLDERS for path in (root / folder).rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for part in node.name.split("_")[1:]:
                    if not (part[0:1].isalpha() and part[1:].isdigit()):
                        break
                    name = f"`{file.relative_to(root).as_posix()}`"
                    if name not in found.setdefault(part, []):
                        found[part].append(name)
    return found


def verdicts_by_case(root: Path) -> dict[str, list[dict[str, str]]]:
    """Return the judged recordings of each case, by lower-case id."""
    found: dict[str, list[dict[str, str]]] = {}
    for file in sorted((root / "tests/recordings/verdicts").glob("*.yml")):
        for row in yaml.safe_load(file.read_text(encoding="utf-8")) or []:
            case = row["case"].lower()
            # A machine that nothing is wrong with is named after the case that it must not be taken for.
            case = row["recordings"][0].partition("-")[0] if case == "healthy" else case
            found.setdefault(case, []).append(row)
    return found


def page(root: Path = ROOT) -> str:
    """Return the whole page."""
    cases = yaml.safe_load((root / "docs/field-cases.yml").read_text(encoding="utf-8"))
    tests = names_by_case(root)
    judged = verdicts_by_case(root)
    lines = []
    for row in cases:
        key = row["id"].lower()
        found = dict.fromkeys(f"{v['layer']}: `{v['id']}`" for v in judged.get(key, []) if "id" in v)
        cells = (
            row["id"], row["case"], row["where"], "<br>".join(found),
            str(len(judged.get(key, [])) or ""), ", ".join(tests.get(key, [])),
        )  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    """Write the page."""
    (ROOT / "docs/field-cases.md").write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
