"""How many directions to search where noise is not independent.

If singular values fall by a clear step, beyond which little recurs, it ends the signal. In real
tables singular values fall without a step, or with one that is no edge of noise: samples
and variables share noise, and its directions stand above the edge of independent noise. Too few
directions lose regulators; too many blur all of them. So several numbers are tried, each twice the
one before, and compared by how far two disjoint halves of the variables agree on columns: the sum
over columns of squared cosines with the nearest one of the other half, beyond chance. It is about
the number of columns that recur, without a level at which a column begins to count. Doubling ends
when it hardly gains. Where small effects are everywhere the largest number is taken of those that
reach nearly the most; where zeros are exact the number that reaches the most, and numbers half way
to its neighbours are tried too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rcweb.engine.canonical import Arrangement, arrange
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.conventions import ENOUGH_TO_TELL, FEWEST, LITTLE
from rcweb.engine.search.consensus import SPLITS
from rcweb.engine.search.halves import (
    Split,
    can_be_split,
    chance_cosine,
    count_recurrent,
    search_splits,
)
from rcweb.engine.search.search import is_diffuse, usual_chance
from rcweb.engine.search.space import Space
from rcweb.engine.solution import Records
from rcweb.engine.spectrum import FEW_LEFT, Spectrum, first_directions, last_step, with_room


@dataclass(frozen=True)
class Directions:
    """A basis, its variables in the engine's own order.

    splits : of the variables that were searched in it, if any
    diffuse : whether zeros are small and not exact, None if that was not asked; by the score
        `chance` that noise reaches
    most : number of regulators to look for; 0 for as many as searches share
    """

    spectrum: Spectrum
    arrangement: Arrangement
    space: Space
    most: int
    splits: tuple[Split, ...] = ()
    diffuse: bool | None = None
    chance: float | None = None

    @classmethod
    def of(cls, spectrum: Spectrum) -> Directions:
        """The basis that a spectrum has."""
        spectrum, arrangement = arrange(spectrum)
        space = Space.of(spectrum.V, spectrum.s, spectrum.sigma)
        return cls(spectrum, arrangement, space, spectrum.P)

    def known(self) -> Directions:
        """With what is known of noise; not asked of every basis that is tried, since it takes
        time."""
        return replace(self, space=replace(self.space, noise_kind=self.spectrum.noise_kind))

    def searched(self) -> Directions:
        """With the first splits; none where halves have too few variables."""
        if not can_be_split(self.space):
            return self
        splits = search_splits(self.space, range(SPLITS))
        return replace(self, splits=tuple(splits))

    def asked(self) -> Directions:
        """With whether zeros are small and not exact; taken as exact without splits."""
        known = self.known()
        if not known.splits:
            return replace(known, diffuse=False)
        chance = usual_chance(known.space)
        diffuse = is_diffuse(known.space, known.splits, chance)
        return replace(known, diffuse=diffuse, chance=chance)

    @property
    def recurrent(self) -> float:
        """Columns that both halves of a split have; mean over the splits. One that is the same in
        both counts 1, whatever chance reaches among so many."""
        return self.recurrent_share * self.space.K

    @cached_property
    def recurrent_share(self) -> float:
        """The same as a share of all columns."""
        most = self.space.K * (1 - chance_cosine(self.space.K) ** 2)
        counts = [count_recurrent(self.space, split) for split in self.splits]
        return float(np.mean(counts)) / most if counts and most > 0 else 0.0


def directions_for(
    table: CondensedTable,
    spectrum: Spectrum,
    n_components: int | str,
    report: Callable[[str], None],
) -> tuple[Directions, Records]:
    """The basis to search for the regulators asked for, and the counts behind it: that of the
    `spectrum` where noise is independent, and the directions before a step that ends the signal.
    Elsewhere "auto" chooses, and takes as many as searches share where small effects are
    everywhere; a given number then has room, unless its directions hold all that recurs."""
    auto, tried = isinstance(n_components, str), Records()
    if not spectrum.independent and (step := _step_that_ends(table)):
        K, P = (step, step) if auto else (np.clip(step, spectrum.P, len(spectrum.s)), spectrum.P)
        spectrum = first_directions(table, int(K), step, P, step)
        tried = [{"evidence": "singular values before a clear step", "count": step}]
    if spectrum.ends:
        return Directions.of(spectrum).known(), tried
    if auto:
        numbers = try_numbers(table, len(spectrum.s), report)
        basis = numbers.largest.asked()
        if basis.diffuse:
            return replace(basis, most=0), numbers.records
        # Where zeros are exact, directions beyond those of the regulators do harm.
        numbers = _try_between(numbers, table, len(spectrum.s), report)
        return replace(numbers.best.known(), diffuse=False), numbers.records
    room = Directions.of(with_room(table, spectrum)).searched().asked()
    bases = [room]
    if room.diffuse and spectrum.shows_edge:
        # Beside noise, in which directions that were not asked for would be.
        numbers = try_numbers(table, max(spectrum.n_above_noise, len(spectrum.s)), report)
        room = replace(room, diffuse=numbers.largest.asked().diffuse)
        bases += numbers.bases
    tried = [*tried, *_records(bases)]
    if not room.diffuse:
        return replace(Directions.of(spectrum).known(), diffuse=False), tried
    if spectrum.shows_edge:
        asked = first_directions(table, spectrum.P, spectrum.n_above_noise, spectrum.P)
        alone = Directions.of(asked).searched()
        if _hold_all(alone, room):
            return replace(alone.known(), diffuse=True), tried
    return room, tried


def _hold_all(alone: Directions, room: Directions) -> bool:
    """Whether the directions `alone`, as many as regulators were asked for, hold what recurs:
    nearly all of them recur, or no more columns do in the `room` of twice as many. The others are
    noise then, which recurs less than a background."""
    nearly_all = alone.recurrent_share > 1 - LITTLE
    return nearly_all or alone.recurrent >= room.recurrent


def _step_that_ends(table: CondensedTable) -> int:
    """Directions before the last clear step of the singular values, if it ends the signal; else 0.

    It does if little recurs in the directions beyond, beside what recurs before: columns count by
    the power that the step leaves them. Batches have no columns, and so end nothing, however strong
    they are. One or two directions stand out of most tables, shared by all variables.
    """
    step, fall = last_step(table)
    width = min(2 * ENOUGH_TO_TELL, min(table.M - 1, table.N) - step)
    if step < FEWEST or width < ENOUGH_TO_TELL:
        return 0
    whole = first_directions(table, step + width, step, width)
    beyond = Directions.of(replace(whole, s=whole.s[step:], V=whole.V[:, step:])).searched()
    before = Directions.of(first_directions(table, step, step, step)).searched()
    if not (beyond.splits and before.splits):
        return 0
    little = LITTLE * fall**2 * max(before.recurrent, 0.0)
    return step if beyond.recurrent <= little else 0


@dataclass(frozen=True)
class Tried:
    """Bases that were tried."""

    bases: list[Directions]

    @property
    def counts(self) -> list[float]:
        """Columns that recur in each."""
        return [basis.recurrent for basis in self.bases]

    @property
    def best(self) -> Directions:
        """The basis in which most columns recur."""
        return self.bases[int(np.argmax(self.counts))]

    @property
    def largest(self) -> Directions:
        """The largest basis in which nearly the most recur."""
        counted = zip(self.bases, self.counts)
        good = (basis for basis, count in counted if count >= self.nearly_most)
        return max(good, key=lambda basis: basis.space.K)

    @property
    def nearly_most(self) -> float:
        """A little less than the largest count."""
        return max(self.counts) - LITTLE * abs(max(self.counts))

    @property
    def records(self) -> Records:
        """What `evidence_` says of them."""
        return _records(self.bases)


def _records(bases: list[Directions]) -> Records:
    """What `evidence_` says of bases whose halves were searched, the smallest first."""
    recur = {basis.space.K: basis.recurrent for basis in bases if basis.splits}
    words = "columns that recur in halves of the variables, {} directions"
    return [{"evidence": words.format(K), "count": round(recur[K], 1)} for K in sorted(recur)]


def try_numbers(table: CondensedTable, most: int, report: Callable[[str], None]) -> Tried:
    """Bases of `most` directions, a half of them and so on, from the smallest on, until doubling
    hardly gains. Where the smallest has nearly the most, and some, fewer directions are tried too;
    but of samples too few to tell noise all directions are returned, ungraded."""
    numbers = [most]
    while numbers[-1] >= 2 * ENOUGH_TO_TELL:
        numbers.append(numbers[-1] // 2)
    tried = Tried([])
    for K in reversed(numbers):
        tried = _try(tried, table, K, most, report)
        # Half as little as usual: M. tuberculosis gains 8 to 50 % from 28 to 56 directions, as the
        # halves fall, and then 75 %.
        if len(tried.counts) > 1 and tried.counts[-1] < (1 + LITTLE / 2) * max(tried.counts[:-1]):
            break
    smallest, left = numbers[-1], min(table.M - 1, table.N) - most
    if left >= FEW_LEFT and tried.counts[0] >= max(tried.nearly_most, 1.0):
        while (smallest := smallest // 2) >= FEWEST:
            tried = _try(tried, table, smallest, most, report)
    return tried


def _try(
    tried: Tried, table: CondensedTable, K: int, most: int, report: Callable[[str], None]
) -> Tried:
    """With a basis of K directions too."""
    basis = Directions.of(first_directions(table, K, most, K)).searched()
    report(f"number: {basis.recurrent:.1f} columns recur among {K} directions")
    return Tried([*tried.bases, basis])


def _try_between(
    tried: Tried, table: CondensedTable, most: int, report: Callable[[str], None]
) -> Tried:
    """With the numbers half way between the best one and its neighbours."""
    K = tried.best.space.K
    for other in (3 * K // 4, 3 * K // 2):
        if 2 * FEWEST <= other <= most:
            tried = _try(tried, table, other, most, report)
    return tried
