"""The input check from Python: arrays, DataFrames, masked arrays, blocks, saved models."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rcweb import RCweb
from rcweb.estimator import load_model, save_model
from rcweb.lab.simulate import simulate
from rcweb.tables import Finding, InputCheck, InputWarning, Match, as_numbers


def paper() -> RCweb:
    return RCweb(3, method="paper")


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return simulate(60, 40, 3, noise=0.05, random_state=0).data


def test_every_kind_of_table_is_checked(data: np.ndarray, tmp_path: Path) -> None:
    """An array, a DataFrame with names, sparse, a file read in blocks."""
    names = [f"s{i}" for i in range(60)], [f"g{j}" for j in range(40)]
    frame = pd.DataFrame(data, index=names[0], columns=names[1])
    facts = dict(paper().fit(frame).input_.facts)
    assert facts["table"] == "DataFrame: 60 samples x 40 variables"
    assert facts["names"] == "samples 's0', 's1' ...; variables 'g0', 'g1' ..."
    assert dict(paper().fit(data).input_.facts)["names"] == "samples have none; variables have none"
    np.save(tmp_path / "x.npy", data)
    for X in (tmp_path / "x.npy", sparse.csr_array(data)):
        checked = dict(paper().fit(X).input_.facts)
        assert checked["values"] == facts["values"]
    assert dict(paper().fit(tmp_path / "x.npy").input_.facts)["table"].startswith("x.npy: 60")


def test_a_streamed_table_is_checked_without_another_pass() -> None:
    """On the rows that the first pass brings along."""
    tall = simulate(9000, 40, 3, noise=0.3, random_state=0).data
    tall[:, 7] = 4.0
    blocks = sparse.csr_array(tall)
    model = RCweb(3, random_state=0).fit(blocks)
    assert model.route_ == "gram"
    assert any("constant" in note and ": 7;" in note for note in model.input_.notes)
    dask = pytest.importorskip("dask.array")
    lazy = RCweb(3, random_state=0).fit(dask.from_array(tall, chunks=(3000, 40)))
    assert lazy.passes_ == model.passes_
    assert "samples looked at" in dict(lazy.input_.facts)["missing"]


def test_suspicious_tables_are_warned_of_once(data: np.ndarray) -> None:
    """One warning with all that is suspicious; none for an ordinary table."""
    counts = pd.DataFrame(np.random.default_rng(0).poisson(np.exp(data + 3)))
    counts.index = [*(f"s{i}" for i in range(59)), "length"]
    with pytest.warns(InputWarning) as said:
        model = paper().fit(counts)
    assert len(said) == 1
    assert said[0].filename == __file__
    assert "raw counts" in str(said[0].message)
    assert "'length'" in str(said[0].message)
    assert set(model.input_.warnings) == set(str(said[0].message).split("\n"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paper().fit(data)


@pytest.mark.parametrize("way", ["one table", "batches", "studies", "blocks", "fit_transform"])
def test_a_warning_names_the_line_of_the_user(data: np.ndarray, way: str) -> None:
    """Whatever path the call takes: with batches it named a line of this package."""
    counts = np.random.default_rng(0).poisson(np.exp(np.vstack([data, data]) + 3)).astype(float)
    X, options = counts, {}
    if way == "batches":
        options = {"batch": ["a", "b"] * 60}
    elif way == "studies":
        X = [counts[:60], counts[60:]]
    elif way == "blocks":
        X = pytest.importorskip("dask.array").from_array(counts, chunks=(50, 40))
    model = RCweb(3, random_state=0)
    fit = model.fit_transform if way == "fit_transform" else model.fit
    with pytest.warns(InputWarning, match="raw counts") as said:
        fit(X, **options)
    assert {warning.filename for warning in said} == {__file__}


def test_a_table_the_wrong_way_round_is_warned_of(data: np.ndarray) -> None:
    """Names of genes in the index say so."""
    genes = [f"b{j:04d}" for j in range(40)]
    frame = pd.DataFrame(data.T, index=genes, columns=[f"GSM{i}" for i in range(60)])
    with pytest.warns(InputWarning, match=r"names of rows look like genes.*fit X\.T"):
        paper().fit(frame)


def test_constant_variables_go_by_name(data: np.ndarray) -> None:
    """In the model's own warnings too."""
    frame = pd.DataFrame(data).add_prefix("g")
    frame["g3"] = 1.0
    model = paper().fit(frame)
    assert model.warnings_[-1].endswith("variables 'g3'.")
    assert any("'g3'" in note for note in model.input_.notes)


def test_what_a_mask_hides_is_missing(data: np.ndarray) -> None:
    """A hidden 1e6 must not count: as if it were NaN, bit for bit, in fit and in transform."""
    wild, hole = data.copy(), data.copy()
    wild[5, 7], hole[5, 7] = 1e6, np.nan
    masked = np.ma.masked_greater(wild, 1e5)
    model, expected = (RCweb(3, random_state=0).fit(X) for X in (masked, hole))
    np.testing.assert_array_equal(model.components_, expected.components_)
    np.testing.assert_array_equal(model.transform(masked), expected.transform(hole))
    assert model.score(masked) == expected.score(hole)
    whole = np.ma.masked_array(np.arange(6).reshape(2, 3), mask=[[0, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(as_numbers(whole), [[0, np.nan, 2], [3, 4, 5]])


def test_dates_and_text_are_refused_by_name(data: np.ndarray) -> None:
    """They are no measurements, whatever float() makes of them."""
    days = np.array(["2026-01-01"] * 40, dtype="datetime64[D]")
    frame = pd.DataFrame(data).add_prefix("g")
    for X in (np.tile(days, (60, 1)), np.ma.masked_array(np.tile(days, (60, 1)))):
        with pytest.raises(TypeError, match="dates"):
            paper().fit(X)
    with pytest.raises(TypeError, match="Column 'day': dates"):
        paper().fit(frame.assign(day=pd.Timestamp("2026-01-01")))
    with pytest.raises(TypeError, match="Column 'day': dates"):
        paper().fit(frame.assign(day=pd.Timestamp("2026-01-01", tz="UTC")))
    with pytest.raises(ValueError, match="Column 'who' holds text, such as 'me'"):
        paper().fit(frame.assign(who="me"))
    same = frame.astype(object).assign(g1=frame["g1"].astype(str))
    np.testing.assert_array_equal(paper().fit(same).components_, paper().fit(frame).components_)
    assert paper().fit(frame > 0).input_.facts[2] == ("values", "0 and 1 only")


def test_saved_with_the_model_and_older_files_load(data: np.ndarray, tmp_path: Path) -> None:
    """Word for word; a file without one gets an empty one, a forged one is refused."""
    model = paper().fit(data)
    check = InputCheck(model.input_.facts, (Finding("note", "é"), Finding("warning", "x")))
    match = Match("a.gmt", "none", (Finding("warning", "y"),))
    model.input_ = InputCheck(check.facts, check.findings, (match,))
    assert InputCheck.from_plain(json.loads(json.dumps(model.input_.to_plain()))) == model.input_
    path = tmp_path / "model.rcweb"
    save_model(model, path)
    assert load_model(path).input_ == check  # other files are no part of the model

    def edit(change: object) -> None:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        document = json.loads(members["model.json"])
        change(document["values"])
        members["model.json"] = json.dumps(document).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)

    edit(lambda values: values["input_"]["facts"].append(["a", {"b": 1}]))
    with pytest.raises(ValueError, match="input check has an unknown form"):
        load_model(path)
    edit(lambda values: values.pop("input_"))
    assert load_model(path).input_ == InputCheck()


def test_titles_that_are_no_text_are_warned_of():
    """Numbers of genes (Entrez) would be replaced by x0, x1 ... without a word."""
    values = np.random.default_rng(0).standard_normal((20, 6))
    for titles in (range(7157, 7163), pd.MultiIndex.from_product([["a", "b"], [1, 2, 3]])):
        with pytest.warns(InputWarning, match=r"are not text, so variables are called x0, x1"):
            RCweb(2).fit(pd.DataFrame(values, columns=titles))
    for titles in (range(6), range(1, 7), list("abcdef")):
        assert not RCweb(2).fit(pd.DataFrame(values, columns=titles)).input_.warnings
