"""vsp against its definition."""

from __future__ import annotations

import numpy as np

from rcweb.lab.baselines import varimax, vsp
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate


def test_factors_are_rotated_singular_vectors_of_the_doubly_centred_table() -> None:
    """Orthogonal rows of length sqrt(N) and positive skewness; with the activities the best
    approximation of rank P."""
    sim = simulate(50, 120, 4, density=0.2, noise=0.3, random_state=0)
    found = vsp.fit(sim.data, 4)
    X = sim.data - sim.data.mean(axis=0)
    X -= X.mean(axis=1, keepdims=True)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    best = (U[:, :4] * s[:4]) @ Vt[:4]
    np.testing.assert_allclose(found.activities @ found.network, best, atol=1e-8)
    np.testing.assert_allclose(found.network @ found.network.T, 120 * np.eye(4), atol=1e-8)
    centred = found.network - found.network.mean(axis=1, keepdims=True)
    assert ((centred**3).sum(axis=1) > 0).all()


def test_a_shift_of_whole_samples_does_not_matter() -> None:
    """What tells it from plain varimax: the means of the samples are taken off."""
    sim = simulate(80, 200, 4, density=0.15, weights="bounded", noise=0.1, random_state=1)
    shift = 20 * np.random.default_rng(0).standard_normal((80, 1))
    here, plain = (m.fit(sim.data + shift, 4).network for m in (vsp, varimax))
    assert score_network(here, sim.network).rho > 0.9
    assert score_network(plain, sim.network).rho < 0.9
