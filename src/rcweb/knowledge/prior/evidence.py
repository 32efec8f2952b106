"""What the table says about a list of variables: how well every variable goes with it.

Two kinds of evidence, one interface. `CoVariation`: a variable goes with a list if its coordinates
in the whitened directions point where those of the members point. `BlindRow`: it goes with a list
if it stands out in the regulator, found without the list, in which the members stand out. Either
way a member is judged by the other members alone, without itself and those of its group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rcweb.engine.types import Array, Ints
from rcweb.knowledge.prior.lists import TargetList

SAMPLED = 4096  # variables from which the spread of squared cosines is estimated
COMPARED = 1024  # variables compared at a time
LEAST_SPREAD = 1e-10  # variance of cosines that is no rounding


class Evidence(Protocol):
    """A kind of evidence; N variables."""

    @property
    def N(self) -> int: ...

    def agreement(self, one: TargetList, judged: Ints | None = None) -> Array:
        """How well each of the `judged` variables (None: all) goes with the list."""
        ...

    def own(self, members: Ints, confidence: Array) -> Array:
        """The same for the members alone of several lists, (lists, n)."""
        ...


@dataclass(frozen=True)
class CoVariation:
    """Sums over the members j of what the cosine c_ij of variables i and j says:

        t_i = sum_j w_j [ (c_ij^2 - mu2_i) / sd2_i + (c_ij - mu1_i) / sd1_i ] / |w|

    mu and sd are moments over all j, so that t_i has mean 0 for random lists whatever i is: a
    variable of a large module is near to everything. The square allows a list several directions
    and both signs; the plain term adds that targets of a regulator mostly go the same way. Signs
    that a list gives are not used: the sign of an unlisted target is unknown (with them average
    precision fell from .49 to .43 on E. coli).

    U : (N, K) coordinates of unit length, single precision
    mean, spread : (2, N) moments of c and of c^2
    groups : (N,) variables of one group are no evidence for each other
    """

    U: NDArray[np.float32]
    mean: Array
    spread: Array
    groups: NDArray[np.intp]

    @classmethod
    def of(cls, V: Array, groups: NDArray[np.intp] | None, rng: np.random.Generator) -> CoVariation:
        """From the leading directions V (N, K), white."""
        N = len(V)
        length = np.linalg.norm(V, axis=1, keepdims=True)
        U = V / np.maximum(length, np.finfo(float).tiny)
        itself = (length[:, 0] > 0).astype(np.float64)  # its own square cosine
        # The first two moments need no cosine: they are a sum and a quadratic form.
        first = (U @ U.sum(axis=0) - itself) / (N - 1)
        second = (np.einsum("ik,kl,il->i", U, U.T @ U, U, optimize=True) - itself) / (N - 1)
        U32 = np.asarray(U, dtype=np.float32)
        variance = [second - first**2, _fourth_moment(U32, itself, rng) - second**2]
        # A variable that goes with nothing, such as a constant one, has no spread, nor have any
        # with a single direction; their agreement is then 0.
        spread = np.sqrt(np.where(np.array(variance) > LEAST_SPREAD, variance, np.inf))
        groups = np.arange(N) if groups is None else groups
        return cls(U32, np.array([first, second]), spread, groups)

    @property
    def N(self) -> int:
        return len(self.U)

    def agreement(self, one: TargetList, judged: Ints | None = None) -> Array:
        """t of each variable, or of the `judged` ones."""
        rows = np.arange(self.N) if judged is None else judged
        parts = [
            self._agreement(one, rows[k : k + COMPARED]) for k in range(0, len(rows), COMPARED)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def own(self, members: Ints, confidence: Array) -> Array:
        """t of the members of each list."""
        at_once = max(COMPARED**2 // members.shape[1] ** 2, 1)
        parts = [
            self._own(members[k : k + at_once], confidence) for k in range(0, len(members), at_once)
        ]
        return np.concatenate(parts)

    def _own(self, members: Ints, confidence: Array) -> Array:
        U, groups = self.U[members], self.groups[members]
        same = groups[:, :, None] == groups[:, None, :]
        c = U @ U.transpose(0, 2, 1)
        c[same] = 0
        left_out = same @ np.column_stack([confidence, confidence**2])
        return self._t(c, confidence, left_out, members)

    def _agreement(self, one: TargetList, rows: Ints) -> Array:
        c = self.U[rows] @ self.U[one.members].T
        weight = one.confidence
        listed = np.zeros(self.groups.max() + 1, bool)
        listed[self.groups[one.members]] = True
        grouped = np.flatnonzero(listed[self.groups[rows]])
        same = self.groups[rows[grouped]][:, None] == self.groups[one.members]
        c[grouped] *= ~same
        left_out = np.zeros((len(rows), 2))
        left_out[grouped] = same @ np.column_stack([weight, weight**2])
        return self._t(c, weight, left_out, rows)

    def _t(self, c: NDArray[np.float32], weight: Array, left_out: Array, rows: Ints) -> Array:
        """t of the variables `rows` (...,) from their cosines with the members (..., n), 0 with
        those of their own group, whose weights and squared weights sum to `left_out` (..., 2)."""
        total = weight.sum() - left_out[..., 0]
        power = (weight**2).sum() - left_out[..., 1]
        single = weight.astype(np.float32)
        plain = c @ single - total * self.mean[0, rows]
        square = (c * c) @ single - total * self.mean[1, rows]
        t = square / self.spread[1, rows] + plain / self.spread[0, rows]
        return np.asarray(t / np.sqrt(np.maximum(power, 1e-12)))


@dataclass(frozen=True)
class BlindRow:
    """The regulator, among those found without lists, in which the members stand out most.

    rows : (P, N) |score| of each regulator as normal scores
    groups : as in `CoVariation`
    """

    rows: Array
    groups: NDArray[np.intp]

    @classmethod
    def of(cls, score: Array, groups: NDArray[np.intp] | None) -> BlindRow:
        """From the scores of all edges, (P, N)."""
        N = score.shape[1]
        ranks = np.argsort(np.argsort(np.abs(score), axis=1, kind="stable"), axis=1, kind="stable")
        return cls(ndtri((ranks + 0.5) / N), np.arange(N) if groups is None else groups)

    @property
    def N(self) -> int:
        return self.rows.shape[1]

    def choice(self, members: Ints, confidence: Array) -> tuple[Ints, Ints]:
        """Of each list (lists, n) the row all members choose, (lists,), and for each member the
        one that the others choose, (lists, n)."""
        lists, n = members.shape
        stands = self.rows[:, members.ravel()] * np.tile(confidence, lists)
        total = stands.reshape(-1, lists, n).sum(axis=2)
        label = self.groups[members] + np.arange(lists)[:, None] * (self.groups.max() + 1)
        _, first, group = np.unique(label.ravel(), return_index=True, return_inverse=True)
        if len(first) < len(group):  # a member's own group is left out with it
            order = np.argsort(group, kind="stable")
            starts = np.searchsorted(group[order], np.arange(len(first)))
            stands = np.add.reduceat(stands[:, order], starts, axis=1)[:, group]
        others = (np.repeat(total, n, axis=1) - stands).argmax(axis=0)
        return total.argmax(axis=0), others.reshape(lists, n)

    def agreement(self, one: TargetList, judged: Ints | None = None) -> Array:
        """Normal score of each variable in the chosen row."""
        best, others = self.choice(one.members[None], one.confidence)
        a = self.rows[best[0]].copy()
        a[one.members] = self.rows[others[0], one.members]
        return a if judged is None else a[judged]

    def own(self, members: Ints, confidence: Array) -> Array:
        """Normal scores of the members of each list."""
        at_once = max(COMPARED**2 // self.rows[:, members[0]].size, 1)
        parts = [members[k : k + at_once] for k in range(0, len(members), at_once)]
        return np.concatenate([self.rows[self.choice(own, confidence)[1], own] for own in parts])


def _fourth_moment(U: NDArray[np.float32], itself: Array, rng: np.random.Generator) -> Array:
    """Mean of c_ij^4 over the other variables j, or over `SAMPLED` of them, (N,)."""
    N = len(U)
    others = np.arange(N) if N <= SAMPLED else np.sort(rng.choice(N, SAMPLED, replace=False))
    among = np.isin(np.arange(N), others)
    sums = []
    for k in range(0, N, COMPARED):
        squares = np.square(U[k : k + COMPARED] @ U[others].T)
        sums.append(np.square(squares, out=squares).sum(axis=1, dtype=np.float64))
    return (np.concatenate(sums) - itself * among) / (len(others) - among)
