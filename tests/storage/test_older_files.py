"""Models and result folders that older versions wrote are read (docs/versions.md).

The folders in ``older/`` are named after the version that wrote them, by ``older/write.py``.
"""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb, __version__, load_model, save_model
from rcweb.estimator.model_file import VERSION
from rcweb.storage.errors import ModelError
from rcweb.storage.provenance import read_provenance

OLDER = Path(__file__).parent / "older"
FOLDERS = sorted(path.parent for path in OLDER.glob("*/result"))
MODELS = sorted(path for path in OLDER.glob("*/*.rcweb"))
# The same sums by another BLAS or another version of NumPy.
ROUNDING = 1e-9


def called(path: Path) -> str:
    return path.relative_to(OLDER).as_posix()


each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=called)
each_model = pytest.mark.parametrize("path", MODELS, ids=called)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.read_csv(OLDER / "table.csv", index_col=0)


def same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING)


def test_there_are_files_of_the_first_release_and_of_both_methods() -> None:
    assert "0.1.0" in {folder.name for folder in FOLDERS}
    assert {path.stem for path in MODELS} == {"paper", "guided", "studies"}


def test_a_released_version_has_its_files_kept() -> None:
    """So that the versions after it are tested with them: ``older/write.py`` writes them."""
    if "dev" not in __version__:
        assert (OLDER / __version__ / "result").is_dir()


@each_model
def test_activities_and_network_are_those_of_the_version_that_wrote_it(path, table) -> None:
    model, expected = load_model(path), np.load(path.with_suffix(".npz"))
    same(model.transform(table), expected["activities"])
    np.testing.assert_array_equal(model.components_, expected["C"])
    assert model.network_.targets == tuple(table.columns)
    assert list(model.diagnosis_.index) == list(model.get_feature_names_out())


@each_folder
def test_the_model_of_a_folder_agrees_with_the_tables_beside_it(folder, table) -> None:
    model = load_model(folder / "result" / "model.rcweb")
    written = pd.read_csv(folder / "result" / "activities.tsv", sep="\t", index_col=0)
    same(model.transform(table), written.to_numpy())
    edges = pd.read_csv(folder / "result" / "network.tsv", sep="\t")
    found = model.network_.edges()
    assert list(found["regulator"]) == list(edges["regulator"])
    assert list(found["target"]) == list(edges["target"])
    same(found["weight"].to_numpy(), edges["weight"].to_numpy())
    # What was no result yet says "nothing" instead of failing.
    if folder.name == "0.1.0":
        assert (model.weights_sd_, model.regulator_names_, model.target_names_) == (None, {}, {})
        assert not model.input_.facts
        with pytest.raises(ValueError, match="earlier version of rcweb"):
            model.transform(table, return_std=True)


@each_model
def test_an_older_model_saved_now_is_the_same_model(path, table, tmp_path) -> None:
    model = load_model(path)
    save_model(model, tmp_path / "now.rcweb")
    again = load_model(tmp_path / "now.rcweb")
    assert again.transform(table).tobytes() == model.transform(table).tobytes()
    assert again.get_params() == model.get_params()
    pd.testing.assert_frame_equal(again.diagnosis_, model.diagnosis_)


def test_known_lists_and_studies_of_an_older_model() -> None:
    for path in MODELS:
        model = load_model(path)
        if path.stem == "guided":
            assert sorted(model.prior_.index) == ["TF0", "TF1", "TF2"]
            assert set(model.new_targets().columns) >= {"regulator", "target", "probability"}
        if path.stem == "studies":
            assert model.study_names_ == ("first", "second")
            assert set(model.studies_["study"]) == {"first", "second"}


@pytest.fixture
def rcweb(capsys):
    """Run a command in this process; what it said on stderr if it failed."""
    pytest.importorskip("click")
    from rcweb.cli.app import run

    def call(*arguments: str | Path, code: int = 0) -> str:
        assert run([str(part) for part in arguments]) == code, capsys.readouterr().err
        return capsys.readouterr().err

    return call


@each_folder
def test_commands_take_an_older_folder(folder, rcweb, tmp_path) -> None:
    """Annotate writes all of it anew, as a fit of this version would."""
    result = shutil.copytree(folder / "result", tmp_path / "result")
    sets, sheet = OLDER / "known.gmt", OLDER / "sheet.tsv"
    annotate = ["annotate", result, "--sets", sets, "--samples", sheet, "--group", "condition"]
    if folder.name == "0.1.0":
        assert "earlier version of rcweb" in rcweb(*annotate, code=3)
        annotate.append("--overwrite")
    rcweb(*annotate)
    regulators = pd.read_csv(result / "regulators.tsv", sep="\t")
    assert sorted(regulators["name"]) == ["TF0", "TF1", "TF2"]
    assert "TF1" in (result / "report.html").read_text(encoding="utf-8")
    assert "report.html" in read_provenance(result)[1]["files"]
    rcweb("explain", result, "gene21")
    contrasts = tmp_path / "contrasts.tsv"
    rcweb("contrast", result, "--samples", sheet, "--group", "condition", "--reference", "wt",
          "-o", contrasts)  # fmt: skip
    assert len(pd.read_csv(contrasts, sep="\t")) == 3
    rcweb("associate", result, "--samples", sheet, "-o", tmp_path / "associations.tsv")
    assert len(pd.read_csv(tmp_path / "associations.tsv", sep="\t")) == 3
    rcweb("compare", result, FOLDERS[-1] / "result", "-o", tmp_path / "compared")
    matches = pd.read_csv(tmp_path / "compared" / "matches.tsv", sep="\t")
    assert list(matches["relation"]) == ["same"] * 3
    rcweb("transform", result / "model.rcweb", OLDER / "table.csv", "-o", tmp_path / "again.tsv")
    again = pd.read_csv(tmp_path / "again.tsv", sep="\t", index_col=0)
    same(again.to_numpy(), pd.read_csv(result / "activities.tsv", sep="\t", index_col=0).to_numpy())


def test_knowledge_of_a_newer_version_is_refused_in_one_sentence(rcweb, tmp_path) -> None:
    result = shutil.copytree(FOLDERS[-1] / "result", tmp_path / "result")
    path = result / "knowledge.json.gz"
    document = json.loads(gzip.decompress(path.read_bytes())) | {"version": 2}
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    said = rcweb("explain", result, "gene21", code=3)
    assert "has format version 2" in said
    assert "pip install --upgrade rcweb" in said


def changed(source: Path, target: Path, **changes) -> Path:
    """A copy of a model file with other entries of its document."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "model.json":
                content = json.dumps(json.loads(content) | changes).encode()
            new.writestr(name, content)
    return target


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": VERSION + 1}, rf"format version {VERSION + 1}.*pip install --upgrade rcweb"),
        ({"version": 0}, "format version 0, which no rcweb has written"),
        ({"version": "1"}, "format version '1', which no rcweb has written"),
        (
            {"rcweb": "99.1.0", "parameters": {"from_the_future": 1}},
            rf"rcweb '99.1.0' wrote it .* 'from_the_future', .* \({__version__}\) does not have",
        ),
    ],
    ids=["newer format", "no format", "text", "newer parameter"],
)
def test_a_model_of_a_newer_version_is_refused_in_one_sentence(tmp_path, changes, message) -> None:
    path = changed(MODELS[0], tmp_path / "m.rcweb", **changes)
    with pytest.raises(ModelError, match=message):
        load_model(path)


def test_a_result_that_this_version_does_not_know_is_kept(tmp_path) -> None:
    """A newer minor version may add results; this one carries them along."""
    with zipfile.ZipFile(MODELS[0]) as archive:
        values = json.loads(archive.read("model.json"))["values"]
    path = changed(MODELS[0], tmp_path / "m.rcweb", values=values | {"later_": [1, 2]})
    model = load_model(path)
    assert isinstance(model, RCweb)
    assert vars(model)["later_"] == [1, 2]
