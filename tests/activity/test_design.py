"""Variance components: textbook formulas where designs are balanced, planted shares where not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rcweb.activity import design


def planted(layout: pd.DataFrame, condition: float, batch: float, P: int = 400) -> np.ndarray:
    """Activities with variances `condition`, `batch` and the rest to 1."""
    rng = np.random.default_rng(0)
    R = np.sqrt(1 - condition - batch) * rng.standard_normal((len(layout), P))
    for title, share in (("condition", condition), ("batch", batch)):
        codes, names = pd.factorize(layout[title])
        R += np.sqrt(share) * rng.standard_normal((len(names), P))[codes]
    return R


def crossed(conditions: int, batches: int, replicates: int) -> pd.DataFrame:
    index = pd.MultiIndex.from_product([range(conditions), range(batches), range(replicates)])
    return index.to_frame(index=False, name=["condition", "batch", "replicate"])


def test_one_factor_is_the_textbook_intraclass_correlation():
    """Balanced: (B - W) / (B + (k - 1) W) of Shrout & Fleiss 1979."""
    R = np.random.default_rng(0).standard_normal((12, 3))
    R += np.repeat(np.random.default_rng(1).standard_normal((4, 3)), 3, axis=0)
    sheet = pd.DataFrame({"condition": np.repeat(list("abcd"), 3)})
    found = design(R, sheet, "condition")
    for p in range(3):
        means = R[:, p].reshape(4, 3).mean(axis=1)
        B = 3 * means.var(ddof=1)
        W = R[:, p].reshape(4, 3).var(axis=1, ddof=1).mean()
        assert found["replicate_agreement"][p] == pytest.approx((B - W) / (B + 2 * W))
        assert found["condition"][p] == pytest.approx(max((B - W) / (B + 2 * W), 0))
    assert (found["batch"] == 0).all()


def test_two_balanced_factors_are_the_textbook_components():
    """Mean squares of a crossed table with replicates: (MS - MS_error) / (other levels x n)."""
    layout = crossed(4, 3, 2)
    R = planted(layout, 0.4, 0.3, P=5)
    found = design(R, layout, "condition", "batch")
    cube = R.reshape(4, 3, 2, 5)
    error = cube.var(axis=2, ddof=1).mean(axis=(0, 1))
    a = np.maximum((6 * cube.mean(axis=(1, 2)).var(axis=0, ddof=1) - error) / 6, 0)
    b_square = 8 * 2 * cube.mean(axis=(0, 2)).var(axis=0, ddof=1)
    # Batches are taken second, over conditions that are the same in each: nothing of them is mixed.
    b = np.maximum((b_square - 2 * error) / 16, 0)
    total = a + b + error
    assert found["condition"].to_numpy() == pytest.approx(a / total)
    assert found["batch"].to_numpy() == pytest.approx(b / total)
    assert found["replicate"].to_numpy() == pytest.approx(error / total)


@pytest.mark.parametrize("kind", ["crossed", "conditions in batches", "batches in conditions"])
def test_planted_shares_come_back_from_unbalanced_designs(kind):
    """Mean over 400 regulators within 0.06, with a third of the samples lost at random. Shares are
    ratios of clipped components, so they are not exactly unbiased."""
    layout = crossed(20, 6, 3)
    if kind == "conditions in batches":
        layout["condition"] = layout["batch"].astype(str) + "." + layout["condition"].astype(str)
    if kind == "batches in conditions":
        layout["batch"] = layout["condition"].astype(str) + "." + layout["batch"].astype(str)
    layout = layout.sample(frac=0.67, random_state=0)
    found = design(planted(layout, 0.5, 0.2), layout.reset_index(drop=True), "condition", "batch")
    shares = found[["condition", "batch", "replicate"]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1)
    assert shares.mean().to_numpy() == pytest.approx([0.5, 0.2, 0.3], abs=0.06)
    assert found["replicate_agreement"].mean() == pytest.approx(0.7, abs=0.06)


def test_designs_that_cannot_answer():
    R = np.random.default_rng(0).standard_normal((6, 2))
    sheet = pd.DataFrame({"c": list("aabbcc"), "same": list("xxyyzz"), "id": list("abcdef")})
    with pytest.raises(ValueError, match="No two samples share 'id'"):
        design(R, sheet, "id")
    with pytest.raises(ValueError, match="divide the samples alike"):
        design(R, sheet, "c", "same")
    with pytest.raises(ValueError, match="no column 'd'; it has 'c', 'same', 'id'"):
        design(R, sheet, "d")
    with pytest.warns(UserWarning, match="1 samples have no c"):
        design(R, sheet.assign(c=["a", "a", "b", "b", "c", ""]), "c")


def test_constant_activity_has_no_shares():
    found = design(np.ones((6, 1)), pd.DataFrame({"c": list("aabbcc")}), "c")
    assert found[["condition", "replicate", "replicate_agreement"]].isna().all(axis=None)
