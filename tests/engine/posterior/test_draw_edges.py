"""The compiled sweep over edges against brute-force integration of the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import norm

from rcweb.engine.posterior.background import least_edge
from rcweb.engine.posterior.gibbs import PRIOR_MIX, SPREAD, STEP
from rcweb.engine.posterior.kernels import TILE, draw_edges, draw_shaped_edges

# Slabs as (means, variance, log weights) in row scales.
ONE_GAUSSIAN = (np.zeros(1), 1.0, np.zeros(1))
SHAPED = (
    STEP * np.array([0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6]),
    SPREAD,
    np.log(PRIOR_MIX),
)


def sweep(rng, Q, Z, C, weight, log_odds, scale, slab, background=None):
    """The kernel of that slab on a copy of C: new C, probability, mean, parts used."""
    C = C.copy()
    background = np.zeros(len(C)) if background is None else background
    probability, mean, used = np.empty_like(C), np.empty_like(C), np.zeros(len(slab[0]))
    edges, sums = np.empty(C.shape, bool), np.empty((len(C), 2))
    common = (rng, Q, Z, C, weight, log_odds, scale, background)
    if slab is SHAPED:
        least = least_edge(background, C.shape[1])
        rest = (probability, mean, edges, sums, used)
        draw_shaped_edges(*common, least, STEP, SPREAD, PRIOR_MIX, *rest)
    else:
        draw_edges(*common, probability, mean, edges, sums)
        used[:] = edges.sum()
    np.testing.assert_array_equal(edges | (background > 0)[:, None], (C != 0))
    return C, probability, mean, used


def integrate(g, q, log_odds, scale, slab, background=0.0):
    """P(slab) and E[c] for log-likelihood ``g c - q c^2 / 2``, on a fine grid."""
    means, spread, log_mix = slab
    sd = scale * np.sqrt(spread)
    centre = g / q
    reach = max(abs(centre), 3 * scale) + 12 * max(sd, 1 / np.sqrt(q)) + 3 * scale
    c = np.linspace(-reach, reach, 20001)
    log_slab = logsumexp(
        np.array([m + norm.logpdf(c, scale * mu, sd) for m, mu in zip(log_mix, means)]), axis=0
    )
    log_f = log_slab + g * c - 0.5 * q * c * c
    log_evidence = logsumexp(log_f) + np.log(c[1] - c[0])
    within = np.exp(log_f - logsumexp(log_f))
    log_beside, small = 0.0, 0.0
    if background > 0:
        # A Gaussian prior and likelihood in closed form.
        log_beside = 0.5 * g * g * background / (1 + background * q)
        log_beside -= 0.5 * np.log(1 + background * q)
        small = g * background / (1 + background * q)
    p = expit(log_odds + log_evidence - log_beside)
    return p, p * (within @ c) + (1 - p) * small


@pytest.mark.parametrize("beside", [0.0, 0.3], ids=["zeros", "background"])
@pytest.mark.parametrize("slab", [ONE_GAUSSIAN, SHAPED], ids=["gaussian", "shaped"])
@pytest.mark.parametrize(("seed", "n_variables"), [(0, 6), (1, 7), (2, 5), (3, TILE + 3)])
def test_first_entry_against_numerical_integration(
    seed: int, n_variables: int, slab: tuple, beside: float
) -> None:
    """Given the others, entry 0 of every variable: probability and mean of the defined posterior.

    The second entry is checked given the first one as it was drawn. Of many variables the last few,
    which are no whole tile.
    """
    rng = np.random.default_rng(seed)
    N, P, M = n_variables, 2, 12
    R = rng.standard_normal((M, P))
    G = R @ (rng.standard_normal((P, N)) * (rng.random((P, N)) < 0.5)) + rng.standard_normal((M, N))
    Q, Z = R.T @ R, R.T @ G
    C = rng.standard_normal((P, N)) * (rng.random((P, N)) < 0.5)
    weight = rng.uniform(0.1, 1.5, N)
    log_odds, scale = np.array([-1.5, 0.3]), np.array([0.7, 1.4])
    background = beside * scale**2
    new, probability, mean, _ = sweep(rng, Q, Z, C, weight, log_odds, scale, slab, background)
    for i in range(max(N - 6, 0), N):
        for p, other in ((0, C[1, i]), (1, new[0, i])):
            g = weight[i] * (Z[p, i] - Q[p, 1 - p] * other)
            q, density = weight[i] * Q[p, p], (log_odds[p], scale[p], slab, background[p])
            expected = integrate(g, q, *density)
            assert probability[p, i] == pytest.approx(expected[0], abs=1e-6)
            assert mean[p, i] == pytest.approx(expected[1], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("factor", [3.0, 14.0, 60.0, -200.0])
def test_weights_far_outside_the_slab(factor: float) -> None:
    """An entry of many row scales: no overflow, certain, and of the size that the data say."""
    Q, weight = np.array([[50.0]]), np.ones(1)
    Z = np.array([[50.0 * factor]])
    new, probability, mean, used = sweep(
        np.random.default_rng(0), Q, Z, np.zeros((1, 1)), weight, np.zeros(1), np.ones(1), SHAPED
    )
    assert probability[0, 0] == 1.0
    _, m = integrate(Z[0, 0], 50.0, 0.0, 1.0, SHAPED)
    assert mean[0, 0] == pytest.approx(m, rel=1e-3)
    assert used.sum() == 1
    assert abs(new[0, 0] - mean[0, 0]) < 5 / np.sqrt(50)


@pytest.mark.parametrize("slab", [ONE_GAUSSIAN, SHAPED], ids=["gaussian", "shaped"])
def test_background_is_drawn_and_scored_as_the_model_says(slab: tuple) -> None:
    """20,000 entries of a background of variance 0.04 and no edge: draws have its mean and
    variance given the data, and one step of scoring leads from any start to the truth, within five
    standard errors."""
    N, q, truth = 20000, 50.0, 0.04
    rng = np.random.default_rng(0)
    c = np.sqrt(truth) * rng.standard_normal(N)
    Z = (q * c + np.sqrt(q) * rng.standard_normal(N))[None]
    for start in (0.01, 0.04, 0.08):
        C, probability, mean = np.zeros((1, N)), np.empty((1, N)), np.empty((1, N))
        edges, sums, used = np.empty((1, N), bool), np.empty((1, 2)), np.zeros(len(slab[0]))
        rest = (np.ones(N), np.array([-30.0]), np.ones(1), np.array([start]))
        out = (probability, mean, edges, sums)
        if slab is SHAPED:
            shape = (least_edge(np.array([start]), N), STEP, SPREAD, PRIOR_MIX)
            draw_shaped_edges(rng, np.array([[q]]), Z, C, *rest, *shape, *out, used)
        else:
            draw_edges(rng, np.array([[q]]), Z, C, *rest, *out)
        assert not edges.any()
        shrunk = start / (1 + start * q)
        np.testing.assert_allclose(mean, shrunk * Z, atol=1e-6)  # an edge is e^-30 as likely
        assert (C - mean).var() == pytest.approx(shrunk, rel=5 * np.sqrt(2 / N))
        error = np.sqrt(2 / N) * (truth + 1 / q)
        assert sums[0, 0] / sums[0, 1] == pytest.approx(truth, abs=5 * error)


@pytest.mark.parametrize("slab", [ONE_GAUSSIAN, SHAPED], ids=["gaussian", "shaped"])
def test_draws_follow_the_probability_and_mean_that_are_reported(slab: tuple) -> None:
    """20,000 equal entries: frequency, average and parts used agree within five standard errors."""
    N = 20000
    Q = np.array([[8.0]])
    Z = np.full((1, N), 5.0)
    new, probability, mean, used = sweep(
        np.random.default_rng(0), Q, Z, np.zeros((1, N)), np.ones(N), np.zeros(1), np.ones(1), slab
    )
    assert np.ptp(probability) == 0
    p = probability[0, 0]
    assert 0.3 < p < 0.99
    drawn = new != 0
    assert drawn.mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / N))
    assert new.mean() == pytest.approx(mean[0, 0], abs=5 * new.std() / np.sqrt(N))
    assert used.sum() == drawn.sum()
    # Variance within the slab by integration of the same posterior.
    c = np.linspace(-4, 6, 20001)
    density = sum(
        np.exp(m) * norm.pdf(c, mu, np.sqrt(slab[1])) for m, mu in zip(slab[2], slab[0])
    ) * np.exp(5.0 * c - 4.0 * c * c)
    density /= density.sum()
    spread = np.sqrt(density @ c**2 - (density @ c) ** 2)
    assert new[drawn].std() == pytest.approx(spread, rel=0.03)


def test_same_generator_same_draws_and_sequential_conditioning() -> None:
    """Two doubled regulators: once one has taken a strong edge, the other sees nothing left."""
    Q = np.full((2, 2), 100.0) + 1e-3 * np.eye(2)
    Z = np.full((2, 1), 100.0)
    args = (Q, Z, np.zeros((2, 1)), np.ones(1), np.zeros(2), np.ones(2), ONE_GAUSSIAN)
    one, probability, _, _ = sweep(np.random.default_rng(4), *args)
    two, *_ = sweep(np.random.default_rng(4), *args)
    np.testing.assert_array_equal(one, two)
    assert probability[0, 0] > 0.999
    assert probability[1, 0] < 0.5
