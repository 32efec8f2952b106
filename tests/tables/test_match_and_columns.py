"""How much of other files is in the table, and which of their columns are used."""

from __future__ import annotations

import pytest

from rcweb.tables import match
from rcweb.tables.columns import id_column, name_column, names_of

GENES = [f"b{i:04d}" for i in range(1, 101)]


def found(names: list[str], table: list[str] = GENES) -> tuple[str, list[str], str]:
    one = match("x.gmt", names, table, what="members", side="variables", way_out="Way out.")
    return one.text, [f.level for f in one.findings], " ".join(f.text for f in one.findings)


def test_a_file_that_shares_nothing_is_an_error() -> None:
    """Another organism: both kinds of names are shown."""
    text, levels, said = found(["YAL001C", "YAL002W"])
    assert levels == ["error"]
    assert text == "none of the 2 members is among the variables of the table"
    assert "'YAL001C' 'YAL002W' ... in the file, 'b0001' 'b0002' ... in the table" in said
    assert said.endswith("Way out.")


def test_a_file_that_shares_little_is_a_warning() -> None:
    """Most of both sides is unmatched. A small list, or a small table, is no reason."""
    assert found([*GENES[:10], *(f"x{i}" for i in range(90))])[1] == ["warning"]
    assert found(GENES[:3])[1] == []
    assert found([f"b{i:04d}" for i in range(1, 5000)])[1] == []
    assert found(GENES)[0] == "100 of 100 members are variables of the table"


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([name.upper() for name in GENES], "upper and lower case"),
        ([f"{name}.2" for name in GENES], "a version after a dot"),
        ([f" {name} " for name in GENES], "spaces around them"),
    ],
)
def test_a_simple_reason_is_told(names: list[str], reason: str) -> None:
    assert f"they differ by {reason}" in found(names)[2]


WHOLE = {
    "": ["1", "2", "3"],
    "start": ["190", "337", "2801"],
    "accession": ["NP_1", "NP_2", "NP_3"],
    "locus": ["b0001", "b0002", "b0002"],
    "product": ["leader", "kinase", "kinase"],
    "Gene name": ["thrL", "", "thrA"],
}


def test_a_whole_gene_table_gives_the_right_columns() -> None:
    """Identifiers by what matches the table, names by their title; else the text after them."""
    assert id_column(WHOLE, GENES) == "locus"
    assert name_column(WHOLE, "locus") == "Gene name"
    assert names_of(WHOLE, "locus", "Gene name") == {"b0001": "thrL", "b0002": "thrA"}
    untitled = {title: cells for title, cells in WHOLE.items() if title != "Gene name"}
    assert name_column(untitled, "locus") == "product"
    assert name_column({"id": ["b1"], "start": ["7"]}, "id") is None
