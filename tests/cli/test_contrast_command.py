"""`contrast`, `associate` and `--std` as a user runs them."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.activity import associate, contrast
from rcweb.cli.app import run
from rcweb.cli.results import read_result

FIT = ("--method", "paper", "--components", "4")  # the fastest engine: the files matter here


@pytest.fixture(scope="module")
def sheet(found, tmp_path_factory):
    """Groups that follow the first regulator; a donor, a number, an identifier."""
    activities = read_result(found).activities
    strong = np.argsort(np.argsort(activities.iloc[:, 0].to_numpy()))
    table = pd.DataFrame(
        {
            "condition": np.where(strong < 30, "wt", np.where(strong < 60, "ko", "heat")),
            "donor": [f"d{m % 5}" for m in range(len(activities))],
            "dose": (strong / 10).round(1),
            "accession": [f"GSM{m}" for m in range(len(activities))],
        },
        index=pd.Index(activities.index, name="sample"),
    )
    table.iloc[0, 0] = ""
    path = tmp_path_factory.mktemp("sheet") / "sheet.tsv"
    table.iloc[::-1].to_csv(path, sep="\t")
    return path


def columns(path, title):
    return pd.read_csv(path, sep="\t", index_col=0, keep_default_na=False)[title]


def test_contrast_writes_the_table_and_says_the_top(found, sheet, tmp_path, capsys):
    """The numbers of the function, names beside ids, a short summary; the sample without a group is
    named."""
    out = tmp_path / "contrasts.tsv"
    command = ["contrast", str(found), "--samples", str(sheet), "--group", "condition"]
    assert run([*command, "--reference", "wt", "--paired", "donor", "-o", str(out)]) == 0
    said = capsys.readouterr()
    assert "1 samples have no group" in said.err
    assert "4 regulators, 2 comparisons" in said.out
    written = pd.read_csv(out, sep="\t", float_precision="round_trip")
    activities = read_result(found).activities
    with pytest.warns(UserWarning, match="no group"):
        expected = contrast(
            activities, columns(sheet, "condition"), "wt", paired=columns(sheet, "donor")
        )
    assert list(written.columns) == [*expected.columns, "regulator_name"]
    pd.testing.assert_frame_equal(written[expected.columns], expected, check_dtype=False)
    assert written["regulator"][0] == "rcweb0"


def test_contrast_with_covariates_as_json(found, sheet, tmp_path, capsys):
    """A column of numbers counts as numbers."""
    out = tmp_path / "contrasts.csv"
    command = ["contrast", str(found), "--samples", str(sheet), "--group", "donor", "--json"]
    assert run([*command, "--covariate", "dose", "-o", str(out)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["n_comparisons"], len(summary["top"])) == (10, 5)
    expected = contrast(
        read_result(found).activities,
        columns(sheet, "donor"),
        covariates=columns(sheet, "dose").to_frame(),
    )
    written = pd.read_csv(out)
    assert written["p"].to_numpy() == pytest.approx(expected["p"].to_numpy())


def test_contrast_uses_the_groups_that_fit_was_given(planted, sheet, tmp_path, capsys):
    """Only if they are really there."""
    out, fitted = tmp_path / "c.tsv", tmp_path / "fitted"
    fit = ["fit", str(planted / "data.tsv"), "-o", str(fitted), *FIT, "-q"]
    assert run(fit) == 0
    assert run(["contrast", str(fitted), "-o", str(out)]) == 2
    assert "holds no groups" in capsys.readouterr().err
    assert run([*fit, "--samples", str(sheet), "--group", "condition"]) == 0
    assert run(["contrast", str(fitted), "--reference", "ko", "-o", str(out)]) == 0
    assert set(pd.read_csv(out, sep="\t")["group"]) == {"wt", "heat"}


def test_associate_writes_the_table_and_names_what_is_left_out(found, sheet, tmp_path, capsys):
    out = tmp_path / "associations.tsv"
    assert run(["associate", str(found), "--samples", str(sheet), "-o", str(out)]) == 0
    said = capsys.readouterr()
    assert "column 'accession' is left out: identifiers" in said.err
    assert "associations at q < 0.05 (4 regulators, 3 columns)" in said.out
    table = pd.read_csv(sheet, sep="\t", index_col=0, dtype=str)
    expected = associate(read_result(found).activities, table)
    written = pd.read_csv(out, sep="\t", float_precision="round_trip")
    pd.testing.assert_frame_equal(
        written[expected.columns], expected, check_dtype=False, check_exact=False
    )
    assert (written["regulator"][0], written["column"][0]) == ("rcweb0", "dose")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--samples", "{sheet}"], 2, "--group TITLE"),
        (["--group", "condition"], 2, "give --samples FILE too"),
        (["--samples", "{sheet}", "--group", "nothing"], 3, "no column 'nothing'"),
        (["--samples", "{sheet}", "--group", "condition", "--reference", "x"], 3, "no group 'x'"),
        (["--samples", "{sheet}", "--group", "accession"], 2, "--reference LABEL"),
        (["--samples", "{other}", "--group", "condition"], 3, "none of the 2 samples"),
        (["--samples", "{sheet}", "--group", "condition", "--paired", "accession"], 3, "leave no"),
    ],
)
def test_contrast_says_what_is_wrong(found, sheet, tmp_path, capsys, arguments, code, message):
    other = tmp_path / "other.tsv"
    other.write_text("sample\tcondition\nnobody\twt\nnowhere\tko\n")
    filled = [a.format(sheet=sheet, other=other) for a in arguments]
    assert run(["contrast", str(found), *filled, "-o", str(tmp_path / "c.tsv")]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "c.tsv").exists()


@pytest.mark.parametrize("command", ["contrast", "associate"])
def test_no_file_is_replaced_unasked(found, sheet, tmp_path, capsys, command):
    out = tmp_path / "table.tsv"
    out.write_text("mine")
    arguments = [command, str(found), "--samples", str(sheet), "-o", str(out), "-q"]
    if command == "contrast":
        arguments += ["--group", "condition"]
    assert run(arguments) == 3
    assert out.read_text() == "mine"
    assert run([*arguments, "--overwrite"]) == 0
    assert out.read_text().startswith("regulator\t")
    # Its own input never, asked or not.
    before = sheet.read_bytes()
    assert run([*arguments, "-o", str(sheet), "--overwrite"]) == 3
    assert sheet.read_bytes() == before
    assert run([*arguments, "-o", str(tmp_path / "table.doc")]) == 2


def test_std_beside_transformed_activities(planted, found, tmp_path, capsys):
    """A second file of the same shape, positive; refused for formats without one."""
    out, data = tmp_path / "new.tsv", str(planted / "data.tsv")
    assert run(["transform", str(found), data, "-o", str(out), "--std"]) == 0
    assert "new_std.tsv" in capsys.readouterr().out
    activities, sd = (
        pd.read_csv(tmp_path / n, sep="\t", index_col=0) for n in ("new.tsv", "new_std.tsv")
    )
    assert (sd > 0).all(axis=None)
    assert list(sd.columns) == list(activities.columns)
    assert list(sd.index) == list(activities.index)
    assert run(["transform", str(found), data, "-o", str(tmp_path / "n.npy"), "--std"]) == 2
    # Neither of the two files is replaced unasked.
    out.unlink()
    assert run(["transform", str(found), data, "-o", str(out), "--std"]) == 3
    assert not out.exists()


def test_std_of_a_fit_gets_the_names_of_a_later_annotate(planted, tmp_path):
    """activities_std.tsv is titled as activities.tsv, before and after."""
    out = tmp_path / "fitted"
    data = str(planted / "data.tsv")
    assert run(["fit", data, "-o", str(out), *FIT, "--std", "-q"]) == 0
    model = read_result(out).model
    first = (model.components_[0] != 0).nonzero()[0]
    sets = tmp_path / "sets.gmt"
    sets.write_text("fur\tiron\t" + "\t".join(model.network_.targets[i] for i in first) + "\n")
    assert run(["annotate", str(out), "--sets", str(sets), "-q"]) == 0
    heads = [
        (out / name).read_text().partition("\n")[0]
        for name in ("activities.tsv", "activities_std.tsv")
    ]
    assert heads[0] == heads[1]
    assert "fur (rcweb0)" in heads[0]
    assert run(["fit", data, "-o", str(out), *FIT, "-q"]) == 0
    assert not (out / "activities_std.tsv").exists()
    shutil.rmtree(out)
