"""``rcweb explain``: regulators of variables, as text, JSON and a file."""

from __future__ import annotations

import json

import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run
from rcweb.cli.results import read_result


@pytest.fixture
def targets(found) -> list[str]:
    """Two variables with regulators."""
    edges = pd.read_csv(found / "network.tsv", sep="\t")
    return list(edges["target"].unique()[:2])


def test_text_json_and_file_agree(found, targets, tmp_path, capsys):
    out = tmp_path / "explained.tsv"
    assert run(["explain", str(found), *targets, "-o", str(out)]) == 0
    text = capsys.readouterr().out
    assert all(f"{target}: " in text for target in targets)
    assert run(["explain", str(found), *targets, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)["variables"]
    table = pd.read_csv(out, sep="\t")
    assert table["variable"].unique().tolist() == targets
    edges = [edge for one in summary for edge in one["regulators"]]
    assert table["regulator"].tolist() == [edge["regulator"] for edge in edges]
    assert table["share"].tolist() == pytest.approx([edge["share"] for edge in edges])


def test_an_unknown_variable_is_named_with_similar_ones(found, targets, capsys):
    assert run(["explain", str(found), targets[0] + "x"]) == 3
    error = capsys.readouterr().err
    assert f"No variable is called '{targets[0]}x'" in error
    assert targets[0] in error.split("some are")[1]


def test_files_are_not_overwritten_unasked(found, targets, tmp_path, capsys):
    out = tmp_path / "explained.tsv"
    out.write_text("mine")
    assert run(["explain", str(found), targets[0], "-o", str(out)]) == 3
    assert out.read_text() == "mine"
    assert run(["explain", str(found), targets[0], "-o", str(out), "--overwrite", "-q"]) == 0
    assert run(["explain", str(found), targets[0], "-o", str(tmp_path / "x.xlsx")]) == 2
    assert "must end in .tsv" in capsys.readouterr().err


def test_shares_are_those_of_the_report(found, targets, capsys):
    """The folder keeps how well every variable was explained in the data; no second estimate."""
    kept = read_result(found).knowledge.gene_explained
    assert run(["explain", str(found), *targets, "--json"]) == 0
    for one in json.loads(capsys.readouterr().out)["variables"]:
        assert one["explained"] == pytest.approx(kept[one["variable"]], abs=1e-12)
        shares = [edge["share"] for edge in one["regulators"]]
        assert sum(shares) == pytest.approx(one["explained"])
