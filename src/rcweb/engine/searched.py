"""The search of one table: samples, outliers, directions, columns, halves of the samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rcweb.engine.canonical import Arrangement
from rcweb.engine.checkpoint import staged
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.effort import Run
from rcweb.engine.estimate.network import regress
from rcweb.engine.estimate.problem import RefinedProblem
from rcweb.engine.number import Directions, directions_for
from rcweb.engine.outliers import TOO_MANY, LimitedTable, limit_outliers
from rcweb.engine.sample_noise import Weigh, equalise
from rcweb.engine.samples import Samples, rows_seen
from rcweb.engine.search.found import Found
from rcweb.engine.search.sample_halves import in_sample_halves
from rcweb.engine.search.search import search_columns
from rcweb.engine.solution import Records
from rcweb.engine.spectrum import FEW_LEFT
from rcweb.engine.types import Array


@dataclass(frozen=True)
class Searched:
    """What a search found in a table where `asked`, a number or "auto", were asked for, and the
    numbers of directions tried before it; `measured` samples before they were divided by their
    noise, and `weigh` that divided them, if any did; `curves` that a search before it had; whether
    it was searched `with_means` too."""

    asked: int | str
    limited: LimitedTable
    problem: RefinedProblem
    arrangement: Arrangement
    found: Found
    tried: Records
    measured: Samples
    weigh: Weigh | None
    curves: int = 0
    with_means: bool = False

    def rows(self) -> Array:
        """(n, N) of the columns found, up to scale, in the user's order and units."""
        rows = self.problem.space.rows(self.found.columns.B) / self.problem.spectrum.factor
        return self.arrangement.restore(rows)

    def rows_of_samples(self, most: int | None = None) -> Array:
        """(m, N) the samples in memory, at most `most`, as the search saw them: rescaled, in the
        engine's order."""
        samples = self.limited.samples.some(most or self.limited.table.M)
        return self.arrangement.arranged_rows(samples) * self.problem.spectrum.factor


def search_table(
    table: CondensedTable, samples: Samples, n_components: int | str, run: Run
) -> Searched:
    """Search a table for `n_components` columns, or as many as it shows ("auto")."""
    equal = equalise(table, samples, n_components)
    if equal.weigh is not None:
        run.report("samples: divided by their noise, which differs")
    limited = limit_outliers(equal, n_components)
    if limited.wild >= TOO_MANY:
        run.report(f"outliers: {limited.wild:.2%} of the entries limited")
    basis, tried = directions_for(limited.table, limited.spectrum, n_components, run.report)
    # From here on variables have the engine's own order and signs; `refined` restores the user's.
    spectrum, arrangement, space = basis.spectrum, basis.arrangement, basis.space

    def white() -> Array:
        # As many as the square of the directions show every column by activities alone.
        some = limited.samples.some(max(rows_seen(space.N), space.K**2))
        rows = arrangement.arranged_rows(some) * spectrum.factor
        return np.asarray(rows @ (spectrum.V / spectrum.s) * np.sqrt(limited.table.M))

    problem = RefinedProblem(spectrum, space, white)
    run.report(f"basis: {space.K} directions, noise {space.level:.2f} of a row")
    found = _search(problem, run, basis)
    searched = Searched(
        n_components, limited, problem, arrangement, found, tried, samples, equal.weigh
    )
    noise_free = space.noise_free and spectrum.n_left > 0
    if spectrum.n_left < FEW_LEFT and isinstance(n_components, str) and not noise_free:
        return _unknown(searched)
    if spectrum.n_left < 1:
        return _uncertain(searched)
    # Without noise, what looks like its correlation is rounding.
    if spectrum.white or noise_free or not searched.found.exact:
        return searched
    if spectrum.n_left < FEW_LEFT:
        return _uncertain(searched)
    auto = isinstance(n_components, str) and not spectrum.step
    # Where directions above noise have no end a regulator may be weaker than many of them.
    return _halved(searched, auto and spectrum.shows_edge, run)


def _search(problem: RefinedProblem, run: Run, basis: Directions) -> Found:
    """The likeliest of `effort.searches` searches, where one search stands for the answer."""

    def search(stream: int) -> Found:
        def fresh() -> Found:
            start = (run.report, stream, problem.samples)
            asked = (basis.diffuse, basis.splits, basis.chance)
            return search_columns(problem.space, basis.most, *start, *asked)

        return staged(run.checkpoint, f"search{stream}", fresh, Found, run.rng)

    first = search(0)
    if not first.exact:
        return first  # a mean of many searches already: other streams would only repeat it
    others = map(search, range(1, run.effort.searches))
    return max([first, *others], key=lambda found: found.columns.objective)


def _uncertain(searched: Searched) -> Searched:
    """Nothing is certified: so few samples that hardly a direction is left tell no noise. Searches
    agree on mixtures too then, and where zeros are exact found is only what halves of the variables
    would certify."""
    found = searched.found
    same = found.same & found.recurrent if found.exact else found.same
    return replace(searched, found=replace(found, same=same, recurrence=np.zeros(len(same))))


def _unknown(searched: Searched) -> Searched:
    """Nothing is certified or found: with so few samples their number cannot be told either."""
    none = np.zeros(len(searched.found.score), bool)
    return replace(searched, found=replace(searched.found, sparse=none, identified=none))


def _halved(searched: Searched, choose: bool, run: Run) -> Searched:
    """Where noise is not independent, what halves of the samples say; to `choose` only columns of
    which they have most are kept, or which halves of the variables share, since the others are
    directions of noise.

    Asked where zeros are exact. Where small effects are everywhere, half of the samples shows a few
    of the regulators only (500 genes of yeast: no column recurs by more than 0.89).
    """
    problem, found = searched.problem, searched.found
    rows = problem.space.rows(found.columns.B).astype(np.float64)
    samples = searched.rows_of_samples()
    found = replace(found, in_samples=in_sample_halves(samples, rows, zeros=found.by_zeros))
    run.report(f"search: {found.lasting.sum()} of {len(rows)} columns recur in halves of samples")
    if choose:
        # What halves of the samples explain less than half of is not there in others.
        kept = (found.in_samples**2 > 0.5) | (found.in_samples == found.in_samples.max())
        # A stronger direction is no noise: left out, what it explains would turn the others.
        power = regress(problem.table, rows).power(problem.table.M)
        kept |= (power > np.median(power[kept])) | found.recurrent
        found = found.take(np.flatnonzero(kept))
        spectrum = replace(problem.spectrum, P=len(found.score))
        problem = replace(problem, spectrum=spectrum)
    return replace(searched, problem=problem, found=found)
