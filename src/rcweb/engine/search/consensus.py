"""Regulators that do not depend on the start: the mean of what many searches find.

Where small effects are everywhere the likelihood has many maxima of nearly the same height, and
the start chooses among them; the objective does not tell the right one. What the searches share is
well defined. Each search starts in one half of the variables (`halves`), continues with all of
them, and drops rows that are no sparser than chance. Rows are matched between searches. A regulator
is the mean of its matched rows, signs aligned; the scatter of these rows estimates how much the
mean would change with another set of searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from rcweb.engine.search.halves import Split, recurrence, search_splits
from rcweb.engine.search.joint import normalised
from rcweb.engine.search.newton import Ascent, ascend
from rcweb.engine.search.peel import LEAST_GAIN
from rcweb.engine.search.space import AGREED, Space
from rcweb.engine.threads import parallel
from rcweb.engine.types import Array, Mask

MOST_SPLITS = 8  # each gives two searches
SPLITS = 2  # searched at once: all where one search gives the columns, else before a stop test
POLISH_STEPS = 4  # Newton steps on all variables
# Cosine above which rows of two searches count as one regulator. Measured (plan `sensitivity`): 0.7
# to 0.925 give the same score to 0.0004; at 0.9 accuracy with a background of 0.4 falls by 0.03.
SAME = 0.85
MATCHING_ROUNDS = 4  # of matching rows to means and averaging them
OFTEN = 0.5  # conventional: share of the searches that must find a regulator


@dataclass(frozen=True)
class Consensus:
    """Rows on which searches agree, the most frequent first.

    B : (n, K) unit rows
    frequency : (n,) share of the searches that found the row
    error : (n,) expected 1 - cosine between this row and that of another set of searches
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
        """(n,) whether another set of searches would give the same row: often enough, and by a
        standard error more than that, since the share is itself counted in few searches."""
        often = OFTEN + np.sqrt(OFTEN * (1 - OFTEN) / self.searches)
        return (self.frequency >= often) & (self.error < most_error())


def most_error() -> float:
    """Largest expected 1 - cosine between the answers of two sets of searches, that they agree in
    95 of 100 cases: if rows scatter along one direction, 1 - cosine is what is expected times a
    chi-squared variable of one degree, which is below 3.84 so often."""
    return (1 - AGREED) / 3.84


def agree(space: Space, splits: Sequence[Split] = ()) -> Consensus:
    """Search splits of the variables until the means of frequent rows are accurate enough; `splits`
    are the first ones, if they were searched before.

    Stops when every row that most searches found has an error below half of `most_error`, or after
    `MOST_SPLITS` splits. In the second case rows with a larger error are returned too, but `found`
    is False for them.
    """
    searched: list[Split] = []
    ends: list[Ascent] = []
    while len(searched) < MOST_SPLITS:
        numbers = range(len(searched), len(searched) + SPLITS)
        more = list(splits[numbers.start : numbers.stop]) or search_splits(space, numbers)
        halves = [half for split in more for half in (split.first, split.second)]
        searched += more
        ends += parallel(lambda B: polish(space, B), halves)
        mean, frequency, error = average(ends)
        # Half of the limit: the error is itself an estimate, and this leaves a margin.
        if (error[frequency >= OFTEN] < most_error() / 2).all():
            break
    order = np.lexsort((error, -frequency))
    B = mean[order]
    best = max(ends, key=lambda end: end.L)
    return Consensus(B, frequency[order], error[order], recurrence(B, searched), best, len(ends))


def polish(space: Space, B: Array) -> Ascent:
    """Continue a search with all variables; drop rows no better than a Gaussian.

    Before the ascent by negentropy alone, after it by the score, which also counts overlap.
    """
    start = Ascent.at(space, B)
    end = ascend(space, start.take(_worth(space, start.J)), POLISH_STEPS)
    return end.take(_worth(space, end.score))


def _worth(space: Space, score: Array) -> NDArray[np.intp]:
    """Rows that beat a Gaussian; if none does, the best one, so that no search ends empty."""
    rows = np.flatnonzero(score > LEAST_GAIN / space.N)
    return rows if len(rows) else np.array([np.argmax(score)])


def average(ends: list[Ascent]) -> tuple[Array, Array, Array]:
    """Means (m, K), the share of searches that have each, and its error; see `Consensus`.

    Maximises the sum of |cosine| between rows and the mean they belong to, by alternating two
    steps: match the rows of each search one-to-one to the means, then replace each mean by the
    aligned mean of its rows. Runs `MATCHING_ROUNDS` times without a stop test; a mean that has not
    settled by then shows as a large error.
    """
    mean = _first_means(ends)
    for _ in range(MATCHING_ROUNDS):
        mean = _distinct(mean)
        total, count, apart = np.zeros_like(mean), np.zeros(len(mean)), np.zeros(len(mean))
        for end in ends:
            cosine = end.B @ mean.T
            # One-to-one: two rows of one search are two regulators, however similar.
            i, j = linear_sum_assignment(-np.abs(cosine))
            same = np.abs(cosine[i, j]) > SAME
            i, j = i[same], j[same]
            total[j] += np.sign(cosine[i, j])[:, None] * end.B[i]
            count[j] += 1
            apart[j] += 1 - cosine[i, j] ** 2
        order = np.argsort(-count, kind="stable")[: np.count_nonzero(count)]
        mean, count, apart = normalised(total[order]), count[order], apart[order]
    # Variance of a mean: the members' squared distance to it, apart / (count - 1), divided by
    # count. A single member says nothing about its error.
    error = np.where(count > 1, apart / np.maximum(count * (count - 1), 1), 1.0)
    return mean, count / len(ends), error


def _first_means(ends: list[Ascent]) -> Array:
    """Greedy start of `average`: the row with most near rows in other searches absorbs them, then
    the next one that is left. Rows that no other search has are left out; if there are none but
    such, the sparsest one is kept."""
    B, J = np.vstack([end.B for end in ends]), np.concatenate([end.J for end in ends])
    support = np.zeros(len(B))
    for end in ends:
        nearest = np.abs(B @ end.B.T).max(axis=1)
        support += np.where(nearest > SAME, nearest, 0.0)
    shared = np.flatnonzero(support > 1 + SAME / 2)  # beyond the row itself
    if not len(shared):
        return B[[np.argmax(J)]]
    # The small multiple of J breaks ties in favour of the sparser row.
    B, support = B[shared], support[shared] + 1e-3 * J[shared]
    left = np.ones(len(B), bool)
    means = []
    for c in np.argsort(-support, kind="stable"):
        if left[c]:
            mean, company = B[c], np.zeros_like(left)
            for _ in range(MATCHING_ROUNDS):
                cosine = B @ mean
                near = np.abs(cosine) > SAME
                before, company = company, left & near
                if (company == before).all():
                    break  # the mean would be the same
                mean = np.sign(cosine[company]) @ B[company]
                mean = mean / np.linalg.norm(mean)
            means.append(mean)
            left &= ~near
            left[c] = False
    return np.array(means)


def _distinct(mean: Array) -> Array:
    """The means, the most frequent first, without those that are the same as an earlier one: a
    greedy start far from the middle of its rows leaves some of them to another mean."""
    near = np.abs(mean @ mean.T) > SAME
    kept: list[int] = []
    for c in range(len(mean)):
        if not near[c, kept].any():
            kept.append(c)
    return mean[kept]
