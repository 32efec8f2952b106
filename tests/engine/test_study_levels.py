"""Noise levels of studies are found whatever their ratio and size; agreement is measured right."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb.engine.studies import agreement, study_levels


def studies(seed, sizes, noise, N=120, K=5, spread=1.0):
    """Low-rank studies with offsets, noise levels and variables of unequal noise."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((K, N)) * (rng.random((K, N)) < 0.3)
    variables = np.exp(spread * rng.standard_normal(N) / 2)
    study = np.repeat(np.arange(len(sizes)), sizes)
    R = rng.standard_normal((len(study), K))
    E = rng.standard_normal((len(study), N)) * np.array(noise)[study][:, None] * variables
    return R @ C + E + rng.standard_normal((len(sizes), N))[study] * 5, study, R, C


@pytest.mark.parametrize(
    ("sizes", "noise"),
    [
        ((60, 60), (0.3, 0.3)),
        ((60, 60), (0.2, 2.0)),
        ((30, 120), (0.2, 1.0)),
        ((50, 40, 30), (1, 0.5, 0.25)),
    ],
)
def test_noise_levels(sizes, noise):
    """Within 10 %, also where one study is ten times as noisy and a common fit would chase it."""
    X, study, _, _ = studies(0, sizes, noise)
    found = study_levels(X, study).noise
    assert found / found[0] == pytest.approx(np.array(noise) / noise[0], rel=0.1)
    assert np.log(found)[study].mean() == pytest.approx(0, abs=1e-9)


def test_levels_change_with_neither_units_nor_missing_values():
    """One factor for all, units of variables, and holes at random leave the ratio."""
    X, study, _, _ = studies(1, (60, 60), (0.3, 0.9))
    rng = np.random.default_rng(2)
    expected = study_levels(X, study).noise
    units = 10.0 ** rng.integers(-120, 120, X.shape[1])
    assert study_levels(units * X, study).noise == pytest.approx(expected)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    assert study_levels(holes, study).noise == pytest.approx(expected, rel=0.1)


def test_means_are_of_what_was_measured():
    X, study, _, _ = studies(1, (20, 20), (0.3, 0.3))
    X[study == 1, 0] = np.nan
    X[0, 1] = np.nan
    mean = study_levels(X, study).mean
    assert np.isnan(mean[1, 0])
    assert mean[0, 1] == pytest.approx(np.nanmean(X[:20, 1]))


def test_degenerate_studies_have_finite_levels():
    """Without noise, with two samples, with a constant variable: finite, positive, bounded."""
    X, study, _, _ = studies(3, (30, 30), (0.0, 0.3))
    assert 1e-3 <= study_levels(X, study).noise.min() < study_levels(X, study).noise.max() <= 1e3
    X, study, _, _ = studies(3, (2, 40), (0.3, 0.3))
    X[:, 0] = 1.0
    found = study_levels(X, study).noise
    assert np.isfinite(found).all()
    assert found[0] / found[1] == pytest.approx(1, abs=0.6)  # two samples borrow from the others
    assert study_levels(np.ones((6, 3)), np.repeat([0, 1], 3)).noise.tolist() == [1, 1]


def test_own_rows_are_those_of_the_study():
    """With the true activities and uncorrelated regulators the correlation of the second study is
    that of its own network with the common one."""
    rng = np.random.default_rng(4)
    R = np.linalg.qr(rng.standard_normal((200, 3)) - 0)[0] * np.sqrt(200)
    C = rng.standard_normal((3, 80))
    other = C.copy()
    other[0, :40] *= -1
    study = np.repeat([0, 1], 100)
    R[:100] = np.linalg.qr(R[:100] - R[:100].mean(axis=0))[0] * 10
    R[100:] = np.linalg.qr(R[100:] - R[100:].mean(axis=0))[0] * 10
    Y = np.vstack([R[:100] @ C, R[100:] @ other])
    found = agreement(Y, study, R, C, C)
    expected = np.corrcoef(C[0], other[0])[0, 1]
    assert found.correlation[0] == pytest.approx([1, 1, 1])
    assert found.correlation[1] == pytest.approx([expected, 1, 1])
    shares = (C**2).sum(axis=1) / (C**2).sum()
    assert found.share[0] == pytest.approx(shares)
