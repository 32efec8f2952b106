"""How many directions, where singular values show no edge; and when noise is independent."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb import RCweb
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.number import Directions, directions_for, try_numbers
from rcweb.engine.search.consensus import SPLITS
from rcweb.engine.search.halves import Split, count_recurrent
from rcweb.engine.search.space import Space
from rcweb.engine.spectrum import last_step, leading_directions
from rcweb.lab.benchmark.foreign_worlds import autoregressive
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate


def test_counts_match_by_hand() -> None:
    """Of three columns two have a counterpart in the other half, one by 60 degrees: two and a
    quarter, less what chance gives three of 40 directions."""
    first = np.eye(40)[:3]
    second = np.vstack([np.eye(40)[:2], 0.5 * np.eye(40)[2] + np.sqrt(0.75) * np.eye(40)[3]])
    by_chance = 2 * np.log(40) / 40
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((200, 40)))[0]
    space = Space.of(V, np.ones(40), 0.1)
    assert count_recurrent(space, Split(first, second)) == pytest.approx(2.25 - 3 * by_chance)
    # The first direction as that of one variable alone, which the other half has not seen.
    V = np.linalg.qr(np.column_stack([np.eye(200)[:, 0], V[:, 1:]]))[0]
    loud = Space.of(V, np.ones(40), 0.1)
    assert count_recurrent(loud, Split(first, second)) == pytest.approx(1.25 - 2 * by_chance)


def planted_in_memory(P: int, seed: int, M: int = 200, N: int = 300) -> np.ndarray:
    """P regulators under noise that samples remember, centred."""
    rng = np.random.default_rng(seed)
    C = np.where(rng.random((P, N)) < 0.1, rng.standard_normal((P, N)), 0.0)
    G = rng.standard_normal((M, P)) @ C + 0.2 * autoregressive(rng, M, N, 0.7)
    return G - G.mean(axis=0)


def directions(G: np.ndarray, asked: int | str) -> Directions:
    table = CondensedTable.of(G)
    return directions_for(table, leading_directions(table, asked), asked, lambda line: None)[0]


@pytest.mark.parametrize("P", [5, 12, 30])
def test_a_clear_step_ends_the_signal(P: int) -> None:
    """Directions of noise that is not independent stand above the edge of independent noise, but
    the singular values fall by a step after those of the regulators, and nothing recurs beyond. In
    such tables "auto" searched 60 to 100 directions, and lost most regulators."""
    G = planted_in_memory(P, seed=P)
    spectrum = leading_directions(CondensedTable.of(G), "auto")
    assert len(spectrum.s) > 1.5 * P, "noise was to stand above its edge"
    assert not spectrum.independent
    found = directions(G, "auto").spectrum
    assert len(found.s) == found.P == found.step == found.n_above_noise == P
    assert found.ends
    assert found.shows_edge
    # A number that is asked for is respected, with room for some of the others.
    assert len(directions(G, P).spectrum.s) == P
    assert len(directions(G, P - 1).spectrum.s) == P


@pytest.mark.parametrize("seed", range(3))
def test_a_step_after_dense_rows_ends_the_signal(seed: int) -> None:
    """Half of all entries are targets, of one sign: no short search for long tails finds such rows
    again, and "auto" took noise that neighbours share for the regulators."""
    rng, M, N, P = np.random.default_rng(seed), 200, 300, 10
    C = rng.uniform(0.5, 1.5, (P, N)) * (rng.random((P, N)) < 0.5)
    G = rng.standard_normal((M, P)) @ C
    G += 0.2 * G.std() * autoregressive(rng, N, M, 0.8).T
    assert directions(G - G.mean(axis=0), "auto").spectrum.P == P


@pytest.mark.parametrize("size", [3.0, 30.0])
def test_strong_batches_end_nothing(size: float) -> None:
    """Five groups of samples, each of which shifts every variable: the singular values fall by a
    clear step after four directions, however strong the shifts are, and the regulators lie below,
    in noise without an end."""
    rng = np.random.default_rng(0)
    P = 25
    C = np.where(rng.random((P, 300)) < 0.1, rng.standard_normal((P, 300)), 0.0)
    C *= 0.9 ** np.arange(P)[:, None]
    G = rng.standard_normal((200, P)) @ C + 0.1 * autoregressive(rng, 200, 300, 0.7)
    G = G + size * rng.standard_normal((5, 300))[np.arange(200) % 5]
    G -= G.mean(axis=0)
    assert last_step(CondensedTable.of(G))[0] == 4
    found = directions(G, "auto")
    assert found.spectrum.step == 0
    assert found.space.K > 20


def test_one_or_two_directions_that_stand_out_end_nothing() -> None:
    """Most tables have them: growth, a treatment, a batch."""
    rng = np.random.default_rng(0)
    E = autoregressive(rng, 100, 300, 0.5)
    E = E + 3 * rng.standard_normal((100, 2)) @ rng.standard_normal((2, 300))
    E -= E.mean(axis=0)
    assert last_step(CondensedTable.of(E))[0] == 2
    assert directions(E, "auto").spectrum.step == 0


def test_rounding_is_no_step() -> None:
    """A table of few directions without noise falls from its last one to rounding."""
    rng = np.random.default_rng(0)
    G = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 80))
    assert last_step(CondensedTable.of(G - G.mean(axis=0))) == (0, 1.0)


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
    tried = try_numbers(table, len(spectrum.s), lines.append)
    chosen, counts = tried.largest, [row["count"] for row in tried.records]
    assert len(lines) == len(tried.bases) >= 2
    assert tried.best.recurrent == max(tried.counts)
    assert chosen.recurrent >= 0.9 * tried.best.recurrent
    assert chosen.space.K >= tried.best.space.K
    assert len(chosen.spectrum.s) == chosen.space.K
    assert chosen.space.K in {55, 27, 13, 6, 3}
    assert len(chosen.splits) == SPLITS
    assert round(chosen.recurrent, 1) in counts
    assert max(counts) >= 8


def test_few_directions_are_tried_too() -> None:
    """Five regulators under noise that neighbours share: with 14 directions or more, of which a few
    columns recur, two to four of them were found in a third of such tables, now in one of eight."""
    right = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        C = np.where(rng.random((5, 120)) < 0.15, rng.choice([-1.0, 1.0], (5, 120)), 0.0)
        signal = rng.uniform(-1.7, 1.7, (120, 5)) @ C
        noise = autoregressive(rng, 120, 120, 0.6).T
        model = RCweb(random_state=0).fit(signal + 0.8 * signal.std() * noise)
        found = score_network(model.weights_, C).rho > 0.97
        right += bool(found and 5 <= model.n_components_ <= 7)
    assert right >= 7


@pytest.mark.parametrize("seed", range(2))
def test_a_number_between_two_that_were_tried_is_found(seed: int) -> None:
    """36 regulators under noise that neighbours share: 16, 32 and 65 directions are tried first,
    and 6 to 8 regulators were lost with the best of them."""
    truth = simulate(150, 500, 36, noise=0.0, density=0.1, random_state=seed)
    noise = autoregressive(np.random.default_rng(seed), 500, 150, 0.6).T
    model = RCweb(random_state=0).fit(truth.data + 0.4 * truth.data.std() * noise)
    assert 35 <= model.n_components_ <= 38
    assert score_network(model.weights_, truth.network).rho > 0.93


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_told_to_be_independent_or_not(seed: int) -> None:
    """Planted tables pass; time series, whose count of directions is far too large, do not."""
    G = simulate(150, 500, 12, noise=0.5, random_state=seed).data
    assert leading_directions(CondensedTable.of(G - G.mean(axis=0)), "auto").white
    E = autoregressive(np.random.default_rng(seed), 150, 500, 0.9)
    spectrum = leading_directions(CondensedTable.of(E - E.mean(axis=0)), "auto")
    assert len(spectrum.s) > 20
    assert not spectrum.white
