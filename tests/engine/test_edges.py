"""Which edges are kept: the promises of each rule, on tables that nobody picked."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rcweb.engine.edges import EACH, comparable, keep_at_fdr, keep_strongest, standardised

probabilities = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.floats(0, 1)
)
rates = st.floats(0.001, 0.999)


@given(probabilities, rates)
def test_expected_share_of_false_edges_is_kept(p: np.ndarray, fdr: float) -> None:
    """Mean of 1 - p over the edges kept is at most fdr, none is too doubtful by itself; and one
    more edge would break either."""
    keep = keep_at_fdr(p, fdr)
    assert keep.shape == p.shape
    if keep.any():
        assert (1 - p[keep]).mean() <= fdr + 1e-12
        assert p[keep].min() > 1 - EACH * fdr
    dropped = p[~keep]
    if dropped.size and dropped.max() > max(1 - EACH * fdr, 0):
        more = np.append(p[keep], dropped.max())
        assert (1 - more).mean() > fdr - 1e-12


@given(probabilities, rates, rates)
def test_more_false_edges_allowed_keeps_no_fewer(p: np.ndarray, one: float, two: float) -> None:
    """Monotone in fdr, as sets; and what is kept is more probable than what is not."""
    strict, loose = keep_at_fdr(p, min(one, two)), keep_at_fdr(p, max(one, two))
    assert (loose | ~strict).all()
    if loose.any() and not loose.all():
        assert p[loose].min() >= p[~loose].max()


def test_a_share_of_false_edges_is_no_room_for_rubbish() -> None:
    """A hundred certain edges leave room for five false ones at 5 %: unlikely entries stay out."""
    p = np.concatenate([np.ones(100), [0.6, 0.2, 0.1, 0.05]])[None]
    assert keep_at_fdr(p, 0.05).sum() == 101


def test_impossible_edges_are_never_kept() -> None:
    """Probability 0 is no edge, however generous the rate."""
    p = np.array([[1.0, 1.0, 0.0]])
    np.testing.assert_array_equal(keep_at_fdr(p, 0.9), [[True, True, False]])
    assert not keep_at_fdr(np.zeros((2, 3)), 0.5).any()


@given(
    arrays(np.float64, (4, 7), elements=st.floats(-5, 5).map(lambda x: round(x, 2))),
    st.integers(0, 28),
)
def test_strongest_are_exactly_as_many_as_asked(score: np.ndarray, n: int) -> None:
    """n edges, or all that are not zero if these are fewer; the largest by magnitude."""
    keep = keep_strongest(score, n)
    assert keep.sum() == min(n, np.count_nonzero(score))
    if 0 < keep.sum() < score.size:
        assert np.abs(score[keep]).min() >= np.abs(score[~keep]).max()


def mixture(seed: int) -> np.ndarray:
    """Rows of background (sd 0.1), weak (0.3) and strong (3) effects."""
    rng = np.random.default_rng(seed)
    part = rng.choice(3, size=(4, 600), p=[0.75, 0.15, 0.1])
    return np.asarray(np.array([0.1, 0.3, 3.0])[part] * rng.standard_normal((4, 600)))


@given(st.integers(0, 1000), st.floats(-6, 6))
def test_standardised_rows_have_no_units(seed: int, exponent: float) -> None:
    """Each row in its own units: a row's scale is arbitrary and must not rank its edges."""
    Y = mixture(seed)
    factor = 10.0**exponent
    np.testing.assert_allclose(standardised(Y * factor), standardised(Y), rtol=1e-9)
    np.testing.assert_array_equal(np.sign(standardised(Y)), np.sign(Y))
    np.testing.assert_array_equal(standardised(np.zeros((2, 5))), 0)


def test_a_narrow_background_does_not_lead_the_list() -> None:
    """Two rows with the same strong entries, one on a background ten times narrower: their strong
    entries stand side by side. In units of the background one row would fill the list."""
    rng = np.random.default_rng(1)
    strong = np.where(np.arange(1000) < 50, rng.standard_normal(1000), 0)
    Y = strong + np.array([[0.02], [0.2]]) * rng.standard_normal((2, 1000))
    first = np.argsort(-np.abs(standardised(Y)), axis=None)[:40]
    assert 12 <= (first < 1000).sum() <= 28


@given(st.integers(0, 1000))
def test_comparable_scores_have_no_units(seed: int) -> None:
    """Neither those of a variable nor those of a row; signs are those of the entries."""
    rng = np.random.default_rng(seed)
    Y, C = rng.standard_normal((2, 4, 50))
    score = comparable(Y, C)
    np.testing.assert_allclose(comparable(Y, C * 10.0 ** rng.uniform(-6, 6, 50)), score, rtol=1e-9)
    row = 10.0 ** rng.uniform(-6, 6, (4, 1))
    np.testing.assert_allclose(comparable(Y * row, C), score, rtol=1e-9)
    np.testing.assert_array_equal(np.sign(score), np.sign(Y))
    assert np.isfinite(comparable(np.zeros((2, 5)), np.zeros((2, 5)))).all()


def test_a_variable_of_every_regulator_does_not_lead_the_list() -> None:
    """Ten variables with strong weights in all rows, and in each row ten of its own with weights
    nearly as strong: the row's own come first, which rows alone would put last."""
    rng = np.random.default_rng(2)
    Y = 0.1 * rng.standard_normal((20, 1000))
    Y[:, :10] = rng.choice([-1.2, 1.2], (20, 10))
    own = 10 * (1 + np.arange(20))[:, None] + np.arange(10)
    np.put_along_axis(Y, own, 1.0, axis=1)

    def first(score: np.ndarray) -> np.ndarray:
        return np.argsort(-np.abs(score), axis=None, kind="stable")[:200] % 1000

    assert (first(standardised(Y)) < 10).all()
    assert (first(comparable(Y, Y)) >= 10).all()
