"""Known targets on the command line: files out, the network unchanged, mistakes said."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run

FIT = ("--components", "4", "-q")


@pytest.fixture(scope="module")
def known(planted, tmp_path_factory):
    """Two thirds of each planted regulator's targets, and a list of nothing."""
    edges = pd.read_csv(planted / "true_network.tsv", sep="\t")
    lines = []
    for name, part in edges.groupby("regulator"):
        shown = [t for i, t in enumerate(part["target"]) if i % 3 < 2]
        lines.append("\t".join([str(name), "", *shown]))
    path = tmp_path_factory.mktemp("known") / "known.gmt"
    path.write_text("\n".join([*lines, "tiny\t\tnobody\tnowhere\tnothing"]) + "\n")
    return path


def lists_on_the_page(out):
    text = (out / "report.html").read_text(encoding="utf-8")
    data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S)
    return json.loads(data[1])["known_lists"]


def test_fit_with_a_prior_writes_its_tables(planted, known, tmp_path, capsys):
    data = str(planted / "data.tsv")
    assert run(["fit", data, "-o", str(tmp_path / "blind"), *FIT]) == 0
    out = tmp_path / "out"
    assert run(["fit", data, "-o", str(out), "--prior", str(known), "--json", *FIT]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert summary["prior"]["supported"] == 4
    assert not summary["prior"]["grouped"]
    prior = pd.read_csv(out / "prior.tsv", sep="\t", index_col="list")
    assert prior["supported"].all()
    assert {"reliability", "strength", "kept", "unseen", "new", "regulator"} <= set(prior.columns)
    new = pd.read_csv(out / "new_targets.tsv", sep="\t")
    truth = pd.read_csv(planted / "true_network.tsv", sep="\t")
    pairs = set(zip(truth["regulator"].astype(str), truth["target"]))
    right = [(str(r), t) in pairs for r, t in zip(new["regulator"], new["target"])]
    assert len(new) >= 4
    assert sum(right) / len(right) > 0.8
    activities = pd.read_csv(out / "prior_activities.tsv", sep="\t", index_col=0)
    assert activities.shape == (80, 2 * len(prior))
    shown = lists_on_the_page(out)
    for one in shown:
        np.testing.assert_allclose(one["activities"], activities[one["name"]], atol=1e-3)
        np.testing.assert_allclose(one["std"], activities[f"{one['name']} std"][:1], atol=1e-3)
    # Knowledge cannot hurt: the network is the same file.
    assert (out / "network.tsv").read_bytes() == (tmp_path / "blind" / "network.tsv").read_bytes()
    # Without the data the page keeps the activities.
    assert run(["annotate", str(out), "--sets", str(known), "-q"]) == 0
    kept = [(one["name"], one["activities"]) for one in lists_on_the_page(out)]
    assert kept == [(one["name"], one["activities"]) for one in shown]


def test_a_result_is_judged_later_and_stays_judged(planted, known, tmp_path):
    out = tmp_path / "out"
    assert run(["fit", str(planted / "data.tsv"), "-o", str(out), *FIT]) == 0
    assert not (out / "prior.tsv").exists()
    assert run(["annotate", str(out), "--prior", str(known), "-q"]) == 0
    first = (out / "prior.tsv").read_bytes()
    # The data, which activities need, are not at hand.
    assert not (out / "prior_activities.tsv").exists()
    assert all(one["activities"] == [] for one in lists_on_the_page(out))
    assert run(["annotate", str(out), "--sets", str(known), "-q"]) == 0
    assert (out / "prior.tsv").read_bytes() == first


def test_anndata_files_hold_the_activities_of_lists_and_their_errors(planted, known, tmp_path):
    anndata = pytest.importorskip("anndata")
    out = tmp_path / "out"
    data = str(planted / "data.tsv")
    assert run(["fit", data, "-o", str(out), "--prior", str(known), "--h5ad", *FIT]) == 0
    table = pd.read_csv(out / "prior_activities.tsv", sep="\t", index_col=0)
    adata = anndata.read_h5ad(out / "data.h5ad")
    both = np.hstack([adata.obsm["X_rcweb_prior"], adata.obsm["X_rcweb_prior_std"]])
    np.testing.assert_allclose(both, table.to_numpy(), rtol=1e-4, atol=1e-6)


def test_groups_are_read_and_need_a_prior(planted, known, tmp_path, capsys):
    groups = tmp_path / "operons.tsv"
    variables = pd.read_csv(planted / "data.tsv", sep="\t", nrows=1, index_col=0).columns
    groups.write_text("gene\toperon\n" + "".join(f"{v}\t{v}\n" for v in variables))
    data = str(planted / "data.tsv")
    command = ["fit", data, "-o", str(tmp_path / "out"), "--groups", str(groups), *FIT]
    assert run(command) == 2
    assert "--prior" in capsys.readouterr().err
    assert run([*command, "--prior", str(known), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["prior"]["grouped"]
    paper = ["fit", data, "-o", str(tmp_path / "p"), "--method", "paper", "--prior", str(known)]
    assert run(paper) == 2
    assert "--method refined" in capsys.readouterr().err


def test_groups_of_other_variables_are_refused_by_the_name_of_their_file(
    planted, known, tmp_path, capsys
):
    """Before the fit, as every other file is; few matching names are a warning."""
    groups = tmp_path / "operons.tsv"
    groups.write_text("gene\toperon\nb0001\tthr\nb0002\tthr\n")
    data = ["fit", str(planted / "data.tsv"), "-o", str(tmp_path / "out"), "--prior", str(known)]
    assert run([*data, "--groups", str(groups), *FIT]) == 3
    said = capsys.readouterr().err
    assert "operons.tsv: none of the 2 variables with a group" in said
    assert "'b0001'" in said
    assert not (tmp_path / "out").exists()
