"""The layout is the architecture: few entries, few edges, no cycle, and one meaning per name.

Who may import whom is a contract of import-linter (pyproject.toml, ``make lint``); counted here is
what a reader has to keep in mind.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import rcweb

SOURCE = Path(rcweb.__file__).parent
MOST_ENTRIES, MOST_EDGES = 14, 50
# Folders with one file per rival or data set: each has the same settings under the same names.
ALIKE = ("lab/baselines", "lab/baselines/guided", "lab/datasets", "lab/applications")
# The flags of compiled loops stand in their own file: numba's cache does not see edits elsewhere.
REPEATED = {"_SIMD"}


MODULES = {
    path.relative_to(SOURCE): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(SOURCE.rglob("*.py"))
}


def imported(tree: ast.Module) -> Iterator[str]:
    """Dotted names of all imports, those inside functions included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def entries() -> set[str]:
    return {path.parts[0].removesuffix(".py") for path in MODULES}


@pytest.fixture(scope="module")
def edges() -> dict[str, set[str]]:
    """For each entry of the package the others that it imports. The public face is not counted:
    it names what users reach, and nothing imports it."""
    known = entries()
    found: dict[str, set[str]] = defaultdict(set)
    for path, tree in MODULES.items():
        home = path.parts[0].removesuffix(".py")
        if home == "__init__":
            continue
        for name in imported(tree):
            parts = name.split(".")
            if parts[0] == "rcweb" and parts[1] in known - {home}:
                found[home].add(parts[1])
    return found


def test_few_entries() -> None:
    assert len(entries()) <= MOST_ENTRIES


def test_few_edges(edges) -> None:
    assert sum(map(len, edges.values())) <= MOST_EDGES


def test_no_cycle(edges) -> None:
    TopologicalSorter(edges).prepare()  # raises CycleError


def test_users_alone_import_from_the_top() -> None:
    """The public face imports the rest; its short names are no way round the layers."""
    real = entries()
    for path, tree in MODULES.items():
        used = {name.split(".")[1] for name in imported(tree) if name.startswith("rcweb.")}
        assert used <= real, f"{path} imports {used - real} from the public face"


def defined(tree: ast.Module) -> Iterator[str]:
    """Names of classes, constants and types at the top of a module."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not is_type_variable(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and not name.id.startswith("__"):
                        yield name.id


def is_type_variable(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar"


def test_no_name_has_two_meanings() -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for path, tree in MODULES.items():
        folder = path.parent.as_posix()
        for name in defined(tree):
            homes[name].add(folder if folder in ALIKE else path.as_posix())
    twice = {name: sorted(found) for name, found in homes.items() if len(found) > 1}
    assert set(twice) <= REPEATED, twice


@pytest.mark.parametrize("name", ["simulate", "datasets"])
def test_short_names_of_modules(name) -> None:
    """``from rcweb.simulate import simulate`` and ``rcweb.simulate`` are in the laboratory."""
    long = __import__(f"rcweb.lab.{name}", fromlist=["_"])
    short = __import__(f"rcweb.{name}", fromlist=["_"])
    assert getattr(rcweb, name) is long
    for public in vars(long):
        assert public.startswith("_") or getattr(short, public) is getattr(long, public)


def test_what_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(rcweb, "nothing_of_that_name")
