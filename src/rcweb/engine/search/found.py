"""The columns that a search returns, and the grade that the evidence for each of them allows."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import GOOD_PART, LITTLE, RIGHT
from rcweb.engine.search.halves import beyond_chance
from rcweb.engine.search.joint import Columns
from rcweb.engine.types import Array, Mask

# Least recurrence over halves of the variables, beyond chance, of a certified row. Grades depend on
# it more than on any other number (plan `sensitivity`).
CERTAIN = 2 / 3
# Mean cosine of a row with the nearest of two orthogonal ones in its plane, turned at random: that
# of an angle between 0 and 45 degrees. Derived.
TURNED = 4 / np.pi * np.sin(np.pi / 4)


@dataclass(frozen=True)
class Found:
    """n columns and the evidence for each.

    columns : the columns b as unit rows
    score : (n,) negentropy + log of the share of the column that no other column explains
    chance : best score that the same search reaches in a random subspace
    sparse : (n,) scores above chance at the time it was found, and independent of others
    clear : (n,) scores above what variables of the same leverages reach by chance
    trusted : (n,) the posterior expects the row to be right
    frequency : (n,) share of the other searches that have the column too
    error : (n,) expected 1 - cosine between this column and that of another set of searches
    recurrence : (n,) agreement of disjoint halves of the variables
    in_samples : (n,) agreement of halves of the samples; 1 where noise is independent and this is
        not asked
    same : (n,) another set of searches would give the same column
    identified : (n,) has enough targets to be told from noise
    curve : (n,) a curve of another regulator
    straight : (n,) no other is a curve of it, with which it may be mixed
    paired : (n,) another has most of its targets, and it most of that one's: any turn of the two
        has the same zeros
    in_enough : (n,) active in enough samples to be told from their errors
    fidelity : (n,) correlation of the row's weights with the true ones that noise leaves; 1 before
        weights are estimated
    exact : whether zeros are exact or only small
    by_zeros : whether searches start from exact zeros too
    thorough : whether `search_thoroughly` has run
    sampled : whether the posterior had to be sampled
    """

    columns: Columns
    score: Array
    chance: float
    sparse: Mask
    clear: Mask
    trusted: Mask
    frequency: Array
    error: Array
    recurrence: Array
    in_samples: Array
    same: Mask
    identified: Mask
    curve: Mask
    straight: Mask
    paired: Mask
    in_enough: Mask
    fidelity: Array
    exact: bool
    by_zeros: bool = False
    thorough: bool = False
    sampled: bool = False

    @property
    def certified(self) -> Mask:
        """(n,) recurs in halves of the variables that share none, and of the samples, is sparser
        than chance, is told apart from noise and from other regulators, and its weights are known
        well enough."""
        known = (self.score > max(self.chance, 0.0)) & (self.fidelity > RIGHT)
        # Directions that others leave recur whatever is in them: a batch beside sparse regulators.
        clear = self.sparse if self.exact else np.ones(len(known), bool)
        return self.recurrent & self.lasting & self.apart & self.straight & known & clear

    @property
    def apart(self) -> Mask:
        """(n,) told from noise of few variables, errors of few samples, and curves of others."""
        return self.identified & self.in_enough & ~self.curve

    @property
    def recurrent(self) -> Mask:
        """(n,) found again in halves of the variables; one of a pair by more than halves agree on
        any turn of the two."""
        turned = TURNED + CERTAIN * (1 - TURNED)
        return (self._beyond_chance > CERTAIN) & (~self.paired | (self.recurrence > turned))

    def n_recurrent(self, among: Mask | None = None) -> float:
        """Number of columns that recur in halves of the variables, each by how far it does beyond
        chance; of some of them, if they are given."""
        recurrent = np.maximum(self._beyond_chance, 0.0)
        return float(recurrent.sum() if among is None else recurrent[among].sum())

    @property
    def lasting(self) -> Mask:
        """(n,) found again in halves of the samples, where that was asked. Measured: cosines up to
        0.86 in noise that neighbours share, from 0.92 on for true rows under such noise."""
        return self.in_samples > 1 - LITTLE

    @property
    def confirmed(self) -> Mask:
        """(n,) certified; or the same for any start, told apart and, where zeros are exact, sparse
        beyond doubt or by the posterior's word, elsewhere recurrent beyond chance."""
        same = self.same & self.apart
        if self.exact:
            sparse = self.sparse & (self.clear | self.trusted)
            return self.certified | (same & sparse & self.lasting)
        # Where no search has a row that is sparser than chance, all return the same dense one. With
        # a sixth of what certifies, rows of a background of 0.4 are found that are not right.
        recurs = self._beyond_chance > GOOD_PART * CERTAIN
        return self.certified | (same & self.sparser & recurs)

    @property
    def sparser(self) -> Mask:
        """(n,) sparser by itself than the best that chance reaches, whatever it shares with
        others."""
        negentropy = self.columns.J
        return np.asarray(negentropy > max(self.chance, 0.0))

    @property
    def confirmed_curves(self) -> Mask:
        """(n,) curves that would be confirmed if they were none."""
        return self.curve & replace(self, curve=np.zeros(len(self.curve), bool)).confirmed

    @property
    def _beyond_chance(self) -> Array:
        return beyond_chance(self.recurrence, self.columns.B.shape[1])

    def take(self, rows: NDArray[np.intp]) -> Found:
        """Some of the columns."""
        some = {
            field.name: getattr(self, field.name)[rows]
            for field in fields(self)
            if isinstance(getattr(self, field.name), np.ndarray)
        }
        return replace(self, columns=self.columns.take(rows), **some)


def mostly(good: Mask, P: int) -> bool:
    """Whether rows are good for all but few of the P regulators. Measured (plan `sensitivity`): a
    share of 0.8 to 0.95 gives the same results."""
    return bool(good.sum() >= (1 - LITTLE) * P)
