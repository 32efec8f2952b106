"""How many directions to search where the spectrum shows no edge of noise.

In real tables noise is not independent, and singular values fall without a step. Too few directions
lose regulators; too many blur all of them. So several numbers are tried, each half of the one
before, and compared by how many columns two disjoint halves of the variables agree on. A count n
has a standard error of sqrt(n); among the numbers within that of the best, the largest is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rcweb.engine.canonical import arrange
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.search.halves import Split, beyond_chance, can_be_split, search_split
from rcweb.engine.search.search import CERTAIN
from rcweb.engine.search.space import Space
from rcweb.engine.solution import Records
from rcweb.engine.spectrum import Spectrum, first_directions
from rcweb.engine.threads import parallel

# With fewer, columns agree by chance: the best of 12 directions has a cosine of 0.64 with any other
# (`beyond_chance`). Measured (plan `sensitivity`): 6 to 24 give the same result.
FEWEST_DIRECTIONS = 12


def choose_directions(
    table: CondensedTable, spectrum: Spectrum, report: Callable[[str], None]
) -> tuple[Spectrum, Records]:
    """The basis with most recurrent columns, and the counts behind the choice."""
    numbers = [len(spectrum.s)]
    while numbers[-1] >= 2 * FEWEST_DIRECTIONS:
        numbers.append(numbers[-1] // 2)
    bases = [first_directions(table, K, spectrum.n_signal) for K in numbers]
    counts = parallel(_recurrent, bases)
    best = max(counts)
    # Numbers descend, so the first one within a standard error of the best is the largest.
    chosen = next(k for k, count in enumerate(counts) if count >= best - np.sqrt(best))
    for K, count in zip(numbers, counts):
        report(f"number: {count} columns recur among {K} directions")
    records = [
        {"evidence": f"columns that recur in halves of the variables, {K} directions", "count": n}
        for K, n in zip(numbers, counts)
    ]
    return bases[chosen], records


def _recurrent(spectrum: Spectrum) -> int:
    """Number of columns that both halves of one split have, whatever the order of the variables."""
    spectrum, _ = arrange(spectrum)
    space = Space.of(spectrum.V, spectrum.s, spectrum.sigma)
    return count_recurrent(search_split(space, 0), space.K) if can_be_split(space) else 0


def count_recurrent(split: Split, K: int) -> int:
    """Columns of the first half that the second has too."""
    cosine = np.abs(split.first @ split.second.T).max(axis=1)
    return int((beyond_chance(cosine, K) > CERTAIN).sum())
