"""`annotate` changes what it is asked to change, and nothing else."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run
from rcweb.cli.kept import KNOWLEDGE_FILE, knowledge_to_bytes, read_knowledge
from rcweb.cli.knowledge import Knowledge
from rcweb.cli.results import read_result, write_result
from rcweb.knowledge import GeneSets

FIT = ("--method", "paper", "--components", "4")


def shown(folder: Path) -> dict[str, Any]:
    """The data that the page of a result shows."""
    page = (folder / "report.html").read_text()
    data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert data is not None
    return json.loads(data[1])


@pytest.fixture(scope="module")
def known(planted, tmp_path_factory) -> Path:
    """A fit with groups, names of variables, known targets and a measured factor."""
    folder = tmp_path_factory.mktemp("known")
    truth = pd.read_csv(planted / "true_activities.tsv", sep="\t", index_col=0)
    truth.iloc[:20, :1].to_csv(folder / "measured.csv")
    sheet = pd.DataFrame({"group": np.where(np.arange(80) < 40, "hot", "cold")}, truth.index)
    sheet.to_csv(folder / "sheet.csv", index_label="sample")
    (folder / "names.tsv").write_text("id\tname\nvariable0\tlexA\n")
    files = ("--samples", folder / "sheet.csv", "--names", folder / "names.tsv")
    factors = ("--measured", folder / "measured.csv", "--sets", planted / "true_sets.gmt")
    command = ["fit", planted / "data.tsv", "-o", folder / "out", *FIT, *files, *factors, "-q"]
    assert run(list(map(str, command))) == 0
    return folder / "out"


def test_new_terms_leave_all_else_as_it_was(planted, known, tmp_path, capsys):
    """Groups, names of genes and regulators, variance explained, factors, their records."""
    out = tmp_path / "out"
    shutil.copytree(known, out)
    assert run(["annotate", str(out), "--terms", str(planted / "true_sets.gmt"), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    before, after = shown(known), shown(out)
    assert after["groups"] == before["groups"] == ["hot"] * 40 + ["cold"] * 40
    assert after["gene_labels"] == before["gene_labels"]
    assert "lexA" in after["gene_labels"]
    assert after["explained_variance"] == before["explained_variance"] > 0.9
    assert summary["explained_variance"] == pytest.approx(after["explained_variance"], abs=1e-4)
    for old, new in zip(before["regulators"], after["regulators"]):
        assert new["terms"]["rows"]
        assert new | {"terms": 0} == old | {"terms": 0}
    for name in ("network.tsv", "measured.tsv", "activities.tsv", "model.rcweb"):
        assert (out / name).read_bytes() == (known / name).read_bytes(), name
    share = [pd.read_csv(f / "regulators.tsv", sep="\t")["variance_share"] for f in (known, out)]
    pd.testing.assert_series_equal(*share, check_exact=True)
    record = json.loads((out / "provenance.json").read_text())
    inputs = {"data", "sets 1", "terms 1", "measured", "samples", "names"}
    assert set(record["inputs"]) == inputs
    checked = [match["file"] for match in record["input_check"]["matches"]]
    assert sorted(checked) == ["measured.csv", "names.tsv", "sheet.csv", "true_sets.gmt"]


def test_new_sets_take_the_place_of_the_old(known, tmp_path):
    """All of them, in the names, in the files and in the record."""
    out = tmp_path / "out"
    shutil.copytree(known, out)
    network = pd.read_csv(out / "network.tsv", sep="\t")
    targets = network[network["regulator"] == "rcweb1"]["target"]
    edges = pd.DataFrame({"TF": "SigB", "locus_tag": targets, "effect": "+"})
    edges.to_csv(tmp_path / "trn.csv", index=False)
    assert run(["annotate", str(out), "--sets", str(tmp_path / "trn.csv"), "-q"]) == 0
    table = pd.read_csv(out / "regulators.tsv", sep="\t", index_col="regulator")
    measured = pd.read_csv(out / "measured.tsv", sep="\t")["regulator"].tolist()
    expected = {r: "regulator0" if r in measured else r for r in table.index}
    assert table["name"].to_dict() == expected | {"rcweb1": "SigB"}
    record = json.loads((out / "provenance.json").read_text())
    assert record["inputs"]["sets 1"]["file"] == "trn.csv"
    checked = [match["file"] for match in record["input_check"]["matches"]]
    assert sorted(checked) == ["measured.csv", "names.tsv", "sheet.csv", "trn.csv"]


def test_names_of_variables_alone_are_enough(found, tmp_path):
    """A result without any known targets gets the names of its genes."""
    out = tmp_path / "out"
    shutil.copytree(found, out)
    (tmp_path / "names.tsv").write_text("id\tname\nvariable3\trecA\n")
    assert run(["annotate", str(out), "--names", str(tmp_path / "names.tsv"), "-q"]) == 0
    network = pd.read_csv(out / "network.tsv", sep="\t").set_index("target")
    assert set(network.loc[["variable3"], "target_name"]) == {"recA"}
    assert "recA" in shown(out)["gene_labels"]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_names_reach_the_h5ad_file_too(planted, tmp_path):
    """Also when they are found after the fit; all else in the file stays."""
    anndata = pytest.importorskip("anndata")
    out = tmp_path / "out"
    assert run(["fit", str(planted / "data.tsv"), "-o", str(out), *FIT, "--h5ad", "-q"]) == 0
    before = anndata.read_h5ad(out / "data.h5ad")
    assert list(before.uns["rcweb"]["regulator_names"]) == list(before.uns["rcweb"]["regulators"])
    assert run(["annotate", str(out), "--sets", str(planted / "true_sets.gmt"), "-q"]) == 0
    after = anndata.read_h5ad(out / "data.h5ad")
    table = pd.read_csv(out / "regulators.tsv", sep="\t")
    assert list(after.uns["rcweb"]["regulators"]) == table["regulator"].tolist()
    assert list(after.uns["rcweb"]["regulator_names"]) == table["name"].tolist()
    np.testing.assert_array_equal(after.X, before.X)
    np.testing.assert_array_equal(after.varm["rcweb"], before.varm["rcweb"])


def test_a_new_fit_keeps_nothing_of_the_old(found, tmp_path):
    """Also one of a table that was read in blocks and is not at hand any more."""
    out = tmp_path / "out"
    shutil.copytree(found, out)
    (out / "terms.tsv").write_text("of another fit\n")
    (out / "networks.png").write_bytes(b"of another fit")
    write_result(out, replace(read_result(found), knowledge=None), overwrite=True)
    assert {path.name for path in out.iterdir()} == {path.name for path in found.iterdir()}


def test_a_variance_that_is_no_number_does_not_lose_the_fit(planted, tmp_path, monkeypatch):
    """JSON has no NaN; the record does without the number, the result is written."""
    monkeypatch.setattr("rcweb.estimator.RCweb.score", lambda model, X, **known: float("nan"))
    out = tmp_path / "out"
    assert run(["fit", str(planted / "data.tsv"), "-o", str(out), *FIT, "-q"]) == 0
    assert set(json.loads((out / "provenance.json").read_text())["variance"]) == {"total"}


def test_knowledge_comes_back_as_it_was(tmp_path):
    """Signs, missing measurements and odd names included; the bytes are always the same."""
    kept = Knowledge(
        known=GeneSets(("fur",), ("iron",), (("b1", "b2"),), ((-1.0, 0.0),)),
        measured=pd.DataFrame({"tf": [1.5, np.nan]}, ["s1", "s2"]),
        groups=("a", ""),
        labels={"float": "nan"},
        title="µ <b>",
    )
    content = knowledge_to_bytes(kept)
    assert content == knowledge_to_bytes(kept)
    (tmp_path / KNOWLEDGE_FILE).write_bytes(content)
    again = read_knowledge(tmp_path, 2)
    assert (again.known, again.terms, again.groups) == (kept.known, None, kept.groups)
    assert (again.labels, again.title) == (kept.labels, kept.title)
    pd.testing.assert_frame_equal(again.measured, kept.measured)
    assert read_knowledge(tmp_path / "of an earlier version", 2) == Knowledge()


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"format": "rcweb-knowledge", "version": 2}',
        gzip.compress(b'{"format": "rcweb-knowledge"', mtime=0)[:-5],
    ],
)
def test_a_damaged_file_of_knowledge_is_a_clear_error(found, tmp_path, capsys, content):
    """Folders come from anyone; nothing is changed then."""
    out = tmp_path / "out"
    shutil.copytree(found, out)
    (out / KNOWLEDGE_FILE).write_bytes(content)
    (tmp_path / "names.tsv").write_text("id\tname\nvariable3\trecA\n")
    assert run(["annotate", str(out), "--names", str(tmp_path / "names.tsv")]) == 3
    assert KNOWLEDGE_FILE in capsys.readouterr().err
    assert (out / KNOWLEDGE_FILE).read_bytes() == content
