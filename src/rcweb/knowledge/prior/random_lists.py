"""What random lists reach: the null against which known lists are judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rcweb.engine.types import Array, Ints, Mask
from rcweb.knowledge.prior.evidence import Evidence
from rcweb.knowledge.prior.lists import LEAST_MEMBERS, TargetList

POOLED = 60  # random lists of each size whose agreement with variables is pooled
JUDGED = 1000  # variables of each, drawn at random
SIZE_STEP = 1.3  # lists within this ratio of sizes share a pool
LEAST_DRAWS = 100  # random lists, at least, to which one known list is compared as a whole
DRAWS_IN_ALL = 2000  # random lists for all known ones, whose tails are fitted together
FEWER = 4e6  # members squared, summed over these: long lists are compared to fewer
TAIL = 0.05  # share of random lists to which an exponential tail is fitted


class RandomLists:
    """Random lists like a given one: the same size, and the same number of members of one group."""

    def __init__(
        self, evidence: Evidence, groups: NDArray[np.intp] | None, rng: np.random.Generator
    ) -> None:
        self.evidence = evidence
        self.rng = rng
        self.groups = np.arange(evidence.N) if groups is None else groups
        self._by_group = np.argsort(self.groups, kind="stable")
        self._size = np.bincount(self.groups)
        self._first = np.cumsum(self._size) - self._size
        self._large_first = np.argsort(-self._size, kind="stable")
        self._at_least = np.cumsum(np.bincount(self._size)[::-1])[::-1]  # groups with n or more
        self._pools: dict[int, Array] = {}
        self._drawn: dict[bytes, Array] = {}

    def like(self, one: TargetList) -> TargetList:
        """A random list with as many members of one group as `one` has."""
        counts = np.unique(self.groups[one.members], return_counts=True)[1]
        taken = np.zeros(len(self._size), bool)
        members: list[Ints] = []
        for n in np.unique(counts)[::-1]:
            groups = self._draw_groups(int(n), int((counts == n).sum()), taken)
            taken[groups] = True
            members.append(self._draw_members(groups, int(n)))
        drawn = np.concatenate(members)
        return TargetList(one.name, one.source, drawn, one.sign, one.confidence)

    def normal(self, one: TargetList, t: Array) -> Array:
        """Agreement `t` with a list as a standard normal under random lists of about its size;
        beyond them as far as the slope of their tail goes."""
        pool = self._pool(len(one))
        n = len(pool)
        top = ndtri(1 - 0.5 / n)
        a = ndtri(np.clip((np.searchsorted(pool, t) + 0.5) / (n + 1), 0.5 / n, 1 - 0.5 / n))
        far = int(0.999 * n)
        unit = (pool[-1] - pool[far]) / (top - ndtri(far / n)) + 1e-12
        return np.where(t > pool[-1], top + (t - pool[-1]) / unit, a)

    def own_mean(self, one: TargetList) -> float:
        """Mean normal score of the members, each left out."""
        return float(self.normal(one, self.evidence.own(one)).mean())

    def standing(self, one: TargetList, draws: int) -> tuple[float, Array]:
        """The members' mean in standard deviations of `draws` random lists like this one, and those
        lists' own values."""
        drawn = self._means(one, draws)
        spread = max(float(drawn.std(ddof=1)), 1e-12)
        return (self.own_mean(one) - drawn.mean()) / spread, (drawn - drawn.mean()) / spread

    def _means(self, one: TargetList, draws: int) -> Array:
        """Members' means of random lists like `one`; those of equal structure share them."""
        counts = np.sort(np.unique(self.groups[one.members], return_counts=True)[1])
        key = bytes(str(draws), "ascii") + counts.tobytes() + np.sort(one.confidence).tobytes()
        if key not in self._drawn:
            n = int(np.clip(FEWER / len(one) ** 2, POOLED, draws))
            self._drawn[key] = np.array([self.own_mean(self.like(one)) for _ in range(n)])
        return self._drawn[key]

    def _draw_groups(self, n: int, k: int, taken: Mask) -> Ints:
        """`k` random groups with at least n variables, not yet taken as far as there are enough."""
        large = self._large_first[: self._at_least[n]]
        free = large[~taken[large]]
        return self.rng.choice(free if len(free) >= k else large, k, replace=False)

    def _draw_members(self, groups: Ints, n: int) -> Ints:
        """`n` random variables of each group."""
        if n == 1:
            at = (self.rng.random(len(groups)) * self._size[groups]).astype(np.intp)
            return self._by_group[self._first[groups] + at]
        each = (self._of_group(group) for group in groups)
        return np.concatenate([self.rng.choice(own, n, replace=False) for own in each])

    def _of_group(self, group: int) -> Ints:
        return self._by_group[self._first[group] :][: self._size[group]]

    def _pool(self, n: int) -> Array:
        """Sorted agreement of variables with random lists of about `n` members."""
        step = round(np.log(max(n, LEAST_MEMBERS)) / np.log(SIZE_STEP))
        size = int(
            np.clip(round(SIZE_STEP**step), LEAST_MEMBERS, max(self.evidence.N // 4, LEAST_MEMBERS))
        )
        if size not in self._pools:
            self._pools[size] = np.sort(np.concatenate([self._draw(size) for _ in range(POOLED)]))
        return self._pools[size]

    def _draw(self, size: int) -> Array:
        """Agreement of random variables with one random list of whole groups."""
        order = self.rng.permutation(len(self._size))
        enough = int(np.searchsorted(np.cumsum(self._size[order]), size)) + 1
        drawn = np.concatenate([self._of_group(group) for group in order[:enough]])[:size]
        ones = np.ones(size)
        one = TargetList("", "", drawn, ones, ones)
        judged = self.rng.choice(self.evidence.N, min(JUDGED, self.evidence.N), replace=False)
        return self.evidence.agreement(one, judged)


def tail_probability(standing: Array, random: Array) -> Array:
    """Share of random lists that stand as high: counted, and beyond `TAIL` of them by an
    exponential fitted to their tail, whose resolution does not end at their number."""
    random = np.sort(random)
    top = random[int((1 - TAIL) * len(random))]
    beyond = random[random > top] - top
    rate = 1 / max(float(beyond.mean()), 1e-12) if len(beyond) else 1.0
    counted = (len(random) - np.searchsorted(random, standing) + 1) / (len(random) + 1)
    return np.where(standing > top, TAIL * np.exp(-rate * np.maximum(standing - top, 0.0)), counted)
