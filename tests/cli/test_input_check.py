"""The block that `rcweb fit` prints before the fit, and what ends the command instead."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run
from rcweb.estimator import load_model
from rcweb.tables import InputCheck

FIT = ("--method", "paper", "--components", "4")


@pytest.fixture(scope="module")
def genes(planted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The planted table as genes x samples with annotations, and a table of the genes."""
    folder = tmp_path_factory.mktemp("genes")
    table = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0).T.rename_axis("gene")
    names = pd.DataFrame(
        {
            "number": range(len(table)),
            "locus": table.index,
            "product": "protein",
            "gene_name": [f"abc{i}" for i in range(len(table))],
        }
    )
    names.to_csv(folder / "genes.tsv", sep="\t", index=False)
    table.insert(0, "start", np.arange(len(table)) * 1700 + 190)
    table.insert(1, "product", "protein of some kind")
    table.to_csv(folder / "table.tsv", sep="\t")
    return folder


def test_the_block_says_what_was_understood(genes, planted, tmp_path, capsys) -> None:
    """Printed, and the same in the model, in provenance.json, in the report and with --json."""
    sets = ("--sets", str(planted / "true_sets.gmt"), "--names", str(genes / "genes.tsv"))
    out = tmp_path / "out"
    assert run(["fit", str(genes / "table.tsv"), "-o", str(out), *FIT, *sets, "--json"]) == 0
    said = capsys.readouterr()
    record = json.loads((out / "provenance.json").read_text())
    check = InputCheck.from_plain(record["input_check"])
    assert str(check) in said.err
    assert load_model(out / "model.rcweb").input_.facts == check.facts
    rows = dict(check.rows)
    assert rows["table"] == "table.tsv: 81 samples x 60 variables"
    assert rows["orientation"].startswith("rows are variables: 60 names of rows are those of known")
    assert rows["set aside"] == "columns of text: 'product'"
    assert rows["true_sets.gmt"].endswith("; 4 of 4 sets have any")
    assert rows["genes.tsv"] == (
        "60 of 60 identifiers in its column 'locus' are variables of the table; "
        "names from column 'gene_name'"
    )
    (warning,) = check.warnings
    assert "'start' (the title of an annotation" in warning
    assert "--drop start" in warning
    assert warning in json.loads(said.out)["warnings"]
    page = (out / "report.html").read_text()
    assert "What was read" in page
    assert "columns of text: 'product'" in page
    assert "abc7" in page


def test_what_is_settled_is_no_longer_said(genes, tmp_path, capsys) -> None:
    """The option that a warning names makes it go away."""
    data = str(genes / "table.tsv")
    assert run(["fit", data, "-o", str(tmp_path / "o"), *FIT, "--drop", "start"]) == 0
    error = capsys.readouterr().err
    assert error.startswith("Input:")
    assert "warning" not in error


def test_files_of_another_organism_are_errors(genes, tmp_path, capsys) -> None:
    """Sets, each file by itself, and names; nothing is fitted."""
    (tmp_path / "yeast.gmt").write_text("GAL4\t\tYBR020W\tYBR019C\n")
    (tmp_path / "names.tsv").write_text("orf\tname\nYBR020W\tGAL1\n")
    (tmp_path / "own.gmt").write_text("x\t\tvariable1\tvariable2\n")
    out = tmp_path / "o"
    fit = ["fit", str(genes / "table.tsv"), "-o", str(out), *FIT]
    table = pd.read_csv(genes / "table.tsv", sep="\t", index_col=0)
    (tmp_path / "own.gmt").write_text("x\t\t" + "\t".join(table.index[:9]) + "\n")
    sets = ["--sets", str(tmp_path / "own.gmt"), "--sets", str(tmp_path / "yeast.gmt")]
    assert run([*fit, *sets]) == 3
    assert "yeast.gmt: none of the 2 members of its sets" in capsys.readouterr().err
    assert run([*fit, "--names", str(tmp_path / "names.tsv")]) == 3
    assert "names.tsv: none of the 1 identifiers" in capsys.readouterr().err
    assert not out.exists()


def test_annotate_checks_what_it_is_given(found, genes, tmp_path, capsys) -> None:
    """The same error as from `fit`, and the result as it was."""
    before = (found / "report.html").read_bytes()
    (tmp_path / "yeast.gmt").write_text("GAL4\t\tYBR020W\tYBR019C\n")
    assert run(["annotate", str(found), "--sets", str(tmp_path / "yeast.gmt")]) == 3
    assert "none of the 2 members" in capsys.readouterr().err
    assert (found / "report.html").read_bytes() == before


def test_columns_of_names_can_be_said(genes, tmp_path, capsys) -> None:
    """And a wrong title is answered with those there are."""
    fit = ["fit", str(genes / "table.tsv"), "-o", str(tmp_path / "o"), *FIT, "--drop", "start"]
    names = ["--names", str(genes / "genes.tsv"), "--names-columns"]
    assert run([*fit, *names, "locus", "number"]) == 0
    assert "names from column 'number'" in capsys.readouterr().err
    assert run([*fit, *names, "locus", "symbol"]) == 3
    assert "no column 'symbol'; it has 'number', 'locus'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "file"),
    [(["--group", "x"], "--samples"), (["--names-columns", "a", "b"], "--names")],
)
def test_columns_of_a_file_that_is_not_given(
    option, file, planted, found, tmp_path, capsys
) -> None:
    """They would change nothing: said by every command that takes them."""
    fit = ["fit", str(planted / "data.tsv"), "-o", str(tmp_path / "o"), *FIT]
    for command in (fit, ["annotate", str(found), "--sets", str(planted / "true_sets.gmt")]):
        assert run([*command, *option]) == 2
        assert f"{option[0]} names a column of {file}; give {file} FILE" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def test_a_table_that_may_lie_the_wrong_way_round(tmp_path, capsys) -> None:
    """More rows than columns and no hint: a warning, settled by either option."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 12)), index=[f"LAC_{i}" for i in range(50)])
    frame.add_prefix("c").to_csv(tmp_path / "t.csv")
    fit = ["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o"), *FIT]
    assert run(fit) == 0
    assert "such as genes, say --transpose; if they are samples" in capsys.readouterr().err
    for option in ("--transpose", "--no-transpose"):
        assert run([*fit, option]) == 0
        assert "warning: Nothing says" not in capsys.readouterr().err


def test_counts_are_logged_on_request(tmp_path, capsys) -> None:
    """`--log` settles the warning, and new samples must come the same way."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(2 ** (rng.uniform(3, 10, 20) + rng.normal(size=(60, 20))))
    pd.DataFrame(counts).add_prefix("g").to_csv(tmp_path / "t.csv", index_label="sample")
    fit = ["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o"), *FIT]
    assert run(fit) == 0
    assert "raw counts" in capsys.readouterr().err
    assert run([*fit, "--log"]) == 0
    said = capsys.readouterr().err
    assert "warning" not in said
    assert "log2(x + 1) was taken" in said
    new = ["transform", str(tmp_path / "o"), str(tmp_path / "t.csv"), "-o", str(tmp_path / "n.tsv")]
    assert run(new) == 0
    assert "fitted with --log" in capsys.readouterr().err
    assert run([*new, "--log", "--overwrite"]) == 0
    assert "--log" not in capsys.readouterr().err
    left = pd.read_csv(tmp_path / "n.tsv", sep="\t", index_col=0)
    right = pd.read_csv(tmp_path / "o" / "activities.tsv", sep="\t", index_col=0)
    np.testing.assert_array_equal(left.to_numpy(), right.to_numpy())


def test_proportions_can_be_fitted_without_centring(tmp_path, capsys) -> None:
    """The warning names the option, and the option reaches the model."""
    shares = np.random.default_rng(0).dirichlet(np.full(12, 20.0), 50)
    pd.DataFrame(shares).add_prefix("g").to_csv(tmp_path / "t.csv", index_label="sample")
    fit = ["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o"), *FIT]
    assert run([*fit, "--no-center"]) == 0
    error = capsys.readouterr().err
    assert "all sum to 1: proportions" in error
    assert "--no-center" in error
    assert load_model(tmp_path / "o" / "model.rcweb").center is False


def test_amounts_are_straightened_unless_told_otherwise(planted, tmp_path, capsys) -> None:
    """What was done to a table without logs is printed, with the option that turns it off; new
    samples, and the prediction of a variable, follow the model."""
    logs = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0)
    amounts = np.exp(0.5 * logs / logs.to_numpy().std())
    amounts.to_csv(tmp_path / "t.csv")
    fit = ["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o"), "--components", "4"]
    assert run(fit) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "All variables bend towards a floor" in said
    assert "--linear" in said
    model = load_model(tmp_path / "o" / "model.rcweb")
    assert np.isclose(model.response_[0], 0, atol=0.1)
    new = ["transform", str(tmp_path / "o"), str(tmp_path / "t.csv"), "-o", str(tmp_path / "n.tsv")]
    assert run(new) == 0
    left = pd.read_csv(tmp_path / "n.tsv", sep="\t", index_col=0)
    right = pd.read_csv(tmp_path / "o" / "activities.tsv", sep="\t", index_col=0)
    np.testing.assert_allclose(left.to_numpy(), right.to_numpy(), rtol=1e-6, atol=1e-6)
    assert run([*fit, "--linear", "--overwrite"]) == 0
    assert "bend towards" not in " ".join(capsys.readouterr().err.split())
    assert load_model(tmp_path / "o" / "model.rcweb").response == "linear"
