"""Standard deviations of activities: the formula against plain algebra and drawn samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rcweb import RCweb, load_model, save_model
from rcweb.engine.matching import match_rows
from rcweb.engine.missing import project_missing
from rcweb.engine.uncertainty import ActivityError, without_overfitting
from rcweb.lab.simulate import simulate


@pytest.fixture(scope="module")
def truth():
    return simulate(110, 100, 5, density=0.2, noise=0.4, regulators="gaussian", random_state=3)


@pytest.fixture(scope="module")
def model(truth):
    return RCweb(5, random_state=0).fit(truth.data[:60])


def known(seed=0, P=4, N=30):
    """Weights and noise that are known exactly, with their posterior-mean projection."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((P, N)) * (rng.random((P, N)) < 0.4)
    noise = rng.uniform(0.3, 1.5, N)
    A = (C / noise**2) @ C.T + np.eye(P)
    return C, noise, np.linalg.solve(A, C / noise**2).T


def test_known_weights_give_the_posterior_covariance():
    """Shrinkage and noise add up to (W S^-1 W^T + I)^-1, also of the variables that are there."""
    C, noise, Q = known()
    error = ActivityError(Q, C, np.zeros_like(C), noise, np.ones(4))
    # Samples that fit perfectly: their residuals say nothing against the noise.
    R = np.zeros((2, 4))
    X = np.zeros((2, 30))
    X[1, :12] = np.nan
    for row, there in enumerate((slice(None), slice(12, None))):
        part = C[:, there] / noise[there]
        expected = np.sqrt(np.diag(np.linalg.inv(part @ part.T + np.eye(4))))
        assert error.sd(X, R)[row] == pytest.approx(expected)


def test_drawn_samples_scatter_as_said():
    """Activities of 4,000 drawn samples with uncertain weights, holes included: the spread of their
    errors is the root mean square of what is said, within 6 % (four times its own error)."""
    rng = np.random.default_rng(1)
    C, noise, Q = known(seed=1)
    sd = np.where(C != 0, 0.15, 0.0)
    M = 4000
    R = rng.standard_normal((M, 4))
    drawn = C + sd * rng.standard_normal((M, *C.shape))
    X = np.einsum("mp,mpn->mn", R, drawn) + noise * rng.standard_normal((M, 30))
    X[: M // 2, 5:15] = np.nan
    found = project_missing(X, Q, C)
    said = ActivityError(Q, C, sd, noise, np.ones(4)).sd(X, found)
    for half in (slice(0, M // 2), slice(M // 2, M)):
        ratio = np.sqrt((said[half] ** 2).mean(axis=0)) / (found - R)[half].std(axis=0)
        # Never below; above, since a sample that fits worse by chance counts as noisier.
        assert (ratio > 0.94).all()
        assert (ratio < 1.15).all()


def test_least_squares_residuals_are_corrected_for_what_was_fitted():
    """The noise behind residuals of K directions, fitted to samples and variables alike."""
    rng = np.random.default_rng(0)
    M, N, K = 50, 40, 8
    G = rng.standard_normal((M, K)) @ rng.standard_normal((K, N)) * 5 + rng.standard_normal((M, N))
    V = np.linalg.svd(G)[2][:K]
    residual = np.sqrt(((G - G @ V.T @ V) ** 2).mean(axis=0))
    noise = without_overfitting(residual, V.T, V, 1 - K / M)
    assert np.sqrt((residual**2).mean()) < 0.85
    assert np.sqrt((noise**2).mean()) == pytest.approx(1, abs=0.06)


def test_intervals_cover_planted_activities(truth, model):
    """95 % intervals of 60 samples that were fitted and of 50 new ones, complete and with a third
    of the variables missing. Threshold: 0.93, the level promised from 40 samples on."""
    pairs = match_rows(model.weights_, truth.network)
    true = (truth.activities - truth.activities[:60].mean(axis=0))[:, pairs.other]
    holes = np.random.default_rng(0).random(truth.data.shape) < 0.33
    for X in (truth.data, np.where(holes, np.nan, truth.data)):
        R, sd = model.transform(X, return_std=True)
        z = (R[:, pairs.found] - true * pairs.scale) / sd[:, pairs.found]
        assert (np.abs(z[:60]) < 1.96).mean() >= 0.93
        assert (np.abs(z[60:]) < 1.96).mean() >= 0.93
        assert np.sqrt((z**2).mean()) > 0.75  # nor are they needlessly wide


def test_missing_variables_widen(truth, model):
    """The fewer variables of a sample are there, the wider; activities are those without sd."""
    X = np.repeat(truth.data[:1], 4, axis=0)
    for row, last in enumerate((0, 30, 60, 90)):
        X[row, :last] = np.nan
    R, sd = model.transform(X, return_std=True)
    assert np.array_equal(R, model.transform(X))
    assert (np.diff(sd.mean(axis=1)) > 0).all()


def test_an_outlying_sample_is_less_certain(truth, model):
    """A new sample with three times the noise of the fitted ones has wider intervals."""
    rng = np.random.default_rng(0)
    X = truth.data[[0, 0]]
    X[1] += 3 * truth.noise_sd * rng.standard_normal(X.shape[1])
    sd = model.transform(X, return_std=True)[1]
    assert (sd[1] > 2 * sd[0]).all()


def test_units_of_activities_and_variables(truth):
    """In other units of the table activities and their errors change alike."""
    for method in ("refined", "paper"):
        sd, scaled = (
            RCweb(5, method=method, random_state=0)
            .fit(factor * truth.data[:60])
            .transform(factor * truth.data, return_std=True)
            for factor in (1.0, 2.0**400)
        )
        ratio = sd[1] / np.abs(sd[0]).mean(axis=0), scaled[1] / np.abs(scaled[0]).mean(axis=0)
        assert ratio[0] == pytest.approx(ratio[1], rel=0.05)


def test_every_kind_of_table(truth, model, tmp_path):
    """Sparse, on disk and lazily chunked: the same numbers, and a saved model gives them too."""
    dask_array = pytest.importorskip("dask.array")
    expected = model.transform(truth.data, return_std=True)
    np.save(tmp_path / "table.npy", truth.data)
    save_model(model, tmp_path / "model.rcweb")
    lazy = model.transform(dask_array.from_array(truth.data, chunks=(30, 100)), return_std=True)
    assert all(hasattr(part, "dask") for part in lazy)
    found = {
        "sparse": model.transform(sparse.csr_array(truth.data), return_std=True),
        "file": model.transform(tmp_path / "table.npy", return_std=True),
        "dask": tuple(part.compute() for part in lazy),
        "saved": load_model(tmp_path / "model.rcweb").transform(truth.data, return_std=True),
    }
    for kind, (R, sd) in found.items():
        assert pytest.approx(expected[0]) == R, kind
        assert sd == pytest.approx(expected[1]), kind


def test_a_model_of_an_earlier_version_says_so(truth, model):
    """Without the errors of the weights an interval would be too narrow."""
    import copy

    old = copy.deepcopy(model)
    del old.n_samples_
    with pytest.raises(ValueError, match="earlier version of rcweb"):
        old.transform(truth.data, return_std=True)
    assert old.transform(truth.data).shape == (110, 5)
