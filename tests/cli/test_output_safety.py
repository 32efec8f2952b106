"""No command loses a file of the user's, and none works for an output that cannot be written."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")

from rcweb.cli.app import run

FIT = ("--method", "paper", "--components", "4", "-q")


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def no_work(monkeypatch):
    """Whatever is wrong is found before the table is even read."""
    for work in (
        "tables.read_table",
        "estimator.RCweb.fit",
        "lab.simulate.simulate",
        "estimator.load_model",
    ):
        monkeypatch.setattr(f"rcweb.{work}", lambda *args, **kwargs: pytest.fail("it works"))


def refused(arguments: list[str], capsys, *words: str, code: int = 3) -> None:
    capsys.readouterr()
    assert run(arguments) == code
    error = capsys.readouterr().err
    assert error.startswith("rcweb: ")
    assert error.count("\n") == 1
    for word in words:
        assert word in error


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
@pytest.mark.parametrize("name", ["data.tsv", "activities.tsv", "data.h5ad"])
def test_an_input_in_the_output_folder_is_refused(
    planted, tmp_path, capsys, no_work, name, overwrite
):
    """Whether its name is one of ours or not, and whatever is asked for."""
    project = tmp_path / "proj"
    project.mkdir()
    shutil.copy(planted / "data.tsv", project / name)
    before = content(tmp_path)
    fit = ["fit", str(project / name), "-o", str(project), *FIT, *overwrite]
    refused(fit, capsys, f"The input {project / name} is part of the output {project};")
    sets = ["--sets", str(project / name)]
    fit = ["fit", str(planted / "data.tsv"), "-o", str(project), *FIT, *sets, *overwrite]
    refused(fit, capsys, f"The input {project / name} is part of the output {project};")
    assert content(tmp_path) == before


@pytest.mark.parametrize("name", ["report.html", "network.tsv", "provenance.json", "data.h5ad"])
def test_foreign_files_of_our_names_are_refused(planted, tmp_path, capsys, no_work, name):
    """Before the work; by every command that writes a folder."""
    (tmp_path / name).write_text("years of work")
    before = content(tmp_path)
    for command in (["fit", str(planted / "data.tsv"), *FIT], ["demo"]):
        refused([*command, "-o", str(tmp_path)], capsys, "did not write", name, "--overwrite")
    assert content(tmp_path) == before


def test_simulate_keeps_foreign_files_too(tmp_path, capsys, no_work):
    """Its record is of the same kind."""
    (tmp_path / "data.tsv").write_text("years of work")
    before = content(tmp_path)
    refused(["simulate", "-o", str(tmp_path)], capsys, "did not write", "data.tsv")
    assert content(tmp_path) == before


def test_a_folder_called_network_tsv(planted, tmp_path, capsys, no_work):
    """It was deleted with all that was in it."""
    (tmp_path / "network.tsv").mkdir()
    (tmp_path / "network.tsv" / "thesis.doc").write_text("years of work")
    fit = ["fit", str(planted / "data.tsv"), "-o", str(tmp_path), *FIT]
    refused([*fit, "--overwrite"], capsys, "network.tsv is a folder")
    assert (tmp_path / "network.tsv" / "thesis.doc").exists()


def test_notes_stay_and_edits_are_refused(planted, found, tmp_path, capsys):
    """Fit and annotate again beside the user's notes; not over what was edited, unless asked."""
    out, data = tmp_path / "out", str(planted / "data.tsv")
    shutil.copytree(found, out)
    (out / "notes.txt").write_text("mine")
    commands = (
        ["fit", data, "-o", str(out), *FIT],
        ["annotate", str(out), "--sets", str(planted / "true_sets.gmt"), "-q"],
    )
    for command in commands:
        assert run(command) == 0
        assert (out / "notes.txt").read_text() == "mine"
    with (out / "regulators.tsv").open("a") as file:
        file.write("my remark\n")
    before = content(out)
    for command in commands:
        refused(command, capsys, "regulators.tsv was changed after rcweb wrote it", "--overwrite")
        assert content(out) == before
    for command in commands:
        assert run([*command, "--overwrite"]) == 0
        assert "my remark" not in (out / "regulators.tsv").read_text()
        assert (out / "notes.txt").read_text() == "mine"


def test_the_record_names_every_file_with_its_checksum(found):
    """So that it can be told whose a file is."""
    import hashlib

    record = json.loads((found / "provenance.json").read_text())
    files = {path.name: path.read_bytes() for path in found.iterdir()}
    del files["provenance.json"]
    assert record["files"] == {
        name: {"size": len(bytes_), "sha256": hashlib.sha256(bytes_).hexdigest()}
        for name, bytes_ in files.items()
    }


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_annotate_keeps_the_h5ad_and_fit_without_it_does_not(planted, tmp_path):
    """Annotating has no data to write it from; of a new fit an old one would be wrong."""
    anndata = pytest.importorskip("anndata")
    out, data = tmp_path / "out", str(planted / "data.tsv")
    assert run(["fit", data, "-o", str(out), *FIT, "--h5ad"]) == 0
    before = anndata.read_h5ad(out / "data.h5ad").X
    assert run(["annotate", str(out), "--sets", str(planted / "true_sets.gmt"), "-q"]) == 0
    assert (before == anndata.read_h5ad(out / "data.h5ad").X).all()
    assert run(["fit", data, "-o", str(out), *FIT]) == 0
    assert not (out / "data.h5ad").exists()


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".npy"])
def test_transform_replaces_no_file_unasked(planted, found, tmp_path, capsys, ending):
    """And its own inputs not even then."""
    out, data = tmp_path / f"new{ending}", tmp_path / "data.tsv"
    shutil.copy(planted / "data.tsv", data)
    out.write_text("years of work")
    command = ["transform", str(found), str(data), "-o"]
    refused([*command, str(out), "-q"], capsys, "exists", "--overwrite")
    assert out.read_text() == "years of work"
    refused([*command, str(data), "--overwrite"], capsys, "The input", "is part of the output")
    if ending != ".npy":
        assert run([*command, str(out), "--overwrite", "-q"]) == 0
        assert out.read_text() != "years of work"


@pytest.mark.parametrize("ending", [".npy", ".zarr"])
def test_transform_in_blocks_leaves_a_whole_output_or_none(
    planted, found, tmp_path, monkeypatch, ending
):
    """An array that is half full looks like a whole one."""
    import numpy as np
    import pandas as pd

    pytest.importorskip("zarr")
    frame = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0)
    np.save(tmp_path / "t.npy", frame.to_numpy())
    out = tmp_path / f"new{ending}"
    command = ["transform", str(found), str(tmp_path / "t.npy"), "-o", str(out), "-q"]

    def fail(*args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("rcweb.blocks.activities._Write.__call__", fail)
        assert run(command) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["t.npy"]
    assert run(command) == 0
    assert run([*command, "--overwrite"]) == (0 if ending == ".npy" else 3)
    assert {path.name for path in tmp_path.iterdir()} == {"t.npy", out.name}


def test_packages_for_the_output_are_asked_for_first(planted, found, tmp_path, capsys, no_work):
    """A fit of hours must not end in a missing package."""
    data = str(planted / "data.tsv")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("anndata", "zarr"):
            patch.setitem(sys.modules, name, None)
        fit = ["fit", data, "-o", str(tmp_path / "out"), *FIT, "--h5ad"]
        refused(fit, capsys, "pip install 'rcweb[anndata]'", code=4)
        transform = ["transform", str(found), data, "-o", str(tmp_path / "out.zarr")]
        refused(transform, capsys, "pip install 'rcweb[scale]'", code=4)
    assert list(tmp_path.iterdir()) == []


def test_h5ad_of_a_table_beyond_memory_is_refused_first(tmp_path, capsys, monkeypatch):
    """It would be written whole."""
    import numpy as np

    pytest.importorskip("anndata")
    np.save(tmp_path / "t.npy", np.eye(30, 20))
    monkeypatch.setattr("rcweb.blocks.large.LARGE_BYTES", 0)
    monkeypatch.setattr("rcweb.estimator.RCweb.fit", pytest.fail)
    fit = ["fit", str(tmp_path / "t.npy"), "-o", str(tmp_path / "out"), *FIT, "--h5ad"]
    refused(fit, capsys, "read in blocks; leave --h5ad out")


def test_a_sheet_that_h5ad_cannot_hold_is_refused_first(planted, tmp_path, capsys, monkeypatch):
    """AnnData has reserved names of columns."""
    pytest.importorskip("anndata")
    (tmp_path / "sheet.csv").write_text("sample,_index\nsample0,x\n")
    monkeypatch.setattr("rcweb.estimator.RCweb.fit", pytest.fail)
    fit = ["fit", str(planted / "data.tsv"), "-o", str(tmp_path / "out"), *FIT, "--h5ad"]
    sheet = ["--samples", str(tmp_path / "sheet.csv")]
    refused([*fit, *sheet], capsys, "--h5ad cannot hold the sheet of samples: '_index' is")


def test_an_output_that_cannot_be_written_is_found_first(planted, tmp_path, capsys, no_work):
    """Below a file there is no folder."""
    (tmp_path / "file").write_text("x")
    fit = ["fit", str(planted / "data.tsv"), "-o", str(tmp_path / "file" / "out"), *FIT]
    refused(fit, capsys, "cannot be written (Not a directory)")


@pytest.mark.skipif(os.name != "posix", reason="links and devices of POSIX")
@pytest.mark.parametrize("name", ["network.tsv", "model.rcweb", "activities.tsv", "notes.txt"])
@pytest.mark.parametrize("target", ["secret.txt", "/dev/zero", "/nowhere"])
def test_links_in_a_result_folder_are_refused(planted, found, tmp_path, capsys, name, target):
    """One to a secret would be copied, one to a device read without end."""
    out = tmp_path / "out"
    shutil.copytree(found, out)
    (tmp_path / "secret.txt").write_text("4711")
    (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(tmp_path / target)
    sets = str(planted / "true_sets.gmt")
    for more in ([], ["--overwrite"]):
        refused(["annotate", str(out), "--sets", sets, "-q", *more], capsys, f"{name} is a link")
    if name == "model.rcweb":
        new = str(tmp_path / "new.tsv")
        transform = ["transform", str(out), str(planted / "data.tsv"), "-o", new]
        refused(transform, capsys, "model.rcweb is a link")
    assert os.path.islink(out / name)
    assert {path.name for path in tmp_path.iterdir()} == {"out", "secret.txt"}


def test_a_record_nested_deeply_is_one_sentence(planted, found, tmp_path, capsys):
    """Python's own limit of recursion is no message for users."""
    out = tmp_path / "out"
    shutil.copytree(found, out)
    (out / "provenance.json").write_text("[" * 100_000)
    sets = str(planted / "true_sets.gmt")
    for more in ([], ["--overwrite"]):
        refused(["annotate", str(out), "--sets", sets, *more], capsys, "nested too deeply")
