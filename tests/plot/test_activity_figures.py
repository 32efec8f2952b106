"""Figures of contrasts and associations: what is coloured and named, on which axes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rcweb.activity import associate, contrast

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from rcweb import plot  # noqa: E402


@pytest.fixture
def activities():
    """Twenty regulators in three groups of four; reg0 rises and reg1 falls in `ko`."""
    rng = np.random.default_rng(0)
    R = pd.DataFrame(rng.standard_normal((12, 20)), columns=[f"reg{p}" for p in range(20)])
    R.loc[4:7, "reg0"] += 12
    R.loc[4:7, "reg1"] -= 9
    return R


GROUPS = ["wt"] * 4 + ["ko"] * 4 + ["heat"] * 4


def texts(ax):
    return {text.get_text() for text in ax.texts}


def test_volcano_names_what_changed(plt, activities):
    """Changes at q < 0.05 have colour, interval and name; the title counts them."""
    table = contrast(activities, GROUPS, "wt")
    ax = plt.figure().add_subplot()
    assert plot.volcano(table, "ko", names={"reg0": "fur"}, ax=ax) is ax
    assert texts(ax) == {"fur", "reg1"}
    assert ax.get_title(loc="left") == "2 of 20 regulators at q < 0.05"
    muted, sure = ax.collections[0], ax.collections[-1]
    assert len(muted.get_offsets()) == 18
    x = np.sort(sure.get_offsets()[:, 0])
    assert x[0] < -6 < 6 < x[1]
    assert "ko - wt" in ax.get_xlabel()


def test_names_are_not_struck_through(plt, activities):
    """A name stands above or below the interval of its point."""
    ax = plot.volcano(contrast(activities, GROUPS, "wt"), "ko")
    ax.figure.canvas.draw()
    intervals = [ax.transData.transform(path.vertices) for path in ax.collections[1].get_paths()]
    assert len(intervals) == len(ax.texts) == 2
    for text in ax.texts:
        box = text.get_window_extent()
        assert not any(
            box.y0 < start[1] < box.y1 and start[0] < box.x1 and box.x0 < end[0]
            for start, end in intervals
        )


def test_volcano_needs_one_comparison(plt, activities):
    table = contrast(activities, GROUPS)
    with pytest.raises(ValueError, match="3 comparisons, such as"):
        plot.volcano(table)
    with pytest.raises(ValueError, match="does not compare 'cold'"):
        plot.volcano(table, "cold")
    named = table.assign(regulator_name=table["regulator"].str.upper())
    assert texts(plot.volcano(named, "ko", "wt")) == {"REG0", "REG1"}


def test_nothing_changed_is_drawn_too(plt, activities):
    """No colour, no name, no crash; also where p is 0."""
    table = contrast(activities.iloc[:, 2:], GROUPS, "wt").assign(q=1.0)
    assert not texts(plot.volcano(table, "ko"))
    ax = plot.volcano(table.assign(p=0.0, q=0.0), "ko", n=3)
    assert np.isfinite(ax.get_ylim()).all()


def test_dima_shows_means_of_both_groups(plt, activities):
    """Points at the two means; only the changed ones are named."""
    ax = plot.dima(activities, GROUPS, "wt", "ko")
    assert texts(ax) == {"reg0", "reg1"}
    points = np.vstack([c.get_offsets() for c in ax.collections[1:]])
    means = activities.groupby(GROUPS).mean()
    expected = means.loc[["wt", "ko"]].T.to_numpy()
    assert sorted(map(tuple, points.round(9))) == sorted(map(tuple, expected.round(9)))
    assert ax.get_xlabel() == "activity in wt"
    with pytest.raises(ValueError, match="no group 'cold'"):
        plot.dima(activities, GROUPS, "wt", "cold")


def test_names_neither_overlap_nor_leave_the_axes(plt):
    """Forty points close together: the names that are written can be read."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "regulator": [f"regulator{k}" for k in range(40)],
            "group": "a",
            "reference": "b",
            "change": rng.normal(0, 0.3, 40),
            "p": 10 ** -rng.uniform(3, 6, 40),
            "q": 0.001,
        }
    )
    ax = plot.volcano(table.assign(lower=table["change"] - 0.1, upper=table["change"] + 0.1), n=40)
    boxes = np.array([text.get_window_extent().extents for text in ax.texts])
    assert len(boxes) > 5
    for k, (x0, y0, x1, y1) in enumerate(boxes):
        rest = np.delete(boxes, k, axis=0)
        apart = (x0 >= rest[:, 2]) | (x1 <= rest[:, 0]) | (y0 >= rest[:, 3]) | (y1 <= rest[:, 1])
        assert apart.all()
    frame = ax.get_window_extent()
    assert (boxes[:, :2] >= frame.min).all()
    assert (boxes[:, 2:] <= frame.max).all()


def test_associations_are_signed_and_marked(plt, activities):
    """The colour has the sign of the correlation; significant cells hold the effect."""
    sheet = pd.DataFrame({"dose": activities["reg0"], "fall": -activities["reg1"], "g": GROUPS})
    table = associate(activities, sheet)
    ax = plot.associations(table, n=5, names={"reg1": "soxS"})
    shown = [t.get_text() for t in ax.get_yticklabels()]
    columns = [t.get_text() for t in ax.get_xticklabels()]
    assert len(shown) == 5
    assert {"reg0", "soxS"} <= set(shown)
    values = np.asarray(ax.images[0].get_array())
    assert values[shown.index("reg0"), columns.index("dose")] > 0
    assert values[shown.index("soxS"), columns.index("fall")] < 0
    assert {"1.00", "-1.00"} <= texts(ax)
    assert ax.get_title(loc="left") == "5 of 20 regulators"
    with pytest.raises(ValueError, match="nothing to show"):
        plot.associations(table.iloc[:0])
