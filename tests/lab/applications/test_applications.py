"""Applications, start to end, on a small planted table with a fitted stand-in and its real page."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from rcweb.knowledge import GeneSets
from rcweb.lab.applications import __main__ as command
from rcweb.lab.applications import ecoli, yeast
from rcweb.lab.applications.run import known_regulators_met, run_application
from rcweb.lab.datasets import Dataset, DatasetError
from rcweb.lab.simulate import simulate
from rcweb.network import Network


class Told(BaseEstimator):
    """An estimator that was told the network: naming and page are under test, not the search."""

    def __init__(self, network):
        self.network = network

    def fit(self, X, y=None):
        C = self.network
        self.mean_ = np.asarray(X).mean(axis=0)
        self.projection_ = np.linalg.pinv(C)
        self.singular_values_ = np.linalg.svd(np.asarray(X) - self.mean_, compute_uv=False)
        self.n_components_ = len(C)
        names = tuple(f"rcweb{p}" for p in range(len(C)))
        mask = (C != 0).astype(float)
        self.network_ = Network(C, mask, C, names, tuple(X.columns))
        return self

    def transform(self, X):
        return (np.asarray(X) - self.mean_) @ self.projection_


@pytest.fixture(scope="module")
def planted():
    """Six regulators, four of them known by part of their targets; the first raises its own."""
    truth = simulate(60, 200, 6, density=0.12, weights="bounded", random_state=2)
    C = truth.network
    C[0] = np.abs(C[0])
    genes = [f"g{n}" for n in range(200)]
    known = {f"TF{p}": [g for n, g in enumerate(genes) if C[p, n] != 0 and n % 5] for p in range(4)}
    terms = {f"GO:{p}": [g for n, g in enumerate(genes) if C[p, n] > 0] for p in range(6)}
    samples = [f"s{m}" for m in range(60)]
    return Dataset(
        name="a planted <organism>",
        expression=pd.DataFrame(truth.activities @ C, index=samples, columns=genes),
        samples=pd.DataFrame({"group": ["even", "odd"] * 30}, index=samples),
        genes=pd.DataFrame({"symbol": genes}, index=genes),
        known=GeneSets.from_dict(known, {"TF0": "a & b"}),
        terms=GeneSets.from_dict(terms, {"GO:0": "growth"}),
        source="simulated",
        published=pd.DataFrame(C[:2], index=["i0", "i1"], columns=genes),
    ), C


def test_planted_table_becomes_a_page_and_tables(planted, tmp_path):
    """Names, comparison and figure 5 are right and on disk; names from data are escaped."""
    data, C = planted
    result = run_application(data, tmp_path / "out", Told(C))
    assert set(result.names["name"]) - {""} <= {f"TF{p}" for p in range(4)}
    assert result.names.loc["rcweb0", "name"] == "TF0"
    assert result.names.loc["rcweb0", "orientation"] == 1
    ours = result.comparison.set_index("network").loc["rcweb"]
    assert ours["edges"] == (C != 0).sum()
    assert ours["known_regulators"] >= 1
    assert ours["permuted"] == 0
    edges = result.comparison.set_index("network")["edges"]
    for ours, rival in (("rcweb", "FastICA"), ("rcweb, unit variance", "FastICA, unit variance")):
        for one, other in ((ours, rival), (rival, ours)):
            cut = f"{one}, {edges[other]:,} strongest edges"
            assert edges[cut] <= edges[other]
    assert edges["published"] == (C[:2] != 0).sum()
    first = result.figure5.set_index("regulator").loc["rcweb0"]
    assert first["known_regulator"] == "TF0"
    assert first["term"] == "growth"
    stored = pd.read_csv(tmp_path / "out" / "figure5.tsv", sep="\t", keep_default_na=False)
    assert stored["known_regulator"].tolist() == result.figure5["known_regulator"].tolist()
    page = (tmp_path / "out" / "index.html").read_text()
    assert "planted &lt;organism&gt;" in page
    assert "<organism>" not in page
    assert "a &amp; b" in page
    assert page.count("data:image/png") == 4
    assert "http://" not in page
    assert "https://" not in page


def test_page_without_matplotlib_says_so(planted, tmp_path, monkeypatch):
    """Tables are still there."""
    data, C = planted
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    run_application(data, tmp_path, Told(C), compare=False)
    page = (tmp_path / "index.html").read_text()
    assert "rcweb[plot]" in page
    assert "data:image/png" not in page


def test_a_network_that_matches_nothing(planted, tmp_path):
    """Random targets: no names, an empty figure 5, and a page all the same."""
    data, C = planted
    shuffled = np.random.default_rng(0).permuted(C, axis=1)
    result = run_application(data, tmp_path, Told(shuffled), compare=False)
    assert result.figure5.empty
    assert (result.names["name"] == "").all()
    assert (tmp_path / "index.html").exists()


def test_counts_of_known_regulators(planted):
    """A network with the known sets themselves meets each once."""
    data, _ = planted
    genes = list(data.expression.columns)
    counts = known_regulators_met(data.known.matrix(genes).toarray(), data.known, genes)
    assert counts["known_regulators"] == 4
    assert counts["regulators_matched"] == 4
    assert counts["permuted"] == 0


def test_command_reports_missing_data(monkeypatch, capsys, tmp_path):
    """One sentence and exit code 1, not a traceback."""

    def nothing(*args, **kwargs):
        raise DatasetError("no table here")

    monkeypatch.setitem(command.APPLICATIONS, "ecoli", nothing)
    assert command.main(["ecoli", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "no table here\n"


def test_command_prints_the_best(monkeypatch, capsys, tmp_path, planted):
    """The comparison, the first rows of figure 5, the place of the page."""
    data, C = planted
    monkeypatch.setitem(
        command.APPLICATIONS,
        "yeast",
        lambda out, **_: run_application(data, out, Told(C), compare=False),
    )
    assert command.main(["yeast", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "TF0" in printed
    assert str(tmp_path / "index.html") in printed


@pytest.fixture(scope="module")
def famous(tmp_path_factory):
    """The yeast application, run once."""
    return yeast.run(tmp_path_factory.mktemp("yeast"))


def beside_fastica(result, note):
    """Rows of FastICA and of rcweb at its number of edges."""
    rows = result.comparison.set_index("network")
    rival = rows.loc[f"FastICA{note}"]
    return rows.loc[f"rcweb{note}, {rival['edges']:,} strongest edges"], rival


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif("RCWEB_DATA" not in os.environ, reason="RCWEB_DATA names no folder")
def test_yeast_names_the_famous_ones(famous):
    """The default engine, P* = 160: the factors everybody finds, what they do, no chance hits."""
    terms = famous.figure5.drop_duplicates("known_regulator").set_index("known_regulator")["term"]
    for name, words in {
        "GCN4": ("amino acid",),
        "MBP1": ("cell cycle", "DNA replication"),  # both are its G1/S targets
        "HAP4": ("respiration",),
        "RPN4": ("protein catabolic",),
        "HSF1": ("protein folding",),
        "GAL4": ("galactose",),
    }.items():
        assert any(word in terms[name] for word in words), name
    assert {"FHL1", "RAP1"} & set(terms.index)
    assert (famous.comparison["permuted"] == 0).all()


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif("RCWEB_DATA" not in os.environ, reason="RCWEB_DATA names no folder")
def test_yeast_beside_fastica(famous):
    """At FastICA's number of edges, signs apart: two regulators fewer, about as many pairs;
    docs/interpretation.md has the numbers."""
    for note in ("", ", unit variance"):
        ours, rival = beside_fastica(famous, note)
        assert ours["known_regulators"] >= rival["known_regulators"] - 2
        assert ours["pairs"] >= rival["pairs"] - 2


@pytest.mark.slow
@pytest.mark.data
def test_ecoli_beside_fastica_and_the_published(tmp_path):
    """The default engine against RegulonDB, signs apart: more pairs than FastICA at its number of
    edges and than the published network at its own, and a few known regulators fewer;
    docs/interpretation.md has the numbers."""
    try:
        result = ecoli.run(tmp_path)
    except DatasetError as error:
        pytest.skip(str(error))
    rows = result.comparison.set_index("network")
    published = rows.loc["published"]
    ours = rows.loc[f"rcweb, {published['edges']:,} strongest edges"]
    assert ours["pairs"] > published["pairs"]
    assert ours["known_regulators"] >= published["known_regulators"] - 4
    for note in ("", ", unit variance"):
        ours, rival = beside_fastica(result, note)
        assert ours["pairs"] > 1.2 * rival["pairs"]
        assert ours["known_regulators"] >= rival["known_regulators"] - 6
    assert (rows["permuted"] == 0).all()
