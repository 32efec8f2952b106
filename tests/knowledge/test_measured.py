"""Measured factors (section 4.3): found when they can be, "none fits" when chance explains them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, linregress

from rcweb import RCweb
from rcweb.engine.matching import match_rows
from rcweb.knowledge import match_measured
from rcweb.lab.simulate import simulate


def planted(seed, n, n_null=0):
    """10 regulators found in any order, sign and scale with 15 % error; 5 of them measured n times.

    Measurements carry 20 % noise (sd over sd of the factor); `n_null` more factors are unrelated.
    """
    rng = np.random.default_rng(seed)
    M, P, K = 100, 10, 5
    truth = rng.random((M, P))
    standard = (truth - truth.mean(0)) / truth.std(0)
    order = rng.permutation(P)
    found = (standard + 0.15 * rng.standard_normal((M, P)))[:, order]
    found *= rng.choice([-1, 1], P) * rng.uniform(0.5, 2, P)
    factors = np.hstack([3 * truth[:, :K] + 1, rng.random((M, n_null))])
    measured = np.full(factors.shape, np.nan)
    for k in range(K + n_null):
        rows = rng.choice(M, n, replace=False)
        noise = 0.2 * factors[:, k].std() * rng.standard_normal(n)
        measured[rows, k] = factors[rows, k] + noise
    where = [int(np.flatnonzero(order == k)[0]) for k in range(K)]
    scale = [np.polyfit(found[:, s], factors[:, k], 1)[0] for k, s in enumerate(where)]
    return found, measured, [f"rcweb{s}" for s in where], np.array(scale)


def rates(n, n_null=0, seeds=50):
    """Shares found and false among the 5 planted, and of true scales inside their interval."""
    found = false = covered = 0
    for seed in range(seeds):
        R, U, truth, scale = planted(seed, n, n_null)
        table = match_measured(R, U)
        right = table["regulator"][:5].to_numpy() == np.array(truth)
        inside = (table["scale_low"][:5] <= scale) & (scale <= table["scale_high"][:5])
        found += right.sum()
        covered += (right & inside).sum()
        false += table["regulator"].notna().sum() - right.sum()
    return found / (5 * seeds), false / max(found + false, 1), covered / max(found, 1)


def test_eight_samples_find_the_factors():
    """The bar: >= 95 % found, <= 5 % false names over 50 seeds, intervals at the nominal 95 %."""
    found, false, covered = rates(8)
    assert found >= 0.95
    assert false <= 0.05
    # 250 intervals: three standard errors around 0.95.
    assert abs(covered - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / 250)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_few_samples_give_no_false_names(n):
    """Chance correlations are high here; silence is right. With 3 or 4 nothing can be named."""
    found, false, _ = rates(n)
    assert false <= 0.05
    if n <= 4:
        assert found == 0
    if n == 6:
        assert found > 0.5


def test_unrelated_factors_stay_without_a_name():
    """Five factors that are no regulator beside five that are: still <= 5 % false names."""
    found, false, _ = rates(8, n_null=5, seeds=30)
    assert found >= 0.85  # correcting for ten factors instead of five costs some
    assert false <= 0.05


@pytest.mark.parametrize("seeds", [20, pytest.param(50, marks=pytest.mark.slow)])
def test_from_data_to_named_factors(seeds):
    """The whole way: 10 hidden regulators, a fit, 5 factors measured in 8 samples, many seeds."""
    named = right = 0
    for seed in range(seeds):
        truth = simulate(150, 300, 10, density=0.1, noise=0.2, random_state=seed)
        model = RCweb(10, random_state=0).fit(truth.data)
        rng = np.random.default_rng(1000 + seed)
        measured = np.full((150, 5), np.nan)
        for k in range(5):
            rows, factor = rng.choice(150, 8, replace=False), truth.activities[:, k]
            noise = 0.2 * factor.std() * rng.standard_normal(8)
            measured[rows, k] = factor[rows] + noise
        pairs = match_rows(model.components_, truth.network)
        where = dict(zip(pairs.other.tolist(), pairs.found.tolist()))
        regulators = match_measured(model.transform(truth.data), measured)["regulator"]
        named += regulators.notna().sum()
        right += sum(regulators[k] == f"rcweb{where[k]}" for k in range(5))
    assert right >= 0.95 * 5 * seeds
    assert named - right <= 0.05 * named


@pytest.mark.parametrize("n", [3, 4, 5])
def test_p_equals_enumeration_in_plain_python(n):
    """Slow twin: every order, corrcoef, the maximum over regulators."""
    rng = np.random.default_rng(n)
    R, u = rng.standard_normal((n, 4)), rng.standard_normal(n)
    row = match_measured(R, u).iloc[0]
    best = [
        max(abs(np.corrcoef(np.array(order), R[:, i])[0, 1]) for i in range(4))
        for order in permutations(u)
    ]
    expected = np.mean(np.array(best) >= abs(row["correlation"]) - 1e-12)
    assert row["p"] == pytest.approx(expected)
    assert row["p"] >= 1 / len(best)


def test_p_is_uniform_when_nothing_is_there():
    """Drawn orders, ten samples, unrelated factor: Kolmogorov-Smirnov at 1e-3."""
    rng = np.random.default_rng(5)
    p = [
        match_measured(rng.standard_normal((10, 20)), rng.standard_normal(10), n_permutations=500)[
            "p"
        ][0]
        for _ in range(200)
    ]
    assert kstest(p, "uniform").pvalue > 1e-3


def test_scale_equals_linregress():
    """D_ss, its interval and the offset are those of simple regression."""
    rng = np.random.default_rng(2)
    R = rng.standard_normal((9, 3))
    u = -2.5 * R[:, 1] + 4 + 0.1 * rng.standard_normal(9)
    row = match_measured(R, u).iloc[0]
    fit = linregress(R[:, 1], u)
    assert row["regulator"] == "rcweb1"
    assert row["sign"] == -1
    assert row["scale"] == pytest.approx(fit.slope)
    assert row["offset"] == pytest.approx(fit.intercept)
    half = 2.3646242510103 * fit.stderr  # Student's quantile, 7 degrees of freedom
    assert row["scale_high"] - row["scale"] == pytest.approx(half)


def test_assignment_is_one_to_one_and_optimal():
    """Two factors that both like regulator 0 best: the total decides, not the order of columns."""
    rng = np.random.default_rng(8)
    R = rng.standard_normal((12, 2))
    U = np.column_stack([R[:, 0] + 0.05 * R[:, 1], R[:, 0] + 0.6 * R[:, 1]])
    table = match_measured(R, U)
    assert table["candidate"].tolist() == ["rcweb0", "rcweb1"]
    assert match_measured(R, U[:, ::-1])["candidate"].tolist() == ["rcweb1", "rcweb0"]


def test_twins_are_not_told_apart():
    """Two regulators with the same activities: chance is excluded, yet none is named."""
    rng = np.random.default_rng(1)
    R = rng.standard_normal((20, 4))
    R[:, 3] = R[:, 2]
    row = match_measured(R, R[:, 2] + 0.1 * rng.standard_normal(20)).iloc[0]
    assert row["q"] < 0.01
    assert row["regulator"] is None
    assert "another regulator" in row["reason"]
    assert row["confidence"] == pytest.approx(0.5)


def test_more_factors_than_regulators_and_hardly_measured_ones():
    """Every factor gets a row with its reason."""
    rng = np.random.default_rng(0)
    R = rng.standard_normal((10, 1))
    U = np.column_stack([R[:, 0], rng.standard_normal(10), np.full(10, np.nan)])
    U[1:3, 2] = 1.0, 2.0
    table = match_measured(R, U)
    assert table["regulator"].tolist() == ["rcweb0", None, None]
    assert table["n_samples"].tolist() == [10, 10, 2]
    assert table["reason"].tolist() == ["named", "more factors than regulators"] + [
        "more factors than regulators"
    ]
    assert "fewer than 3" in match_measured(R, U[:, 2])["reason"][0]


def test_tables_are_joined_by_sample_name():
    """Only the measured samples, in any order, under the names of the activities."""
    rng = np.random.default_rng(3)
    R = pd.DataFrame(rng.standard_normal((30, 5)), index=[f"s{m}" for m in range(30)])
    R.columns = list("abcde")
    part = R.iloc[[20, 3, 9, 14, 7, 28, 1, 11], [3]].set_axis(["ATP"], axis=1)
    row = match_measured(R, part).iloc[0]
    assert (row["factor"], row["regulator"]) == ("ATP", "d")
    assert row["correlation"] == pytest.approx(1.0)
    with pytest.raises(ValueError, match="sample 'x' was measured"):
        match_measured(R, part.rename(index={"s3": "x"}))
    with pytest.raises(ValueError, match="join the two by sample name"):
        match_measured(R.to_numpy(), part)
    with pytest.raises(ValueError, match="must be unique"):
        match_measured(pd.concat([R, R]), part)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-50, 50))
def test_units_of_the_factor_change_only_the_scale(seed, factor, shift):
    """Kelvin or Celsius: same regulator, p and confidence; the scale is multiplied."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((7, 3))
    u = R[:, 0] + 0.5 * rng.standard_normal(7)
    a, b = match_measured(R, u).iloc[0], match_measured(R, factor * u + shift).iloc[0]
    assert a["candidate"] == b["candidate"]
    assert a["p"] == pytest.approx(b["p"], abs=2 / 5040)
    assert b["scale"] == pytest.approx(factor * a["scale"], rel=1e-6)


def test_constant_measurements_and_bad_arguments():
    """A factor that never changed tells nothing; wrong input is named."""
    R = np.random.default_rng(0).standard_normal((6, 2))
    row = match_measured(R, np.ones(6)).iloc[0]
    assert row["regulator"] is None
    assert row["p"] == 1.0
    with pytest.raises(ValueError, match="alpha must lie"):
        match_measured(R, np.ones(6), alpha=2)
    with pytest.raises(ValueError, match="samples x regulators"):
        match_measured(np.ones(6), np.ones(6))
    with pytest.raises(ValueError, match="NaN or infinite"):
        match_measured(np.full((6, 2), np.nan), np.ones(6))
    with pytest.raises(ValueError, match="5 rows, activities 6"):
        match_measured(R, np.ones(5))
