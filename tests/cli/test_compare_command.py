"""``rcweb compare``: two result folders in, the answer in a folder of its own."""

from __future__ import annotations

import json
import shutil
import sys

import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run

FIT = ("--method", "paper", "--components", "4", "-q")


@pytest.fixture(scope="module")
def other(planted, tmp_path_factory):
    """A fit to the same samples, with other names of the variables."""
    folder = tmp_path_factory.mktemp("compare")
    table = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0)
    table.rename(columns=lambda name: f"sa_{name}").to_csv(folder / "renamed.tsv", sep="\t")
    out = folder / "other"
    assert run(["fit", str(folder / "renamed.tsv"), "-o", str(out), *FIT]) == 0
    pairs = pd.DataFrame({"here": table.columns, "there": [f"sa_{c}" for c in table.columns]})
    pairs.to_csv(folder / "orthologs.tsv", sep="\t", index=False)
    pairs.to_csv(folder / "headless.tsv", sep="\t", index=False, header=False)
    return out


def test_a_result_is_the_same_as_itself(found, tmp_path, capsys):
    """All files, the same regulators, activities that agree; again without --overwrite."""
    out = tmp_path / "compared"
    for _ in range(2):
        assert run(["compare", str(found), str(found), "-o", str(out), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert summary["counts"]["same"] == {"A": 4, "B": 4}
    assert (summary["n_common_variables"], summary["n_common_samples"]) == (60, 80)
    names = {"matches.tsv", "matches.svg", "compare.html", "provenance.json"}
    assert {path.name for path in out.iterdir()} == names
    table = pd.read_csv(out / "matches.tsv", sep="\t")
    assert table["relation"].tolist() == ["same"] * 4
    assert (table["a"] == table["b"]).all()
    assert table["activity_correlation"].min() == pytest.approx(1)
    assert "<svg" in (out / "compare.html").read_text()
    record = json.loads((out / "provenance.json").read_text())
    assert record["inputs"]["a"]["file"] == "found/model.rcweb"


def test_equal_comparisons_give_equal_bytes(found, other, tmp_path):
    for name in ("one", "two"):
        arguments = ["--orthologs", str(other.parent / "orthologs.tsv"), "-q"]
        out = str(tmp_path / name)
        assert run(["compare", str(found), str(other), "-o", out, *arguments]) == 0
    for name in ("matches.tsv", "matches.svg", "compare.html"):
        one, two = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert one == two


@pytest.mark.parametrize("name", ["orthologs.tsv", "headless.tsv"])
def test_orthologues_join_other_names(found, other, tmp_path, capsys, name):
    """With or without a header, all 60 variables; without the table there is nothing to compare."""
    arguments = ["compare", str(found), str(other), "-o", str(tmp_path / "out")]
    assert run(arguments) == 3
    assert "orthologs" in capsys.readouterr().err
    assert run([*arguments, "--orthologs", str(other.parent / name)]) == 0
    text = capsys.readouterr().out
    assert "4 of the 4 regulators of found and of the 4 of other are the same" in text
    assert "60 of 60 pairs" in text


def test_one_column_of_orthologues_is_refused(found, other, tmp_path, capsys):
    (tmp_path / "one.tsv").write_text("gene\na\nb\n")
    arguments = ["--orthologs", str(tmp_path / "one.tsv"), "-o", str(tmp_path / "out")]
    assert run(["compare", str(found), str(other), *arguments]) == 3
    assert "must have two" in capsys.readouterr().err


def test_nothing_of_the_user_is_lost(found, tmp_path, capsys):
    """Neither a result folder as output nor a file of the same name is overwritten."""
    copy = tmp_path / "copy"
    shutil.copytree(found, copy)
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    assert run(["compare", str(found), str(copy), "-o", str(copy), "--overwrite"]) == 3
    assert "is part of the" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "matches.tsv").write_text("years of work")
    assert run(["compare", str(found), str(copy), "-o", str(mine)]) == 3
    assert "--overwrite" in capsys.readouterr().err
    assert (mine / "matches.tsv").read_text() == "years of work"


def test_a_folder_without_a_model_is_named(found, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    folders = [str(found), str(tmp_path / "empty")]
    assert run(["compare", *folders, "-o", str(tmp_path / "out")]) == 3
    assert "no model.rcweb" in capsys.readouterr().err


def test_without_matplotlib_there_is_no_figure(found, tmp_path, capsys, monkeypatch):
    """Table and page are written all the same, and the extra is named."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = tmp_path / "out"
    assert run(["compare", str(found), str(found), "-o", str(out)]) == 0
    assert "rcweb[plot]" in capsys.readouterr().err
    assert not (out / "matches.svg").exists()
    assert "<svg" not in (out / "compare.html").read_text()
