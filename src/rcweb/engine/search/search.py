"""From a subspace to K oblique columns: a cheap joint start; peeling where that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.search.deflate import deflate
from rcweb.engine.search.joint import Columns, climb, fixed_point, orthogonal
from rcweb.engine.search.peel import (
    NEW_SHARE,
    certified_above,
    chance_level,
    peel,
    pick_independent,
)
from rcweb.engine.search.space import Density, Space
from rcweb.engine.search.unmix import unmix
from rcweb.engine.types import Array

START_ICA = 60
START_STEPS, START_SETTLE = 20, 10  # of the joint start: narrowing, and at its own width
FINISH_SETTLE = 15
# Small effects are everywhere, and "zero" means "small", if the narrow parts hold more power beyond
# noise than this (share of a row, mean over rows), or are much wider than noise (ratio of
# variances, median). Planted networks with exact zeros have at most 0.027 and 1.3, expression
# tables of two organisms, raw and scaled, 0.074 to 0.109 and 1.3 to 2.3. Of the share the mean,
# since rows of such tables differ: its median is as low as 0.026.
BACKGROUND = 0.045
WIDER = 1.6
DIFFUSE_STEPS = 90
MOSTLY = 0.9  # share of certified columns that holds the others in place
PEEL_STARTS = 6  # of the peeling, per column that is not certified
NOISY = 0.25  # rows with more noise than this are rarely certified by more starts


@dataclass(frozen=True)
class Found:
    """Columns with what they are worth.

    columns : K of them
    score : (K,) negentropy + log of the share of the column that no other column explains
    chance : best score that the same search reaches in a random subspace
    certified : (K,) found above chance, when it was its turn, and independent of others
    diffuse : whether zeros are exact (False) or only small (True)
    insisted : whether doubtful columns were searched for with all means
    """

    columns: Columns
    score: Array
    chance: float
    certified: NDArray[np.bool_]
    diffuse: bool
    insisted: bool = False


def own_share(B: Array) -> Array:
    """Length of each unit row outside the span of all others, 1 / |row of B^-T|."""
    return 1 / np.linalg.norm(np.linalg.inv(B), axis=0)


def _score(columns: Columns) -> tuple[Array, Array]:
    """Sparseness with the log of each column's own share; and that share."""
    share = own_share(columns.B)
    return columns.J + np.log(share), share


def search_columns(
    space: Space, rng: np.random.Generator, report: Callable[[str], None] = lambda line: None
) -> Found:
    """K columns of large likelihood. Budgets are counts of steps: the same seed ends alike.

    Noise blurs certificates before it blurs the answer. So columns of a blurred space are handed
    on as they are, doubtful or not, to be insisted on only if refinement does not settle.
    """
    chance = chance_level(space, space.K, rng)
    start = joint_start(space, rng)
    diffuse = is_diffuse(space, start)
    if diffuse:
        start = climb(
            space, start.B, start.density, np.zeros(0), settle=DIFFUSE_STEPS - START_SETTLE
        )
    score, share = _score(start)
    certified = score > certified_above(chance, space.N)
    if not diffuse:
        certified &= share > NEW_SHARE
    report(f"search: {certified.sum()} of {space.K} columns certified by the joint start")
    found = Found(start, score, chance, certified, diffuse)
    if diffuse or certified.all() or space.blurred:
        return found
    return insist(space, found, rng, report)


def joint_start(space: Space, rng: np.random.Generator) -> Columns:
    """The cheap start: independent components, then freed from orthogonality."""
    widths = np.geomspace(0.5, space.level, START_STEPS)
    B = fixed_point(space, orthogonal(rng.standard_normal((space.K, space.K))), START_ICA)
    columns = climb(space, B, Density.start(space.K), widths, settle=START_SETTLE)
    return columns if is_diffuse(space, columns) else unmix(space, columns)


def is_diffuse(space: Space, columns: Columns) -> bool:
    """Whether the rows' narrow parts hold more power, or are wider, than noise makes them."""
    density, floor = columns.density, space.floor(columns.B)
    background = (1 - density.pi) * (density.v0 - floor)
    return bool(background.mean() > BACKGROUND or np.median(density.v0 / floor) > WIDER)


def insist(
    space: Space,
    found: Found,
    rng: np.random.Generator,
    report: Callable[[str], None] = lambda line: None,
) -> Found:
    """Keep the certified columns and peel on; where doubt remains, let starts compete."""
    K, start, certified = space.K, found.columns, found.certified
    kept = pick_independent(start.B[certified], start.J[certified], -np.inf, start.B[:0], K)
    n_starts = int(np.clip(PEEL_STARTS * (K - len(kept)), 48, 384))
    # Where a part of the directions shows a row clearly, one start in thousands still leads to it.
    patience = 2 if space.level > NOISY else 64 if space.roomy else 8
    peeled, sure = peel(space, kept, rng, n_starts=n_starts, most_starts=patience * n_starts)
    report(f"search: {sure.sum()} of {K} columns certified by peeling")
    rivals = [(start, certified)]
    if len(peeled) == K:
        rivals.append((_finish(space, peeled, np.full(30, space.level)), sure))
    if len(peeled) < K or sure.mean() < MOSTLY:
        widths = np.geomspace(1.0, space.level, 150)
        rivals.append((_finish(space, deflate(space, rng), widths), np.zeros(K, bool)))
    best, good = max(rivals, key=lambda pair: pair[0].objective)
    score, share = _score(best)
    good = good | ((score > certified_above(found.chance, space.N)) & (share > NEW_SHARE))
    return Found(best, score, found.chance, good, is_diffuse(space, best), insisted=True)


def _finish(space: Space, B: Array, widths: NDArray[np.float64]) -> Columns:
    columns = climb(space, B, Density.start(space.K), widths, settle=FINISH_SETTLE)
    return unmix(space, columns)
