"""``method="refined"``: oblique search certified against chance, then the joint posterior.

Two kinds of table are told apart by the data. Where a regulator's non-targets scatter no more
than noise does, zeros are exact: R, C and the noise are sampled jointly and every edge gets its
posterior probability. Where they scatter more, small effects are everywhere and "zero" means
"small": an edge is then an entry that stands out of its regulator's own background.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rcweb.checkpoint import Checkpoint, staged
from rcweb.matching import match_rows
from rcweb.methods.diagnosis import diagnose, explain_number, whole_fit_warnings
from rcweb.outliers import find_limit
from rcweb.refine.edges import background_score, keep_at_fdr, keep_strongest, strong_part
from rcweb.refine.gibbs import Chain, all_axes, leading_axes
from rcweb.samples import Samples
from rcweb.search.oblique.search import Found, search_columns
from rcweb.search.oblique.sharpen import sharpen
from rcweb.search.oblique.space import Space
from rcweb.solution import Solution
from rcweb.spectrum import Spectrum, leading_directions
from rcweb.table import Table

Array = NDArray[np.float64]
Rng = np.random.Generator
Report = Callable[[str], None]

LOW_NOISE = 0.03  # rows with less noise than this are sharpened before they are sampled
NO_NOISE = 1e-5  # and with less than this their zeros are exact up to rounding: nothing to sample
FEW_VARIABLES = 6.0  # participation numbers below which a row is no regulator
FEW_SAMPLES = 3.0
QUIET = 0.12  # rows with less noise than this need few sweeps, and leading axes alone


@dataclass(frozen=True)
class Sweeps:
    """Sweeps of the sampler: before averaging, to learn the slab's shape, and averaged."""

    burn: int
    shape: int
    sweeps: int


@dataclass(frozen=True)
class Effort:
    """Budgets in steps, never in seconds.

    searches : independent searches, the likeliest of which goes on
    quiet, certified : sampling where columns are certified, with little and with more noise
    uncertain : where they are not, and the chain must search and mix; `burn` is a limit
    """

    searches: int
    quiet: Sweeps
    certified: Sweeps
    uncertain: Sweeps


EFFORTS = {
    "standard": Effort(1, Sweeps(10, 6, 24), Sweeps(15, 10, 50), Sweeps(1000, 10, 450)),
    "high": Effort(3, Sweeps(100, 50, 400), Sweeps(100, 50, 400), Sweeps(12000, 50, 2000)),
}


@dataclass(frozen=True)
class Estimate:
    """Rows of the network before edges are chosen, in units of the rescaled table.

    C : (K, N) weights, activities having unit variance; probability, score : (K, N)
    noise : (N,) standard deviation; projection : (N, K) from the rescaled table to activities
    """

    C: Array
    probability: Array
    score: Array
    noise: Array
    projection: Array


def solve_refined(
    table: Table,
    samples: Samples,
    n_components: int | str = "auto",
    *,
    degree: int | None = None,
    fdr: float = 0.05,
    quality: str = "standard",
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
    checkpoint: Checkpoint | None = None,
) -> Solution:
    """Find a sparse network behind a centred table (M x N), condensed and as its samples."""
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    report: Report = print if verbose else lambda line: None
    effort = EFFORTS[quality]
    spectrum = leading_directions(table, n_components)
    limit, wild = find_limit(samples, spectrum)
    if limit is not None:
        report(f"outliers: {wild:.2%} of the entries limited")
        samples, table = samples.limited(limit)
        spectrum = leading_directions(table, n_components)
    space = Space.of(spectrum.V, spectrum.s, spectrum.sigma)
    report(f"basis: {space.K} directions, noise {space.level:.2f} of a row")
    found, agreement = _search(space, rng, effort, report, checkpoint)
    table = table.scaled(spectrum.factor)
    if found.diffuse:
        estimate = _stand_out(space, found, table)
    else:
        estimate = _sample(space, spectrum, found, table, rng, effort, report, checkpoint)
    keep = _choose_regulators(space, spectrum, found, estimate, samples, n_components)
    return _solution(spectrum, space, found, agreement, estimate, keep, (degree, fdr))


def _search(
    space: Space, rng: Rng, effort: Effort, report: Report, checkpoint: Checkpoint | None
) -> tuple[Found, Array | None]:
    """The likeliest of `effort.searches` searches, and how well each row is found again."""

    def search() -> Found:
        return search_columns(space, rng, report)

    names = [f"search{k}" for k in range(effort.searches)]
    runs = [staged(checkpoint, name, search, Found, rng) for name in names]
    runs.sort(key=lambda found: -found.columns.objective)
    best = runs[0]
    if len(runs) == 1:
        return best, None
    Y = [space.rows(found.columns.B).astype(np.float64) for found in runs]
    agreement = np.zeros(space.K)
    pairs = match_rows(Y[0], Y[1])
    agreement[pairs.found] = np.abs(pairs.correlation)
    return best, agreement


def _stand_out(space: Space, found: Found, table: Table) -> Estimate:
    """Diffuse table: what stands out of the regulator's own background and weak effects."""
    Y = space.rows(found.columns.B).astype(np.float64)
    return _regress(table, Y, strong_part(Y, found.columns.density.v0), background_score(Y))


def _noise_free(Y: Array, table: Table) -> Estimate:
    edges = np.abs(Y) > 1e-6 * np.abs(Y).max(axis=1, keepdims=True)
    Y = np.where(edges, Y, 0.0)
    return _regress(table, Y, edges.astype(np.float64), Y)


def _regress(table: Table, Y: Array, probability: Array, score: Array) -> Estimate:
    """Activities by least squares on the rows `Y`, both scaled to activities of unit variance."""
    projection = np.asarray(np.linalg.pinv(Y), dtype=np.float64)
    cross = table.times(projection)  # (N, K): products of variables with activities
    gram = projection.T @ cross
    size = np.sqrt(np.diag(gram) / table.M)
    rest = table.power - 2 * (cross.T * Y).sum(axis=0) + (Y * (gram @ Y)).sum(axis=0)
    noise = np.sqrt(np.maximum(rest, 0.0) / (table.M * table.observed))
    return Estimate(Y * size[:, None], probability, score, noise, projection / size)


def _sample(
    space: Space,
    spectrum: Spectrum,
    found: Found,
    table: Table,
    rng: Rng,
    effort: Effort,
    report: Report,
    checkpoint: Checkpoint | None,
) -> Estimate:
    """Exact zeros: the joint posterior by Gibbs sampling; without noise the zeros themselves."""
    B = found.columns.B
    X = spectrum.V * np.sqrt(len(spectrum.V))
    raw_level = float(np.sqrt((space.noise**2).mean()))
    if raw_level < LOW_NOISE:
        B = sharpen(X, B, ((B * space.noise) ** 2).sum(axis=1), found.columns.density.pi)
    Y = B @ X.T
    if raw_level < NO_NOISE:
        return _noise_free(Y, table)
    sure = found.mostly_certified
    quiet = sure and raw_level < QUIET
    small = quiet and len(table.gram) > 12 * space.K
    axes = leading_axes(table, 2 * space.K) if small else all_axes(table)
    concentration = space.N * float(np.clip(0.02 + 1.2 * (raw_level - 0.15), 0.02, 0.2))
    chain = Chain(axes, Y, rng, concentration=concentration, checkpoint=checkpoint)
    budget = effort.quiet if quiet else effort.certified if sure else effort.uncertain
    if sure:
        chain.wander(budget.burn, shaped=False)
    else:
        swept = chain.burn_in(budget.burn)
        report(f"refine: {swept} sweeps until the posterior stopped climbing")
    chain.wander(budget.shape)
    posterior = chain.run(budget.sweeps)
    weight = posterior.C / posterior.noise**2
    A = weight @ posterior.C.T + np.eye(space.K)
    return Estimate(
        C=posterior.C,
        probability=posterior.probability,
        score=posterior.C * np.sqrt((table.M - 1) * table.observed) / posterior.noise,
        noise=posterior.noise,
        projection=np.asarray(np.linalg.solve(A, weight).T, dtype=np.float64),
    )


def _participation(rows: Array) -> Array:
    """Number of entries that carry a row: 1 if one does, its length if all do alike."""
    power = rows**2
    return power.sum(axis=1) ** 2 / np.maximum((power**2).sum(axis=1), 1e-300)


def _choose_regulators(
    space: Space,
    spectrum: Spectrum,
    found: Found,
    estimate: Estimate,
    samples: Samples,
    n_components: int | str,
) -> NDArray[np.intp]:
    """The P best-scored columns; with "auto" those certified (all, if none is).

    A row that lives on a few variables in a few samples is a handful of wild entries, however
    sparse: such rows come last.
    """
    Y = space.rows(found.columns.B).astype(np.float64)
    wild = _participation(Y) < FEW_VARIABLES
    if wild.any():
        projection = spectrum.factor[:, None] * estimate.projection[:, wild]
        wild[wild] = samples.participation(projection)[0] < FEW_SAMPLES
    order = np.lexsort((-found.score, wild))
    good = found.certified & ~wild
    if isinstance(n_components, str) and good.any():
        return order[good[order]]
    return order[: spectrum.P]


def _solution(
    spectrum: Spectrum,
    space: Space,
    found: Found,
    agreement: Array | None,
    estimate: Estimate,
    keep: NDArray[np.intp],
    wanted: tuple[int | None, float],
) -> Solution:
    degree, fdr = wanted
    probability, score = estimate.probability[keep], estimate.score[keep]
    if degree is None:
        edges = keep_at_fdr(probability, fdr)
    else:
        edges = keep_strongest(score, degree * len(keep))
    power = (estimate.C[keep] ** 2 / spectrum.factor**2).sum(axis=1)
    order = np.argsort(-power, kind="stable")
    keep, edges, probability, score = keep[order], edges[order], probability[order], score[order]
    # A row's sign is arbitrary: let its heavier tail be positive.
    sign = np.where((score**3).sum(axis=1) < 0, -1.0, 1.0)[:, None]
    full = sign * estimate.C[keep] / spectrum.factor
    diagnosis = diagnose(space, spectrum, found, keep, edges, agreement)
    number = explain_number(spectrum, found, len(keep))
    return Solution(
        C=np.where(edges, full, 0.0),
        weights=full,
        projection=spectrum.factor[:, None] * estimate.projection[:, keep] * sign.T,
        rotation=found.columns.B[keep].T * sign.T,
        singular_values=spectrum.s,
        probability=probability,
        score=sign * score,
        noise=estimate.noise / spectrum.factor,
        diagnosis=diagnosis,
        evidence=number.table,
        reason=number.sentence,
        warnings=whole_fit_warnings(diagnosis, found),
    )
