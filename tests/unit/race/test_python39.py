"""The race runs on Python 3.9 with the standard library alone: by what its modules import and how they look.

Read, not run: this machine may have no such Python. What the syntax does not show, a name or a keyword that
came later, is looked for by name.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import verify.race

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(verify.race.__file__).parent
MODULES = sorted(FOLDER.glob("*.py"))
# What the standard library's list has and Python 3.9 had not.
NEWER = frozenset({"tomllib", "annotationlib", "compression"})
# Names that came after 3.9, of what the race imports from: docs.python.org, "Changed in version".
NEWER_NAMES = {
    "typing": {"Self", "TypeAlias", "ParamSpec", "TypeGuard", "LiteralString", "assert_never", "override"},
    "itertools": {"pairwise", "batched"},
    "dataclasses": {"KW_ONLY"},
    "contextlib": {"chdir"},
    "types": {"NoneType", "UnionType", "EllipsisType"},
    "statistics": {"covariance", "correlation", "linear_regression"},
    "datetime": {"UTC"},
    "enum": {"StrEnum"},
}
NEWER_KEYWORDS = {"zip": {"strict"}, "dataclass": {"slots", "kw_only"}, "bisect_right": {"key"}}
# Under their own check whether they are there: a lane's libraries, and those that come with them.
OUTSIDE = frozenset({"verify"})


def checked_only(tree: ast.Module) -> set[ast.AST]:
    """Return what stands under ``if TYPE_CHECKING``: no Python that runs it ever sees it."""
    return {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }


def imported(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    """Return each module that is imported when it runs, and each name that is taken from it."""
    unseen = checked_only(tree)
    for node in ast.walk(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def problems(source: str) -> list[str]:
    """Return what Python 3.9 would not take."""
    tree = ast.parse(source, feature_version=(3, 9))
    found = []
    if not any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body):
        found += ["no annotations from __future__"] if tree.body[1:] else []
    for module, name in imported(tree):
        top = module.split(".")[0]
        if top not in OUTSIDE and (top not in sys.stdlib_module_names or top in NEWER):
            found.append(f"imports {module}")
        if name in NEWER_NAMES.get(module, ()):
            found.append(f"imports {name} from {module}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = {keyword.arg for keyword in node.keywords}
            found += [f"{called}({word}=)" for word in NEWER_KEYWORDS.get(called, set()) & given]
        if isinstance(node, ast.Match):
            found.append("match")
        # An alias of types is evaluated, unlike an annotation: X | None is no type there yet.
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            sides = (node.left, node.right)
            if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
                found += ["X | None outside an annotation"] if not _annotates(tree, node) else []
    return found


def _annotates(tree: ast.Module, wanted: ast.AST) -> bool:
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            annotation = getattr(node, field, None)
            if annotation is not None and any(inner is wanted for inner in ast.walk(annotation)):
                return True
    return False


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_is_python_39_with_the_standard_library(module: Path) -> None:
    assert problems(module.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import yaml", "imports yaml"),
        ("import tomllib", "imports tomllib"),
        ("from typing import Self", "imports Self from typing"),
        ("from dataclasses import dataclass\n@dataclass(slots=True)\nclass A: pass", "dataclass(slots=)"),
        ("zip([1], [2], strict=True)", "zip(strict=)"),
        ("import types\nReading = types.ModuleType | None", "X | None outside an annotation"),
    ],
)
def test_what_came_later_is_found(source: str, found: str) -> None:
    assert found in problems(f"from __future__ import annotations\n{source}")


def test_what_is_never_run_may_be_anything() -> None:
    head = "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n"
    assert (
        problems(f"{head}if TYPE_CHECKING:\n    import yaml\ndef f(x: int | None) -> str | None: ...") == []
    )


@pytest.mark.parametrize("source", ["match 1:\n    case 1: pass", "try: pass\nexcept* ValueError: pass"])
def test_syntax_that_came_later_does_not_pass(source: str) -> None:
    try:
        found = problems(f"from __future__ import annotations\n{source}")
    except SyntaxError:
        return
    assert found
