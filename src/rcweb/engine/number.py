"""How many directions to search where the spectrum shows no edge of noise.

In real tables noise is not independent, and singular values fall without a step. Too few directions
lose regulators; too many blur all of them. So several numbers are tried, each half of the one
before, and judged by what they are for: how many columns do two halves of the variables that share
none agree on? Counts of n are uncertain by sqrt(n); of the numbers that do as well as the best
within that, the largest is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.search.halves import Split, beyond_chance, can_be_split, search_split
from rcweb.engine.search.search import CERTAIN
from rcweb.engine.search.space import Space
from rcweb.engine.solution import Records
from rcweb.engine.spectrum import Spectrum, first_directions
from rcweb.engine.threads import parallel

FEWEST_DIRECTIONS = 12  # directions: with fewer, columns agree by chance


def choose_directions(
    table: CondensedTable, spectrum: Spectrum, report: Callable[[str], None]
) -> tuple[Spectrum, Records]:
    """The basis that most recurrent columns live in, and the counts behind the choice."""
    numbers = [len(spectrum.s)]
    while numbers[-1] >= 2 * FEWEST_DIRECTIONS:
        numbers.append(numbers[-1] // 2)
    bases = [first_directions(table, K, spectrum.n_signal) for K in numbers]
    counts = parallel(_recurrent, bases)
    best = max(counts)
    chosen = next(k for k, count in enumerate(counts) if count >= best - np.sqrt(best))
    for K, count in zip(numbers, counts):
        report(f"number: {count} columns recur among {K} directions")
    records = [
        {"evidence": f"columns that recur in halves of the variables, {K} directions", "count": n}
        for K, n in zip(numbers, counts)
    ]
    return bases[chosen], records


def _recurrent(spectrum: Spectrum) -> int:
    """How many columns both halves of a split have."""
    space = Space.of(spectrum.V, spectrum.s, spectrum.sigma)
    return count_recurrent(search_split(space, 0), space.K) if can_be_split(space) else 0


def count_recurrent(split: Split, K: int) -> int:
    """Columns of the first half that the second has too."""
    cosine = np.abs(split.first @ split.second.T).max(axis=1)
    return int((beyond_chance(cosine, K) > CERTAIN).sum())
