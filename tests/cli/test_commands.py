"""The commands as a user runs them: files in, files out, exit codes, what is said where."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run
from rcweb.cli.results import NETWORK_FILES
from rcweb.estimator import load_model
from rcweb.knowledge.genesets import read_gmt

FIT = ("--method", "paper", "--components", "4")  # the fastest engine: the files matter here
WRITTEN = {
    *NETWORK_FILES,
    "activities.tsv",
    "regulators.tsv",
    "model.rcweb",
    "knowledge.json.gz",
    "provenance.json",
    "report.html",
}


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_fit_writes_every_promised_file(found):
    """The contract of the design."""
    assert names_in(found) == WRITTEN
    network = pd.read_csv(found / "network.tsv", sep="\t")
    assert list(network.columns)[:4] == ["regulator", "target", "weight", "probability"]
    assert list(network.columns)[4:] == ["regulator_name", "target_name", "grade"]


def test_all_files_tell_the_same_network(found):
    """Formats are views of one result: equal edges in each."""
    nx = pytest.importorskip("networkx")
    table = pd.read_csv(found / "network.tsv", sep="\t", float_precision="round_trip")
    edges = {(r, t): w for r, t, w in zip(table["regulator"], table["target"], table["weight"])}
    graphml = nx.read_graphml(found / "network.graphml")
    assert {(a, b): d["weight"] for a, b, d in graphml.edges(data=True)} == edges
    cyjs = nx.cytoscape_graph(json.loads((found / "network.cyjs").read_text()))
    assert {(a, b): d["weight"] for a, b, d in cyjs.edges(data=True)} == edges
    sets = read_gmt(found / "network.gmt")
    assert {(n, m) for n, ms in zip(sets.names, sets.members) for m in ms} == set(edges)
    model = load_model(found / "model.rcweb")
    assert model.network_.n_edges == len(edges)


def test_the_summary_counts_targets_as_the_files_do(planted, tmp_path, capsys):
    """Not all variables of the table have edges, and the page says how many have."""
    command = ["fit", str(planted / "data.tsv"), "-o", str(tmp_path / "out"), *FIT]
    assert run(command) == 0
    targets = pd.read_csv(tmp_path / "out" / "network.tsv", sep="\t")["target"].nunique()
    assert targets < 60
    assert f" to {targets} of 60 variables, from 80 samples" in capsys.readouterr().out


def test_the_same_run_gives_the_same_bytes(planted, found, tmp_path):
    """All files but the one named field of the provenance."""
    out = tmp_path / "again"
    assert run(["fit", str(planted / "data.tsv"), "-o", str(out), *FIT, "-v"]) == 0
    for name in WRITTEN - {"provenance.json"}:
        assert (out / name).read_bytes() == (found / name).read_bytes(), name
    records = [json.loads((f / "provenance.json").read_text()) for f in (out, found)]
    for record in records:
        assert record.pop("finished").startswith("20")
    assert records[0] == records[1]


def test_provenance_says_how_to_make_it_again(planted, found):
    """Version, parameters, checksum of the input, seed."""
    import hashlib

    record = json.loads((found / "provenance.json").read_text())
    digest = hashlib.sha256((planted / "data.tsv").read_bytes()).hexdigest()
    assert record["inputs"]["data"]["sha256"] == digest
    assert (record["seed"], record["parameters"]["method"]) == (0, "paper")


def test_transform_of_the_same_table_gives_the_written_activities(planted, found, tmp_path):
    """A saved model gives the same activities, bit for bit, also with columns in another order."""
    data = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0, float_precision="round_trip")
    shuffled = data.iloc[:, ::-1].assign(unknown=1.0)
    shuffled.to_csv(tmp_path / "shuffled.csv")
    for number, name in enumerate((planted / "data.tsv", tmp_path / "shuffled.csv")):
        out = tmp_path / f"{number}.tsv"
        assert run(["transform", str(found), str(name), "-o", str(out), "-q"]) == 0
        assert out.read_bytes() == (found / "activities.tsv").read_bytes()


def test_transform_without_a_variable_names_it(planted, found, tmp_path, capsys):
    """A wrong table must not be scored silently."""
    data = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0)
    data[["variable0", "variable1"]].to_csv(tmp_path / "few.csv")
    code = run(["transform", str(found), str(tmp_path / "few.csv"), "-o", str(tmp_path / "o.tsv")])
    assert code == 3
    assert "58 of the model's 60 variables are not in the table" in capsys.readouterr().err
    assert not (tmp_path / "o.tsv").exists()
    data.rename(columns=str.upper).to_csv(tmp_path / "few.csv")
    code = run(["transform", str(found), str(tmp_path / "few.csv"), "-o", str(tmp_path / "o.tsv")])
    assert code == 3
    said = capsys.readouterr().err
    assert "'VARIABLE0', 'VARIABLE1' ...; they differ by upper and lower case." in said


def test_empty_cells_are_told_and_filled(planted, found, tmp_path, capsys):
    """Empty and NA: `fit` and `transform` say how many, and find nearly the same."""
    data = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0)
    hole = np.random.default_rng(0).random(data.shape) < 0.05
    data.mask(hole).to_csv(tmp_path / "holes.csv", na_rep="NA")
    out = tmp_path / "out"
    assert run(["fit", str(tmp_path / "holes.csv"), "-o", str(out), *FIT]) == 0
    assert f"missing      {hole.sum()} values (" in capsys.readouterr().err
    tables = [pd.read_csv(f / "activities.tsv", sep="\t", index_col=0) for f in (found, out)]
    correlation = np.corrcoef(tables[0].T, tables[1].T)[:4, 4:]
    assert (np.abs(correlation).max(axis=1) > 0.99).all()
    new = tmp_path / "new.tsv"
    data.mask(hole).drop(columns="variable7").to_csv(tmp_path / "holes.csv")
    assert run(["transform", str(found), str(tmp_path / "holes.csv"), "-o", str(new)]) == 0
    said = capsys.readouterr().err
    assert "of the values are missing" in said
    assert "1 of the model's 60 variables are not in the table, such as 'variable7'" in said
    activities = pd.read_csv(new, sep="\t", index_col=0)
    for name in activities:
        assert np.corrcoef(activities[name], tables[0][name])[0, 1] > 0.99


def test_annotate_finds_the_planted_regulators(planted, found, tmp_path, capsys):
    """Named after the truth, in every file; the numbers of the network stay as they were."""
    out = tmp_path / "copy"
    shutil.copytree(found, out)
    sets = str(planted / "true_sets.gmt")
    assert run(["annotate", str(out), "--sets", sets, "--terms", sets, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    named = summary["named"]
    assert sorted(named.values()) == [f"regulator{p}" for p in range(4)]
    assert names_in(out) == WRITTEN | {"terms.tsv"}
    networks = [pd.read_csv(folder / "network.tsv", sep="\t") for folder in (out, found)]
    assert networks[0]["regulator_name"].tolist() == [named[r] for r in networks[0]["regulator"]]
    assert networks[1]["regulator_name"].equals(networks[1]["regulator"])
    numbers = [table.drop(columns="regulator_name") for table in networks]
    pd.testing.assert_frame_equal(*numbers, check_exact=True)
    table = pd.read_csv(out / "regulators.tsv", sep="\t", index_col="regulator")
    assert table["name"].to_dict() == named
    terms = pd.read_csv(out / "terms.tsv", sep="\t")
    assert terms["regulator_name"].tolist() == [named[r] for r in terms["regulator"]]
    activities = [pd.read_csv(f / "activities.tsv", sep="\t", index_col=0) for f in (out, found)]
    assert list(activities[0]) == [f"{named[r]} ({r})" for r in activities[1]]
    np.testing.assert_array_equal(*activities)
    assert set(read_gmt(out / "network.gmt").names) == set(named.values())
    assert load_model(out / "model.rcweb").network_.position(named["rcweb2"]) == 2
    assert "regulator0" in (out / "report.html").read_text()


def test_fit_with_everything_known(planted, tmp_path, capsys):
    """Sets, terms, measured factors, a sheet, names, h5ad: one run."""
    truth = pd.read_csv(planted / "true_activities.tsv", sep="\t", index_col=0)
    truth.iloc[:20, :1].to_csv(tmp_path / "measured.csv")
    sheet = pd.DataFrame({"group": np.where(np.arange(80) < 40, "hot", "cold")}, truth.index)
    sheet.to_csv(tmp_path / "sheet.csv", index_label="sample")
    (tmp_path / "names.tsv").write_text("id\tname\nvariable0\tlexA\n")
    sets, out = str(planted / "true_sets.gmt"), tmp_path / "out"
    known = ("--sets", sets, "--sets", sets, "--terms", sets, "--h5ad", "--json")
    sheets = ("--samples", str(tmp_path / "sheet.csv"), "--names", str(tmp_path / "names.tsv"))
    measured = ("--measured", str(tmp_path / "measured.csv"))
    data = str(planted / "data.tsv")
    assert run(["fit", data, "-o", str(out), *FIT, *known, *sheets, *measured]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["n_regulators"], len(summary["named"])) == (4, 4)
    assert 0.9 < summary["explained_variance"] <= 1
    assert names_in(out) == WRITTEN | {"terms.tsv", "measured.tsv", "data.h5ad"}
    factors = pd.read_csv(out / "measured.tsv", sep="\t")
    assert summary["named"][factors["regulator"][0]] == "regulator0"
    page = (out / "report.html").read_text()
    assert "lexA" in page
    assert "hot" in page


def test_measured_factors_alone_give_names(planted, tmp_path, capsys):
    """Without known targets a regulator is called as the factor measured to be it."""
    truth = pd.read_csv(planted / "true_activities.tsv", sep="\t", index_col=0)
    truth.iloc[:20, :1].rename(columns=lambda _: "kinase").to_csv(tmp_path / "measured.csv")
    measured = ("--measured", str(tmp_path / "measured.csv"))
    data, out = str(planted / "data.tsv"), tmp_path / "out"
    assert run(["fit", data, "-o", str(out), *FIT, *measured, "--json"]) == 0
    named = json.loads(capsys.readouterr().out)["named"]
    assert list(named.values()) == ["kinase"]
    table = pd.read_csv(out / "regulators.tsv", sep="\t", index_col=0, keep_default_na=False)
    assert table.loc[next(iter(named)), "name"] == "kinase"
    assert (table["n_targets"] > 0).all()


def test_the_default_engine_with_either_effort(planted, tmp_path, capsys):
    """What the options offer is what the engine takes; the saved model gives the same bytes."""
    data = str(planted / "data.tsv")
    for quality in ("standard", "high"):
        out = tmp_path / quality
        fit = ["fit", data, "-o", str(out), "--components", "4", "--quality", quality, "--json"]
        assert run(fit) == 0
        assert json.loads(capsys.readouterr().out)["n_regulators"] == 4
        again = tmp_path / f"{quality}.tsv"
        assert run(["transform", str(out), data, "-o", str(again), "-q"]) == 0
        assert again.read_bytes() == (out / "activities.tsv").read_bytes()


@pytest.mark.parametrize(
    ("option", "content", "message"),
    [
        ("--samples", "sample,group\nother,a\n", "No sample is in the sheet"),
        ("--measured", ",tf\nother,1\nmore,2\n", "none of the 2 samples is among the samples"),
        ("--sets", "no tabs here\n", "extra.gmt"),
        ("--terms", "", "extra.gmt holds no set"),
        ("--names", "id\nb1\n", "no column of names beside 'id'"),
    ],
)
def test_bad_extras_are_found_before_the_fit(
    planted, tmp_path, capsys, monkeypatch, option, content, message
):
    """An hour of fitting must not end in a typo of a file name's content."""
    monkeypatch.setattr("rcweb.estimator.RCweb.fit", pytest.fail)
    extra = tmp_path / ("extra.gmt" if option in ("--sets", "--terms") else "extra.csv")
    extra.write_text(content)
    data, out = str(planted / "data.tsv"), str(tmp_path / "out")
    assert run(["fit", data, "-o", out, *FIT, option, str(extra)]) == 3
    assert message in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_written_h5ad_opens_and_is_read_again(planted, tmp_path):
    """The slots are there, and the file is itself an input."""
    anndata = pytest.importorskip("anndata")
    data, out = str(planted / "data.tsv"), tmp_path / "out"
    assert run(["fit", data, "-o", str(out), *FIT, "--h5ad", "-q"]) == 0
    adata = anndata.read_h5ad(out / "data.h5ad")
    activities = pd.read_csv(
        out / "activities.tsv", sep="\t", index_col=0, float_precision="round_trip"
    )
    np.testing.assert_array_equal(adata.obsm["X_rcweb"], activities)
    again = tmp_path / "again"
    assert run(["fit", str(out / "data.h5ad"), "-o", str(again), *FIT, "-q"]) == 0
    assert (again / "network.tsv").read_bytes() == (out / "network.tsv").read_bytes()


def test_genes_in_rows_are_turned_by_the_sets(planted, found, tmp_path, capsys):
    """A table the wrong way round gives the same network, and it is told why."""
    data = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0, float_precision="round_trip")
    data.T.to_csv(tmp_path / "genes.csv")
    out = tmp_path / "out"
    sets = ("--sets", str(planted / "true_sets.gmt"))
    assert run(["fit", str(tmp_path / "genes.csv"), "-o", str(out), *FIT, *sets]) == 0
    networks = [pd.read_csv(folder / "network.tsv", sep="\t") for folder in (out, found)]
    edges = [table.drop(columns="regulator_name") for table in networks]
    pd.testing.assert_frame_equal(*edges, check_exact=True)
    assert "rows are variables:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "{data}"], 2, "Missing option '-o'"),
        (["fit", "{data}", "-o", "{out}", "--components", "0"], 2, "neither a whole number"),
        (["fit", "{data}", "-o", "{out}", "--components", "99"], 3, "n_components=99"),
        (
            ["fit", "{bad}", "-o", "{out}"],
            3,
            "bad.csv: line 2, column 2 ('a'): 'x' is not a number",
        ),
        (
            ["fit", "{nan}", "-o", "{out}", *FIT],
            3,
            "1 variable measured in fewer than 3 samples: 'b'; leave them out",
        ),
        (["fit", "{data}", "-o", "{bad}"], 3, "is a file; name a folder"),
        (["annotate", "{home}", "--sets", "{sets}"], 3, "not a folder that `rcweb fit` wrote"),
        (["annotate", "{home}"], 2, "Give at least one of --sets"),
        (["annotate", "{home}", "--group", "batch"], 2, "--group names a column of --samples"),
        (["transform", "{bad}", "{data}", "-o", "{out}.tsv"], 3, "damaged zip file"),
        (["transform", "{bad}", "{data}", "-o", "{out}.doc"], 2, "must end in .tsv or .csv"),
        (["simulate", "-o", "{out}", "--network", "odd"], 3, "network must be one of"),
        (["bench", "fig99"], 2, "There is no plan 'fig99'; plans are fig1"),
        (["bench", "organisms"], 3, "set the environment variable RCWEB_DATA"),
        (["fly"], 2, "No such command 'fly'"),
    ],
)
def test_mistakes_are_one_line_and_an_exit_code(
    planted, tmp_path, capsys, monkeypatch, arguments, code, message
):
    """Never a traceback; nothing is written."""
    monkeypatch.delenv("RCWEB_DATA", raising=False)
    (tmp_path / "bad.csv").write_text(",a,b\ns1,x,2\n")
    (tmp_path / "nan.csv").write_text(",a,b,c\ns1,1,,3\ns2,1,2,5\ns3,7,1,1\n")
    places = {
        "data": planted / "data.tsv",
        "sets": planted / "true_sets.gmt",
        "bad": tmp_path / "bad.csv",
        "nan": tmp_path / "nan.csv",
        "home": tmp_path,
        "out": tmp_path / "out",
    }
    assert run([argument.format(**places) for argument in arguments]) == code
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert names_in(tmp_path) == {"bad.csv", "nan.csv"}
