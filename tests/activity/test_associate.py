"""Associations with a sample sheet: kinds of columns, honest p, what is left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rcweb.activity import associate

COLUMNS = ["regulator", "column", "kind", "statistic", "effect", "n", "p", "q"]


def random(M: int, P: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    index = [f"s{m}" for m in range(M)]
    return pd.DataFrame(rng.standard_normal((M, P)), index, [f"reg{p}" for p in range(P)])


def test_numbers_are_spearmans_rank_correlation():
    """Also as text and with ties and empty cells; samples matched by name."""
    R = random(40, 3)
    values = np.random.default_rng(1).integers(0, 9, 40).astype(float)
    sheet = pd.DataFrame({"dose": [f" {v} " for v in values]}, index=R.index)
    sheet.iloc[5, 0] = ""
    found = associate(R, sheet.iloc[::-1]).set_index("regulator")
    keep = np.arange(40) != 5
    for name in R:
        expected = stats.spearmanr(R[name][keep], values[keep])
        assert found.loc[name, "effect"] == pytest.approx(expected.statistic)
        assert found.loc[name, "p"] == pytest.approx(expected.pvalue)
    assert (found["kind"] == "number").all()
    assert (found["n"] == 39).all()


def test_categories_are_kruskal_and_wallis():
    """H of scipy with its tie correction; p near chi^2 where groups are large."""
    R = random(90, 4).round(1)
    labels = np.random.default_rng(2).choice(list("abc"), 90)
    R["reg2"] += labels == "a"
    found = associate(R, pd.DataFrame({"medium": labels}, index=R.index)).set_index("regulator")
    for name in R:
        expected = stats.kruskal(*(R[name][labels == k] for k in "abc"))
        assert found.loc[name, "statistic"] == pytest.approx(expected.statistic)
        assert found.loc[name, "p"] == pytest.approx(expected.pvalue, abs=0.01)
    assert found.index[0] == "reg2"
    assert list(found.reset_index().columns) == COLUMNS


def test_many_tiny_categories_have_honest_p():
    """Forty categories of two: chi^2 with 39 degrees of freedom is far off, beta is not. Shares of
    6,000 null tests below 0.05 and 0.01, within three standard errors."""
    labels = np.repeat([f"c{k}" for k in range(40)], 2)
    R = random(80, 6000)
    found = associate(R, pd.DataFrame({"condition": labels}, index=R.index))
    assert (found["p"] < 0.05).mean() == pytest.approx(0.05, abs=0.0085)
    assert (found["p"] < 0.01).mean() == pytest.approx(0.01, abs=0.004)
    assert (stats.chi2.sf(found["statistic"], 39) < 0.05).mean() < 0.02


@pytest.mark.parametrize("labels", ["aabb", "aaabbcc", "aaabbbcccddd"])
def test_few_samples_are_permuted(labels):
    """p is a share of orders, never 0, and uniform: P(p <= x) <= x up to the error of the draws."""
    R = random(len(labels), 4000)
    sheet = pd.DataFrame({"group": list(labels), "t": np.arange(len(labels))}, index=R.index)
    found = associate(R, sheet)
    assert set(found["kind"]) == {"category", "number"}
    for _, part in found.groupby("kind"):
        for level in (0.05, 0.2, 0.5):
            assert (part["p"] <= level).mean() < level + 4 * np.sqrt(level * (1 - level) / 4000)
    assert found["p"].min() > 0


def test_an_exact_case_by_hand():
    """Four samples in two groups: 2 of 6 divisions separate low from high as far."""
    R = pd.DataFrame({"reg": [1.0, 2, 3, 4]})
    found = associate(R, pd.DataFrame({"g": list("aabb"), "x": [1.0, 2, 3, 4]}))
    assert found.set_index("kind").loc["category", "p"] == pytest.approx(2 / 6)
    assert found.set_index("kind").loc["number", "p"] == pytest.approx(2 / 24)


def test_times_booleans_and_categories():
    R = random(20, 2)
    sheet = pd.DataFrame(
        {
            "text": [f"2024-01-{d + 1:02d}" for d in range(20)],
            "stamp": pd.date_range("2024-01-01", periods=20),
            "delta": pd.to_timedelta(np.arange(20), unit="h"),
            "flag": [True, False] * 10,
            "code": pd.Categorical([1, 2, 3, 4] * 5),
        },
        index=R.index,
    )
    found = associate(R, sheet).groupby("column")["kind"].first()
    assert found.to_dict() == {
        "text": "time", "stamp": "time", "delta": "time", "flag": "category", "code": "category",
    }  # fmt: skip


def test_what_is_left_out_is_said():
    R = random(12, 2)
    sheet = pd.DataFrame(
        {
            "id": [f"GSM{m}" for m in range(12)],
            "organism": "E. coli",
            "rare": ["x", "y"] + [None] * 10,
            "ok": list("aabbccddeeff"),
        },
        index=R.index,
    )
    found = associate(R, sheet)
    assert set(found["column"]) == {"ok"}
    assert found.attrs["left_out"] == {
        "id": "identifiers: every sample has another value",
        "organism": "constant",
        "rare": "2 values",
    }
    assert associate(R, sheet[["id"]]).empty


def test_a_missing_number_is_no_category():
    """NA among numbers is left out; among names it is a name."""
    R = random(12, 2)
    sheet = pd.DataFrame(
        {"ph": ["NA", *"5566778899", "n/a"], "salt": ["NA"] * 6 + ["K"] * 6}, index=R.index
    )
    found = associate(R, sheet).groupby("column")[["kind", "n"]].first()
    assert found.loc["ph"].tolist() == ["number", 10]
    assert found.loc["salt"].tolist() == ["category", 12]
    same = associate(R, pd.DataFrame({"ph": ["7", "7.0"] * 5 + ["NA"] * 2}, index=R.index))
    assert same.attrs["left_out"] == {"ph": "constant"}


def test_a_sheet_of_other_samples_is_refused():
    R = random(6, 2)
    with pytest.raises(ValueError, match="none is called as a sample"):
        associate(R, pd.DataFrame({"a": list("xxyy")}, index=list("abcd")))
    with pytest.raises(ValueError, match="sample 's1' occurs twice"):
        associate(R, pd.DataFrame({"a": list("xxyy")}, index=["s0", "s1", "s1", "s2"]))


def test_constant_activities_have_no_association():
    R = pd.DataFrame({"flat": np.ones(20), "up": np.arange(20.0)})
    found = associate(R, pd.DataFrame({"x": np.arange(20.0), "g": list("ab") * 10}))
    flat = found[found["regulator"] == "flat"]
    assert (flat["effect"] == 0).all()
    assert (flat["p"] == 1).all()
