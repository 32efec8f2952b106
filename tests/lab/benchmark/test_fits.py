"""One fit of any method to any table."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from rcweb.engine.search import halves, search
from rcweb.lab.benchmark.fits import Z_CUT, find, random_stream
from rcweb.lab.simulate import simulate

USUAL = halves.STREAM
X = simulate(60, 200, 3, density=0.1, noise=0.1, random_state=0).data


def test_a_constant_variable_does_not_make_every_weight_an_edge() -> None:
    """FastICA has no zeros but there: its edges are cut at |z| > 3 all the same."""
    table = X.copy()
    table[:, 7] = 1.5
    found = find(table, 3, "fastica", 0)
    np.testing.assert_array_equal(found.edges, np.abs(found.scores) > Z_CUT)
    assert 0 < found.edges.mean() < 0.1


def test_another_seed_is_another_stream_of_the_search() -> None:
    """For the time of the fit, and also if it fails."""
    with random_stream(0):
        assert halves.STREAM == search.STREAM == USUAL
    with suppress(ZeroDivisionError), random_stream(3):
        assert halves.STREAM == search.STREAM == USUAL + 3
        raise ZeroDivisionError
    assert halves.STREAM == search.STREAM == USUAL


def test_grades_and_costs_of_our_fit() -> None:
    """Kept are the certified regulators and those that any seed would find again."""
    found = find(X, 3, "rcweb", 0)
    assert found.certified is not None
    assert found.kept is not None
    assert found.kept.shape == found.certified.shape == (3,)
    assert (found.kept | ~found.certified).all()
    assert found.seconds > 0
    assert found.cpu_seconds > 0
    assert find(X, 3, "fastica", 0).kept is None
