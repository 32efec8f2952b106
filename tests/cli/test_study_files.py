"""``rcweb fit`` with several tables or --batch: one network, own means, all on record."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run
from rcweb.cli.results import read_result

FIT = ("--components", "4", "-q")


@pytest.fixture(scope="module")
def files(planted, tmp_path_factory):
    """The planted samples as two files, the second one with an offset; all of them with a sheet."""
    folder = tmp_path_factory.mktemp("studies")
    table = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0)
    offset = np.where(np.arange(len(table)) < 40, 0.0, 7.0)
    both = table + offset[:, None]
    both[:40].to_csv(folder / "one.tsv", sep="\t")
    both[40:].to_csv(folder / "two.tsv", sep="\t")
    both.to_csv(folder / "both.tsv", sep="\t")
    lab = pd.Series(["one"] * 40 + ["two"] * 40, both.index, name="lab")
    lab.rename_axis("sample").to_csv(folder / "sheet.tsv", sep="\t")
    return folder


def fit(files, out, *arguments) -> int:
    return run(["fit", *map(str, arguments), "-o", str(out), *FIT])


def test_tables_and_batch_give_the_same_network(files, tmp_path):
    """Activities have no offset; the table of studies and the record name both files."""
    sheet = ("--samples", files / "sheet.tsv", "--batch", "lab")
    assert fit(files, tmp_path / "a", files / "one.tsv", files / "two.tsv") == 0
    assert fit(files, tmp_path / "b", files / "both.tsv", *sheet) == 0
    for name in ("network.tsv", "activities.tsv", "studies.tsv"):
        assert (tmp_path / "a" / name).read_text() == (tmp_path / "b" / name).read_text()
    R = pd.read_csv(tmp_path / "a" / "activities.tsv", sep="\t", index_col=0)
    assert len(R) == 80
    assert R[:40].mean().abs().max() < 1e-6
    studies = pd.read_csv(tmp_path / "a" / "studies.tsv", sep="\t")
    assert studies["study"].unique().tolist() == ["one", "two"]
    record = json.loads((tmp_path / "a" / "provenance.json").read_text())
    assert [record["inputs"][r]["file"] for r in ("data", "data 2")] == ["one.tsv", "two.tsv"]
    assert record["variance"]["explained"] > 0.9
    # Variable by variable too, for the page and `rcweb explain`.
    best = pd.read_csv(tmp_path / "a" / "network.tsv", sep="\t")["target"][:5]
    assert (read_result(tmp_path / "a").knowledge.gene_explained[best] > 0.9).all()


def test_new_samples_of_a_known_study(files, tmp_path, capsys):
    """--batch subtracts the mean of that study; an unknown one is named."""
    out = tmp_path / "out"
    assert fit(files, out, files / "one.tsv", files / "two.tsv") == 0
    arguments = ["transform", str(out), str(files / "two.tsv"), "-o", str(tmp_path / "new.tsv")]
    assert run([*arguments, "--batch", "two", "-q"]) == 0
    new, old = (
        pd.read_csv(path, sep="\t", index_col=0)
        for path in (tmp_path / "new.tsv", out / "activities.tsv")
    )
    assert np.allclose(new, old[40:])
    assert run([*arguments, "--batch", "three", "--overwrite"]) == 3
    assert "knows no study 'three'; it knows 'one', 'two'" in capsys.readouterr().err


def test_samples_of_the_same_name_stay_apart(files, tmp_path):
    """The name of the file tells them apart."""
    assert fit(files, tmp_path / "out", files / "one.tsv", files / "both.tsv") == 0
    R = pd.read_csv(tmp_path / "out" / "activities.tsv", sep="\t", index_col=0)
    assert R.index.is_unique
    assert str(R.index[0]).startswith("one: ")


def test_the_same_file_twice_is_refused(files, tmp_path, capsys):
    """It was read as one study, without a word."""
    other = files / ".." / files.name / "one.tsv"
    assert fit(files, tmp_path / "out", files / "one.tsv", other) == 3
    assert "one.tsv is given twice" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_annotate_keeps_the_studies(files, tmp_path):
    out = tmp_path / "out"
    assert fit(files, out, files / "one.tsv", files / "two.tsv") == 0
    before = (out / "studies.tsv").read_text()
    assert run(["annotate", str(out), "--samples", str(files / "sheet.tsv"), "-q"]) == 0
    assert (out / "studies.tsv").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["one.tsv", "two.tsv", "--batch", "lab"], 2, "leave out --batch"),
        (["both.tsv", "--batch", "lab"], 2, "give --samples FILE too"),
        (["both.tsv", "--samples", "sheet.tsv", "--batch", "day"], 3, "no column 'day'"),
    ],
)
def test_wrong_usage_is_named(files, tmp_path, capsys, arguments, code, words):
    given = [str(files / a) if a.endswith(".tsv") else a for a in arguments]
    assert fit(files, tmp_path / "out", *given) == code
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_sample_without_a_study_is_named(files, tmp_path, capsys):
    sheet = pd.read_csv(files / "sheet.tsv", sep="\t")
    sheet[:-1].to_csv(tmp_path / "short.tsv", sep="\t", index=False)
    arguments = ("--samples", tmp_path / "short.tsv", "--batch", "lab")
    assert fit(files, tmp_path / "out", files / "both.tsv", *arguments) == 3
    assert str(sheet["sample"].iloc[-1]) in capsys.readouterr().err
