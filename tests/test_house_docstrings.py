"""From the house style of docstrings to reStructuredText."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
sys.path.append(str(Path(__file__).parents[1] / "docs" / "_extensions"))

from house_docstrings import definitions, escaped, shortened, titled


def test_items_become_a_definition_list() -> None:
    lines = [
        "Changes between groups.",
        "",
        "groups : one label per sample,",
        "    or none",
        "group, reference : two of them",
        "",
        "Returns a table.",
    ]
    assert definitions(lines) == [
        "Changes between groups.",
        "",
        "``groups``",
        "    one label per sample,",
        "    or none",
        "",
        "``group``, ``reference``",
        "    two of them",
        "",
        "Returns a table.",
    ]


def test_a_second_item_on_a_line_is_an_item() -> None:
    lines = ["kind : of the table; nnz : numbers", "    stored; size : bytes"]
    assert definitions(lines) == [
        "``kind``",
        "    of the table",
        "",
        "``nnz``",
        "    numbers",
        "    stored",
        "",
        "``size``",
        "    bytes",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ["A sentence, then more : this is prose."],
        ["Two lines of prose,", "name : in the middle of a paragraph"],
        ["Summary.", "", "Parameters", "----------", "name : int", "    A number."],
        ["Summary.", "", "Examples", "--------", ">>> print('name : text')", "name : text"],
        [],
    ],
)
def test_the_rest_stays(lines: list[str]) -> None:
    assert definitions(lines) == lines


def test_items_inside_an_indented_list_stay_there() -> None:
    """As in the docstring of `Comparison`: an item that holds a list of its own."""
    lines = ["table : one row per pair:", "", "    * a, b : ids", "    * p : of it", "n : how many"]
    made = definitions(lines)
    assert made[:5] == [
        "``table``",
        "    one row per pair:",
        "",
        "    * a, b : ids",
        "    * p : of it",
    ]
    assert made[-2:] == ["``n``", "    how many"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("the largest |score| of components_", r"the largest \|score\| of components\_"),
        ("of shape (P*, n_components_)", r"of shape (P\*, n_components\_)"),
        ("``|x_|`` and `mean_` stay", "``|x_|`` and `mean_` stay"),
        ("a_name and 2 * 3 stay", "a_name and 2 * 3 stay"),
        ("* an item with |bars|", r"* an item with \|bars\|"),
        (":param mean_: of |x|", r":param mean_: of \|x\|"),
        (".. attribute:: mean_", ".. attribute:: mean_"),
    ],
)
def test_prose_has_no_markup_by_accident(line: str, expected: str) -> None:
    assert escaped([line]) == [expected]


def test_examples_stay_as_they_are() -> None:
    lines = [">>> abs(model.components_).max() | 1", "array_ |", "", "then |x|"]
    assert escaped(lines) == [*lines[:3], r"then \|x\|"]


def test_pages_are_linked() -> None:
    assert escaped(["see docs/scale.md."]) == ["see :doc:`/scale`."]


def test_attributes_have_a_title() -> None:
    lines = [":param x: a number", "", ".. attribute:: mean_", "", "   Of it.", ".. attribute:: n_"]
    assert titled(lines) == [*lines[:2], "", ".. rubric:: Attributes", "", *lines[2:]]
    assert titled(["Attributes of it."]) == ["Attributes of it."]


def test_types_are_short() -> None:
    before = (
        "(X: ~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.float64]], y: pd.Series)"
    )
    assert shortened(before) == "(X: ndarray, y: Series)"
