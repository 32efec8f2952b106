"""Holes in tables read in blocks: refused by `fit`, left out by `transform` and `score`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from storages import SAME_ANSWER, SAME_BITS, npy

import rcweb.blocks.base as base
from rcweb import RCweb
from rcweb.blocks import transform_blocks
from rcweb.lab.simulate import simulate

STORES = {**SAME_BITS, **SAME_ANSWER}
SHAPE = (1500, 30)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(base, "FEWEST_ROWS", 400)


def complete() -> np.ndarray:
    """Mostly zeros: as good for sparse storage as for any other."""
    X = simulate(*SHAPE, 3, density=0.5, noise=0.3, random_state=0).data
    return np.where(np.abs(X) > 0.5, X, 0.0)


def with_holes() -> np.ndarray:
    """One in twenty is missing, in two rows of three."""
    X = complete()
    hole = np.random.default_rng(1).random(SHAPE) < 0.05
    hole[::3] = False
    return np.where(hole, np.nan, X)


@cache
def fitted(method: str = "refined") -> RCweb:
    rows = slice(0, 300) if method == "paper" else slice(None)
    return RCweb(3, method=method, random_state=0).fit(complete()[rows])


@pytest.mark.parametrize("name", STORES)
def test_activities_rest_on_what_was_measured(name: str, tmp_path: Path) -> None:
    """Every storage gives the activities and the score of the array in memory, none of them NaN."""
    X, model = with_holes(), fitted()
    expected, share = model.transform(X), model.score(X)
    assert np.isfinite(expected).all()
    stored = STORES[name](X, tmp_path)
    np.testing.assert_allclose(model.transform(stored), expected, atol=1e-12)
    assert model.score(stored) == pytest.approx(share, abs=1e-12)


def test_a_lazy_result_stays_lazy_and_counts_samples_through() -> None:
    """Nothing is computed before it is asked for; a sample without values has its number in the
    whole table, not in its chunk."""
    da = pytest.importorskip("dask.array")
    X = with_holes()
    X[1234] = np.nan
    lazy = fitted().transform(da.from_array(X, chunks=(100, -1)))
    assert isinstance(lazy, da.Array)
    assert np.isfinite(lazy[:1200].compute()).all()
    with pytest.raises(ValueError, match="1 sample without any value: 1234"):
        lazy.compute()


@pytest.mark.parametrize("store", ["npy", "csr"])
def test_samples_without_values_are_named(store: str, tmp_path: Path) -> None:
    """By their number in the table, also from the third block."""
    X = with_holes()
    X[1234] = np.nan
    with pytest.raises(ValueError, match="1 sample without any value: 1234"):
        fitted().transform(STORES[store](X, tmp_path))


def test_activities_on_disk(tmp_path: Path) -> None:
    """What `transform_blocks` writes has no NaN either."""
    X = with_holes()
    out = transform_blocks(fitted(), npy(X, tmp_path), tmp_path / "out.npy")
    np.testing.assert_allclose(out, fitted().transform(X), atol=1e-12)


def test_the_published_method_uses_least_squares(tmp_path: Path) -> None:
    """Of the measured variables on the network that its projection inverts."""
    X, model = with_holes()[:300], fitted("paper")
    found = model.transform(npy(X, tmp_path))
    network = np.linalg.pinv(model.projection_)
    row = int(np.flatnonzero(np.isnan(X).any(axis=1))[0])
    seen = ~np.isnan(X[row])
    centred = (X[row] - model.mean_)[seen]
    expected = np.linalg.lstsq(network[:, seen].T, centred, rcond=None)[0]
    np.testing.assert_allclose(found[row], expected, atol=1e-9)


@pytest.mark.parametrize("name", STORES)
def test_fit_names_variable_and_way_out(name: str, tmp_path: Path) -> None:
    """The refusal says which variables have holes and what can be done."""
    X = complete()
    X[1400, 7] = X[3, 9] = np.nan
    names = r"'g7', 'g9'" if "h5ad" in name or "parquet" in name else r"('?7'?), ('?9'?)"
    stored = STORES[name](X, tmp_path)
    message = rf"2 variables with missing values \(NaN\): {names}\..*load the table.*leave out"
    with pytest.raises(ValueError, match=message):
        RCweb(3).fit(stored)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("name", ["npy", "dask 100", "csr", "h5ad csr"])
def test_infinity_is_refused(bad: float, name: str, tmp_path: Path) -> None:
    """By all that reads the table; in blocks the variable is named."""
    X = complete()
    X[1400, 7] = bad
    stored: Any = STORES[name](X, tmp_path)
    message = r"1 variable with infinite values: '?g?7|Input X contains infinity"
    with pytest.raises(ValueError, match=message):
        RCweb(3).fit(stored)
    with pytest.raises(ValueError, match=message):
        np.asarray(fitted().transform(stored))
    with pytest.raises(ValueError, match=message):
        fitted().score(stored)


def test_few_samples_are_brought_together_and_filled() -> None:
    """Up to 8,000 samples of more variables are one array after all: holes are filled as there."""
    X = simulate(40, 60, 3, noise=0.3, random_state=0).data
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    expected = RCweb(3, random_state=0).fit(X)
    found = RCweb(3, random_state=0).fit(sparse.csr_array(X))
    np.testing.assert_array_equal(found.components_, expected.components_)
    np.testing.assert_array_equal(found.observed_, expected.observed_)
