"""The truncated decomposition and the noise level it leaves."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb.engine import basis as module
from rcweb.engine.basis import median_noise, noise_edge, thin_svd, truncated_svd
from rcweb.lab.simulate import simulate


def test_best_approximation_with_fixed_signs() -> None:
    """Against NumPy, signs aside; in every column of V the largest entry is positive."""
    G = simulate(40, 60, 5, noise=0.3, random_state=0).data
    basis = truncated_svd(G, 5)
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    np.testing.assert_allclose(basis.s, s[:5])
    np.testing.assert_allclose(
        (basis.U * basis.s) @ basis.V.T, (U[:, :5] * s[:5]) @ Vt[:5], atol=1e-10
    )
    peak = np.abs(basis.V).argmax(axis=0)
    assert (basis.V[peak, range(5)] > 0).all()


def test_lanczos_agrees_with_the_complete_decomposition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large tables take another road to the same place."""
    G = simulate(60, 90, 4, noise=0.2, random_state=0).data
    dense = truncated_svd(G, 4)
    monkeypatch.setattr(module, "_DENSE_LIMIT", 10)
    lanczos = truncated_svd(G, 4)
    np.testing.assert_allclose(lanczos.s, dense.s)
    np.testing.assert_allclose(lanczos.V, dense.V, atol=1e-8)
    assert lanczos.noise == pytest.approx(dense.noise)


def test_noise_is_found_both_ways() -> None:
    """From the rest beyond P and, without knowing P, from the median singular value."""
    sim = simulate(200, 300, 6, noise=0.5, random_state=0)
    sigma = sim.noise_sd[0]
    assert truncated_svd(sim.data, 6).noise == pytest.approx(sigma, rel=0.03)
    assert median_noise(thin_svd(sim.data).s, 200, 300) == pytest.approx(sigma, rel=0.05)


@pytest.mark.parametrize("shape", [(30, 30), (50, 200), (200, 50)])
def test_pure_noise_stays_below_its_edge(shape: tuple[int, int]) -> None:
    """The 99 per cent point: of 40 tables at most 3 may cross it (chance of more: 0.001).

    The median of the limiting law is 3 per cent off for the smallest of these tables.
    """
    rng = np.random.default_rng(0)
    tops = [np.linalg.svd(rng.standard_normal(shape), compute_uv=False) for _ in range(40)]
    assert sum(s[0] > noise_edge(1.0, *shape) for s in tops) <= 3
    assert np.mean([median_noise(s, *shape) for s in tops]) == pytest.approx(1, rel=0.04)


def test_rank_without_noise() -> None:
    """Singular values that are zero up to rounding do not count."""
    assert truncated_svd(simulate(40, 60, 5, noise=0.0, random_state=0).data, 8).rank == 5


@pytest.mark.parametrize("P", [0, 21])
def test_impossible_numbers_are_named(P: int) -> None:
    with pytest.raises(ValueError, match=f"{P} singular vectors .* 1 to 20"):
        truncated_svd(np.ones((20, 30)), P)


def test_median_of_the_law_of_marchenko_and_pastur() -> None:
    """For square tables Gavish and Donoho give 0.6528 (their 2.858 is (4 / sqrt 3) / its root)."""
    assert module._marchenko_pastur_median(1.0) == pytest.approx(
        (4 / np.sqrt(3) / 2.858) ** 2, rel=2e-3
    )
