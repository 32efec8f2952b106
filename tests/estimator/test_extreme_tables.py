"""Tiny, degenerate and extreme tables: finite numbers or an error that names what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from rcweb import RCweb
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate

# What the input check says of such tables is tested with it.
pytestmark = pytest.mark.filterwarnings("ignore::rcweb.tables.InputWarning")

TRUTH = simulate(100, 60, 3, random_state=0)
FITTED = ("components_", "weights_", "projection_", "noise_", "mean_", "edge_score_")
METHODS = ("refined", "paper")


def different_sample(rng: np.random.Generator, M: int, N: int) -> np.ndarray:
    X = np.tile(rng.standard_normal(N), (M, 1))
    X[rng.integers(M)] += rng.standard_normal(N)
    return X


KINDS = {
    "identity": lambda rng, M, N: np.eye(M, N),
    "permuted identity": lambda rng, M, N: np.eye(M, N)[:, rng.permutation(N)],
    "rank one": lambda rng, M, N: np.outer(rng.standard_normal(M), rng.standard_normal(N)),
    "all equal": lambda rng, M, N: np.full((M, N), rng.standard_normal()),
    "one sample different": different_sample,
    "one entry different": lambda rng, M, N: np.eye(1, M * N, rng.integers(M * N)).reshape(M, N),
}


def assert_finite(model: RCweb, X: np.ndarray) -> None:
    for name in FITTED:
        assert np.isfinite(getattr(model, name)).all(), name
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.score(X))


@settings(max_examples=40)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    seed=st.integers(0, 1000),
    shape=st.tuples(st.integers(2, 10), st.integers(2, 16)),
    n_components=st.one_of(st.just("auto"), st.integers(1, 3)),
    method=st.sampled_from(METHODS),
    scale=st.sampled_from([1.0, 1e155, 1e-155, 1e300, 1e-300]),
)
def test_degenerate_tables(
    kind: str, seed: int, shape: tuple[int, int], n_components: Any, method: str, scale: float
) -> None:
    """An answer in finite numbers, or a ValueError of ours; never another exception."""
    X = scale * KINDS[kind](np.random.default_rng(seed), *shape)
    try:
        model = RCweb(n_components, method=method, random_state=0).fit(X)
    except ValueError as error:
        assert "variables" in str(error) or "rank of the table" in str(error)  # noqa: PT017
        return
    assert_finite(model, X)


@pytest.mark.parametrize(("shape", "n_components"), [((8, 60), "auto"), ((12, 30), 2)])
@pytest.mark.parametrize("method", METHODS)
def test_identity(shape: tuple[int, int], n_components: Any, method: str) -> None:
    """After one removal the published search has dependent rows left, and nothing to divide by."""
    X = np.eye(*shape)
    assert_finite(RCweb(n_components, method=method, random_state=0).fit(X), X)


@pytest.mark.parametrize("scale", [1e155, 1e-155, 1e200, 1e-200, 1e300, 1e-300])
def test_score_in_any_unit(scale: float) -> None:
    """The same share of the variance, of arrays and of blocks: squares neither overflow nor
    vanish."""
    expected = RCweb(3, random_state=0).fit(TRUTH.data).score(TRUTH.data)
    X = TRUTH.data * scale
    model = RCweb(3, random_state=0).fit(X)
    assert model.score(X) == pytest.approx(expected, rel=1e-9)
    assert model.score(sparse.csr_array(X)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sizes", [(1e200,), (1e-200,), (1e6,), (1e200, 1e-200), (1e307, 1e-320)])
@pytest.mark.parametrize("several", [1, 15])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_variables_of_any_size(sizes: tuple[float, ...], several: int, storage: Any) -> None:
    """One variable or half of them 200 orders away: all numbers finite, and the network of the
    others is found."""
    factor = np.ones(60)
    factor[: len(sizes) * several] = sizes * several
    X = TRUTH.data * factor
    model = RCweb(3, random_state=0).fit(storage(X))
    assert_finite(model, X)
    same = factor == 1
    assert score_network(model.components_[:, same], TRUTH.network[:, same]).rho > 0.95


@pytest.mark.parametrize("n_components", ["auto", 3])
@pytest.mark.parametrize("place", [0, 7, -1])
def test_sparse_table_with_nan_names_the_variable(n_components: Any, place: int) -> None:
    """Wherever in its column NaN stands, other values before and behind it."""
    X = sparse.csr_array(TRUTH.data)
    column = np.flatnonzero(X.indices == 11)
    X.data[column[place]] = np.nan
    with pytest.raises(ValueError, match=r"1 variable with missing values \(NaN\): 11\."):
        RCweb(n_components).fit(X)
