"""From one table to a fitted model: a method solves the whole of it in memory, or its blocks."""

from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from rcweb.engine.conventions import LITTLE
from rcweb.engine.instrument import Instrument
from rcweb.engine.limits import without_limits
from rcweb.engine.methods import FIT_METHODS
from rcweb.engine.prepare import Preparation, Prepared, prepare, restore
from rcweb.engine.samples import rows_seen, spread
from rcweb.engine.solution import Solution
from rcweb.engine.threads import one_blas_thread
from rcweb.engine.types import Array
from rcweb.estimator.input import check_input, fill_missing, validated
from rcweb.estimator.parameters import check_sizes

if TYPE_CHECKING:
    from rcweb.engine.condensed import CondensedTable
    from rcweb.engine.constant_sum import Uncentred
    from rcweb.engine.response import Response
    from rcweb.engine.samples import Samples
    from rcweb.estimator import RCweb
    from rcweb.storage.checkpoint import Checkpoint
    from rcweb.tables import Origin


def fit_one_table(
    model: RCweb, X: Any, measured: Any = None, *, measured_alike: bool = True
) -> RCweb:
    """The body of `RCweb.fit` for one table; `measured_alike` : whether all samples were measured
    in the same way, so that values may lie at limits of detection and one curve may bend them.
    """
    from rcweb.blocks import as_blocks, gather, in_blocks, learn_names
    from rcweb.engine.lone import lone_note
    from rcweb.tables import Origin

    method, table, factors = FIT_METHODS[model.method], X, None
    measured_alike &= method.solve is None  # others get every entry as it is
    center = method.centers if model.center == "auto" else bool(model.center)
    blocks, observed = as_blocks(X), None
    samples = getattr(X, "index", None) if blocks is None else getattr(blocks, "samples", None)
    origin, whole = Origin.of(X, getattr(blocks, "samples", None)), blocks is None
    model.response_, model.response_slopes_ = np.empty(0), np.empty(0)
    if blocks is None:
        X = validated(model, X, ensure_min_samples=2, ensure_min_features=2)
        # Before filling: the input check must see which values are missing.
        check_input(model, origin.look(X, model._given_names()), origin.source)
        n_samples = X.shape[0]
        X, observed = fill_missing(model, X, measured_alike)
        blocks = in_blocks(X) if method.solve is None or issparse(X) else None
    else:
        learn_names(model, blocks)
        n_samples = blocks.shape[0]
        model.limits_ = without_limits(blocks.shape[1])
    if measured is not None:
        from rcweb.knowledge.measured import align_measured

        # A list has a method of that name.
        names = None if callable(samples) else samples
        factors = align_measured(measured, names, n_samples)
    # Before the fit itself allocates memory, so that a refusal costs little time.
    check_fits_memory(model, X, blocks)
    # One BLAS thread: sums in another order would change the last bits, then the edges.
    with one_blas_thread():
        # Some methods and shapes need the whole table in memory; `gather` reads those.
        if blocks is not None and (gathered := gather(blocks, model.method)) is not None:
            if not whole:
                check_input(model, origin.look(gathered, model._given_names()), origin.source)
            (X, observed), blocks = fill_missing(model, gathered, measured_alike), None
        # What filled holes bends nothing; values whose zero means something are taken as they are.
        known = observed is None or observed.mean() > 1 - LITTLE
        may_bend = model.response == "auto" and measured_alike and center and known
        if blocks is None:
            values = None if factors is None else factors.to_numpy(np.float64)
            prepared, solution = fit_whole(model, X, center, observed, values, may_bend=may_bend)
        else:
            unchecked = None if whole else origin
            prepared, solution = fit_blocks(
                model, blocks, center, observed, unchecked, may_bend=may_bend
            )
        if model.response_.size:
            prepared = prepared.in_units(model.response_slopes_)
        solution = restore(solution, prepared, model._given_names())
    model.mean_ = prepared.mean
    model.n_samples_ = n_samples
    model.observed_ = np.ones(len(model.mean_)) if observed is None else observed
    model._store(solution)
    if (response := Instrument.of(model).response) is not None:
        model.warnings_ += (response.note,)
    model.warnings_ += lone_note(prepared.lone, samples, getattr(model, "feature_names_in_", None))
    if factors is not None:
        model._match_fitted(table, factors, solution.measured)
    return model if model.prior is None else model.guide(model.prior, model.groups)


def fit_whole(
    model: RCweb,
    X: Array,
    center: bool,
    observed: Array | None,
    measured: Array | None = None,
    *,
    may_bend: bool,
) -> tuple[Preparation, Solution]:
    """The solution for a table in memory, with no value missing; `measured` : factors (M, F);
    `may_bend` : whether one curve may bend all variables."""
    from rcweb.engine.lone import find_lone

    # Methods other than "refined" get every entry as it is, as the published one requires.
    solve = FIT_METHODS[model.method].solve
    limited, lone = find_lone(X) if solve is None else (X, np.empty((0, 3)))
    # The published method sees samples and variables in the user's order.
    prepared = replace(prepare(limited, center=center, arrange=solve is None), lone=lone)
    check_sizes(model.n_components, model.degree, prepared.G0.shape, center)
    model.route_, model.passes_ = "memory", 1
    if solve is not None:
        return prepared, solve(prepared.G0, model.get_params())
    # Imported here: compiled kernels would slow down `import rcweb`.
    from rcweb.engine.condensed import CondensedTable
    from rcweb.engine.constant_sum import Uncentred
    from rcweb.engine.samples import InMemory

    if may_bend:
        once = np.sort(prepared.samples)  # copies count once
        seen = limited[once[spread(len(once), rows_seen(X.shape[1]))]]
        if (response := _response(model, prepared, seen)) is not None:
            # Again: what stands apart among amounts need not among their logs.
            limited, lone = find_lone(response(X))
            lone[:, 2] = response.readings(lone[:, 2])
            prepared = replace(prepare(limited, center=True, arrange=True), lone=lone)
    # In the order of `prepare`, which removed constant variables.
    observed = None if observed is None else observed[prepared.columns]
    measured = None if measured is None else measured[prepared.samples]

    def condensed(of: Prepared, centred: bool) -> tuple[CondensedTable, Samples]:
        return CondensedTable.of(of.G0, observed), InMemory(of.G0, observed, centred)

    whole: list[Prepared] = []

    def uncentred() -> tuple[CondensedTable, Samples]:
        # Made when asked for: most tables do not need a second copy.
        whole.append(replace(prepare(limited, center=False, arrange=True), lone=lone))
        return condensed(whole[0], False)

    other = Uncentred(prepared.means, uncentred) if model.center == "auto" else None
    checkpoint = _open_checkpoint(model, X)
    solution = _solve(model, *condensed(prepared, center), checkpoint, other, measured)
    solution = replace(solution, warnings=(*solution.warnings, *prepared.copies_note))
    return (prepared if solution.centred else whole[0]), solution


def _response(model: RCweb, prepared: Preparation, seen: Array) -> Response | None:
    """The response that samples (n, N) show, if variables have one unit; the model keeps it."""
    from rcweb.engine.response import find_response

    if prepared.units is not None or prepared.scale != 1:
        return None
    response = find_response(seen)
    if response is not None:
        if model.verbose:
            print(response.note)
        model.response_ = np.array(astuple(response))
        model.response_slopes_ = response.slopes(seen)
    return response


def fit_blocks(
    model: RCweb,
    blocks: Any,
    center: bool,
    observed: Array | None,
    origin: Origin | None,
    *,
    may_bend: bool,
) -> tuple[Preparation, Solution]:
    """The solution for a table that is read in blocks; `origin`, if its input is not checked;
    `may_bend` : whether one curve may bend all variables."""
    from rcweb.blocks import Reader, condense, route_of

    check_sizes(model.n_components, model.degree, blocks.shape, center)
    reader = Reader(blocks, print if model.verbose else lambda line: None)
    prepared, table, samples = condense(
        reader, model.n_components, center=center, observed=observed
    )
    # Again: only now is it known how many variables vary.
    check_sizes(model.n_components, model.degree, (table.M, table.N), center)
    if origin is not None:
        # The input check sees the samples kept in memory; it takes no further pass over the data.
        rows = origin.look(samples.seen(), model._given_names(), blocks.shape[0])
        check_input(model, rows, origin.source)
    if may_bend and (response := _response(model, prepared, samples.seen())) is not None:
        prepared, table, samples = condense(
            reader, model.n_components, center=True, observed=observed, response=response
        )
    # The condensed table identifies the data: hashing the blocks would read them once more.
    known = table.gram if table.axes is None else table.axes
    solution = _solve(model, table, samples, _open_checkpoint(model, known, table.rest))
    model.route_, model.passes_ = route_of(*blocks.shape), reader.passes
    return prepared, solution


def check_fits_memory(model: RCweb, X: Any, blocks: Any) -> None:
    """Refuse a fit that is expected to take more memory than it may."""
    from rcweb.estimator.forecast import check_memory, forecast_of

    held = issparse(X) or (isinstance(X, np.ndarray) and not isinstance(X, np.memmap))
    expected = forecast_of(
        X if held else None,
        X.shape if held else blocks.shape,
        model.n_components,
        method=model.method,
        quality=model.quality,
    )
    check_memory(expected, model.max_memory)


def _solve(
    model: RCweb,
    table: CondensedTable,
    samples: Samples,
    checkpoint: Checkpoint | None,
    uncentred: Uncentred | None = None,
    measured: Array | None = None,
) -> Solution:
    from rcweb.engine.refined import solve_refined

    return solve_refined(
        table,
        samples,
        model.n_components,
        degree=model.degree,
        fdr=model.fdr,
        doubtful=model.doubtful,
        quality=model.quality,
        random_state=model.random_state,
        verbose=model.verbose,
        checkpoint=checkpoint,
        uncentred=uncentred,
        measured=measured,
    )


def _open_checkpoint(model: RCweb, *data: Array) -> Checkpoint | None:
    """The checkpoint of this fit, identified by its data and the parameters that matter."""
    if model.checkpoint is None:
        return None
    from rcweb.storage.checkpoint import Checkpoint, fingerprint, identity

    # These change where and how a fit runs, not its result: a resumed fit may change them.
    here = ("checkpoint", "max_memory", "verbose", "prior", "groups")
    parameters = {k: v for k, v in model.get_params().items() if k not in here}
    return Checkpoint(Path(model.checkpoint), identity(fingerprint(*data), parameters))
