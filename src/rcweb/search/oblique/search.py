"""From a subspace to K oblique columns: a cheap joint start, peeling where it fails, restarts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcweb.search.oblique.joint import Columns, climb, complement, symmetric_start
from rcweb.search.oblique.peel import MARGIN, chance_level, one_unit, peel, pick_independent
from rcweb.search.oblique.peel import draw_starts
from rcweb.search.oblique.space import Array, Density, Space

SETTLE = 15


@dataclass(frozen=True)
class Found:
    """Columns with what they are worth.

    columns : K of them
    score : (K,) negentropy + log of the share of the column that no other column explains
    chance : best score that the same search reaches in a random subspace of dimension K
    certified : (K,) score above MARGIN * chance
    restarts : how many redraws were tried
    """

    columns: Columns
    score: Array
    chance: float
    restarts: int

    @property
    def certified(self) -> np.ndarray:
        return self.score > MARGIN * self.chance


def own_share(B: Array) -> Array:
    """Length of each unit row outside the span of all others, 1 / |row of B^-T|."""
    return 1 / np.linalg.norm(np.linalg.inv(B), axis=0)


def search_columns(
    space: Space, rng: np.random.Generator, *, restarts: int = 40, log=lambda text: None
) -> Found:
    """K columns of largest likelihood. Budgets are counts of steps, so the same seed ends alike."""
    chance = chance_level(space, space.K, rng)

    def judge(columns: Columns, tried: int = 0) -> Found:
        score = columns.J + np.log(own_share(columns.B))
        return Found(columns, score, chance, tried)

    widths = np.geomspace(0.5, space.level, 30)
    start = climb(space, symmetric_start(space, rng), Density.start(space.K), widths, settle=SETTLE)
    best = judge(start)
    log(f"joint start: {best.certified.sum()} of {space.K} certified")
    if best.certified.all():
        return best
    kept = pick_independent(start.B, best.score, MARGIN * chance, start.B[:0], space.K)
    n_starts = int(np.clip(6 * space.K, 96, 384))
    peeled = peel(space, kept, rng, n_starts=n_starts, most_starts=4 * n_starts)
    log(f"peeled: {len(peeled)} of {space.K}")
    other = judge(complete(space, peeled, rng))
    best = max(best, other, key=lambda found: found.columns.objective)
    if best.certified.all():
        return best
    return judge(*redraw(space, best, rng, restarts, log))


def complete(space: Space, B: Array, rng: np.random.Generator) -> Columns:
    """Fill up with random directions outside `B` and climb, the new ones first."""
    n, K = len(B), space.K
    density = Density.start(K)
    if n < K:
        Q = complement(B, K)
        turn = np.linalg.qr(rng.standard_normal((K - n, K - n)))[0]
        B = np.vstack([B, turn @ Q.T])
        widths = np.geomspace(1.0, min(space.level, 0.9), 400)
        part = climb(space, B, density, widths, free=np.arange(n, K))
        B, density = part.B, part.density
    return climb(space, B, density, np.full(30, space.level), settle=SETTLE)


def redraw(
    space: Space, found: Found, rng: np.random.Generator, patience: int, log
) -> tuple[Columns, int]:
    """Iterated local search: redraw the least certain columns, keep what raises the likelihood."""
    best, failed, tried = found.columns, 0, 0
    K = space.K
    while failed < patience:
        tried += 1
        share = np.exp(rng.uniform(np.log(0.05), np.log(0.9)))
        m = int(np.clip(K * share, 2, K))
        order = np.argsort(-(best.J + 0.02 * rng.standard_normal(K)))
        keep, free = order[: K - m], np.sort(order[K - m :])
        B = best.B.copy()
        Q = complement(B[keep], K)
        density = best.density.put(free, Density.start(m))
        if rng.random() < 0.4:
            candidates, score = one_unit(space, Q, draw_starts(space, Q, 128, rng))
            new = pick_independent(candidates, score, -np.inf, B[keep], m)
            rest = complement(np.vstack([B[keep], new]), K)
            B[free] = np.vstack([new, rest.T])
            widths = np.geomspace(min(2 * space.level, 0.7), min(space.level, 0.6), 60)
        else:
            B[free] = np.linalg.qr(rng.standard_normal((m, m)))[0] @ Q.T
            widths = np.geomspace(1.0, min(space.level, 0.9), 300)
        part = climb(space, B, density, widths, free=free)
        trial = climb(space, part.B, part.density, np.full(30, space.level), settle=SETTLE)
        failed += 1
        if trial.objective > best.objective:
            if trial.objective > best.objective + 10:
                failed = 0
                log(f"redraw {tried} ({m} columns): {best.objective:.0f} -> {trial.objective:.0f}")
            best = trial
    return best, tried
