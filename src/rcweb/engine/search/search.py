"""From a subspace to oblique columns, and the evidence for each.

One test chooses between two searches (`zeros_are_exact`). Where a regulator's non-targets scatter
no more than noise, one likelihood maximum stands out: a joint start finds it, and peeling finds
what the start misses. Where small effects are everywhere there are many maxima of nearly the same
height, and the answer is what many searches share (`consensus`).

Nothing here depends on the user's seed: random numbers come from a fixed stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import ENOUGH_TO_TELL, LITTLE
from rcweb.engine.posterior.entries import entries_beside_noise
from rcweb.engine.posterior.slab import density_concentration
from rcweb.engine.search.activities import peel_both
from rcweb.engine.search.consensus import OFTEN, SAME, SPLITS, Consensus, agree
from rcweb.engine.search.deflate import deflate
from rcweb.engine.search.found import Found, mostly
from rcweb.engine.search.halves import (
    STREAM,
    Split,
    can_be_split,
    recurrence,
    search_splits,
)
from rcweb.engine.search.joint import Columns, climb, own_share
from rcweb.engine.search.newton import Ascent, ascend
from rcweb.engine.search.peel import (
    NEW_SHARE,
    chance_level,
    independent,
    peel,
    pick_independent,
    sparse_above,
)
from rcweb.engine.search.sharpen import sharpen
from rcweb.engine.search.space import AGREED, NARROWEST, Density, Space
from rcweb.engine.search.start import joint_start, likelier_start, search_cheaply
from rcweb.engine.search.unmix import unmix
from rcweb.engine.search.zeros import can_be_drawn, zero_chance
from rcweb.engine.types import Array, Mask, Rng

CONVERGED_STEPS = 30  # Newton steps after which sparse rows have converged
FINISH_FREE = 15  # steps at the fitted width in the final climb
DENSITY_ROUNDS = 80  # of EM, for a density that tells a background
ZERO_WITHOUT_NOISE = 1e-5  # largest entry that counts as an exact zero where there is no noise
PEELING_STARTS = 6  # per missing column; measured: as good as 6 K starts, in a third of the time


def search_columns(
    space: Space,
    most: int,
    report: Callable[[str], None] = lambda line: None,
    stream: int = 0,
    samples: Callable[[], Array] | None = None,
    diffuse: bool | None = None,
    splits: Sequence[Split] = (),
    chance: float | None = None,
) -> Found:
    """Columns of large likelihood: K where zeros are exact, `most` of which must be sparse, and
    about `most` where they are not.

    Budgets are counts of steps. `stream` gives another set of starts, to see whether they matter.
    `samples` gives the samples' white coordinates (M, K), if they may help. `diffuse` says whether
    zeros are small and not exact, if that is known, by the score `chance` that noise reaches, and
    `splits` are the first ones of the variables, if they were searched.
    """
    if diffuse and chance is not None:
        return search_diffuse(space, most, chance, report, splits)
    rng = np.random.default_rng([STREAM, stream])
    chance = chance_level(space, space.K, rng)
    if not diffuse:
        start = joint_start(space, rng)
        by_zeros = not space.blurred and can_be_drawn(space)
        by_zeros = by_zeros and not _sparser_than_chance(space, start, chance).all()
        if by_zeros:
            start = likelier_start(space, start, rng)
            chance = _with_zeros(space, chance, rng)
        if diffuse is None:
            # Not asked where halves of the variables cannot be searched.
            diffuse = can_be_split(space) and not zeros_are_exact(space, start.B, chance)
    if not diffuse:
        found = _search_exact(space, most, start, chance, rng, report, samples, by_zeros)
        if can_be_split(space) and space.noise_free:
            diffuse = not _have_zeros(space, found.columns.B, found.columns.density)
    if diffuse:
        return search_diffuse(space, most, _with_zeros(space, chance, rng), report, splits)
    return found


def usual_chance(space: Space) -> float:
    """Best score that a short search reaches by chance, by the usual stream."""
    rng = np.random.default_rng([STREAM, 0])
    return _with_zeros(space, chance_level(space, space.K, rng), rng)


def _with_zeros(space: Space, chance: float, rng: Rng) -> float:
    """No less than the start from zeros reaches by chance, where there can be one."""
    return max(chance, zero_chance(space, rng.spawn(1)[0])) if can_be_drawn(space) else chance


def is_diffuse(space: Space, splits: Sequence[Split], chance: float) -> bool:
    """Whether zeros are small and not exact, by the sparsest columns of one half of the variables,
    the first of `splits`. They are led to their maximum, where exact zeros show; as many as tell a
    quartile, since the others would cost more."""
    half = Ascent.at(space, splits[0].first)
    sparsest = np.argsort(-half.J, kind="stable")[: 2 * ENOUGH_TO_TELL]
    rows = ascend(space, half.take(np.sort(sparsest)), CONVERGED_STEPS)
    return not zeros_are_exact(space, rows.B, chance)


def zeros_are_exact(space: Space, B: Array, chance: float) -> bool:
    """Whether the background of the rows is narrower than noise, so that zeros may be exact.

    Rows that are sparser than `chance` tell, all rows if none is. Without noise nothing can be
    told by widths; the search will show whether there are zeros. Where noise is unknown, only such
    zeros tell.
    """
    if space.noise_free and space.noise_kind != "unknown":
        return True
    point = Ascent.at(space, B, rounds=DENSITY_ROUNDS)
    if space.noise_kind == "unknown":
        return _have_zeros(space, point.B, point.density)
    sparse = point.score > sparse_above(chance, space.N)
    rows = np.flatnonzero(sparse if sparse.any() else np.ones(len(B), bool))
    noise = space.floor(B)[rows]
    Y, v0 = point.Y[rows].astype(np.float64), point.density.v0[rows]
    entries = entries_beside_noise(Y, noise, v0, density_concentration(space.N, space.level))
    # The upper quartile: with too many directions, some rows are noise and have no background.
    # Measured: at most 0.46 with exact zeros, at least 1.5 on real tables and parts of them, 2.7
    # with a background of a twentieth of the strong weights.
    return bool(np.quantile(entries.background_to_noise, 0.75) < 1)


def _have_zeros(space: Space, B: Array, density: Density) -> bool:
    """Whether a row has more zeros than the K - 1 that can be had in any direction; a single
    direction cannot be turned, and needs none."""
    if space.K == 1:
        return True
    X, noise = space.X.astype(np.float64), ((B * space.noise) ** 2).sum(axis=1)
    rows = X @ sharpen(X, B, noise, density.pi).T
    # Coordinates are in single precision; of 1,000 entries of a dense row 0.01 are as small.
    return bool((np.abs(rows) < ZERO_WITHOUT_NOISE).sum(axis=0).max() > space.K)


def _search_exact(
    space: Space,
    most: int,
    start: Columns,
    chance: float,
    rng: Rng,
    report: Callable[[str], None],
    samples: Callable[[], Array] | None,
    by_zeros: bool,
) -> Found:
    """One search, and a second one to see whether the start matters.

    Noise blurs the test against chance before it blurs the answer: above 0.35 of a row only 8-28 of
    30 correct columns passed. So in a blurred space the columns are returned as they are,
    and the thorough search (0.3-3 s) runs only if the posterior does not converge. Where no column
    is sparse, peeling would cost 10-35 s for nothing. The same holds where noise is shared: its own
    directions are most of what is left, and halves of the samples do not confirm peeled columns.
    """
    start, other = unmix(space, start), search_cheaply(space, rng, zeros=by_zeros)
    sparse = _sparser_than_chance(space, start, chance)
    report(f"search: {sparse.sum()} of {space.K} columns are sparser than chance")
    same = ~_contradicted(start.B, other.B[_sparser_than_chance(space, other, chance)])
    found = replace(_ungraded(start, chance, sparse, same), by_zeros=by_zeros)
    # Without noise a dense row shows as soon as it is found, however few variables there are.
    hopeless = (not sparse.any() or space.noise_kind == "shared") and space.level > NARROWEST
    if sparse.sum() >= most or hopeless or space.blurred:
        return _graded(space, found)
    return search_thoroughly(space, found, report, samples)


def _sparser_than_chance(space: Space, columns: Columns, chance: float) -> Mask:
    sparse = columns.score > sparse_above(chance, space.N)
    return np.asarray(sparse & (own_share(columns.B) > NEW_SHARE))


def _contradicted(B: Array, others: Array) -> Mask:
    """Rows of `B` that lie in the span of another search's sparse columns without being among them.

    There the same few directions can be turned into other columns that are as sparse. A row outside
    that span is not contradicted: the other search only missed it.
    """
    inside = np.linalg.norm(B @ np.linalg.qr(others.T)[0], axis=1) if len(others) else 0.0
    cosine = np.abs(B @ others.T).max(axis=1, initial=0.0)
    return np.asarray((inside > np.sqrt(1 - NEW_SHARE**2)) & (cosine < AGREED))


def _ungraded(columns: Columns, chance: float, sparse: Mask, same: Mask) -> Found:
    """The columns of one search before any evidence from others."""
    n = len(columns.B)
    no, nothing = np.zeros(n, bool), np.zeros(n)
    evidence = (nothing, 1 - nothing, nothing, np.ones(n))
    grounds = (columns, columns.score, chance, sparse, no, no, *evidence)
    return Found(
        *grounds,
        same=same,
        identified=~no,
        curve=no,
        straight=~no,
        paired=no,
        in_enough=~no,
        fidelity=np.ones(n),
        exact=True,
    )


def _graded(space: Space, found: Found) -> Found:
    """Add evidence: a null of the same leverages, and cold searches in halves of the variables."""
    rng = np.random.default_rng([STREAM, 2])
    level = chance_level(space, space.K, rng, leverage=True)
    if found.by_zeros:
        level = max(level, zero_chance(space, rng, leverage=True))
    B = found.columns.B
    splits = _splits(space, found.by_zeros)
    halves = [half for split in splits for half in (split.first, split.second)]
    cosine = np.array([np.abs(B @ half.T).max(axis=1) for half in halves])
    if not halves:
        cosine = np.zeros((1, len(B)))
    return replace(
        found,
        clear=found.score > sparse_above(level, space.N),
        frequency=np.asarray((cosine > SAME).mean(axis=0)),
        error=np.asarray(1 - cosine.mean(axis=0)),
        recurrence=recurrence(B, splits),
    )


def _splits(space: Space, zeros: bool) -> list[Split]:
    """Cold searches of halves of the variables; none where a half is too small for K columns."""
    if not can_be_split(space):
        return []
    return search_splits(space, range(SPLITS), exact=True, zeros=zeros)


def search_thoroughly(
    space: Space,
    found: Found,
    report: Callable[[str], None] = lambda line: None,
    samples: Callable[[], Array] | None = None,
) -> Found:
    """Keep the sparse columns, peel the rest, and return the likeliest of several candidates.

    The candidates are the columns given, the peeled ones, and, where peeling ends early or
    certifies not nearly all of them, greedy deflation. All are compared by the same joint
    likelihood.
    """
    rng = np.random.default_rng([STREAM, 1, 1])
    K, start, sparse = space.K, found.columns, found.sparse
    kept = pick_independent(start.B[sparse], start.J[sparse], -np.inf, start.B[:0], K, NEW_SHARE)
    n_starts = int(np.clip(PEELING_STARTS * (K - len(kept)), 48, 384))
    # With enough variables one start in some thousand still leads to a dense row, so many starts
    # pay; with much noise they rarely do.
    patience = 2 if space.blurred else 64 if space.enough_variables else 8
    peeled, sure = kept[:0], found.sparse[:0]
    U = samples() if samples is not None and space.level > NARROWEST else None
    # With fewer samples activities correlate so much by chance that rows are blurred.
    if U is not None and LITTLE * len(U) >= K:
        # Before the many starts: samples may show what variables alone do not.
        kept, _ = peel(space, kept, rng, n_starts=n_starts, most_starts=n_starts, fill=False)
        if len(kept) < K:
            peeled, sure = peel_both(space, U, kept, rng, report)
            kept = max(kept, peeled, key=len)
    if len(peeled) < K:
        peeled, sure = peel(space, kept, rng, n_starts=n_starts, most_starts=patience * n_starts)
    report(f"search: {sure.sum()} of {K} columns are sparser than chance after peeling")
    rivals = [(start, sparse)]
    if len(peeled) == K:
        rivals.append((_finish(space, peeled, np.full(30, space.level)), sure))
    if len(peeled) < K or not mostly(sure, K):
        widths = np.geomspace(1.0, space.level, 150)
        rivals.append((_finish(space, deflate(space, rng), widths), np.zeros(K, bool)))
    best, good = max(rivals, key=lambda pair: pair[0].objective)
    good = good | _sparser_than_chance(space, best, found.chance)
    # A column that the joint start had keeps its grade; the others were tested against chance in
    # the directions that were left when they were found.
    cosine = np.abs(best.B @ start.B.T)
    known = cosine.max(axis=1) > AGREED
    same = np.where(known, found.same[cosine.argmax(axis=1)], good)
    again = replace(_ungraded(best, found.chance, good, same), by_zeros=found.by_zeros)
    return replace(_graded(space, again), thorough=True)


def _finish(space: Space, B: Array, widths: NDArray[np.float64]) -> Columns:
    columns = climb(space, B, Density.start(space.K), widths, free_steps=FINISH_FREE)
    return unmix(space, columns)


def search_diffuse(
    space: Space,
    most: int,
    chance: float,
    report: Callable[[str], None],
    splits: Sequence[Split] = (),
) -> Found:
    """The columns that most searches share; up to `most`, those that fewer share, then others of
    the likeliest search. With 0 for `most`, all that more than one search has. `splits` are the
    first searches, if they were made before.

    A column that half of the searches have may be just below half with other starts. Kept in both
    cases, it is the same row, and only its grade depends on the starts.
    """
    shared = agree(space, splits)
    frequent = shared.frequency >= OFTEN
    several = np.flatnonzero(shared.frequency * shared.searches > 1.5)
    order = several if len(several) else np.arange(1)
    enough = max(int(frequent.sum()), most) if most else len(order)
    keep = independent(shared.B, order, shared.B[:0], enough, NEW_SHARE)
    B = np.vstack([shared.B[keep], _others(shared, shared.B[keep], most - len(keep))])
    point = Ascent.at(space, B, rounds=DENSITY_ROUNDS)
    report(f"search: {shared.found.sum()} columns shared by {shared.searches} searches")
    n = len(B) - len(keep)
    return Found(
        columns=Columns(point.B, point.density, point.J, point.L * space.N),
        score=point.score,
        chance=chance,
        sparse=point.score > sparse_above(chance, space.N),
        clear=np.zeros(len(B), bool),
        trusted=np.zeros(len(B), bool),
        frequency=np.append(shared.frequency[keep], np.zeros(n)),
        error=np.append(shared.error[keep], np.ones(n)),
        # What most searches leave again is not certified, however often they pass it.
        recurrence=np.append(np.where(frequent, shared.recurrence, 0.0)[keep], np.zeros(n)),
        in_samples=np.ones(len(B)),
        same=np.append(shared.found[keep], np.zeros(n, bool)),
        identified=np.ones(len(B), bool),
        curve=np.zeros(len(B), bool),
        straight=np.ones(len(B), bool),
        paired=np.zeros(len(B), bool),
        in_enough=np.ones(len(B), bool),
        fidelity=np.ones(len(B)),
        exact=False,
    )


def _others(shared: Consensus, taken: Array, most: int) -> Array:
    """At most `most` rows of the likeliest search, the sparsest first, outside the span of those
    `taken`."""
    order = np.argsort(-shared.best.J, kind="stable")
    return shared.best.B[independent(shared.best.B, order, taken, max(most, 0), NEW_SHARE)]
