"""Columns one after the other, sparsest first, each certified against chance.

The paper's line: find b with ``V b`` sparse, take the direction away, find the next (section 3).
Instead of inflating V after each column, the next one is searched in the orthogonal complement Q of
those found, a smaller space, and then released: b moves in the whole space, with its length taken
in Q,

    maximise  mean_i log p(x_i . b) + log |Q^T b|,   |b| = 1,

so that earlier columns are excluded but do not bias the next one. The stop "lambda^-1 ~ 0"
becomes: stop when the best row is no sparser than the best row of a random subspace.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import LITTLE
from rcweb.engine.search.joint import climb, complement, normalised
from rcweb.engine.search.kernels import wide_step
from rcweb.engine.search.space import (
    BLURRED,
    LOW_NOISE,
    Density,
    Single,
    Space,
    e_step,
    m_step,
    negentropy,
)
from rcweb.engine.types import Array

CHUNK = 128  # candidates that move together: two matrix products a step for all of them
# Factor above the best score of a null search that certifies a row. Measured: the best of 16 null
# starts is 5 % below the best of 32, where 1.25 was enough.
MARGIN = 1.3
# Nats by which a row's log-likelihood must exceed a Gaussian's at least. Measured (plan
# `sensitivity`): 2 costs 0.003 in rho, 8 nothing.
LEAST_GAIN = 4.0
WIDE, WIDE_STEPS = (1.5, 0.4), 45  # first and last width of the wide density, and its steps
SHARP_STEPS = 20  # of the sharp density
# Factor on the steps where the fast search found nothing. Measured hits per 10,000 starts with 58
# of 120 rows known: 6 with 45 steps, 22 with 90, 39 with 180; per second 90 is best.
SLOWER = 2
RELEASED = 32  # how many best columns are released
# Least length of a column outside the span of the others from which it counts as another one.
# Measured (plan `sensitivity`): 0.2 to 0.8 give the same results.
NEW_SHARE = 0.6
RECALIBRATE = 0.9  # chance is measured again when the columns left have shrunk to this share


def one_unit(
    space: Space, starts: Array, slowness: int = 1, PQ: Single | None = None
) -> tuple[Array, Array]:
    """Independent searches from the rows of `starts`; returns columns and their scores.

    The score is the negentropy, plus the log of the length measured by the projection `PQ` if that
    is given. The width of the density shrinks by a fixed schedule, since a narrow density has many
    local optima and a wide one few; `slowness` times as many steps find more of the denser rows.
    There is no stop test: a start that ends at no sparse row has a low score.
    """
    found = [
        _one_chunk(space, starts[c : c + CHUNK], slowness, PQ) for c in range(0, len(starts), CHUNK)
    ]
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


def _one_chunk(
    space: Space, starts: Array, slowness: int, PQ: Single | None
) -> tuple[Array, Array]:
    B: Single = normalised(starts).astype(np.float32)
    for width in np.geomspace(*WIDE, slowness * WIDE_STEPS):
        Y = B @ space.XT
        D, means = np.empty_like(Y), np.empty((len(B), 2), np.float32)
        wide_step(Y, np.float32(width**2), D, means)
        B = _move(B, D @ space.X / np.float32(space.N), means[:, :1], means[:, 1:], PQ)
    # The sharp steps need an exponential an entry: only the better half takes them.
    if len(B) > 8:
        Y = B @ space.XT
        score = -0.5 * np.log(Y * Y + np.float32(WIDE[1] ** 2)).mean(axis=1) + _new(B, PQ)
        B = B[np.argsort(-score, kind="stable")[: len(B) // 2]]
    return _sharpened(space, B, PQ)


def _new(B: Single, PQ: Single | None) -> Array | float:
    """log |Q^T b|: how much of a column is not in those already found."""
    if PQ is None:
        return 0.0
    return np.log(np.linalg.norm(B @ PQ, axis=1) + 1e-9).astype(np.float64)


def _sharpened(space: Space, B: Single, PQ: Single | None) -> tuple[Array, Array]:
    """Columns and scores after steps from a wide to a narrow density, free in the whole space;
    lengths are measured by the projection `PQ` (None: by all of it)."""
    density = Density.start(len(B))
    for width in np.geomspace(WIDE[1], min(space.level, BLURRED), SHARP_STEPS):
        density = density.with_width(np.full(len(B), width**2))
        D, sums = e_step(B @ space.XT, density)
        density = m_step(sums, density.v0, widest=width**2)
        weight, fit = sums[:, :1].astype(np.float32), sums[:, 1:2].astype(np.float32)
        B = _move(B, D @ space.X / np.float32(space.N), weight, fit, PQ)
    J = negentropy(B @ space.XT, density) + _new(B, PQ)
    return B.astype(np.float64), np.where(np.isfinite(J), J, -np.inf)


def _move(B: Single, g: Single, weight: Single, fit: Single, PQ: Single | None) -> Single:
    """A step up: fixed-point in the complement, gradient in the span of the columns found."""
    # 1.2 instead of 1 damps the fixed-point step. The floor of `inside` keeps the step finite where
    # weight and fit nearly cancel.
    if PQ is None:
        B = np.float32(1.2) * weight * B - g
    else:
        BQ, gQ = B @ PQ, g @ PQ
        w = fit / ((BQ * BQ).sum(axis=1, keepdims=True) + np.float32(1e-12))
        inside = np.maximum(np.float32(1.2) * weight - w, np.float32(0.2) * weight)
        B = B + (w * BQ - gQ) / inside - (g - gQ) / weight
    return normalised(B)


def propose(
    space: Space, taken: Array, n: int, rng: np.random.Generator, slowness: int = 1
) -> tuple[Array, Array]:
    """The best columns beside the rows `taken`, from n starts, and their scores: negentropy + log
    of the length outside the span of `taken`.

    The search runs in the remaining directions only, which are fewer, and the best columns are then
    released into the whole space: same rows in half the time, and dense rows that a search in the
    whole space never reaches. With few variables per direction a row is too blurred in the
    remaining directions, and b moves in the whole space from the beginning.
    """
    if not len(taken):
        return one_unit(space, draw_starts(space, n, rng), slowness)
    Q = complement(taken, space.K)
    PQ = (Q @ Q.T).astype(np.float32)
    inner = space.within(Q)
    starts = draw_starts(inner, n, rng)
    if not space.enough_variables:
        return one_unit(space, starts @ Q.T, slowness, PQ)
    columns, score = one_unit(inner, starts, slowness)
    best = pick_independent(columns, score, -np.inf, columns[:0], RELEASED, NEW_SHARE**2)
    return _sharpened(space, (best @ Q.T).astype(np.float32), PQ)


def draw_starts(space: Space, n: int, rng: np.random.Generator) -> Array:
    """Rows of X, each a mixture of few true columns; random sums of two when rows run out."""
    Z = space.X.astype(np.float64)
    # A little noise: variables with equal coordinates, or with zeros only, are then usable starts.
    Z += 1e-3 * rng.standard_normal(Z.shape)
    if n <= space.N:
        return Z[rng.choice(space.N, n, replace=False)]
    more = n - space.N
    mixed = Z[rng.integers(space.N, size=more)] * rng.standard_normal((more, 1))
    return np.concatenate([Z, mixed + Z[rng.integers(space.N, size=more)]])


def sparse_above(chance: float, N: int) -> float:
    """Least score at which a row of N entries is certified."""
    return MARGIN * max(chance, 0.0) + LEAST_GAIN / N


def chance_level(
    space: Space, left: int, rng: np.random.Generator, n: int = 16, *, leverage: bool = False
) -> float:
    """Best score that the same search reaches by chance, in a random subspace of the same size.

    All but `left` of its directions are taken. The null must contain the taken directions, because
    b may use them: in a space of dimension `left` alone the level is far too low (18 false columns
    certified at once).

    leverage : keep the lengths of the variables' coordinates and randomise their directions. A few
        variables of large leverage, as in heavy-tailed noise, look sparse without any regulator;
        but so do the targets of a few sparse regulators.
    """
    taken = np.eye(space.K)[left:]
    n = min(n, 8 * left - 7)  # in one direction all starts are the same
    best = -np.inf
    for _ in range(max(1, 8 // left)):  # a small space has few optima: draw several spaces
        null = random_subspace(space, rng, leverage=leverage)
        best = max(best, propose(null, taken, n, rng)[1].max())
    return float(best)


def random_subspace(space: Space, rng: np.random.Generator, *, leverage: bool) -> Space:
    """A subspace of the same size and noise without any sparse row; see `chance_level`."""
    Z = rng.standard_normal((space.N, space.K))
    if leverage:
        Z *= np.linalg.norm(space.X, axis=1)[:, None] / np.linalg.norm(Z, axis=1)[:, None]
    return Space.of(np.linalg.qr(Z)[0], np.ones(space.K), space.level / np.sqrt(space.N))


def pick_independent(
    candidates: Array,
    score: Array,
    threshold: float,
    taken: Array,
    most: int,
    share: float,
) -> Array:
    """Best first, skipping what lies mostly in the span of what is taken (the matroid greedy)."""
    order = np.argsort(-score, kind="stable")
    return candidates[independent(candidates, order[score[order] >= threshold], taken, most, share)]


def independent(
    candidates: Array,
    order: NDArray[np.intp],
    taken: Array,
    most: int,
    share: float,
) -> NDArray[np.intp]:
    """Of the candidates in `order`, at most `most` of which each has a length above `share`
    outside the span of those before it and of the rows `taken`."""
    K = candidates.shape[1]
    U = np.linalg.qr(taken.T)[0] if len(taken) else np.zeros((K, 0))
    ordered = candidates[order]
    outside = (ordered * ordered).sum(axis=1) - ((ordered @ U) ** 2).sum(axis=1)
    chosen: list[int] = []
    while len(chosen) < most and (long := outside > share**2).any():
        c = int(order[long.argmax()])  # those before it are inside, and stay there
        b = candidates[c]
        r = b - U @ (U.T @ b)
        r -= U @ (U.T @ r)  # twice: one Gram-Schmidt pass loses digits for nearly dependent b
        new = r / np.linalg.norm(r)
        chosen.append(c)
        U = np.column_stack([U, new])
        outside -= (ordered @ new) ** 2
    return np.array(chosen, dtype=np.intp)


def peel(
    space: Space,
    B: Array,
    rng: np.random.Generator,
    *,
    n_starts: int,
    most_starts: int,
    fill: bool = True,
) -> tuple[Array, NDArray[np.bool_]]:
    """Add columns to the certified rows `B`, the sparsest first; say which are certified.

    Where nothing beats chance the search is repeated with twice the starts and more steps, up to
    `most_starts`. Then the best column is taken uncertified; later ones may be certified again, in
    the smaller space that is left. Every round adds a column or doubles the starts, so the loop
    ends. It ends before K columns where few of them are certified, and without `fill` where no more
    are.
    """
    K, n, calibrated, threshold, limit = space.K, n_starts, np.inf, np.inf, most_starts
    certified = [True] * len(B)
    # True columns overlap where there are many for few variables. A smaller length is accepted only
    # at low noise: with more noise a blurred repeat of an earlier column would pass.
    share = NEW_SHARE if space.level > LOW_NOISE else NEW_SHARE**2
    while len(B) < K:
        left = K - len(B)
        if left <= RECALIBRATE * calibrated:
            calibrated = left
            threshold = sparse_above(chance_level(space, left, rng), space.N)
        slowness = SLOWER if n > n_starts else 1
        candidates, score = propose(space, B, n if left > 1 else 1, rng, slowness)
        new = pick_independent(candidates, score, threshold, B, left, share)
        sure = len(new) > 0
        if not sure and n < limit and left > 1:
            n *= 2
            continue
        if not sure and (not fill or sum(certified) < LITTLE * K):
            break
        # After the largest number of starts found nothing, stay at the smallest until a column is
        # certified again: the long search would most likely fail again.
        limit, n = (most_starts, max(n // 2, n_starts)) if sure else (n_starts, n_starts)
        if not sure:
            new = pick_independent(candidates, score, -np.inf, B, 1, share)
        if not len(new):
            new = complement(B, K)[:, :1].T
        B = _polish(space, np.vstack([B, new]))
        certified += [sure] * len(new)
    return B, np.array(certified, dtype=bool)


def _polish(space: Space, B: Array) -> Array:
    """A few joint steps on the columns found, the complement held fixed.

    Twelve steps without a stop test: `search._finish` climbs again at the end.
    """
    n = len(B)
    if n == space.K:
        return B
    full = np.vstack([B, complement(B, space.K).T])
    widths = np.full(12, 0.7 * space.level)
    return climb(space, full, Density.start(space.K), widths, free=np.arange(n)).B[:n]
