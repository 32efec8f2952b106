"""Contrasts: the t-test where nothing is shared, limma's where variances are; honest under shuffled
labels; clear about designs that cannot answer."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import digamma, polygamma

from rcweb.activity import contrast
from rcweb.activity.moderated import inverse_trigamma, moderate

COLUMNS = ["regulator", "group", "reference", "change", "lower", "upper", "t", "p", "q"]


def scattered(M: int, P: int, seed: int = 0) -> pd.DataFrame:
    """Activities without any change; regulators differ in their scatter."""
    rng = np.random.default_rng(seed)
    sd = np.sqrt(8 / rng.chisquare(8, P))
    return pd.DataFrame(
        sd * rng.standard_normal((M, P)),
        index=[f"s{m}" for m in range(M)],
        columns=[f"reg{p}" for p in range(P)],
    )


def by_regulator(table: pd.DataFrame, activities: pd.DataFrame) -> pd.DataFrame:
    return table.set_index("regulator").loc[list(activities.columns)]


def test_two_groups_without_sharing_are_students_t():
    """Statistic, p and interval as in scipy."""
    R = scattered(9, 5)
    found = by_regulator(contrast(R, ["wt"] * 5 + ["ko"] * 4, "wt", moderated=False), R)
    expected = stats.ttest_ind(R[5:], R[:5])
    assert found["t"].to_numpy() == pytest.approx(expected.statistic)
    assert found["p"].to_numpy() == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert found["lower"].to_numpy() == pytest.approx(interval.low)
    assert found["upper"].to_numpy() == pytest.approx(interval.high)
    assert (found["group"] == "ko").all()


def test_pairs_are_the_paired_t_test():
    R = scattered(12, 4)
    donors, groups = [f"d{m % 6}" for m in range(12)], ["before"] * 6 + ["after"] * 6
    R = R + np.repeat(np.random.default_rng(1).normal(0, 30, (1, 6)), 2, axis=0).ravel()[:, None]
    found = by_regulator(contrast(R, groups, "before", paired=donors, moderated=False), R)
    expected = stats.ttest_rel(R[6:], R[:6])
    assert found["t"].to_numpy() == pytest.approx(expected.statistic)
    assert found["p"].to_numpy() == pytest.approx(expected.pvalue)


def moderated_loop(values, groups, group, reference):
    """Smyth (2004), section 6, one regulator at a time in plain Python."""
    names = sorted(set(groups))
    variances, changes, factors = [], [], []
    for column in zip(*values):
        means, rest, df = {}, 0.0, 0
        for name in names:
            part = [v for v, g in zip(column, groups) if g == name]
            means[name] = sum(part) / len(part)
            rest += sum((v - means[name]) ** 2 for v in part)
            df += len(part) - 1
        variances.append(rest / df)
        changes.append(means[group] - means[reference])
        factors.append(1 / groups.count(group) + 1 / groups.count(reference))
    e = [math.log(v) - digamma(df / 2) + math.log(df / 2) for v in variances]
    mean = sum(e) / len(e)
    spread = sum((x - mean) ** 2 for x in e) / (len(e) - 1) - polygamma(1, df / 2)
    low, high = 1e-6, 1e6  # bisection for trigamma(d0 / 2) = spread
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if polygamma(1, middle / 2) > spread else (low, middle)
    d0 = low
    s0 = math.exp(mean + digamma(d0 / 2) - math.log(d0 / 2))
    rows = []
    for variance, change, factor in zip(variances, changes, factors):
        pooled = (d0 * s0 + df * variance) / (d0 + df)
        t = change / math.sqrt(factor * pooled)
        rows.append((t, 2 * stats.t.sf(abs(t), d0 + df)))
    return np.array(rows)


def test_moderation_is_smyths():
    """Against a plain loop that shares no line with the package."""
    R = scattered(8, 60, seed=2)
    groups = list("aaabbbcc")
    expected = moderated_loop(R.to_numpy().tolist(), groups, "b", "a")
    found = contrast(R, groups)
    found = by_regulator(found[(found["group"] == "b") & (found["reference"] == "a")], R)
    assert found["t"].to_numpy() == pytest.approx(expected[:, 0])
    assert found["p"].to_numpy() == pytest.approx(expected[:, 1])


@given(st.floats(1e-8, 1e9))
def test_inverse_of_trigamma(x):
    assert polygamma(1, inverse_trigamma(x)) == pytest.approx(x, rel=1e-5)


def test_equal_variances_are_shared_completely():
    """Scatter that differs less than by chance: one variance for all."""
    variance, df = moderate(np.array([1.0, 1.01, 0.99, 1.0]), 3)
    assert np.ptp(variance) == 0
    assert df == 12


def test_shuffled_labels_give_uniform_p():
    """No change anywhere: p of 400 regulators in 30 shuffles is uniform (Kolmogorov-Smirnov, fixed
    seeds), moderated and with unequal groups."""
    rng = np.random.default_rng(0)
    p = []
    for seed in range(30):
        R = scattered(11, 400, seed)
        p.append(contrast(R, rng.permutation(list("aaaabbbbccc")))["p"][:1200])
    # Three comparisons of one regulator share data; a third of them is enough to see a bias.
    assert stats.kstest(np.concatenate(p)[::97], "uniform").pvalue > 0.01
    assert (np.concatenate(p) < 0.01).mean() == pytest.approx(0.01, abs=0.003)


def test_planted_changes_come_first_with_their_size():
    R = scattered(12, 30, seed=3)
    R.iloc[6:, 4] += 20
    R.iloc[6:, 7] -= 15
    found = contrast(R, ["wt"] * 6 + ["ko"] * 6, "wt")
    assert list(found.columns) == COLUMNS
    assert set(found["regulator"][:2]) == {"reg4", "reg7"}
    first = found.iloc[0]
    assert first["lower"] < first["change"] < first["upper"]
    assert found["q"].to_numpy() == pytest.approx(stats.false_discovery_control(found["p"]))
    assert (found["q"] < 0.05).sum() == 2


def test_covariates_are_taken_out():
    """A number and a category that hide the change, and one that is missing somewhere."""
    rng = np.random.default_rng(0)
    groups = np.array(list("ab") * 15)
    sheet = pd.DataFrame({"dose": rng.normal(size=30), "lab": rng.choice(["x", "y", "z"], 30)})
    noise = 0.1 * rng.standard_normal((30, 6))
    R = noise + 5 * sheet[["dose"]].to_numpy() + 9 * (sheet[["lab"]] == "y").to_numpy()
    R[groups == "b", 2] += 1
    found = contrast(R, groups, "a", covariates=sheet)
    assert found["regulator"][0] == "rcweb2"
    assert found["change"][0] == pytest.approx(1, abs=0.2)
    assert (found["q"] < 0.05).sum() == 1
    assert not (contrast(R, groups, "a")["q"] < 0.05).any()
    sheet.loc[3, "lab"] = np.nan
    with pytest.warns(UserWarning, match="1 samples lack a covariate"):
        contrast(R, groups, "a", covariates=sheet)


def test_all_pairs_or_a_reference():
    """Groups in order of appearance; every pair once, or each against the reference."""
    R = scattered(6, 2)
    groups = ["u", "u", "v", "v", "w", "w"]
    pairs = contrast(R, groups).groupby(["group", "reference"]).size()
    assert set(pairs.index) == {("v", "u"), ("w", "u"), ("w", "v")}
    against = contrast(R, groups, "v")
    assert set(zip(against["group"], against["reference"])) == {("u", "v"), ("w", "v")}


def test_a_single_sample_borrows_scatter_from_the_others():
    R = scattered(7, 20)
    R.iloc[6] += 50
    found = contrast(R, ["a"] * 3 + ["b"] * 3 + ["c"], "a")
    assert (found[found["group"] == "c"]["q"] < 0.05).all()


def test_labels_are_matched_by_sample():
    """A Series in another order, with more samples; one sample has no group."""
    R = scattered(7, 3)
    groups = pd.Series(list("bbbaaa?"), index=["s5", "s4", "s3", "s2", "s1", "s0", "s99"])
    with pytest.warns(UserWarning, match="1 samples have no group and are left out: 's6'"):
        found = contrast(R, groups, "a")
    expected = contrast(R.iloc[:6], list("aaabbb"), "a")
    pd.testing.assert_frame_equal(found, expected)


def test_scale_and_order_of_samples_do_not_matter():
    """Activities have an arbitrary scale: t and p stay if all are multiplied, or shuffled."""
    R, groups = scattered(9, 8), np.array(list("aabbbcccc"))
    first = contrast(R, groups)
    order = np.random.default_rng(0).permutation(9)
    for other in (contrast(1e6 * R, groups), contrast(R.iloc[order], groups[order])):
        both = first.merge(other, on=["regulator", "group", "reference"], how="left")
        swapped = both["t_y"].isna()  # another order of appearance swaps group and reference
        assert both.loc[~swapped, "t_x"].to_numpy() == pytest.approx(both.loc[~swapped, "t_y"])
        assert np.sort(other["p"]) == pytest.approx(np.sort(first["p"]))


def test_constant_activities():
    """Nothing changes, nothing breaks."""
    R = scattered(6, 4)
    R["reg1"] = 3.0
    for moderated in (True, False):
        found = by_regulator(contrast(R, list("aaabbb"), "a", moderated=moderated), R)
        assert found.loc["reg1", "t"] == pytest.approx(0, abs=1e-6)
        assert found.loc["reg1", "p"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": list("abcdef")}, "at least one group needs two samples"),
        ({"groups": list("aaaaaa")}, "one group only: 'a'"),
        ({"groups": list("aaabb")}, "5 groups for 6 samples"),
        ({"groups": list("aaabbb"), "reference": "z"}, "no group 'z'; groups are 'a', 'b'"),
        ({"groups": list("aaabbb"), "paired": list("xxxyyy")}, "cannot be compared"),
        ({"groups": list("aabbcc"), "paired": list("xyzxyz"), "reference": "a",
          "covariates": pd.DataFrame({"u": list("pqrstu")})}, "no degree of freedom"),
    ],
)  # fmt: skip
def test_designs_that_cannot_answer(arguments, message):
    with pytest.raises(ValueError, match=message):
        contrast(scattered(6, 3), **arguments)


def test_missing_activities_are_named():
    R = scattered(6, 3)
    R.iloc[2, 1] = np.nan
    with pytest.raises(ValueError, match="'reg1' in sample 's2'"):
        contrast(R, list("aaabbb"))
    with pytest.raises(TypeError, match="covariates must be a DataFrame"):
        contrast(scattered(6, 3), list("aaabbb"), covariates=[1] * 6)


def test_many_groups_at_once():
    """300 samples, 120 regulators, 40 groups: 780 comparisons of each, in one call."""
    R = scattered(300, 120)
    found = contrast(R, np.arange(300) % 40)
    assert len(found) == 120 * 780
    assert found["p"].is_monotonic_increasing
