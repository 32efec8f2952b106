"""How many directions to search where noise is not independent.

In real tables singular values fall without a step, or with one that is no edge of noise: samples
and variables share noise, and its directions stand above the edge of independent noise. Too few
directions lose regulators; too many blur all of them. So several numbers are tried, each twice the
one before, and compared by how far two disjoint halves of the variables agree on columns: the sum
over columns of squared cosines with the nearest one of the other half, beyond chance. It is about
the number of columns that recur, without a level at which a column begins to count. Doubling ends
when it gains little; of the numbers tried that reach nearly the most, the largest is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rcweb.engine.canonical import arrange
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.conventions import ENOUGH_TO_TELL, LITTLE
from rcweb.engine.search.consensus import SPLITS
from rcweb.engine.search.halves import Split, can_be_split, chance_cosine, search_split
from rcweb.engine.search.space import Space
from rcweb.engine.solution import Records
from rcweb.engine.spectrum import Spectrum, first_directions
from rcweb.engine.threads import parallel


def choose_directions(
    table: CondensedTable, spectrum: Spectrum, report: Callable[[str], None]
) -> tuple[Spectrum, Records]:
    """The largest basis of nearly the most recurrent columns, and the counts behind the choice."""
    numbers = [len(spectrum.s)]
    # Among fewer, columns agree by chance: the best of 12 has a cosine of 0.64 with any other.
    while numbers[-1] >= 2 * ENOUGH_TO_TELL:
        numbers.append(numbers[-1] // 2)
    bases: list[Spectrum] = []
    counts: list[float] = []
    for K in reversed(numbers):
        bases.append(first_directions(table, K, spectrum.n_signal))
        counts.append(_recurrent(bases[-1]))
        report(f"number: {counts[-1]:.1f} columns recur among {K} directions")
        if len(counts) > 1 and counts[-1] < (1 + LITTLE) * max(counts[:-1]):
            break
    nearly = max(counts) - LITTLE * abs(max(counts))
    chosen = max(k for k, count in enumerate(counts) if count >= nearly)
    records = [
        {
            "evidence": f"columns that recur in halves of the variables, {len(basis.s)} directions",
            "count": round(count, 1),
        }
        for basis, count in zip(bases, counts)
    ]
    return bases[chosen], records


def _recurrent(spectrum: Spectrum) -> float:
    """Columns that both halves of a split have, whatever the order of the variables; mean over the
    splits."""
    spectrum, _ = arrange(spectrum)
    space = Space.of(spectrum.V, spectrum.s, spectrum.sigma)
    if not can_be_split(space):
        return 0.0
    splits = parallel(lambda number: search_split(space, number), range(SPLITS))
    return float(np.mean([count_recurrent(split, space.K) for split in splits]))


def count_recurrent(split: Split, K: int) -> float:
    """How many columns of the first half the second has too, in squared cosines, beyond chance."""
    cosine = np.abs(split.first @ split.second.T).max(axis=1)
    return float((cosine**2).sum() - len(cosine) * chance_cosine(K) ** 2)
