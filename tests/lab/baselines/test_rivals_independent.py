"""Each rival against something that shares no line with it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import SparsePCA
from sklearn.linear_model import orthogonal_mp_gram

from rcweb.engine.matching import match_rows
from rcweb.lab.baselines import bfrm, empca, l1_sphere, oracle, psmf, sparse_pca
from rcweb.lab.baselines.base import compress, cut
from rcweb.lab.baselines.ksvd import batch_omp, update_atoms
from rcweb.lab.baselines.ksvd import fit as ksvd_fit
from rcweb.lab.baselines.penalty import penalty_for
from rcweb.lab.baselines.varimax import varimax
from rcweb.lab.simulate import simulate


@given(seed=st.integers(0, 10_000), k=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_batch_omp_is_scikit_learns(seed: int, k: int) -> None:
    """Batch OMP picks the atoms and weights of scikit-learn's Gram OMP."""
    rng = np.random.default_rng(seed)
    D = rng.standard_normal((20, 8))
    D /= np.linalg.norm(D, axis=0)
    X = rng.standard_normal((20, 5))
    expected = orthogonal_mp_gram(D.T @ D, D.T @ X, n_nonzero_coefs=k).reshape(8, 5)
    np.testing.assert_allclose(batch_omp(D.T @ D, X.T @ D, k), expected.T, atol=1e-9)


def test_omp_stops_at_a_repeated_atom() -> None:
    """Two equal atoms: the second adds nothing and must not break the Cholesky factor."""
    D = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    code = batch_omp(D.T @ D, np.array([[2.0, 0.0]]) @ D, 3)
    np.testing.assert_allclose(code @ D.T, [[2.0, 0.0]])


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_atom_update_is_the_leading_singular_pair(seed: int) -> None:
    """Many power steps on one atom: the SVD of what the others leave over, and E kept in step."""
    rng = np.random.default_rng(seed)
    X, D = rng.standard_normal((30, 7)), rng.standard_normal((3, 7))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    C = rng.standard_normal((30, 3)) * (rng.random((30, 3)) < 0.6)
    users = np.flatnonzero(C[:, 1])
    own = (X - C @ D + np.outer(C[:, 1], D[1]))[users]
    U, s, Vt = np.linalg.svd(own)
    E = X - C @ D
    update_atoms(E, D, C, np.array([1]), 2000)
    np.testing.assert_allclose(
        np.outer(C[users, 1], D[1]), s[0] * np.outer(U[:, 0], Vt[0]), atol=1e-4
    )
    np.testing.assert_allclose(E, X - C @ D, atol=1e-12)


def test_unused_atom_becomes_the_worst_explained_variable() -> None:
    """K-SVD's rule for dead atoms."""
    E = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 2.0]])
    D, C = np.array([[1.0, 0.0]]), np.zeros((3, 1))
    update_atoms(E, D, C, np.array([0]), 3)
    np.testing.assert_allclose(D, [[0.6, 0.8]])


def test_ksvd_error_falls_with_iterations() -> None:
    """More iterations explain more: the certificate of K-SVD."""
    sim = simulate(60, 120, 6, density=0.3, noise=0.2, random_state=0)
    G0 = sim.data - sim.data.mean(axis=0)
    errors = []
    for n in (1, 5, 20):
        f = ksvd_fit(sim.data, 6, density=0.3, n_iter=n)
        errors.append(np.sum((G0 - f.activities @ f.network) ** 2))
    assert errors[0] > errors[1] > errors[2]


def test_ksvd_codes_have_the_same_number_of_non_zeros() -> None:
    """Every variable has at most density * P regulators."""
    sim = simulate(60, 120, 10, density=0.3, noise=0.2, random_state=0)
    network = ksvd_fit(sim.data, 10, density=0.3).network
    assert (network != 0).sum(axis=0).max() == 3


def test_ksvd_refuses_an_unknown_start() -> None:
    """A misspelt start is named."""
    with pytest.raises(ValueError, match="fourier"):
        ksvd_fit(np.random.default_rng(0).random((9, 9)), 2, starts=("fourier",))


def test_empca_finds_the_best_sparse_component() -> None:
    """On six variables the first component is the best of all supports of size two."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50, 6)) @ np.diag([1, 3, 1, 2.5, 1, 1])
    X[:, 1] += 2 * X[:, 3]
    X -= X.mean(axis=0)
    best = max(
        itertools.combinations(range(6), 2),
        key=lambda s: np.linalg.norm(X[:, s], 2),
    )
    w = empca.fit(X, 1, density=2 / 6).network[0]
    assert tuple(np.flatnonzero(w)) == best
    assert np.linalg.norm(X @ w) == pytest.approx(np.linalg.norm(X[:, best], 2))


def test_dense_empca_is_pca() -> None:
    """Without a density emPCA gives principal components: its published limit."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 10)) * np.linspace(1, 4, 10)
    _, _, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    W = empca.fit(X, 3).network
    np.testing.assert_allclose(np.abs(W @ Vt[:3].T), np.eye(3), atol=1e-3)


def test_non_negative_empca() -> None:
    """The non-negative form has no negative weight and finds a planted positive axis."""
    rng = np.random.default_rng(1)
    axis = np.array([1.0, 2, 0, 0, 1.5, 0])
    X = np.outer(rng.standard_normal(200), axis) + 0.1 * rng.standard_normal((200, 6))
    w = empca.fit(X, 1, density=0.5, non_negative=True).network[0]
    assert (w >= 0).all()
    assert w @ axis / np.linalg.norm(axis) > 0.99


def test_varimax_beats_every_planar_rotation() -> None:
    """In two dimensions no angle of a fine grid has a higher criterion."""
    rng = np.random.default_rng(2)
    L, _ = np.linalg.qr(rng.standard_normal((30, 2)) ** 3)

    def criterion(T: np.ndarray) -> float:
        return float(((L @ T) ** 2).var(axis=0).sum())

    angles = np.linspace(0, np.pi, 721)
    grid = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
    T = varimax(L)
    np.testing.assert_allclose(T.T @ T, np.eye(2), atol=1e-12)
    assert criterion(T) >= max(map(criterion, grid)) - 1e-9


def test_sparse_pca_is_scikit_learns() -> None:
    """At the same penalty the components are those of `sklearn.decomposition.SparsePCA`."""
    sim = simulate(30, 40, 3, density=0.3, noise=0.2, random_state=0)
    theirs = SparsePCA(3, alpha=1.0, max_iter=500, tol=1e-10, random_state=0).fit(sim.data)
    ours = sparse_pca.fit(sim.data, 3, alpha=1.0)
    pairs = match_rows(ours.network, theirs.components_)
    assert np.abs(pairs.correlation).min() > 0.999


def test_penalty_hits_the_density() -> None:
    """Bisection ends within 2 % of the share of non-zeros asked for."""
    values = np.abs(np.random.default_rng(0).standard_normal((10, 100)))
    alpha = penalty_for(0.2, lambda a: np.where(values > a, values, 0), scale=5.0)
    assert np.mean(values > alpha) == pytest.approx(0.2, rel=0.02)


def test_psmf_free_energy_never_rises() -> None:
    """Every update is a coordinate step on one free energy; a wrong one would raise it."""
    sim = simulate(50, 60, 4, density=0.3, noise=0.3, random_state=0)
    X = (sim.data - sim.data.mean(axis=0)).T.copy()
    energies, _ = psmf._run(X / X.std(), 4, 3)
    assert len(energies) > 3
    # Smoothing of the prior over numbers may cost a trace.
    assert np.diff(energies).max() < 1e-3 * abs(energies[-1])


def test_psmf_probabilities_separate_edges() -> None:
    """Probabilities are probabilities, and edges have higher ones."""
    sim = simulate(100, 80, 4, density=0.25, weights="bounded", noise=0.1, random_state=1)
    found = psmf.fit(sim.data, 4, density=0.25)
    assert found.probability.min() >= 0
    assert found.probability.max() <= 1
    pairs = match_rows(found.network, sim.network)
    p, true = found.probability[pairs.found], sim.edges[pairs.other]
    assert p[true].mean() > p[~true].mean() + 0.5


def test_bfrm_probabilities_are_calibrated() -> None:
    """Among edges of probability above 0.9 at least 0.9 are true on data from its own model."""
    sim = simulate(
        150,
        120,
        4,
        density=0.25,
        weights="normal",
        regulators="gaussian",
        noise=0.3,
        random_state=0,
    )
    found = bfrm.fit(sim.data, 4, density=0.25, n_burn=100, n_sweeps=100)
    pairs = match_rows(found.network, sim.network)
    sure = found.probability[pairs.found] > 0.9
    assert sure.sum() > 50
    assert sim.edges[pairs.other][sure].mean() >= 0.9


def test_bfrm_measured_factors_and_responses() -> None:
    """A measured factor takes its part of the data; a response shows which factor drives it."""
    rng = np.random.default_rng(5)
    sim = simulate(200, 100, 3, density=0.3, regulators="gaussian", noise=0.1, random_state=5)
    h = rng.standard_normal(200)
    effect = rng.standard_normal(100)
    response = 2 * sim.activities[:, 1] + 0.1 * rng.standard_normal(200)
    found = bfrm.fit(
        sim.data + np.outer(h, effect),
        3,
        density=0.3,
        measured=h,
        responses=response,
        n_burn=100,
        n_sweeps=100,
    )
    # In 200 samples h meets each regulator by chance with a correlation of about 0.07.
    assert np.corrcoef(found.measured_effects[0], effect)[0, 1] > 0.97
    pairs = match_rows(found.network, sim.network)
    driver = pairs.found[list(pairs.other).index(1)]
    assert np.argmax(np.abs(found.response_loadings[:, 0])) == driver


def test_bfrm_refuses_wrong_lengths() -> None:
    """Measured factors need a row per sample."""
    with pytest.raises(ValueError, match="measured"):
        bfrm.fit(np.random.default_rng(0).random((20, 10)), 2, measured=np.zeros(3))


def test_oracle_is_stationary() -> None:
    """At the oracle's answer the gradient over the support vanishes, and the support is kept."""
    sim = simulate(80, 60, 4, density=0.3, noise=0.3, noise_kind="per_variable", random_state=2)
    found = oracle.fit(sim.data, 4, network=sim.network, noise_sd=sim.noise_sd)
    np.testing.assert_array_equal(found.network != 0, sim.edges)
    G0 = sim.data - sim.data.mean(axis=0)
    residual = (G0 - found.activities @ found.network) / sim.noise_sd
    over_R = residual @ (found.network / sim.noise_sd).T
    over_C = (found.activities.T @ residual)[sim.edges]
    size = np.abs(found.activities.T @ (G0 / sim.noise_sd)).max()
    # ALS stops at a relative decrease of 1e-7: gradients of about its root.
    assert np.abs(over_R).max() < 1e-2 * size
    assert np.abs(over_C).max() < 1e-2 * size


def test_oracle_refuses_a_network_of_another_shape() -> None:
    """The true network must fit the table."""
    with pytest.raises(ValueError, match="shape"):
        oracle.fit(np.random.default_rng(0).random((9, 8)), 2, network=np.ones((2, 7)))


def test_l1_sphere_finds_exact_rows_without_noise() -> None:
    """Noise-free sparse rows are the sparsest vectors of their span."""
    sim = simulate(60, 200, 5, density=0.15, noise=0.0, random_state=0)
    found = l1_sphere.fit(sim.data, 5)
    pairs = match_rows(found.network, sim.network)
    assert np.abs(pairs.correlation).min() > 0.99


@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 5),
    n=st.integers(2, 30),
    density=st.floats(0.01, 1),
)
@settings(max_examples=50, deadline=None)
def test_cut_keeps_the_largest(seed: int, rows: int, n: int, density: float) -> None:
    """Kept entries are unchanged, as many as asked for, and none dropped is larger."""
    C = np.random.default_rng(seed).standard_normal((rows, n))
    kept = cut(C, density)
    k = int(np.clip(round(density * n), 1, n))
    np.testing.assert_array_equal((kept != 0).sum(axis=1), k)
    for row, full in zip(kept, C):
        assert np.abs(full[row == 0]).max(initial=0) <= np.abs(full[row != 0]).min()


@pytest.mark.parametrize("shape", [(5, 9), (9, 5)])
def test_compress_keeps_the_table(shape: tuple[int, int]) -> None:
    """Q T is the table again and Q is orthonormal."""
    X = np.random.default_rng(0).standard_normal(shape)
    Q, T = compress(X)
    assert len(T) == min(shape)
    np.testing.assert_allclose(Q @ T, X, atol=1e-12)
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12)
