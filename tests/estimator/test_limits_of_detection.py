"""Values at a limit of detection count as that or beyond: in the fit, and in what follows it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from rcweb import RCweb, load_model, save_model
from rcweb.engine.limits import at_limits, hide_limits, without_limits
from rcweb.engine.matching import row_correlation
from rcweb.tables import InputWarning
from rcweb.tables.limits import find_limits

P = 6


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(R, C, X): a third of the values of X lie at its limit."""
    rng = np.random.default_rng(0)
    C = np.where(rng.random((P, 150)) < 0.12, rng.standard_normal((P, 150)), 0.0)
    R = rng.standard_normal((120, P))
    X = R @ C
    X += 0.3 * X.std() * rng.standard_normal(X.shape) + 0.5 * rng.standard_normal(150)
    return R, C, np.maximum(X, np.quantile(X, 0.33))


def fitted(X: np.ndarray, n_components: int | str = "auto", **options: object) -> RCweb:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        return RCweb(n_components, random_state=0, **options).fit(X)


def test_limited_values_do_not_make_more_regulators(
    table: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Left as they were, every regulator of such a table looked like two: itself and a curve."""
    R, C, X = table
    with pytest.warns(InputWarning, match="3.% of the values are .* count as that or beyond"):
        model = RCweb(random_state=0).fit(X)
    assert model.n_components_ == P
    assert model.diagnosis_["certified"].all()
    agreement = np.abs(row_correlation(model.weights_, np.where(X.std(axis=0) > 0, C, 0.0)))
    assert (agreement.max(axis=0) > 0.95).all()
    activities = np.abs(np.corrcoef(model.transform(X).T, R.T)[:P, P:])
    assert (activities.max(axis=0) > 0.97).all()


def test_signs_of_variables_do_not_matter(
    table: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """The limit of a negated variable is an upper one."""
    X = table[2]
    sign = np.random.default_rng(1).choice([-1.0, 1.0], X.shape[1])
    one, other = fitted(X, P), fitted(X * sign, P)
    assert np.isfinite(other.limits_).any(axis=1).all()
    agreement = np.abs(row_correlation(one.weights_, other.weights_ * sign)).max(axis=0)
    assert (agreement > 0.9999).all()


def test_activities_ignore_values_at_limits(
    table: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """In `transform`, its errors, and `score`; a sample that has no other values keeps them."""
    X = table[2]
    model = fitted(X, P)
    holes = hide_limits(X, model.limits_)
    assert np.isnan(holes).mean() == pytest.approx(0.33, abs=0.02)
    np.testing.assert_array_equal(model.transform(X), model.transform(holes))
    for one, other in zip(
        model.transform(X, return_std=True), model.transform(holes, return_std=True)
    ):
        np.testing.assert_array_equal(one, other)
    assert model.score(X) == model.score(holes)
    assert model.score(X) == pytest.approx(model.score(X, activities=model.transform(X)))
    lowest = np.tile(X.min(), (1, X.shape[1]))
    assert np.isfinite(model.transform(lowest)).all()


def test_a_sample_with_nothing_but_limits_and_constants(
    table: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """A constant variable is off its limit, and says nothing: the error is that of no knowledge."""
    X = np.column_stack([table[2], np.full(120, 3.0)])
    model = fitted(X, P)
    lowest = np.append(np.full(X.shape[1] - 1, X.min()), 3.0)[None]
    activities, sd = model.transform(lowest, return_std=True)
    assert np.isfinite(activities).all()
    assert (sd > model.transform(X, return_std=True)[1].max()).all()


def test_limits_are_saved(tmp_path: Path, table: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    model = fitted(table[2], P)
    save_model(model, tmp_path / "model.rcweb")
    again = load_model(tmp_path / "model.rcweb")
    np.testing.assert_array_equal(again.limits_, model.limits_)
    np.testing.assert_array_equal(again.transform(table[2]), model.transform(table[2]))


def test_where_limits_are_not_asked(
    table: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """The published method gets the table as it is; studies have limits of their own."""
    X = table[2]
    paper = fitted(X, P, method="paper")
    assert not np.isfinite(paper.limits_).any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        studies = RCweb(P, random_state=0).fit(X, batch=["a", "b"] * 60)
        one = RCweb(P, random_state=0).fit(X, batch=["a"] * 120)
    assert not np.isfinite(studies.limits_).any()
    np.testing.assert_array_equal(one.limits_, fitted(X, P).limits_)


def test_what_is_a_limit() -> None:
    """Ties at the smallest or largest value; not whole or rounded numbers, not zero, not one
    value in ten."""
    values = np.random.default_rng(2).standard_normal((60, 30))
    assert find_limits(values) is None

    def share(table: np.ndarray) -> float:
        limits = find_limits(table)
        return 0.0 if limits is None else float(at_limits(table, np.stack(limits)).mean())

    assert share(np.maximum(values, -0.5)) == pytest.approx((values < -0.5).mean())
    assert share(np.minimum(values, 0.5)) == pytest.approx((values > 0.5).mean())
    both = np.clip(values, -0.7, 0.7)
    assert share(both) == pytest.approx((np.abs(values) > 0.7).mean())
    holes = np.where(values > 1, np.nan, np.maximum(values, -0.5))
    assert share(holes) == pytest.approx((values < -0.5).mean())
    own = np.maximum(values, np.quantile(values, 0.3, axis=0))
    assert share(own) == pytest.approx(0.3, abs=0.02)
    assert share(np.maximum(values, 0.0)) == 0
    assert share(np.maximum(values, -1.5)) == 0
    assert share(np.maximum(np.round(values), -1)) == 0
    assert share(np.round(values, 1)) == 0
    assert share(np.maximum(np.round(2 * values), -1) / 2) == 0  # steps of a scale
    assert share(np.where(values < 0.3, -0.5, 0.5)) == 0  # two values
    assert share(np.repeat(values[:2], [18, 2], axis=0)) == 0  # two kinds of samples
    assert share(np.maximum(np.round(values, 2), -0.5)) > 0.2
    assert hide_limits(values, None) is values
    assert hide_limits(values, without_limits(30)) is values
