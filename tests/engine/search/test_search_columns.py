"""The whole search: planted columns certified, random subspaces not, no start matters."""

from __future__ import annotations

import numpy as np
import pytest
from oblique_problems import planted, random_columns, random_space

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.search import search
from rcweb.engine.search.consensus import Consensus
from rcweb.engine.search.halves import search_splits
from rcweb.engine.search.joint import normalised, own_share
from rcweb.engine.search.newton import Ascent
from rcweb.engine.search.peel import MARGIN, chance_level
from rcweb.engine.search.search import (
    is_diffuse,
    search_columns,
    usual_chance,
    zeros_are_exact,
)
from rcweb.engine.search.space import Space
from rcweb.engine.search.start import joint_start
from rcweb.engine.spectrum import leading_directions
from rcweb.lab.simulate import simulate


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.4])
def test_planted_columns_are_found_and_certified(noise: float) -> None:
    """All are found, far above chance, and zeros are told to be exact; halves of so few variables
    certify most."""
    certified = []
    for seed in range(8):
        problem = planted(seed, noise=noise)
        found = search_columns(problem.space, problem.space.K)
        assert problem.accuracy(found.columns.B).min() > 0.98
        assert found.confirmed.all() or noise
        assert (found.score > 2 * MARGIN * found.chance).all()
        assert found.exact
        certified.append(found.certified.mean())
    assert np.mean(certified) > 0.6


@pytest.mark.parametrize("P", [8, 12])
def test_dense_rows_are_not_lost(P: int) -> None:
    """Half of all entries are edges: what a symmetric start loses, peeling finds."""
    problem = planted(1, M=60, N=140, P=P, noise=0.0, density=0.5)
    found = search_columns(problem.space, problem.space.K)
    assert problem.accuracy(found.columns.B).min() > 0.98


@pytest.mark.parametrize("seed", range(4))
def test_random_subspace_is_not_certified(seed: int) -> None:
    """N = 300, K = 10 pure noise: halves of the variables have nothing in common."""
    found = search_columns(random_space(seed, N=300, K=10), 10)
    assert not found.certified.any()
    assert not found.confirmed.any()


def diffuse_space(background: float, seed: int = 0, N: int = 600, K: int = 8) -> Space:
    """Rows of strong entries on a background of a share of their size; hardly any noise."""
    rng = np.random.default_rng(seed)
    strong = rng.random((K, N)) < 0.06
    rows = np.where(strong, 1.0, background) * rng.standard_normal((K, N))
    return Space.of(np.linalg.qr(rows.T)[0], np.ones(K), 0.03 / np.sqrt(N))


@pytest.mark.parametrize("background", [0.0, 0.05, 0.1, 0.2, 0.3, 0.4])
def test_exact_zeros_are_told_from_a_background(background: float) -> None:
    """Also from a wide one, in which no row is sparser than chance."""
    space = diffuse_space(background)
    start = joint_start(space, np.random.default_rng(0))
    chance = chance_level(space, space.K, np.random.default_rng(1))
    assert zeros_are_exact(space, start.B, chance) == (background == 0)
    chance = usual_chance(space)
    assert is_diffuse(space, search_splits(space, range(1)), chance) == (background > 0)


def test_what_is_known_to_be_diffuse_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One test decides, once: in a larger space the start is not made a second time."""
    space = diffuse_space(0.2)
    usual = search_columns(space, 8)
    monkeypatch.setattr(search, "joint_start", lambda space, rng: pytest.fail("asked again"))
    known = search_columns(space, 8, diffuse=True)
    assert not known.exact
    np.testing.assert_array_equal(known.columns.B, usual.columns.B)


def test_without_noise_zeros_are_counted() -> None:
    """A dense row has K - 1 zeros in some direction: no exact zeros. Sparse rows have more."""
    rng = np.random.default_rng(0)
    for density in (1.0, 0.3):
        rows = rng.standard_normal((5, 80)) * (rng.random((5, 80)) < density)
        found = search_columns(Space.of(np.linalg.qr(rows.T)[0], np.ones(5), 0.0), 5)
        assert found.exact == (density < 1)


def test_other_starts_give_the_same_columns() -> None:
    """Exact zeros: `stream` chooses the starts, and does not matter; the same call, same bits."""
    space = planted(3, P=8, density=0.3).space
    first, second, other = (search_columns(space, 8, stream=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.columns.B, second.columns.B)
    np.testing.assert_array_equal(first.recurrence, second.recurrence)
    cosine = np.abs(first.columns.B @ other.columns.B.T).max(axis=1)
    assert cosine[first.confirmed].min() > 0.999
    assert first.confirmed.all()


def test_columns_of_fewer_searches_follow_ungraded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before rows of the likeliest search alone, and never certified, whatever halves say."""
    space = diffuse_space(0.3)
    B = normalised(np.eye(8) + 0.1)
    shared = Consensus(
        B[:5],
        frequency=np.array([1.0, 0.75, 0.5, 0.25, 0.125]),
        error=np.full(5, 0.001),
        recurrence=np.ones(5),
        best=Ascent.at(space, B),
        searches=8,
    )
    monkeypatch.setattr(search, "agree", lambda space, splits: shared)
    found = search.search_diffuse(space, 6, 0.0, lambda line: None)
    # The fifth was found once, as were the rows of the likeliest search.
    np.testing.assert_allclose(found.columns.B[:4], B[:4])
    assert len(found.columns.B) == 6
    # Half of eight searches may be less than half of the next eight.
    assert found.same.tolist() == [True, True, False, False, False, False]
    assert found.recurrence.tolist() == [1, 1, 1, 0, 0, 0]
    assert found.frequency.tolist() == [1, 0.75, 0.5, 0.25, 0, 0]


def test_own_share_is_the_length_outside_the_others() -> None:
    """Against the residual of a least-squares fit by all other rows."""
    B = normalised(np.random.default_rng(0).standard_normal((5, 5)))
    for k, share in enumerate(own_share(B)):
        others = np.delete(B, k, axis=0)
        fit = others.T @ np.linalg.lstsq(others.T, B[k], rcond=None)[0]
        assert share == pytest.approx(np.linalg.norm(B[k] - fit))
    np.testing.assert_allclose(own_share(random_columns(0, 4)), 1)


def test_uniform_weights_with_noise_are_not_taken_for_a_background() -> None:
    """Weights near zero widen the narrow part; such a table (figure 2A) once lost all its edges."""
    sim = simulate(
        2000, 1000, 60, network="author_poisson", density=0.25, weights="author", noise=0.5,
        noise_convention="author", random_state=3,
    )  # fmt: skip
    spectrum = leading_directions(CondensedTable.of(sim.data - sim.data.mean(axis=0)), 60)
    space = Space.of(spectrum.V, spectrum.s, spectrum.sigma)
    rng = np.random.default_rng(0)
    assert zeros_are_exact(space, joint_start(space, rng).B, chance_level(space, 60, rng))
