"""Activities of rows that are held as a search found them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.estimate.diffuse import confirmed_first
from rcweb.engine.estimate.network import regress


@pytest.fixture
def rows_and_samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((5, 60))
    # The last row is near the first, as a mixture or a curve of it would be.
    Y[4] = Y[0] + 0.5 * Y[4]
    G = rng.standard_normal((40, 5)) @ Y + rng.standard_normal((40, 60))
    return Y, G - G.mean(axis=0)


def test_regression_in_turn_equals_two_regressions(
    rows_and_samples: tuple[np.ndarray, np.ndarray],
) -> None:
    """Slow twin: the first rows fitted alone, the others to what they leave."""
    Y, G = rows_and_samples
    first = np.array([True, True, False, True, False])
    fit = regress(CondensedTable.of(G), Y, first)
    R = np.empty((len(G), len(Y)))
    R[:, first] = np.linalg.lstsq(Y[first].T, G.T, rcond=None)[0].T
    rest = G - R[:, first] @ Y[first]
    R[:, ~first] = np.linalg.lstsq(Y[~first].T, rest.T, rcond=None)[0].T
    size = R.std(axis=0)
    np.testing.assert_allclose(G @ fit.projection, R / size, atol=1e-10)
    np.testing.assert_allclose(fit.C, Y * size[:, None], atol=1e-10)
    np.testing.assert_allclose(fit.noise, (G - R @ Y).std(axis=0), atol=1e-10)


def test_unconfirmed_rows_do_not_change_activities_of_confirmed_ones(
    rows_and_samples: tuple[np.ndarray, np.ndarray],
) -> None:
    """A row that is nearly another one took half of its activity away."""
    Y, G = rows_and_samples
    table = CondensedTable.of(G)
    problem: Any = SimpleNamespace(table=table)
    held = replace(regress(table, Y), held=True)
    confirmed = np.array([True, True, True, True, False])
    alone = regress(table, Y[:4])
    turned = confirmed_first(problem, held, confirmed)
    np.testing.assert_allclose(turned.projection[:, :4], alone.projection, atol=1e-10)
    assert not np.allclose(held.projection[:, 0], alone.projection[:, 0], atol=1e-3)
    # Nothing changes where all or none are confirmed, nor in a posterior.
    for same in (np.ones(5, bool), np.zeros(5, bool)):
        assert confirmed_first(problem, held, same) is held
    posterior = replace(held, held=False)
    assert confirmed_first(problem, posterior, confirmed) is posterior
