"""A start from exact zeros: of few directions, K - 1 zeros of a row determine its column.

FastICA looks for rows with long tails. A row most of whose entries are targets of one sign has
none, however exact its zeros. But a column b is orthogonal to the coordinates of every variable
that is zero in its row, and K - 1 of them leave one direction. So draw K - 1 variables at random,
many times, and keep the directions that have most zeros (Fischler & Bolles 1981; for sparse
components Georgiev, Theis & Cichocki 2005). Of a row with a share z of zeros, z^(K - 1) of the
draws lead to it: many where K is small, none where it is large.
"""

from __future__ import annotations

import numpy as np

from rcweb.engine.samples import spread
from rcweb.engine.search.joint import Columns, complement
from rcweb.engine.search.newton import Ascent, ascend
from rcweb.engine.search.peel import NEW_SHARE, pick_independent, random_subspace
from rcweb.engine.search.space import Space
from rcweb.engine.types import Array, Rng

ZERO_DRAWS = 5000  # measured: see docs/research.md, "Dense rows of one sign"
ZERO_VARIABLES = 1000  # by which the zeros of a draw are counted; evenly spread
ZERO_STEPS = 30  # Newton steps on the columns drawn, all together


def can_be_drawn(space: Space) -> bool:
    """Whether among so many draws there is one for a row half of whose entries are zeros."""
    return space.K > 1 and 2.0 ** (space.K - 1) <= ZERO_DRAWS


def zero_chance(space: Space, rng: Rng, *, leverage: bool = False) -> float:
    """Best score that this start reaches by chance; see `chance_level`."""
    nulls = (random_subspace(space, rng, leverage=leverage) for _ in range(max(1, 8 // space.K)))
    return max(float(zero_start(null, rng).score.max()) for null in nulls)


def zero_start(space: Space, rng: Rng) -> Columns:
    """K columns that have most zeros, led to their maximum together."""
    drawn = rng.integers(space.N, size=(ZERO_DRAWS, space.K - 1))
    B = orthogonal_to(space.X[drawn].astype(np.float64))
    # The density of `unmix`, p(y) ~ 1 / sqrt(w^2 + y^2): one draw is as noisy as the row again.
    width = 2 * space.level
    Y = B.astype(np.float32) @ space.X[spread(space.N, ZERO_VARIABLES)].T
    score = -0.5 * np.log(Y**2 + np.float32(width**2)).mean(axis=1)
    # Dense rows share much: what is new in a column may be less than elsewhere.
    B = pick_independent(B, score, -np.inf, B[:0], space.K, NEW_SHARE**2)
    B = np.vstack([B, complement(B, space.K).T])
    end = ascend(space, Ascent.at(space, B), ZERO_STEPS)
    return Columns(end.B, end.density, end.J, end.L * space.N)


def orthogonal_to(rows: Array) -> Array:
    """(n, K) unit vectors, each orthogonal to the K - 1 rows of one of n stacks (n, K - 1, K)."""
    Q, _ = np.linalg.qr(np.swapaxes(rows, 1, 2), mode="complete")
    return np.asarray(Q[:, :, -1])
