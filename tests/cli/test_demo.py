"""The demo: the real organism when it can be had, a planted network, said so, when not."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli import demo as module
from rcweb.cli.app import run
from rcweb.cli.pipeline import FitParameters
from rcweb.knowledge.genesets import GeneSets
from rcweb.lab.datasets import Dataset, DatasetError
from rcweb.lab.simulate import simulate


@pytest.fixture(autouse=True)
def quick_engine(monkeypatch):
    """The demo is about the way from table to page; the published method is quick to compile."""
    monkeypatch.setattr(module, "PARAMETERS", FitParameters(4, "paper"))


def organism() -> Dataset:
    """A small E. coli: four regulators called tf0 ... tf3."""
    truth = simulate(60, 50, 4, density=0.2, noise=0.02, random_state=1)
    genes = [f"b{j:04}" for j in range(50)]
    samples = [f"s{i}" for i in range(60)]
    sets = {
        f"tf{p}": [genes[j] for j in np.flatnonzero(row)] for p, row in enumerate(truth.network)
    }
    return Dataset(
        name="small E. coli",
        expression=pd.DataFrame(truth.data, samples, genes),
        samples=pd.DataFrame({"group": ["a", "b"] * 30}, samples),
        genes=pd.DataFrame({"symbol": [f"gene{j}" for j in range(50)]}, genes),
        known=GeneSets.from_dict(sets),
        terms=GeneSets.from_dict({"half": genes[:25]}),
        source="made up",
    )


def test_the_organism_is_fitted_named_and_shown(tmp_path, capsys, monkeypatch):
    """Names on the screen, symbols and groups in the page, all files in the folder."""
    monkeypatch.setattr("rcweb.lab.datasets.load_ecoli", organism)
    assert run(["demo", "-o", str(tmp_path / "demo")]) == 0
    text = capsys.readouterr().out
    assert "The 4 best-known regulators found:" in text
    assert all(f"tf{p}" in text for p in range(4))
    assert str(tmp_path / "demo" / "report.html") in text
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "gene7" in page
    assert (tmp_path / "demo" / "model.rcweb").is_file()


def test_the_organism_as_json(tmp_path, capsys, monkeypatch):
    """The best known come with their numbers, the strongest evidence first."""
    monkeypatch.setattr("rcweb.lab.datasets.load_ecoli", organism)
    assert run(["demo", "-o", str(tmp_path / "demo"), "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["best_known"]
    assert {row["name"] for row in best} == {f"tf{p}" for p in range(4)}
    assert [row["log10_p"] for row in best] == sorted(row["log10_p"] for row in best)


def test_without_a_registry_a_planted_network_is_shown(tmp_path, capsys, monkeypatch):
    """The reason is told, accuracy printed, the picture drawn."""
    pytest.importorskip("matplotlib")

    def unreachable():
        raise DatasetError("no index answers")

    planted = simulate(60, 50, 4, density=0.2, noise=0.02, random_state=1)
    monkeypatch.setattr("rcweb.lab.datasets.load_ecoli", unreachable)
    monkeypatch.setattr("rcweb.lab.simulate.simulate", lambda *args, **kwargs: planted)
    assert run(["demo", "-o", str(tmp_path / "demo")]) == 0
    output = capsys.readouterr()
    assert "no index answers" in output.err
    assert "simulated network instead" in output.err
    assert "Planted: 4 regulators. Found: 4." in output.out
    picture = (tmp_path / "demo" / "networks.png").read_bytes()
    assert picture.startswith(b"\x89PNG")


def test_a_folder_in_use_is_refused_before_any_work(tmp_path, capsys, monkeypatch):
    """Nothing is downloaded or fitted for a folder that cannot be written."""
    monkeypatch.setattr("rcweb.lab.datasets.load_ecoli", pytest.fail)
    (tmp_path / "network.tsv").write_text("x")
    assert run(["demo", "-o", str(tmp_path)]) == 3
    assert (
        f"did not write {tmp_path / 'network.tsv'}: name another folder" in capsys.readouterr().err
    )
