"""Regulators that do not depend on the start: the mean of what many searches find.

Where small effects are everywhere the likelihood has many maxima of nearly the same height, and
the start chooses among them. What the searches share is well defined. Each begins in one half of
the variables (`halves`), goes on with all of them, and gives up rows that are no sparser than
chance. Rows are matched between searches; a regulator is the aligned mean of its rows, and their
scatter tells how far another set of searches would give another mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from rcweb.engine.search.halves import Split, recurrence, search_split
from rcweb.engine.search.joint import normalised
from rcweb.engine.search.newton import Ascent, ascend
from rcweb.engine.search.peel import LEAST_GAIN
from rcweb.engine.search.space import Space
from rcweb.engine.threads import parallel
from rcweb.engine.types import Array, Mask

MOST_SPLITS = 6  # at most; each gives two searches
AT_ONCE = 2  # splits between two looks at whether more are needed
POLISH_STEPS = 12  # Newton steps on all variables
SAME = 0.85  # cosine from which on rows of two searches are one regulator
MATCHING_ROUNDS = 4  # of means and their members
OFTEN = 0.5  # share of the searches that must find a regulator
# 1 - cosine to be expected between the answers of two sets of searches, up to which a regulator is
# found: then two answers rarely differ by more than the 0.05 at which they count as different.
MOST_ERROR = 0.02


@dataclass(frozen=True)
class Consensus:
    """Rows on which searches agree, the surest first.

    B : (n, K) unit rows
    frequency : (n,) share of the searches that found the row
    error : (n,) 1 - cosine to be expected of another set of searches
    recurrence : (n,) agreement of disjoint halves of the variables; see `halves.recurrence`
    best : where the likeliest search ended
    searches : number of searches
    """

    B: Array
    frequency: Array
    error: Array
    recurrence: Array
    best: Ascent
    searches: int

    @property
    def found(self) -> Mask:
        """(n,) whether another set of searches would give the same row."""
        return (self.frequency >= OFTEN) & (self.error < MOST_ERROR)


def agree(space: Space) -> Consensus:
    """Search until the rows that most searches find are known well enough, or `MOST_SPLITS`
    times."""
    splits: list[Split] = []
    ends: list[Ascent] = []

    def both(number: int) -> tuple[Split, list[Ascent]]:
        split = search_split(space, number)
        return split, [polish(space, B) for B in (split.first, split.second)]

    while len(splits) < MOST_SPLITS:
        numbers = range(len(splits), len(splits) + AT_ONCE)
        for split, polished in parallel(both, numbers):
            splits.append(split)
            ends += polished
        mean, frequency, error = average(ends)
        if (error[frequency >= OFTEN] < MOST_ERROR / 2).all():
            break
    order = np.lexsort((error, -frequency))
    B = mean[order]
    best = max(ends, key=lambda end: end.L)
    return Consensus(B, frequency[order], error[order], recurrence(B, splits), best, len(ends))


def polish(space: Space, B: Array) -> Ascent:
    """A search goes on with all variables; rows no better than a Gaussian are dropped."""
    start = Ascent.at(space, B)
    end = ascend(space, start.take(space, _worth(space, start.J)), POLISH_STEPS)
    return end.take(space, _worth(space, end.score))


def _worth(space: Space, score: Array) -> NDArray[np.intp]:
    """Rows that beat a Gaussian; the best one, if none does."""
    rows = np.flatnonzero(score > LEAST_GAIN / space.N)
    return rows if len(rows) else np.array([np.argmax(score)])


def average(ends: list[Ascent]) -> tuple[Array, Array, Array]:
    """Means (m, K), the share of searches that have each, and its error; see `Consensus`.

    Alternates between members (of each search the best one-to-one match) and their aligned mean.
    """
    B = np.vstack([end.B for end in ends])
    J = np.concatenate([end.J for end in ends])
    search = np.repeat(np.arange(len(ends)), [len(end.B) for end in ends])
    mean = _first_means(B, J, search)
    for _ in range(MATCHING_ROUNDS):
        total, count, apart = np.zeros_like(mean), np.zeros(len(mean)), np.zeros(len(mean))
        for s in range(len(ends)):
            rows = B[search == s]
            cosine = rows @ mean.T
            i, j = linear_sum_assignment(-np.abs(cosine))
            same = np.abs(cosine[i, j]) > SAME
            i, j = i[same], j[same]
            total[j] += np.sign(cosine[i, j])[:, None] * rows[i]
            count[j] += 1
            apart[j] += 1 - cosine[i, j] ** 2
        alive = count > 0
        mean, count, apart = normalised(total[alive]), count[alive], apart[alive]
    # Each member lies off the mean by apart / (count - 1); means of `count` by a share of that.
    error = np.where(count > 1, apart / np.maximum(count * (count - 1), 1), 1.0)
    return mean, count / len(ends), error


def _first_means(B: Array, J: Array, search: NDArray[np.intp]) -> Array:
    """Rows with most company in other searches first; each takes its company along."""
    cosine = B @ B.T
    near = np.where(np.abs(cosine) > SAME, np.abs(cosine), 0.0)
    best = np.stack([near[:, search == s].max(axis=1, initial=0) for s in np.unique(search)])
    support = best.sum(axis=0) + 1e-3 * J
    left = np.ones(len(B), bool)
    means = []
    for c in np.argsort(-support, kind="stable"):
        if left[c]:
            company = left & (near[c] > 0)
            means.append((np.sign(cosine[c, company])[:, None] * B[company]).sum(axis=0))
            left &= near[c] == 0
    return np.asarray(normalised(np.array(means)))
