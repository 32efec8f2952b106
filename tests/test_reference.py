"""The API reference shows what is public, all of it and nothing else."""

from __future__ import annotations

import inspect
import re
from importlib import import_module

import pytest

from reference_pages import PAGES, page_names, resolve, shown_names, shown_objects, summary_names

PUBLIC = (
    "rcweb",
    "rcweb.activity",
    "rcweb.blocks",
    "rcweb.datasets",
    "rcweb.knowledge",
    "rcweb.lab.benchmark",
    "rcweb.network",
    "rcweb.plot",
    "rcweb.report",
    "rcweb.tables",
)
# Exported for other packages of rcweb, not for users.
INTERNAL = {
    "rcweb.blocks": {
        "Blocks",
        "KnownActivities",
        "Reader",
        "anndata_blocks",
        "as_blocks",
        "check_names",
        "condense",
        "error_projector",
        "explained",
        "gather",
        "in_blocks",
        "learn_names",
        "project_blocks",
        "project_with_error",
        "projector",
        "route_of",
        "sparse_blocks",
    },
    "rcweb.tables": {
        "READERS",
        "Finding",
        "Look",
        "Match",
        "Origin",
        "as_numbers",
        "check_file",
        "check_look",
        "check_object",
        "look_at",
        "match",
        "rows_to_look_at",
    },
}


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_shown(module: str) -> None:
    """A name may be shown under the shorter one of two modules."""
    here, shown = import_module(module), list(shown_objects().values())
    exported = set(here.__all__) if module != "rcweb.datasets" else _datasets()
    text = (PAGES / "rcweb.md").read_text(encoding="utf-8")
    missing = {
        name
        for name in exported
        if not any(thing is getattr(here, name) for thing in shown)
        and f"`{module}.{name}`" not in text
    }
    assert missing == INTERNAL.get(module, set())


def _datasets() -> set[str]:
    # The short name of a module has no list of its own.
    return set(import_module("rcweb.lab.datasets").__all__)


def test_nothing_is_shown_twice() -> None:
    names = shown_names()
    assert sorted(names) == sorted(set(names))


def test_all_that_is_shown_has_a_docstring() -> None:
    objects = shown_objects()
    assert len(objects) > 100
    tuples = {name for name, thing in objects.items() if isinstance(thing, tuple | dict)}
    assert [n for n, thing in objects.items() if n not in tuples and not thing.__doc__] == []


def test_properties_have_no_colon_in_their_first_line() -> None:
    """napoleon would take what stands before it for a type."""
    properties = {n: p for n, p in shown_objects().items() if isinstance(p, property)}
    assert len(properties) > 10
    first = {name: (thing.__doc__ or "").partition("\n")[0] for name, thing in properties.items()}
    assert [name for name, line in first.items() if ": " in line] == []


def test_the_first_page_lists_functions_and_classes() -> None:
    """Methods, constants and helpers of rivals stand on their pages alone."""
    described = {
        name
        for name, thing in shown_objects().items()
        if callable(thing)
        and name.rsplit(".", 1)[0] in _modules()
        and not name.startswith("rcweb.lab.baselines")
    }
    assert set(summary_names()) == described


def _modules() -> set[str]:
    return {*PUBLIC, "rcweb.simulate", "rcweb.lab.metrics", "rcweb.estimator.forecast"}


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_pictures_of_a_page_are_in_one_block(page: str) -> None:
    """matplotlib numbers them within a block, and would write over those of the block before."""
    blocks = (PAGES / page).read_text(encoding="utf-8").split("```{eval-rst}")
    drawn = [
        name
        for name in page_names(PAGES / page)
        if ".. plot::" in (getattr(resolve(name), "__doc__", None) or "")
    ]
    holding = [b for b in blocks if any(f":: {n.rsplit('.', 1)[1]}\n" in b for n in drawn)]
    assert len(holding) <= 1


def test_every_figure_has_a_picture() -> None:
    plot = import_module("rcweb.plot")
    assert [n for n in plot.__all__ if ".. plot::" not in getattr(plot, n).__doc__] == []


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_pages_are_in_the_table_of_contents(page: str) -> None:
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    assert page == "index.md" or f"\n{page.removesuffix('.md')}\n" in index


def _described(doc: str) -> set[str]:
    """Names that a docstring describes: ``name : text``, or a line of its own (attributes)."""
    items = re.findall(r"(?:^\s*|; )((?:\*{0,2}\w+, )*\*{0,2}\w+) :(?: |$)", doc, re.MULTILINE)
    return {name.lstrip("*") for item in items for name in item.split(", ")}


def _arguments(thing: object) -> set[str]:
    if isinstance(thing, type) and issubclass(thing, Warning | Exception):
        return set()
    return set(inspect.signature(thing).parameters) - {"self"}  # type: ignore[arg-type]


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_every_argument_and_field_is_described(page: str) -> None:
    missing = {
        name: sorted(_arguments(thing) - _described(thing.__doc__))
        for name in page_names(PAGES / page)
        if callable(thing := resolve(name))
    }
    assert {name: bare for name, bare in missing.items() if bare} == {}
