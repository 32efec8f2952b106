"""``method="refined"``: a search for oblique columns, then the probability of every edge.

One rule decides how a table is searched (`search.zeros_are_exact`): whether non-targets scatter
more than noise. If they do, small effects are everywhere, and the answer is what searches share.
The posterior is the same in both cases (`posterior.entries`): a background, of width zero where
zeros are exact, and edges above it. Where it leads away from the columns that searches share, as on
most real tables, their rows are kept as they are.

Every regulator is graded. Certified: disjoint halves of the variables lead to it. Found: other
starts lead to it. Where noise is not independent and zeros are exact, both must also recur in
halves of the samples.
Edges of a regulator that is neither are not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rcweb.engine.canonical import Arrangement
from rcweb.engine.checkpoint import StageStore, staged
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.constant_sum import (
    CONSTANT_SUM_NOTE,
    centring_suspected,
    mean_stands_out,
    needs_mean,
)
from rcweb.engine.conventions import FEWEST, LITTLE
from rcweb.engine.curved import curve_of
from rcweb.engine.diagnosis import (
    dense_factors,
    diagnose,
    explain_number,
    whole_fit_warnings,
)
from rcweb.engine.edges import keep_at_fdr, keep_strongest
from rcweb.engine.effort import EFFORTS, Run
from rcweb.engine.estimate import (
    NetworkEstimate,
    RefinedProblem,
    estimate_diffuse,
    estimate_measured,
    estimate_sparse,
    regress,
)
from rcweb.engine.matching import row_correlation
from rcweb.engine.measured import ERROR_RATE, judge
from rcweb.engine.number import Directions, directions_for
from rcweb.engine.outliers import TOO_MANY, LimitedTable, limit_outliers, rows_seen
from rcweb.engine.sample_noise import Weigh, equalise
from rcweb.engine.samples import Samples, participation_ratio
from rcweb.engine.search.found import Found
from rcweb.engine.search.sample_halves import in_sample_halves
from rcweb.engine.search.search import search_columns
from rcweb.engine.solution import Records, SeenFactors, Solution
from rcweb.engine.spectrum import FEW_LEFT, Spectrum
from rcweb.engine.types import Array


# Products of small float32 matrices sometimes raise the processor's "invalid" flag although all
# numbers are valid: BLAS reads beyond the ends of the matrices and discards what it finds there.
@np.errstate(invalid="ignore")
def solve_refined(
    table: CondensedTable,
    samples: Samples,
    n_components: int | str = "auto",
    *,
    degree: int | None = None,
    fdr: float = 0.05,
    doubtful: bool = False,
    quality: str = "standard",
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
    checkpoint: StageStore | None = None,
    uncentred: Callable[[], tuple[CondensedTable, Samples, Array]] | None = None,
    measured: Array | None = None,
) -> Solution:
    """Find a sparse network behind a centred table (M x N), condensed and as its samples.

    doubtful : whether regulators that are neither certified nor found get edges too
    uncentred : gives the same table with its means, condensed and as samples, and the means (N,);
        called where they may be needed (see `constant_sum`)
    measured : (M, F) factors measured in some samples, NaN elsewhere; all samples are in memory
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    run = Run(rng, EFFORTS[quality], print if verbose else lambda line: None, checkpoint)
    wanted = _Wanted(n_components, degree, fdr, doubtful, measured)
    searched = _search_table(table, samples, n_components, run)
    suspected = centring_suspected(searched.problem.space, searched.found)
    if uncentred is not None and suspected:
        table, samples, mean = uncentred()
        means = searched.arrangement.arranged(mean)
        if mean_stands_out(means, searched.problem.spectrum):
            run.report("few regulators are certified: the table is searched with its means")
            more = n_components if isinstance(n_components, str) else n_components + 1
            whole = _search_table(table, samples, more, replace(run, checkpoint=None))
            agreement = row_correlation(whole.rows(), searched.rows())
            if needs_mean(whole.found.certified, searched.found.certified, agreement):
                whole = replace(whole, tried=searched.tried)
                solution = _finish(whole, wanted, run)
                notes = (*solution.warnings, CONSTANT_SUM_NOTE)
                return replace(solution, centred=False, warnings=notes)
    return _finish(searched, wanted, run)


@dataclass(frozen=True)
class _Wanted:
    """Parameters of `solve_refined` that the search does not need."""

    n_components: int | str
    degree: int | None
    fdr: float
    doubtful: bool
    measured: Array | None


@dataclass(frozen=True)
class _Searched:
    """What a search found in a table, and the numbers of directions tried before it; `measured`
    samples before they were divided by their noise, and `weigh` that divided them, if any did."""

    limited: LimitedTable
    problem: RefinedProblem
    arrangement: Arrangement
    found: Found
    tried: Records
    measured: Samples
    weigh: Weigh | None

    def rows(self) -> Array:
        """(n, N) rows of C, up to scale, for the variables as they came."""
        rows = self.problem.space.rows(self.found.columns.B) / self.problem.spectrum.factor
        return self.arrangement.restore(rows)

    def rows_of_samples(self, most: int | None = None) -> Array:
        """(m, N) the samples in memory, at most `most`, as the search saw them: rescaled, in the
        engine's order."""
        samples = self.limited.samples.some(most or self.limited.table.M)
        return self.arrangement.arranged_rows(samples) * self.problem.spectrum.factor


def _search_table(
    table: CondensedTable, samples: Samples, n_components: int | str, run: Run
) -> _Searched:
    equal = equalise(table, samples, n_components)
    if equal.weigh is not None:
        run.report("samples: divided by their noise, which differs")
    limited = limit_outliers(equal.table, equal.samples, equal.spectrum, n_components)
    if limited.wild >= TOO_MANY:
        run.report(f"outliers: {limited.wild:.2%} of the entries limited")
    basis, tried = directions_for(limited.table, limited.spectrum, n_components, run.report)
    # From here on variables have the engine's own order and signs; `_solution` restores the user's.
    spectrum, arrangement, space = basis.spectrum, basis.arrangement, basis.space

    def white() -> Array:
        # As many as the square of the directions show every column by activities alone.
        some = limited.samples.some(max(rows_seen(space.N), space.K**2))
        rows = arrangement.arranged_rows(some) * spectrum.factor
        return np.asarray(rows @ (spectrum.V / spectrum.s) * np.sqrt(limited.table.M))

    problem = RefinedProblem(spectrum, space, white)
    run.report(f"basis: {space.K} directions, noise {space.level:.2f} of a row")
    found = _search(problem, run, basis)
    searched = _Searched(limited, problem, arrangement, found, tried, samples, equal.weigh)
    noise_free = space.noise_free and spectrum.n_left > 0
    if spectrum.n_left < FEW_LEFT and isinstance(n_components, str) and not noise_free:
        return _unknown(searched)
    if spectrum.n_left < 1:
        return _uncertain(searched)
    # Without noise, what looks like its correlation is rounding.
    if spectrum.white or noise_free:
        return searched
    if not searched.found.exact:
        return searched
    if spectrum.n_left >= FEW_LEFT and spectrum.shows_edge:
        return _halved(searched, isinstance(n_components, str) and not spectrum.step, run)
    return _uncertain(searched)


def _uncertain(searched: _Searched) -> _Searched:
    """Nothing is certified: so few samples leave too few directions to tell noise from."""
    nothing = np.zeros(len(searched.found.score))
    return replace(searched, found=replace(searched.found, recurrence=nothing))


def _unknown(searched: _Searched) -> _Searched:
    """Nothing is certified or found: with so few samples their number cannot be told either."""
    none = np.zeros(len(searched.found.score), bool)
    return replace(searched, found=replace(searched.found, sparse=none, identified=none))


def _halved(searched: _Searched, auto: bool, run: Run) -> _Searched:
    """Where noise is not independent, what halves of the samples say; with "auto" only columns of
    which they have most are kept, since the others are directions of noise.

    Asked where directions above noise come to an end. Where they do not, small effects have no end
    either, and half of the samples shows a few of the regulators only; so it is where zeros are not
    exact (500 genes of yeast: no column recurs by more than 0.89).
    """
    problem, found = searched.problem, searched.found
    rows = problem.space.rows(found.columns.B).astype(np.float64)
    found = replace(found, in_samples=in_sample_halves(searched.rows_of_samples(), rows))
    run.report(f"search: {found.lasting.sum()} of {len(rows)} columns recur in halves of samples")
    if auto:
        # What halves of the samples explain less than half of is not there in others.
        kept = (found.in_samples**2 > 0.5) | (found.in_samples == found.in_samples.max())
        # A stronger direction is no noise: left out, what it explains would turn the others.
        power = _powers(regress(problem.table, rows), problem.spectrum)
        kept |= power > np.median(power[kept])
        found = found.take(np.flatnonzero(kept))
        spectrum = replace(problem.spectrum, P=len(found.score))
        problem = replace(problem, spectrum=spectrum)
    return replace(searched, problem=problem, found=found)


def _finish(searched: _Searched, wanted: _Wanted, run: Run) -> Solution:
    """Edges and their probabilities."""
    problem, found, arrangement = searched.problem, searched.found, searched.arrangement
    if found.exact:
        estimate, found = estimate_sparse(problem, found, run)
    else:
        estimate = estimate_diffuse(problem, found)
    found = _told_apart(searched, found, estimate)
    factors = None
    if wanted.measured is not None:
        factors, estimate, found = _take_measured(searched, found, estimate, wanted.measured, run)
    keep = _choose_regulators(found, problem.spectrum, wanted.n_components)
    solution = _solution(problem, found, estimate, arrangement, keep, wanted, searched.tried)
    # Without the room for other regulators: members of a list share the leading directions (average
    # precision of hidden members of E. coli 0.493, with all directions 0.484).
    shared = arrangement.restore(problem.spectrum.V[:, : len(searched.limited.spectrum.s)].T).T
    return replace(solution, directions=shared, measured=factors)


def _told_apart(searched: _Searched, found: Found, estimate: NetworkEstimate) -> Found:
    """Which rows can be told from noise and from other regulators.

    Under noise not those of fewer than three targets: one variable alone, or two that share noise
    as copies do, look the same (Anderson and Rubin, 1956). For the same reason not those that are
    active in fewer than three samples, by their participation ratio: errors of one sample are a
    direction of their own, sparse where they have long tails, and the same in all halves of the
    variables. Nor curves of another regulator (`curved`); that one is not certified either, since
    any mixture of it and its curves is as good.
    """
    space, targets = searched.problem.space, estimate.probability > 0.5
    R = searched.rows_of_samples(rows_seen(space.N)) @ estimate.projection
    main = curve_of(estimate.C, targets, R)
    active = participation_ratio((R**2).sum(axis=0), (R**4).sum(axis=0))
    # A tenth of few samples: Gaussian activities are as if active in a third of them.
    enough = active >= min(FEWEST, LITTLE * len(R))
    seen = space.noise_free | (targets.sum(axis=1) >= FEWEST)
    return replace(
        found,
        identified=found.identified & seen & (main < 0),
        straight=~np.isin(np.arange(len(main)), main),
        in_enough=space.noise_free | enough,
        fidelity=estimate.fidelity,
    )


def _take_measured(
    searched: _Searched, found: Found, estimate: NetworkEstimate, values: Array, run: Run
) -> tuple[SeenFactors, NetworkEstimate, Found]:
    """Judge measured factors (M, F). Those that are seen take part where the posterior of a table
    with exact zeros had to be sampled; otherwise the estimate stays as it is."""
    spectrum = searched.problem.spectrum
    rows, table = searched.rows_of_samples(), searched.problem.table
    if searched.weigh is not None:
        # Factors were measured in the samples as they are, not divided by their noise.
        rows = rows / searched.weigh.weight(searched.measured.some(len(values)))[:, None]
        rows -= rows.mean(axis=0)
        table = CondensedTable.of(rows)
    coordinates = rows @ (spectrum.V / spectrum.s) * np.sqrt(len(rows))
    factors = judge(values, rows @ estimate.projection, coordinates)
    seen = factors.q <= ERROR_RATE
    if not (seen.any() and found.exact and found.sampled):
        return factors, estimate, found
    estimate, found, scales = estimate_measured(
        searched.problem, found, estimate, table, rows, values[:, seen], run
    )
    return replace(factors, used=seen, scales=scales), estimate, found


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


def _choose_regulators(
    found: Found, spectrum: Spectrum, n_components: int | str
) -> NDArray[np.intp]:
    """The P best columns, confirmed ones first. With "auto" as many as directions stand above noise
    that is independent. Above other noise the confirmed (the best, if none is), and what halves of
    the variables share though halves of the samples do not; where small effects are everywhere,
    what more than one search found. Graded as neither, these have no edges, but a regulator that
    half of the searches miss may be real. All where too few samples tell noise.

    However sparse, rows of few samples come last.
    """
    good, wild = found.confirmed, ~found.in_enough
    order = np.lexsort((-found.score, ~found.identified, ~good, wild))
    if not isinstance(n_components, str):
        return order[: min(spectrum.P, n_components)]
    apart = found.identified & found.in_enough
    kept = good | (found.recurrent & apart if found.exact else found.frequency > 0)
    if spectrum.ends or spectrum.n_left < FEW_LEFT:
        kept = ~wild
    return np.flatnonzero(kept) if kept.any() else order[:1]


def _solution(
    problem: RefinedProblem,
    found: Found,
    estimate: NetworkEstimate,
    arrangement: Arrangement,
    keep: NDArray[np.intp],
    wanted: _Wanted,
    tried: Records,
) -> Solution:
    spectrum = problem.spectrum
    power = (estimate.C[keep] ** 2 / spectrum.factor**2).sum(axis=1)
    # Strongest regulator first, by the power it explains in units of the user's table.
    keep = keep[np.argsort(-power, kind="stable")]
    probability, score = estimate.probability[keep], estimate.score[keep]
    confirmed = found.confirmed[keep]
    # A given degree is respected for all rows; otherwise only confirmed rows get edges.
    if wanted.degree is None:
        drawn = confirmed | wanted.doubtful
        edges = np.zeros(score.shape, bool)
        edges[drawn] = keep_at_fdr(probability[drawn], wanted.fdr)
    else:
        edges = keep_strongest(score, wanted.degree * len(keep))
    # A row's sign is arbitrary: let its heavier tail be positive.
    score = arrangement.restore(score)
    sign = np.where((score * score * score).sum(axis=1) < 0, -1.0, 1.0)[:, None]
    full = sign * arrangement.restore(estimate.C[keep] / spectrum.factor)
    projection = arrangement.restore((spectrum.factor[:, None] * estimate.projection[:, keep]).T)
    number = explain_number(spectrum, found, len(keep), wanted.n_components, tried)
    return Solution(
        C=np.where(arrangement.restore_order(edges), full, 0.0),
        weights=full,
        weights_sd=arrangement.restore_order(estimate.C_sd[keep] / spectrum.factor),
        projection=np.ascontiguousarray((sign * projection).T),
        rotation=found.columns.B[keep].T * sign.T,
        singular_values=spectrum.s,
        probability=arrangement.restore_order(probability),
        score=sign * score,
        noise=arrangement.restore_order(estimate.noise / spectrum.factor),
        diagnosis=partial(diagnose, spectrum, found, keep, edges, confirmed),
        evidence=number.table,
        reason=number.sentence,
        exact=found.exact,
        spread=arrangement.restore_order(_spread(spectrum)),
        warnings=(
            *whole_fit_warnings(found, keep, edges, confirmed, wanted.n_components),
            *dense_factors(found, _powers(estimate, spectrum), spectrum.table.total),
        ),
    )


def _powers(estimate: NetworkEstimate, spectrum: Spectrum) -> Array:
    """Sum of squares that each row explains, (n,): activities have unit variance."""
    return np.asarray(spectrum.table.M * (estimate.C**2).sum(axis=1))


def _spread(spectrum: Spectrum) -> Array:
    """Standard deviation of each variable, (N,), before variables were scaled."""
    return np.sqrt(np.maximum(spectrum.table.power, 0.0) / spectrum.table.M) / spectrum.factor
