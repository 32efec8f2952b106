"""Figures show what they are given: bars, labels, order; they draw on the axes they get."""

from __future__ import annotations

import io
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rcweb.activity import compare
from rcweb.knowledge import GeneSets, name_regulators, overlap_test
from rcweb.lab.simulate import simulate
from rcweb.network import Network

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from rcweb import plot  # noqa: E402
from rcweb.plot.comparison_links import LINKS  # noqa: E402


@pytest.fixture
def network():
    weights = np.zeros((2, 60))
    weights[0, :10] = np.arange(10, 0, -1)
    weights[1, 20:26] = [-3, 2, -1, 1, 1, 1]
    probability = np.where(weights != 0, 0.9, 0.0)
    return Network(weights, probability, weights, ("a", "b"), tuple(f"v{n}" for n in range(60)))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_activities_groups_samples_and_standardises(plt):
    """Samples of a group lie together, in order of appearance; each row has its own scale."""
    values = pd.DataFrame({"fur": [1.0, 200, 3, 400], "arcA": [5.0, 5, 5, 5]})
    ax = plot.activities(values, groups=["x", "y", "x", "y"])
    shown = ax.images[0].get_array()
    assert shown[0].tolist() == pytest.approx(
        ((np.array([1, 3, 200, 400]) - 151) / np.std([1, 3, 200, 400])).tolist()
    )
    assert shown[1].tolist() == [0, 0, 0, 0]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["x", "y"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["fur", "arcA"]
    with pytest.raises(ValueError, match="3 groups for 4 samples"):
        plot.activities(values, groups=["x"] * 3)


def test_crowded_groups_keep_readable_labels(plt):
    """Two hundred groups of one sample: no two labels closer than 2 % of the width."""
    ax = plot.activities(np.random.default_rng(0).random((200, 3)), groups=list(range(200)))
    assert np.diff(ax.get_xticks()).min() >= 4


@pytest.mark.parametrize("kind", ["names", "pairs"])
def test_overlaps_show_the_best_rows(plt, network, kind):
    """Both kinds of table give the same picture: names, p, and the counts."""
    known = GeneSets.from_dict(
        {"TF": [f"v{n}" for n in range(8)], "TG": [f"v{n}" for n in range(18, 26)]},
        {"TF": "does <b>things</b>"},
    )
    table = (
        name_regulators(network, known) if kind == "names" else overlap_test(network, known).table()
    )
    ax = plot.overlaps(table, n=5)
    shown = texts(ax)
    assert {"a", "b", "TF", "TG", "8/8", "6/8", "does <b>things</b>"} <= set(shown)
    assert shown.index("TF") < shown.index("TG")
    widths = [bar.get_width() for bar in ax.patches[:3]]
    assert np.array(widths) / widths[0] == pytest.approx([1, 0, 2 / 8])
    with pytest.raises(ValueError, match="nothing to show"):
        plot.overlaps(table.iloc[:0])


def test_targets_draw_on_given_axes_with_marks(plt, network):
    """Sorted weights, other names, known targets marked; the rest counted in the title."""
    ax = plt.figure().add_subplot()
    assert plot.targets(network, "b", n=4, known={"v20"}, labels={"v20": "fepA"}, ax=ax) is ax
    assert [bar.get_width() for bar in ax.patches] == [2, 1, -1, -3]
    assert [t.get_text() for t in ax.get_yticklabels()][-1] == "fepA"
    assert ax.get_title(loc="left") == "b: 4 of 6 targets"
    assert ax.lines[0].get_ydata().tolist() == [3]
    with pytest.raises(ValueError, match="No regulator is called 'z'"):
        plot.targets(network, "z")


def test_targets_are_found_by_name_and_drawn_with_names(plt, network):
    """A name or an id chooses the regulator; bars have the names of the network."""
    named = replace(
        network,
        regulator_names=("fur", "SigB"),
        target_names=tuple(t.replace("v", "gene ") for t in network.targets),
    )
    for regulator in ("SigB", "b"):
        ax = plot.targets(named, regulator)
        assert ax.get_title(loc="left") == "SigB (b): 6 targets"
        assert "gene 20" in [t.get_text() for t in ax.get_yticklabels()]
    with pytest.raises(ValueError, match="say which: a, b"):
        plot.targets(replace(named, regulator_names=("SigB", "SigB")), "SigB")


def test_a_regulator_without_targets_is_drawn_empty(plt):
    """No bar, no crash."""
    empty = pd.DataFrame(np.zeros((1, 3)), index=["a"], columns=list("xyz"))
    assert not plot.targets(empty, "a").patches


def test_spectrum_marks_the_choice(plt):
    """Chosen dimensions filled, others open, rounding zeros left out."""
    ax = plot.spectrum([5.0, 4, 1, 0.5, 1e-16], 2, noise=1.2)
    filled, rest = ax.lines[:2]
    assert filled.get_ydata().tolist() == [5, 4]
    assert rest.get_ydata().tolist() == [1, 0.5]
    assert {"P = 2", "noise"} <= set(texts(ax))
    with pytest.raises(ValueError, match="singular values"):
        plot.spectrum([])


def test_networks_are_aligned_before_they_are_shown(plt):
    """The same network in another order, sign and scale looks the same."""
    C = simulate(20, 40, 4, density=0.3, random_state=0).network
    left, right = plot.networks(C, -3 * C[[2, 0, 3, 1]])
    assert np.allclose(left.images[0].get_array(), right.images[0].get_array())
    assert right.get_title(loc="left") == "found, mean correlation 1.000"
    _, right = plot.networks(C, C[:1])
    assert (np.asarray(right.images[0].get_array()) != 0).any(axis=1).tolist() == [True] + [
        False
    ] * 3
    with pytest.raises(ValueError, match="two axes"):
        plot.networks(C, C, ax=[left])


def test_missing_matplotlib_names_the_extra(monkeypatch):
    """A user without it learns what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"rcweb\[plot\]"):
        plot.spectrum([1.0, 2.0])


def split_in_two(P: int = 3, width: int = 30) -> tuple[pd.DataFrame, pd.DataFrame]:
    """P regulators of `width` targets each; the last one is two in the second network."""
    rng = np.random.default_rng(0)
    weights = np.kron(np.eye(P), np.ones(width)) * rng.uniform(0.5, 2, P * width)
    one = pd.DataFrame(weights, index=[f"a{p}" for p in range(P)]).add_prefix("g")
    half = np.arange(P * width) < (P - 0.5) * width
    two = pd.concat([one[:-1], one[-1:] * half, one[-1:] * ~half])
    return one, two.set_axis([f"b{p}" for p in range(P + 1)])


def test_comparison_draws_related_pairs_and_lists_the_others(plt):
    """A line per link, wider where rows are more alike; a name is text even if it looks like a
    formula."""
    one, two = split_in_two()
    result = compare(one.rename({"a0": "$\\x$", "a1": "two\nlines"}), two[1:], names=("x", "y"))
    ax = plot.comparison(result)
    lines = {line.get_color(): line.get_linewidth() for line in ax.lines}
    assert len(ax.lines) == 3
    assert lines[LINKS["same"]] > lines[LINKS["split"]]
    shown = texts(ax)
    assert "in x alone: $\\x$" in shown
    assert {"x", "y", "two\ufffdlines", "b1", "a2", "b2", "b3", "1.00"} <= set(shown)
    ax.figure.savefig(io.BytesIO(), format="svg")


def test_large_comparison_goes_into_columns(plt):
    """150 links in three columns, no two labels on one place."""
    one, two = split_in_two(P=150, width=20)
    ax = plot.comparison(compare(one, two))
    places = [t.get_position() for t in ax.texts]
    assert len(set(places)) == len(places)
    assert len(ax.lines) == 151
    assert ax.get_xlim() == (0, 4)  # 151 lines, 50 to a column
    assert max(y for _, y in places) < 60


def test_comparison_of_nothing_alike_is_drawn(plt):
    """No link; what is alone is listed."""
    one, two = split_in_two()
    ax = plot.comparison(compare(one[:1], two[2:]))
    assert not ax.lines
    assert "in A alone: a0" in texts(ax)
