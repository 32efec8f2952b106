"""Are columns found again in halves of the samples?

Asked where noise is not independent. Noise that neighbouring samples or variables share makes
directions, and sparse ones too; but they are not the same in other samples, as a regulator's are.
"""

from __future__ import annotations

import numpy as np

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.search.halves import STREAM
from rcweb.engine.search.joint import normalised
from rcweb.engine.search.space import Space
from rcweb.engine.search.start import search_cheaply
from rcweb.engine.threads import parallel
from rcweb.engine.types import Array

# Of the samples into halves. Measured with 3: noise that neighbours share reaches 0.83, 0.86, 0.89
# by the least, the lower quartile and the median of six; true rows under such noise 0.98 by any,
# few samples of unequal noise 0.83, 0.9, 0.92.
SAMPLE_SPLITS = 3


def in_sample_halves(samples: Array, rows: Array, *, zeros: bool = False) -> Array:
    """(n,) the lower quartile of the cosines of each row (n, N) with its match in halves of the
    `samples` (M, N), each searched anew, with a start from `zeros` if the whole had one.

    A half is searched in at most half as many directions as it has samples: beyond them there is
    nothing that would tell noise.
    """
    rng = np.random.default_rng([STREAM, 3])
    orders = [rng.permutation(len(samples)) for _ in range(SAMPLE_SPLITS)]
    halves = [half for order in orders for half in np.array_split(order, 2)]
    unit = normalised(rows)

    def best(number: int) -> Array:
        half = samples[halves[number]]
        found = _search(half, max(min(len(rows), len(half) // 2), 1), zeros)
        return np.asarray(np.abs(unit @ found.T).max(axis=1))

    return np.asarray(np.quantile(parallel(best, range(len(halves))), 0.25, axis=0))


def _search(samples: Array, K: int, zeros: bool) -> Array:
    """Unit rows (K, N) found in some samples alone."""
    table = CondensedTable.of(samples - samples.mean(axis=0))
    leading = table.leading(K)
    space = Space.of(leading.V, leading.values, leading.noise(K))
    found = search_cheaply(space, np.random.default_rng([STREAM, 4]), zeros=zeros)
    return np.asarray(normalised(space.rows(found.B).astype(np.float64)))
