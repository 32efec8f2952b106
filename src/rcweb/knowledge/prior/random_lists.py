"""What random lists reach: the null against which known lists are judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rcweb.engine.types import Array, Ints, Mask, Rng
from rcweb.knowledge.prior.evidence import Evidence
from rcweb.knowledge.prior.lists import LEAST_MEMBERS, TargetList

RANDOM_LIST_STREAM = 0x9A1  # of random lists: the answer does not depend on the user's seed
POOLED = 60  # random lists of each size whose agreement with variables is pooled
JUDGED = 1000  # variables of each, drawn at random
SIZE_STEP = 1.3  # lists within this ratio of sizes share a pool; groups within it are alike
LEAST_DRAWS = 300  # random lists, at least, to which one known list is compared as a whole
DRAWS_IN_ALL = 2000  # random lists for all known ones, whose tails are fitted together
FEWER = 4e6  # members squared, summed over these: long lists are compared to fewer
UPPER = 0.05  # share of random lists to which an exponential tail is fitted


class RandomLists:
    """Random lists like a given one: the same size, in groups of about the same sizes.

    The size of a group counts, not only how many of it are listed: genes that stand alone agree
    with each other more than genes of operons do, so that a random list of whole operons would
    stand above lists that take one gene here and there.
    """

    def __init__(self, evidence: Evidence, groups: NDArray[np.intp] | None) -> None:
        self.evidence = evidence
        self.groups = np.arange(evidence.N) if groups is None else groups
        self._by_group = np.argsort(self.groups, kind="stable")
        self._size = np.bincount(self.groups)
        self._first = np.cumsum(self._size) - self._size
        self._scale = np.array([_scale(size) for size in self._size])
        self._pools: dict[int, Array] = {}
        self._drawn: dict[bytes, Array] = {}

    def like(self, one: TargetList, count: int) -> Ints:
        """Members (count, n) of random lists with as many members of one group as `one` has, in
        groups like its own."""
        structure = self._structure(one)
        rng = np.random.default_rng([RANDOM_LIST_STREAM, *np.ravel(structure)])
        taken = np.zeros((count, len(self._size)), bool)
        members: list[Ints] = []
        # Those that few groups can hold come first.
        for n, scale, k in structure[::-1]:
            groups = self._draw_groups(n, scale, k, taken, rng)
            np.put_along_axis(taken, groups, True, axis=1)
            members.append(self._draw_members(groups, n, rng))
        return np.concatenate(members, axis=1)

    def normal(self, n: int, t: Array) -> Array:
        """Agreement `t` with a list of n members as a standard normal under random lists of about
        that size; beyond them as far as the slope of their tail goes."""
        pool = self._pool(n)
        count = len(pool)
        top = ndtri(1 - 0.5 / count)
        # Between two of them in proportion: counted alone, the best variables would have equal
        # scores, since few random lists reach so far.
        share = (np.interp(t, pool, np.arange(count)) + 1) / (count + 1)
        a = ndtri(np.clip(share, 0.5 / count, 1 - 0.5 / count))
        far = int(0.999 * count)
        unit = (pool[-1] - pool[far]) / (top - ndtri(far / count)) + 1e-12
        return np.where(t > pool[-1], top + (t - pool[-1]) / unit, a)

    def standing(self, one: TargetList, mean: float, draws: int) -> tuple[float, Array]:
        """The members' `mean` normal score in standard deviations of `draws` random lists like
        theirs, and the same for each of those, compared with the others as the list is with all."""
        drawn = self._means(one, draws)
        spread = max(float(drawn.std(ddof=1)), 1e-12)
        return (mean - float(drawn.mean())) / spread, _left_out(drawn)

    def _structure(self, one: TargetList) -> list[tuple[int, int, int]]:
        """Members of one group, scale of the group's size, and how many such groups there are."""
        groups, counts = np.unique(self.groups[one.members], return_counts=True)
        kinds, number = np.unique([counts, self._scale[groups]], axis=1, return_counts=True)
        return [(int(n), int(scale), int(k)) for (n, scale), k in zip(kinds.T, number)]

    def _means(self, one: TargetList, draws: int) -> Array:
        """Members' means of random lists like `one`; those of equal structure share them."""
        confidence = np.sort(one.confidence)
        key = bytes(str((draws, self._structure(one))), "ascii") + confidence.tobytes()
        if key not in self._drawn:
            count = int(np.clip(FEWER / len(one) ** 2, POOLED, draws))
            t = self.evidence.own(self.like(one, count), confidence)
            self._drawn[key] = self.normal(len(one), t).mean(axis=1)
        return self._drawn[key]

    def _draw_groups(self, n: int, scale: int, k: int, taken: Mask, rng: Rng) -> Ints:
        """`k` random groups with at least n variables for each list: of this scale, if there are
        enough others, and not `taken` yet."""
        large = np.flatnonzero(self._size >= n)
        alike = large[self._scale[large] == scale]
        among = alike if len(alike) >= 2 * k else large
        order = rng.random((len(taken), len(among)), dtype=np.float32) + taken[:, among]
        return among[np.argpartition(order, k - 1, axis=1)[:, :k]]

    def _draw_members(self, groups: Ints, n: int, rng: Rng) -> Ints:
        """`n` random variables of each group."""
        variables, place = self._of_groups(groups.ravel())
        mixed = np.lexsort((rng.random(len(place)), np.cumsum(place == 0)))
        return variables[mixed[place < n]].reshape(len(groups), -1)

    def _of_groups(self, groups: Ints) -> tuple[Ints, Ints]:
        """Variables of `groups` (k,), one group after the other, and each one's place in it."""
        size = self._size[groups]
        place = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        return self._by_group[np.repeat(self._first[groups], size) + place], place

    def _pool(self, n: int) -> Array:
        """Sorted agreement of variables with random lists of about `n` members."""
        size = round(SIZE_STEP ** _scale(max(n, LEAST_MEMBERS)))
        size = int(np.clip(size, LEAST_MEMBERS, max(self.evidence.N // 4, LEAST_MEMBERS)))
        if size not in self._pools:
            rng = np.random.default_rng([RANDOM_LIST_STREAM, size])
            drawn = [self._draw(size, rng) for _ in range(POOLED)]
            self._pools[size] = np.sort(np.concatenate(drawn))
        return self._pools[size]

    def _draw(self, size: int, rng: Rng) -> Array:
        """Agreement of random variables with one random list of whole groups."""
        order = rng.permutation(len(self._size))
        enough = int(np.searchsorted(np.cumsum(self._size[order]), size)) + 1
        drawn = self._of_groups(order[:enough])[0][:size]
        ones = np.ones(size)
        one = TargetList("", "", drawn, ones, ones)
        judged = rng.choice(self.evidence.N, min(JUDGED, self.evidence.N), replace=False)
        return self.evidence.agreement(one, judged)


def _scale(size: int) -> int:
    """Number of the class of a size; up to 5 each size is a class of its own."""
    return round(np.log(size) / np.log(SIZE_STEP))


def _left_out(x: Array) -> Array:
    """Each value in standard deviations of the others from their mean, (n,)."""
    n = len(x)
    x = x - x.mean()
    mean = -x / (n - 1)
    variance = (x @ x - x * x - (n - 1) * mean**2) / (n - 2)
    return np.asarray((x - mean) / np.sqrt(np.maximum(variance, 1e-24)))


def tail_probability(standing: Array, random: Array) -> Array:
    """Share of random lists that stand as high: counted, and beyond `UPPER` of them by an
    exponential fitted to their tail, whose resolution does not end at their number."""
    random = np.sort(random)
    top = random[int((1 - UPPER) * len(random))]
    beyond = random[random > top] - top
    rate = 1 / max(float(beyond.mean()), 1e-12) if len(beyond) else 1.0
    counted = (len(random) - np.searchsorted(random, standing) + 1) / (len(random) + 1)
    return np.where(
        standing > top, UPPER * np.exp(-rate * np.maximum(standing - top, 0.0)), counted
    )
