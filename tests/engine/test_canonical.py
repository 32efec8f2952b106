"""The user's order, signs and unit do not reach the engine."""

from __future__ import annotations

import numpy as np

from rcweb.engine.canonical import arrange
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.spectrum import Spectrum, leading_directions
from rcweb.lab.simulate import simulate


def spectrum(G: np.ndarray) -> Spectrum:
    return leading_directions(CondensedTable.of(G - G.mean(axis=0)), 4)


def test_permuted_and_negated_tables_look_the_same() -> None:
    """More variables than samples and fewer: the same directions, to rounding."""
    for M, N in ((40, 90), (120, 60)):
        G = simulate(M, N, 4, random_state=0).data
        rng = np.random.default_rng(1)
        order, sign = rng.permutation(N), rng.choice([-1.0, 1.0], N)
        one, _ = arrange(spectrum(G))
        two, _ = arrange(spectrum((G * sign)[:, order]))
        np.testing.assert_allclose(two.V, one.V, atol=1e-9)
        np.testing.assert_allclose(two.table.power, one.table.power)


def test_restoring_undoes_arranging() -> None:
    """Rows come back in the user's order and signs; unsigned quantities in the order alone."""
    G = simulate(40, 90, 4, random_state=0).data
    raw = spectrum(G)
    arranged, arrangement = arrange(raw)
    cosine = (arrangement.restore(arranged.V.T) * raw.V.T).sum(axis=1)
    np.testing.assert_allclose(np.abs(cosine), 1)
    np.testing.assert_array_equal(arrangement.restore_order(arranged.factor), raw.factor)
    np.testing.assert_allclose(arrangement.restore_order(arranged.table.power), raw.table.power)
