"""Where the nodes are drawn."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rcweb.report.layout import DISC_SPACING, network_layout


def random_score(seed, P=8, N=60, density=0.1):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((P, N)) < density, rng.normal(size=(P, N)), 0.0)


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 80), st.floats(0, 1))
def test_every_linked_node_has_a_place(seed, P, N, density):
    """Positions are finite, nan exactly for variables without an edge, the same every time."""
    score = random_score(seed, P, N, density)
    regulators, variables = network_layout(score)
    assert np.isfinite(regulators).all()
    np.testing.assert_array_equal(np.isfinite(variables).all(axis=1), score.any(axis=0))
    again = network_layout(score)
    np.testing.assert_array_equal(variables, again[1])


def test_variables_do_not_cover_each_other():
    """Neighbours keep a distance, also across discs, so that each can be clicked."""
    _, variables = network_layout(random_score(0, P=20, N=400))
    seen = variables[np.isfinite(variables[:, 0])]
    distance = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    assert distance.min() > 0.5 * DISC_SPACING


def test_a_variable_sits_by_its_strongest_regulator():
    """The disc a variable is drawn in says who regulates it most."""
    score = random_score(1, P=10, N=200)
    regulators, variables = network_layout(score)
    linked = np.flatnonzero(score.any(axis=0))
    distance = np.linalg.norm(variables[linked][:, None] - regulators[None], axis=2)
    nearest, strongest = distance.argmin(axis=1), np.abs(score[:, linked]).argmax(axis=0)
    assert (nearest == strongest).mean() > 0.95


def test_regulators_with_common_targets_lie_near_each_other():
    """Of 200 regulators in 20 families the nearest five are of the own family far more often than
    by chance (9 of 199)."""
    rng = np.random.default_rng(0)
    pools = [rng.choice(4000, 200, replace=False) for _ in range(20)]
    score = np.zeros((200, 4000))
    for p, row in enumerate(score):
        row[rng.choice(pools[p % 20], 30, replace=False)] = rng.normal(size=30)
    regulators, _ = network_layout(score)
    distance = np.linalg.norm(regulators[:, None] - regulators[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    nearest = np.argsort(distance, axis=1)[:, :5]
    family = np.arange(200) % 20
    assert (family[nearest] == family[:, None]).mean() > 0.3
