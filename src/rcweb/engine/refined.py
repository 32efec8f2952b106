"""``method="refined"``: oblique search certified against chance, then the joint posterior.

Two kinds of table are told apart by the data. Where a regulator's non-targets scatter no more
than noise does, zeros are exact: the joint posterior of R, C and the noise gives every edge its
probability. Where they scatter more, small effects are everywhere and "zero" means
"small": an edge is then an entry that stands out of its regulator's own background.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rcweb.engine.checkpoint import StageStore, staged
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.diagnosis import diagnose, explain_number, whole_fit_warnings
from rcweb.engine.edges import keep_at_fdr, keep_strongest
from rcweb.engine.effort import EFFORTS, Run
from rcweb.engine.estimate import NetworkEstimate, RefinedProblem, estimate_diffuse, estimate_sparse
from rcweb.engine.matching import match_rows
from rcweb.engine.outliers import TOO_MANY, tame
from rcweb.engine.samples import Samples, carriers
from rcweb.engine.search.search import Found, search_columns
from rcweb.engine.search.space import Space
from rcweb.engine.solution import Solution
from rcweb.engine.types import Array

FEW_VARIABLES = 6.0  # participation numbers below which a row is no regulator
FEW_SAMPLES = 3.0


# Products of small matrices in single precision raise the processor's flag for invalid numbers now
# and then, without any: what the library reads beyond their ends is not used.
@np.errstate(invalid="ignore")
def solve_refined(
    table: CondensedTable,
    samples: Samples,
    n_components: int | str = "auto",
    *,
    degree: int | None = None,
    fdr: float = 0.05,
    quality: str = "standard",
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
    checkpoint: StageStore | None = None,
) -> Solution:
    """Find a sparse network behind a centred table (M x N), condensed and as its samples."""
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    run = Run(rng, EFFORTS[quality], print if verbose else lambda line: None, checkpoint)
    tamed = tame(table, samples, n_components)
    if tamed.wild >= TOO_MANY:
        run.report(f"outliers: {tamed.wild:.2%} of the entries limited")
    spectrum = tamed.spectrum
    space = Space.of(spectrum.V, spectrum.s, spectrum.sigma)
    problem = RefinedProblem(spectrum, space)
    run.report(f"basis: {space.K} directions, noise {space.level:.2f} of a row")
    found, agreement = _search(space, run)
    if found.diffuse:
        estimate = estimate_diffuse(problem, found)
    else:
        estimate, found = estimate_sparse(problem, found, run)
    keep = _choose_regulators(problem, found, estimate, tamed.samples, n_components)
    return _solution(problem, found, agreement, estimate, keep, (n_components, degree, fdr))


def _search(space: Space, run: Run) -> tuple[Found, Array | None]:
    """The likeliest of `effort.searches` searches, and how well each row is found again."""

    def search() -> Found:
        return search_columns(space, run.rng, run.report)

    names = [f"search{k}" for k in range(run.effort.searches)]
    runs = [staged(run.checkpoint, name, search, Found, run.rng) for name in names]
    runs.sort(key=lambda found: -found.columns.objective)
    best = runs[0]
    if len(runs) == 1:
        return best, None
    Y = [space.rows(found.columns.B).astype(np.float64) for found in runs]
    agreement = np.zeros(space.K)
    pairs = match_rows(Y[0], Y[1])
    agreement[pairs.found] = np.abs(pairs.correlation)
    return best, agreement


def _choose_regulators(
    problem: RefinedProblem,
    found: Found,
    estimate: NetworkEstimate,
    samples: Samples,
    n_components: int | str,
) -> NDArray[np.intp]:
    """The P best-scored columns; with "auto" those certified (all, if none is).

    A row that lives on a few variables in a few samples is a handful of wild entries, however
    sparse: such rows come last.
    """
    power = problem.space.rows(found.columns.B).astype(np.float64) ** 2
    wild = carriers(power.sum(axis=1), (power**2).sum(axis=1)) < FEW_VARIABLES
    if wild.any():
        projection = problem.spectrum.factor[:, None] * estimate.projection[:, wild]
        wild[wild] = samples.participation(projection)[0] < FEW_SAMPLES
    order = np.lexsort((-found.score, wild))
    good = found.certified & ~wild
    if isinstance(n_components, str) and good.any():
        return order[good[order]]
    return order[: problem.spectrum.P]


def _solution(
    problem: RefinedProblem,
    found: Found,
    agreement: Array | None,
    estimate: NetworkEstimate,
    keep: NDArray[np.intp],
    wanted: tuple[int | str, int | None, float],
) -> Solution:
    n_components, degree, fdr = wanted
    spectrum = problem.spectrum
    probability, score = estimate.probability[keep], estimate.score[keep]
    if degree is None:
        edges = keep_at_fdr(probability, fdr)
    else:
        edges = keep_strongest(score, degree * len(keep))
    power = (estimate.C[keep] ** 2 / spectrum.factor**2).sum(axis=1)
    order = np.argsort(-power, kind="stable")
    keep, edges, probability, score = keep[order], edges[order], probability[order], score[order]
    # A row's sign is arbitrary: let its heavier tail be positive.
    sign = np.where((score * score * score).sum(axis=1) < 0, -1.0, 1.0)[:, None]
    full = sign * estimate.C[keep] / spectrum.factor
    number = explain_number(spectrum, found, len(keep), n_components)
    return Solution(
        C=np.where(edges, full, 0.0),
        weights=full,
        projection=spectrum.factor[:, None] * estimate.projection[:, keep] * sign.T,
        rotation=found.columns.B[keep].T * sign.T,
        singular_values=spectrum.s,
        probability=probability,
        score=sign * score,
        noise=estimate.noise / spectrum.factor,
        diagnosis=partial(diagnose, spectrum, found, keep, edges, agreement),
        evidence=number.table,
        reason=number.sentence,
        warnings=whole_fit_warnings(found, keep, edges, n_components),
    )
