"""Sample sheets and names to show."""

from __future__ import annotations

import pytest

from rcweb.tables import TableError
from rcweb.tables.sheets import groups_of, read_columns, read_sheet

SHEET = "sample,age,condition\ns1,3,heat\ns2,4,cold\ns3,5,heat\n"


@pytest.fixture
def sheet(tmp_path):
    (tmp_path / "sheet.csv").write_text(SHEET)
    return read_sheet(tmp_path / "sheet.csv")


def test_groups_come_from_the_column_titled_like_one(sheet):
    """In the order of the table's samples; a sample that the sheet lacks has no group."""
    assert list(groups_of(sheet, ["s3", "s2", "new"], None)) == ["heat", "cold", ""]


def test_the_column_can_be_said(sheet):
    """And a wrong one is answered with the right ones."""
    assert list(groups_of(sheet, ["s1"], "age")) == ["3"]
    with pytest.raises(TableError, match="no column 'sex'; it has 'age', 'condition'"):
        groups_of(sheet, ["s1"], "sex")


def test_a_sheet_of_other_samples_is_refused(sheet):
    """Names that do not join are the usual mistake; both sides are shown."""
    with pytest.raises(TableError, match=r"called 'x1' \.\.\., the sheet has 's1'"):
        groups_of(sheet, ["x1"], None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("sample,a\n", "empty"),
        ("sample,a\ns1,1\ns1,2\n", "'s1' occurs in two lines"),
        ("sample,a\ns1,1,2\n", "line 2 has 3 fields, the header 2"),
    ],
)
def test_mistakes_name_the_file(tmp_path, text, message):
    """Which file, which line."""
    (tmp_path / "sheet.csv").write_text(text)
    with pytest.raises(TableError, match=f"sheet.csv: .*{message}"):
        read_sheet(tmp_path / "sheet.csv")


def test_every_column_is_kept_by_its_title(tmp_path):
    """Also where a title is empty or used twice."""
    (tmp_path / "genes.tsv").write_text("id\tsymbol\tsymbol\nb1\tthrL\tx\nb2\t\ty\n")
    columns = read_columns(tmp_path / "genes.tsv")
    assert columns == {"id": ["b1", "b2"], "symbol": ["thrL", ""], "symbol'": ["x", "y"]}
