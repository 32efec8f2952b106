"""Names that a spreadsheet would take as formulas: written unchanged, and told."""

from __future__ import annotations

import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run
from rcweb.cli.results import read_result
from rcweb.cli.spreadsheets import tell_formulas
from rcweb.knowledge.genesets import read_gmt

FIT = ("--method", "paper", "--components", "4")
ODD = {"sample": "-O2 rep 1", "variable": '=HYPERLINK("http://x","y")', "set": "@SUM(A1)"}


@pytest.mark.parametrize("name", ["=1+1", "+Fe", "-O2", "@x", "-", "+-1"])
def test_names_like_formulas_are_told(capsys, name):
    """The first one by its name, the rest by their number."""
    from rcweb.cli.console import Console

    tell_formulas(["fine", name, name], Console())
    error = capsys.readouterr().err
    assert error.startswith(f"warning: {name!r} and 1 more: a spreadsheet takes names")


def test_numbers_and_usual_names_are_no_formulas(capsys):
    """Else the names of many tables would be warned of."""
    from rcweb.cli.console import Console

    tell_formulas(["-1", "+0.5", "-1e-3", "lexA", "a=b", "x-1", ""], Console())
    assert capsys.readouterr().err == ""


def test_such_names_come_back_as_they_were(planted, tmp_path, capsys):
    """From the table, from sets, and through `annotate` and `transform`."""
    data = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0)
    data = data.rename({"sample0": ODD["sample"]}).rename(columns={"variable0": ODD["variable"]})
    data.to_csv(tmp_path / "t.tsv", sep="\t")
    sets = (planted / "true_sets.gmt").read_text().replace("regulator0", ODD["set"])
    (tmp_path / "sets.gmt").write_text(sets.replace("variable0\t", ODD["variable"] + "\t"))
    out, new = tmp_path / "out", tmp_path / "new.tsv"
    known = ("--sets", str(tmp_path / "sets.gmt"))
    for command, n_more in (
        (["fit", str(tmp_path / "t.tsv"), "-o", str(out), *FIT, *known], 2),
        (["annotate", str(out), *known], 0),
        (["transform", str(out), str(tmp_path / "t.tsv"), "-o", str(new)], 0),
    ):
        assert run(command) == 0
        more = f" and {n_more} more" if n_more else ""
        assert f"{more}: a spreadsheet takes names" in capsys.readouterr().err
    result = read_result(out)
    assert result.activities.index[0] == ODD["sample"]
    assert ODD["variable"] in result.model.network_.targets
    names = pd.read_csv(out / "regulators.tsv", sep="\t")["name"]
    assert ODD["set"] in set(names)
    edges = pd.read_csv(out / "network.tsv", sep="\t")
    found = {m for members in read_gmt(out / "network.gmt").members for m in members}
    assert set(edges["target"]) == found
    assert new.read_bytes() == (out / "activities.tsv").read_bytes()
