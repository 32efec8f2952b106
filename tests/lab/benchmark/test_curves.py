"""Scores on real tables, on cases small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from rcweb.knowledge import GeneSets
from rcweb.lab.benchmark.agreement import agreement, matched_rows, replicate_agreement
from rcweb.lab.benchmark.curves import curve, met_sets, strongest_entries
from rcweb.lab.benchmark.knockouts import knockout_areas

NAMES = [f"g{n}" for n in range(100)]


@pytest.fixture
def sets() -> GeneSets:
    """Two sets of ten and one that is too small to be tested."""
    return GeneSets.from_dict({"a": NAMES[:10], "b": NAMES[50:60], "small": NAMES[90:94]})


@pytest.fixture
def scores() -> np.ndarray:
    """Row 0: the set a, positive then negative, strongest first; row 1: five of b, then others."""
    found = np.zeros((2, 100))
    found[0, :10] = [10, 9, 8, 7, 6, -5.5, -5.4, -5.3, -5.2, -5.1]
    found[1, 50:55] = 5
    found[1, 70:75] = -4
    return found


def test_curve_counts_known_sets_pairs_and_jaccard(scores: np.ndarray, sets: GeneSets) -> None:
    """Ten edges are the set a alone; with twenty, b is half met; the small set never counts."""
    table = curve(scores, sets, (10, 20, 50), variables=NAMES)
    together = table[table["signs"] == "together"].set_index("n_edges")
    assert together["regulators"].tolist() == [1, 2, 2]
    assert together["pairs"].tolist() == [1, 2, 2]
    assert together["rows"].tolist() == [1, 2, 2]
    assert together["edges"].tolist() == [10, 20, 20]  # zeros are no edges
    # a: J = 1; b: 5 common of 15. Relevance leaves out the row without targets.
    assert together.loc[10, ["recovery", "relevance"]].tolist() == [0.5, 1.0]
    assert together.at[20, "recovery"] == pytest.approx((1 + 1 / 3) / 2)
    assert together.at[20, "relevance"] == pytest.approx((1 + 1 / 3) / 2)


def test_signs_apart_are_two_sets_of_one_regulator(scores: np.ndarray, sets: GeneSets) -> None:
    """Both halves of row 0 overlap a: two pairs, one known regulator, one row."""
    apart = curve(scores, sets, (10,), variables=NAMES).iloc[1]
    assert apart["signs"] == "apart"
    assert (apart["regulators"], apart["pairs"], apart["rows"]) == (1, 2, 1)
    assert (apart["recovery"], apart["relevance"]) == (0.25, 0.5)


def test_bonferroni_counts_every_pair(sets: GeneSets) -> None:
    """Four of a with four edges: p from scipy; rows without edges make it insignificant."""
    p = hypergeom.sf(3, 100, 10, 4)
    enough = int(0.05 / p / 2)
    found = np.zeros((enough, 100))
    found[0, :4] = 1
    assert met_sets(found, sets, 4, variables=NAMES) == {"a"}
    assert met_sets(np.vstack([found, np.zeros((1, 100))]), sets, 4, variables=NAMES) == set()


def test_strongest_entries_are_exactly_n_at_ties() -> None:
    """Ties are broken by position, so that every method shows the same number of edges."""
    assert strongest_entries(np.array([[1.0, -3.0], [1.0, 1.0]]), 2).tolist() == [1, 0]
    assert strongest_entries(np.zeros((2, 2)), 3).tolist() == []


def test_nothing_found_is_a_curve_of_zeros(sets: GeneSets) -> None:
    """A method may find no regulator at all."""
    table = curve(np.zeros((0, 100)), sets, (10,), variables=NAMES)
    assert (table[["edges", "regulators", "pairs", "rows", "recovery"]] == 0).all(axis=None)


def test_curve_needs_names_that_fit(scores: np.ndarray, sets: GeneSets) -> None:
    """Errors say what to pass; a DataFrame brings its names."""
    with pytest.raises(ValueError, match="pass variables="):
        curve(scores, sets)
    with pytest.raises(ValueError, match="do not fit 3 variables"):
        curve(scores, sets, variables=NAMES[:3])
    labelled = pd.DataFrame(scores, columns=NAMES)
    assert curve(labelled, sets, (10,)).equals(curve(scores, sets, (10,), variables=NAMES))


def test_agreement_counts_rows_matched_one_to_one() -> None:
    """Sign and order do not matter; a row that is there once cannot be matched twice."""
    rng = np.random.default_rng(1)
    first = rng.standard_normal((4, 50))
    second = np.vstack([-first[2], first[0], rng.standard_normal((2, 50))])
    assert agreement(first, second) == {"agree_95": 0.5, "agree_99": 0.5}
    certified = np.array([True, False, True, False])
    assert agreement(first, second, (0.95,), rows=certified) == {"agree_95": 1.0}
    twice = np.vstack([first[0], first[0], first[0]])
    assert matched_rows(first, twice, 0.95) == 1
    # Finding more rows than there are does not raise the share.
    assert agreement(first, first[:1], (0.95,)) == agreement(first[:1], first, (0.95,))


def test_replicates() -> None:
    """Equal replicates of different conditions agree fully; single samples do not count."""
    groups = pd.Series(["a", "a", "b", "b", "c"])
    same = np.array([[1.0, 1], [1, 1], [5, -1], [5, -1], [9, 9]])
    assert replicate_agreement(same, groups) == 1.0
    # Mean squares: between 1, within 2, k = 2: (1 - 2) / (1 + 2).
    noisy = np.array([[0.0], [2.0], [3.0], [1.0], [7.0]])
    assert replicate_agreement(noisy, groups) == pytest.approx(-1 / 3)
    assert np.isnan(replicate_agreement(same, pd.Series(list("abcde"))))


def test_knockout_area_is_the_rank_of_the_fitting_component(sets: GeneSets) -> None:
    """Component 1 fits b and changes more than one of the two others; unknown regulators and
    conditions are left out."""
    edges = np.zeros((3, 100), dtype=bool)
    edges[0, :10] = edges[1, 50:60] = edges[2, 20:30] = True
    conditions = pd.Series(["del", "del", "wt", "wt", "else"])
    activities = np.array(
        [[1.0, 2, 9.0], [1.0, 2.2, 9.2], [1.0, 0, 0], [1.1, 0.2, 0.2], [30, 6, 9]]
    )
    contrasts = pd.DataFrame(
        [("b", "del", "wt"), ("a", "del", "wt"), ("b", "del", "none"), ("small", "del", "wt")],
        columns=["regulator", "deletion", "wild_type"],
    )
    areas = knockout_areas(edges, activities, sets, contrasts, conditions, NAMES)
    assert areas.to_dict() == {"b del": 0.5, "a del": 0.0}
