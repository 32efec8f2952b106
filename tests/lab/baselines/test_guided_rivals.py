"""Rivals that are told lists, each against a small case whose answer is known another way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rcweb.lab.baselines.guided import blind_row, forest, mean_raw, mean_whitened, nca, ulm
from rcweb.lab.baselines.guided.common import check_lists

RNG_SEED = 0
RIVALS = (mean_raw, mean_whitened, nca, ulm)


def table(M: int = 30, N: int = 40) -> np.ndarray:
    X = np.random.default_rng(RNG_SEED).normal(size=(M, N))
    return X - X.mean(axis=0)


LISTS = (np.array([0, 3, 5, 9]), np.array([3, 7, 8, 20, 21]))


def test_mean_is_the_correlation_with_the_other_members() -> None:
    """Member and non-member against np.corrcoef of the mean z-score, the member left out of it."""
    X = table()
    Z = X / X.std(axis=0)
    scores = mean_raw.score(X, LISTS, n_components=3)
    for k, listed in enumerate(LISTS):
        outside = np.corrcoef(X[:, 11], Z[:, listed].mean(axis=1))[0, 1]
        others = listed[listed != 3]
        inside = np.corrcoef(X[:, 3], Z[:, others].mean(axis=1))[0, 1]
        assert scores[k, 11] == pytest.approx(outside)
        assert scores[k, 3] == pytest.approx(inside)


def test_whitened_mean_with_all_directions_of_a_square_table() -> None:
    """All directions: V is a square rotation, so variables are orthogonal and only shared
    membership is left: 0 for members, each without itself, and 0 for the others."""
    X = np.random.default_rng(1).normal(size=(40, 40))
    np.testing.assert_allclose(mean_whitened.score(X, LISTS, n_components=40), 0, atol=1e-10)


def test_whitening_gives_weak_directions_their_weight() -> None:
    """Two variables of a weak direction under a strong one that all share: raw correlation does
    not tell them from the rest, the whitened one does."""
    rng = np.random.default_rng(2)
    strong, weak = rng.normal(size=(2, 200))
    X = np.outer(strong, np.full(30, 5.0)) + 0.05 * rng.normal(size=(200, 30))
    X[:, :6] += 0.5 * weak[:, None]
    X -= X.mean(axis=0)
    listed, hidden, others = [np.array([0, 1, 2])], [3, 4, 5], np.arange(6, 30)
    gap = [
        rival.score(X, listed, n_components=2)[0][hidden].min()
        - rival.score(X, listed, n_components=2)[0][others].max()
        for rival in (mean_raw, mean_whitened)
    ]
    assert gap[1] > 0.5 > 0.05 > gap[0]


def test_ulm_activity_is_the_t_value_of_the_slope() -> None:
    """Against scipy.stats.linregress of one sample on membership."""
    X = table()
    activity = ulm.activities(X, LISTS)
    for k, listed in enumerate(LISTS):
        member = np.isin(np.arange(40), listed).astype(float)
        for m in (0, 17):
            line = stats.linregress(member, X[m])
            assert activity[m, k] == pytest.approx(line.slope / line.stderr)


def test_ulm_scores_are_correlations_with_the_activity() -> None:
    X = table()
    activity = ulm.activities(X, LISTS)
    expected = abs(np.corrcoef(X[:, 13], activity[:, 1])[0, 1])
    assert ulm.score(X, LISTS, n_components=3)[1, 13] == pytest.approx(expected)


def compliant(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    """Activities (M, 3), weights (3, 24) and lists that satisfy NCA's conditions: each regulator
    has targets of its own, and the variables without it still tell the other two apart."""
    lists = (np.arange(0, 10), np.arange(6, 17), np.r_[np.arange(14, 24), 0:2])
    A = np.zeros((3, 24))
    for k, listed in enumerate(lists):
        A[k, listed] = rng.choice([-1, 1], len(listed)) * rng.uniform(0.5, 1.5, len(listed))
    R = rng.normal(size=(25, 3))
    return R - R.mean(axis=0), A, lists


@pytest.mark.parametrize("seed", range(3))
def test_nca_recovers_weights_and_activities_up_to_scale(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise-free: identifiable up to one factor per regulator (Liao et al. 2003)."""
    # Far beyond what a benchmark needs, to tell "close" from "equal".
    monkeypatch.setattr(nca, "MAX_STEPS", 5000)
    monkeypatch.setattr(nca, "LEAST_DECREASE", 0.0)
    monkeypatch.setattr(nca, "RIDGE", 1e-14)
    R, A, lists = compliant(np.random.default_rng(seed))
    weights, P = nca.decompose(R @ A, lists)
    np.testing.assert_allclose(P.T @ weights, R @ A, atol=1e-4)
    for k in range(3):
        assert abs(np.corrcoef(P[k], R[:, k])[0, 1]) == pytest.approx(1, abs=1e-6)
        assert abs(np.corrcoef(weights[k], A[k])[0, 1]) == pytest.approx(1, abs=1e-6)
        assert not weights[k][A[k] == 0].any()


def test_nca_finds_a_target_it_was_not_shown() -> None:
    """The target of the second regulator that no list names has its largest score there."""
    rng = np.random.default_rng(3)
    R, A, lists = compliant(rng)
    extra = R[:, [1]] + 0.05 * rng.normal(size=(25, 1))
    X = np.c_[R @ A, extra - extra.mean()]
    assert nca.score(X, lists, n_components=3)[:, 24].argmax() == 1


def test_nca_survives_lists_that_cannot_be_told_apart() -> None:
    """Two equal lists break NCA's conditions; the answer is finite."""
    assert np.isfinite(nca.score(table(), [LISTS[0], LISTS[0]], n_components=3)).all()


def test_blind_row_takes_the_row_of_the_members() -> None:
    """Scores are the normal scores of the row where the list is strong; a member that alone makes
    a row strong does not choose that row for itself."""
    rows = 0.1 * np.random.default_rng(4).normal(size=(3, 50))
    rows[:, [2, 4, 8]] = 1e-3 * np.arange(1, 4)
    rows[1, [2, 4, 5, 6]] = [5, -6, 7, 8]
    rows[2, 8] = 50
    listed = np.array([2, 4, 5, 8])
    found = blind_row.score(np.zeros((5, 50)), [listed], n_components=3, blind=rows)[0]
    expected = stats.norm.ppf((stats.rankdata(np.abs(rows[1])) - 0.5) / 50)
    np.testing.assert_allclose(found, expected)
    assert found[6] == found.max()


def test_forest_points_to_the_regulator() -> None:
    """A target that is a function of one regulator has its importance there; a list without a
    measured regulator has no answer; no variable explains itself."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 6))
    X[:, 4] = np.tanh(X[:, 1]) + 0.1 * rng.normal(size=80)
    X -= X.mean(axis=0)
    lists = [np.array([5])] * 3
    found = forest.score(X, lists, n_components=2, regulators=np.array([0, 1, -1]), n_trees=20)
    assert found[1, 4] > 0.7 > 0.3 > found[0, 4]
    assert np.isnan(found[2]).all()
    assert found[0, 0] == found[1, 1] == 0


@pytest.mark.parametrize("rival", RIVALS)
def test_order_of_variables_does_not_matter(rival) -> None:
    """Permuted columns and lists give permuted scores."""
    X, order = table(), np.random.default_rng(6).permutation(40)
    place = np.argsort(order)
    moved = rival.score(X[:, order], [place[listed] for listed in LISTS], n_components=5)
    np.testing.assert_allclose(moved, rival.score(X, LISTS, n_components=5)[:, order], atol=1e-8)


@pytest.mark.parametrize("wrong", [np.array([], int), np.array([1, 40]), np.array([-1, 2])])
def test_impossible_lists_are_refused(wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match="list 1"):
        check_lists(table(), [LISTS[0], wrong])
