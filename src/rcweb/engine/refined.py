"""``method="refined"``: a search for oblique columns, then the probability of every edge.

One rule decides how a table is searched (`search.zeros_are_exact`): whether non-targets scatter
more than noise. If they do, small effects are everywhere, and the answer is what searches share.
The posterior is the same in both cases (`posterior.entries`): a background, of width zero where
zeros are exact, and edges above it. Where it leads away from the columns that searches share, as on
most real tables, their rows are kept as they are.

Every regulator is graded (`graded`): certified, found, or neither; then its edges are not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.utils import check_random_state

from rcweb.engine.checkpoint import StageStore
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.constant_sum import (
    CONSTANT_SUM_NOTE,
    Uncentred,
    beyond_directions,
    centring_suspected,
    may_be_asked,
    needs_mean,
)
from rcweb.engine.diagnosis import (
    curves_left_out,
    dense_factors,
    diagnose,
    explain_number,
    whole_fit_warnings,
)
from rcweb.engine.edges import keep_at_fdr, keep_strongest
from rcweb.engine.effort import EFFORTS, Run
from rcweb.engine.estimate.sparse import estimate_measured
from rcweb.engine.graded import Graded, grade
from rcweb.engine.measured import ERROR_RATE, judge
from rcweb.engine.samples import Samples
from rcweb.engine.searched import search_table
from rcweb.engine.solution import SeenFactors, Solution
from rcweb.engine.spectrum import Spectrum
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
    uncentred: Uncentred | None = None,
    measured: Array | None = None,
) -> Solution:
    """Find a sparse network behind a centred table (M x N), condensed and as its samples.

    doubtful : whether regulators that are neither certified nor found get edges too
    uncentred : the same table with its means, made where they may be needed (see `constant_sum`)
    measured : (M, F) factors measured in some samples, NaN elsewhere; all samples are in memory
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    run = Run(rng, EFFORTS[quality], print if verbose else lambda line: None, checkpoint)
    wanted = _Wanted(n_components, degree, fdr, doubtful, measured)
    searched = search_table(table, samples, n_components, run)
    again = replace(run, checkpoint=None)  # which has the first search
    spectrum, found = searched.problem.spectrum, searched.found
    if uncentred is not None and may_be_asked(searched.problem.space, found):
        means = searched.arrangement.arranged(uncentred.mean)
        beyond = beyond_directions(means, spectrum)
        if beyond is not None and centring_suspected(spectrum, found, beyond):
            run.report("columns are gone with the means: the table is searched as it is")
            more = n_components if isinstance(n_components, str) else n_components + 1
            searched = replace(searched, with_means=True)
            whole = search_table(*uncentred.make(), more, again)
            if needs_mean(whole.found, whole.rows(), found, searched.rows()):
                whole = replace(whole, tried=searched.tried, asked=n_components, with_means=True)
                solution = _finish(grade(whole, run).sampled(run), wanted, run)
                notes = (*solution.warnings, CONSTANT_SUM_NOTE)
                return replace(solution, centred=False, warnings=notes)
    graded = grade(searched, run)
    while True:
        if isinstance(n_components, str) and graded.curved:
            n, curves, first = graded.n_straight, graded.n_curves, graded.searched
            run.report(f"curves: {curves} of other regulators; {n} directions searched again")
            tried = [*first.tried, *graded.records]
            run = again
            searched = search_table(table, samples, n, run)
            graded = grade(replace(searched, tried=tried, curves=curves), run)
        elif graded.unsettled is not None:
            # At last: a sampler takes longer than all else, and there is no use in sampling curves.
            graded = graded.sampled(run)
        else:
            return _finish(graded, wanted, run)


@dataclass(frozen=True)
class _Wanted:
    """Parameters of `solve_refined` that the search does not need."""

    n_components: int | str
    degree: int | None
    fdr: float
    doubtful: bool
    measured: Array | None


def _finish(graded: Graded, wanted: _Wanted, run: Run) -> Solution:
    """Edges, with the factors measured if there are any."""
    searched, factors = graded.searched, None
    if wanted.measured is not None:
        factors, graded = _take_measured(graded, wanted.measured, run)
    solution = _solution(graded, wanted)
    # Without the room for other regulators: members of a list share the leading directions (average
    # precision of hidden members of E. coli 0.493, with all directions 0.484).
    shared = searched.problem.spectrum.V[:, : len(searched.limited.spectrum.s)].T
    return replace(solution, directions=searched.arrangement.restore(shared).T, measured=factors)


def _take_measured(graded: Graded, values: Array, run: Run) -> tuple[SeenFactors, Graded]:
    """Judge measured factors (M, F). Those that are seen take part where the posterior of a table
    with exact zeros had to be sampled; otherwise the estimate stays as it is."""
    searched, estimate, found = graded.searched, graded.estimate, graded.found
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
        return factors, graded
    estimate, found, scales = estimate_measured(
        searched.problem, found, estimate, table, rows, values[:, seen], run
    )
    return replace(factors, used=seen, scales=scales), Graded(searched, estimate, found)


def _solution(graded: Graded, wanted: _Wanted) -> Solution:
    searched, estimate, found, keep = graded.searched, graded.estimate, graded.found, graded.keep
    spectrum, arrangement = searched.problem.spectrum, searched.arrangement
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
    number = explain_number(searched, found, len(keep), wanted.n_components)
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
            *curves_left_out(searched.curves),
            *whole_fit_warnings(found, keep, edges, confirmed, wanted.n_components),
            *dense_factors(found, estimate.power(spectrum.table.M), spectrum.table.total),
        ),
    )


def _spread(spectrum: Spectrum) -> Array:
    """Standard deviation of each variable, (N,), before variables were scaled."""
    return np.sqrt(np.maximum(spectrum.table.power, 0.0) / spectrum.table.M) / spectrum.factor
