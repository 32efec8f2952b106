"""How many directions, where singular values show no edge; and when noise is independent."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.number import choose_directions
from rcweb.engine.search.consensus import SPLITS
from rcweb.engine.search.halves import Split, count_recurrent
from rcweb.engine.spectrum import leading_directions
from rcweb.lab.simulate import simulate


def autoregressive(rng: np.random.Generator, M: int, N: int, memory: float = 0.9) -> np.ndarray:
    """Samples that remember the one before."""
    E = rng.standard_normal((M, N))
    for m in range(1, M):
        E[m] = memory * E[m - 1] + np.sqrt(1 - memory**2) * E[m]
    return E - E.mean(axis=0)


def test_counts_match_by_hand() -> None:
    """Of three columns two have a counterpart in the other half, one by 60 degrees: two and a
    quarter, less what chance gives three of 40 directions."""
    first = np.eye(40)[:3]
    second = np.vstack([np.eye(40)[:2], 0.5 * np.eye(40)[2] + np.sqrt(0.75) * np.eye(40)[3]])
    by_chance = 3 * 2 * np.log(40) / 40
    assert count_recurrent(Split(first, second), 40) == pytest.approx(2.25 - by_chance)


def test_a_table_without_an_edge_of_noise_ends_with_a_number() -> None:
    """Regulators under noise that samples share: counts for every number tried, and the choice is
    one of them."""
    rng = np.random.default_rng(0)
    strong = rng.random((12, 600)) < 0.05
    C = np.where(strong, 1.0, 0.1) * rng.standard_normal((12, 600))
    scale = np.exp(rng.standard_normal((80, 1)))
    G = rng.standard_normal((80, 12)) @ C + 0.2 * scale * rng.standard_normal((80, 600))
    table = CondensedTable.of(G - G.mean(axis=0))
    spectrum = leading_directions(table, "auto")
    assert spectrum.no_edge
    lines: list[str] = []
    chosen, tried = choose_directions(table, len(spectrum.s), lines.append)
    counts = [row["count"] for row in tried]
    assert len(lines) == len(tried) >= 2
    assert len(chosen.spectrum.s) == chosen.space.K
    assert chosen.space.K in {55, 27, 13}
    assert len(chosen.splits) == SPLITS
    assert round(chosen.recurrent, 1) in counts
    assert max(counts) >= 8


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_told_to_be_independent_or_not(seed: int) -> None:
    """Planted tables pass; time series, whose count of directions is far too large, do not."""
    G = simulate(150, 500, 12, noise=0.5, random_state=seed).data
    assert leading_directions(CondensedTable.of(G - G.mean(axis=0)), "auto").white
    E = autoregressive(np.random.default_rng(seed), 150, 500)
    spectrum = leading_directions(CondensedTable.of(E), "auto")
    assert len(spectrum.s) > 20
    assert not spectrum.white
