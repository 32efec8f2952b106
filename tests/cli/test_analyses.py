"""A sample sheet given to `fit`: contrasts and associations on the page, kept by `annotate`."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run

FIT = ("--components", "4", "-q")


@pytest.fixture(scope="module")
def sheet(planted, tmp_path_factory):
    """The activity of the first planted regulator as a column, and its sign as the group."""
    truth = pd.read_csv(planted / "true_activities.tsv", sep="\t", index_col=0).iloc[:, 0]
    table = pd.DataFrame({"condition": ["high" if x > truth.median() else "low" for x in truth]})
    table["dose"] = truth.to_numpy()
    path = tmp_path_factory.mktemp("sheet") / "sheet.tsv"
    table.set_axis(truth.index).rename_axis("sample").to_csv(path, sep="\t")
    return path


def page_data(folder):
    text = (folder / "report.html").read_text(encoding="utf-8")
    found = re.search(r'type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


def test_the_page_shows_what_goes_with_the_sheet(planted, sheet, tmp_path):
    out = tmp_path / "out"
    data = str(planted / "data.tsv")
    options = ("--samples", str(sheet), "--group", "condition", "--reference", "low")
    assert run(["fit", data, "-o", str(out), *options, *FIT]) == 0
    page = page_data(out)
    assert [tuple(pair) for pair in page["contrasts"]["comparisons"]] == [("high", "low")]
    assert {title for title, _ in page["associations"]["columns"]} == {"condition", "dose"}
    # The sheet is kept: a later command needs no file.
    edges = pd.read_csv(planted / "true_network.tsv", sep="\t")
    known = tmp_path / "known.gmt"
    known.write_text("one\t\t" + "\t".join(edges["target"].unique()[:9]) + "\n")
    assert run(["annotate", str(out), "--sets", str(known), "-q"]) == 0
    again = page_data(out)
    assert again["associations"] == page["associations"]
    assert again["contrasts"] == page["contrasts"]


def test_a_mistyped_reference_is_said_before_the_fit(planted, sheet, tmp_path, capsys):
    out = tmp_path / "out"
    options = ("--samples", str(sheet), "--group", "condition", "--reference", "lwo")
    assert run(["fit", str(planted / "data.tsv"), "-o", str(out), *options]) == 3
    said = capsys.readouterr().err
    assert "'lwo' is none of the groups, such as 'high', 'low'" in said
    assert "fitting" not in said
    assert run(["fit", str(planted / "data.tsv"), "-o", str(out), "--reference", "low"]) == 2
    assert "--samples" in capsys.readouterr().err
