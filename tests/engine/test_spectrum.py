"""How many directions carry signal, and a basis that does not depend on units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.spectrum import Spectrum, leading_directions, with_room
from rcweb.lab.simulate import simulate


def centred(seed: int, M: int, N: int, P: int, **options: object) -> np.ndarray:
    sim = simulate(M, N, P, weights="bounded", random_state=seed, **options)
    return sim.data - sim.data.mean(axis=0)


@pytest.mark.parametrize("noise", [0.1, 0.3, 1.0])
@pytest.mark.parametrize(("M", "N", "P"), [(100, 120, 6), (60, 300, 6), (300, 100, 10)])
def test_planted_rank_is_counted(M: int, N: int, P: int, noise: float) -> None:
    """Equal noise in all variables: exact in all of 5 seeds, and asked for by "auto"."""
    for seed in range(5):
        spectrum = leading_directions(
            CondensedTable.of(centred(seed, M, N, P, noise=noise)), "auto"
        )
        assert spectrum.n_signal == spectrum.P == len(spectrum.s) == P


@pytest.mark.parametrize("seed", range(5))
def test_noise_that_differs_between_variables_adds_few_directions(seed: int) -> None:
    """More variables than samples, log-sd 0.5: one direction too many at most."""
    G = centred(seed, 60, 300, 6, noise=0.3, noise_kind="per_variable")
    assert leading_directions(CondensedTable.of(G), "auto").n_signal - 6 in (0, 1)


@pytest.mark.parametrize(("M", "N"), [(100, 120), (60, 200), (200, 60)])
def test_pure_noise_has_no_signal(M: int, N: int) -> None:
    """False alarms are rare (1 in 100 at the edge used; here none in 5); one direction is kept."""
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal((M, N))
        spectrum = leading_directions(CondensedTable.of(X - X.mean(axis=0)), "auto")
        assert spectrum.n_signal == 0
        assert spectrum.P == 1


def test_rank_without_noise_is_exact() -> None:
    """Rounding is not signal."""
    for P in (1, 3, 8):
        G = centred(0, 50, 80, P, noise=0.0)
        spectrum = leading_directions(CondensedTable.of(G), "auto")
        assert spectrum.n_signal == P
        assert spectrum.sigma < 1e-6 * np.abs(G).max()


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_twice_too_many_are_refused_where_the_spectrum_falls_off(noise: float) -> None:
    """A clear step after the sixth value makes twelve superfluous."""
    G = centred(0, 100, 120, 6, noise=noise)
    assert leading_directions(CondensedTable.of(G), 12).P == 6


def test_fewer_than_there_are_is_granted_with_room_to_choose() -> None:
    """P as asked; more directions than that are searched where the spectrum has them."""
    G = centred(0, 100, 120, 10, noise=0.1)
    spectrum = leading_directions(CondensedTable.of(G), 5)
    assert spectrum.P == 5
    assert 5 < len(spectrum.s) <= 10


@pytest.mark.parametrize(("asked", "searched"), [(3, 6), (8, 10)])
def test_room_ends_with_the_directions_above_noise(asked: int, searched: int) -> None:
    """Two directions for each regulator asked for; of ten regulators there are not more than ten.
    As many regulators as before are looked for."""
    table = CondensedTable.of(centred(0, 100, 120, 10, noise=0.1))
    spectrum = with_room(table, leading_directions(table, asked))
    assert (spectrum.P, len(spectrum.s)) == (asked, searched)


@pytest.mark.parametrize(("M", "N"), [(50, 120), (120, 50)])
@pytest.mark.parametrize("kind", ["homoscedastic", "per_variable"])
def test_triplets_are_those_of_the_rescaled_table(M: int, N: int, kind: str) -> None:
    """Against a full SVD of G0 times the factors; noise against the planted one."""
    sim = simulate(M, N, 5, noise=0.3, noise_kind=kind, random_state=1)
    G = sim.data - sim.data.mean(axis=0)
    spectrum = leading_directions(CondensedTable.of(G), 5)
    K = len(spectrum.s)
    scaled = G * spectrum.factor
    _, s, Vt = np.linalg.svd(scaled, full_matrices=False)
    np.testing.assert_allclose(spectrum.s, s[:K], rtol=1e-7)
    np.testing.assert_allclose(np.abs((spectrum.V * Vt[:K].T).sum(axis=0)), 1, atol=1e-6)
    np.testing.assert_allclose(spectrum.V.T @ spectrum.V, np.eye(K), atol=1e-8)
    planted = np.sqrt(((sim.noise_sd * spectrum.factor) ** 2).mean())
    assert spectrum.sigma == pytest.approx(planted, rel=0.12)


def test_signs_of_the_vectors_are_fixed() -> None:
    """The largest entry of each column is positive, whatever the sign of the table."""
    G = centred(0, 60, 80, 5, noise=0.2)
    one, other = (
        leading_directions(CondensedTable.of(G), 5),
        leading_directions(CondensedTable.of(-G), 5),
    )
    peak = np.abs(one.V).argmax(axis=0)
    assert (one.V[peak, np.arange(one.V.shape[1])] > 0).all()
    np.testing.assert_array_equal(one.V, other.V)


def test_noisier_variables_are_turned_down() -> None:
    """Factors follow the planted noise where it differs, and are all one where it does not."""
    rng = np.random.default_rng(0)
    sim = simulate(150, 100, 5, noise=0.0, random_state=0)
    sd = np.where(np.arange(100) < 50, 0.05, 0.4)
    G = sim.data + sd * rng.standard_normal(sim.data.shape)
    factor = leading_directions(CondensedTable.of(G - G.mean(axis=0)), 5).factor
    # The square root of the ratio of noises, 2.8; the signal blurs single variables.
    assert np.median(factor[:50]) / np.median(factor[50:]) == pytest.approx(np.sqrt(8), rel=0.15)
    equal = leading_directions(CondensedTable.of(centred(0, 150, 100, 5, noise=0.3)), 5).factor
    np.testing.assert_array_equal(equal, 1.0)


def same_but_for_scale(one: Spectrum, other: Spectrum, scale: float) -> None:
    assert (one.n_signal, one.P) == (other.n_signal, other.P)
    np.testing.assert_allclose(other.s, scale * one.s, rtol=1e-8)
    np.testing.assert_allclose(other.factor, one.factor, rtol=1e-8)
    np.testing.assert_allclose(other.V, one.V, atol=1e-6)
    assert other.sigma == pytest.approx(scale * one.sigma, rel=1e-6)


@given(
    st.floats(-12, 12).map(lambda e: 10.0**e),
    st.sampled_from(["homoscedastic", "per_variable"]),
    st.sampled_from(["auto", 3, 5, 10]),
)
def test_scale_of_the_table_is_immaterial(scale: float, kind: str, n: int | str) -> None:
    """Counts, directions and factors do not depend on the units of the measurement."""
    G = centred(2, 60, 70, 5, noise=0.3, noise_kind=kind)
    same_but_for_scale(
        leading_directions(CondensedTable.of(G), n),
        leading_directions(CondensedTable.of(G * scale), n),
        scale,
    )
