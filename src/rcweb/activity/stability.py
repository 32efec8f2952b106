"""How often edges and regulators are found again in resamples of the samples.

A fit to a resample returns its regulators in another order, sign and scale. Every resample is
therefore matched one to one to the fit of all samples before anything is counted or averaged.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from rcweb.engine.matching import match_rows
from rcweb.engine.types import Array

ProgressCallback = Callable[[int, int], None]

AHEAD = 16  # resamples handed to an executor at a time: each carries its rows


@dataclass(frozen=True, eq=False)
class Stability:
    """Frequencies over the resamples that were finished.

    edge_frequency : (P, N) share of resamples in which the matched regulator has this edge with
        the sign it has in the full fit, or with any sign where the full fit has no edge
    regulator_frequency : (P,) share of resamples in which the regulator came back, that is with
        |correlation| of at least `threshold`
    correlation : (n, P) |correlation| of each regulator with its match, 0 where it had none
    mean_weights : (P, N) weights averaged after alignment of order, sign and scale, over the
        resamples in which the regulator came back; zero if it never did
    n_resamples, n_finished : asked for, and done before an interruption
    threshold : see `regulator_frequency`
    """

    edge_frequency: Array
    regulator_frequency: Array
    correlation: Array
    mean_weights: Array
    n_resamples: int
    n_finished: int
    threshold: float

    def regulators(self, names: Any = None) -> pd.DataFrame:
        """One row per regulator: frequency, median_correlation and low_correlation (10 % quantile).

        names : of the regulators, for the index; default: numbers
        """
        done = len(self.correlation) > 0
        shape = self.correlation.shape[1]
        quantiles = (
            np.quantile(self.correlation, [0.5, 0.1], axis=0) if done else np.zeros((2, shape))
        )
        return pd.DataFrame(
            {
                "frequency": self.regulator_frequency,
                "median_correlation": quantiles[0],
                "low_correlation": quantiles[1],
            },
            index=names,
        )


def resample_stability(
    model: Any,
    X: Any,
    *,
    n_resamples: int = 50,
    scheme: str = "subsample",
    fraction: float = 0.5,
    threshold: float = 0.8,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    random_state: int = 0,
    progress: ProgressCallback | None = None,
) -> Stability:
    """Refit a model to resamples, and count which edges and regulators are found again.

    model : fitted ``RCweb`` (or any estimator with `components_`); refitted as a clone with its
        number of regulators and an own seed per resample
    X : the table it was fitted to, an array, DataFrame, sparse matrix or dask array
    n_resamples : how many resamples, and so fits
    scheme : "subsample" (a part of the samples, without replacement) or "bootstrap" (as many as
        there are, with replacement)
    fraction : of the samples, in a subsample
    threshold : |correlation| of matched rows above which a regulator counts as found again
    n_jobs : processes, as in joblib; the result does not depend on it
    executor : where to refit instead, such as ``client.get_executor()`` of a dask cluster; ignored
        for a dask array, whose fits use the whole cluster anyway
    random_state : seed of the resamples and of their fits
    progress : called with (finished, total) after every resample

    Returns a `Stability`. Ctrl-C ends the run early and returns the finished resamples, if there
    are any.

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.activity import resample_stability
    >>> from rcweb.simulate import simulate
    >>> X = simulate(100, 80, 4, random_state=0).data
    >>> model = RCweb(4).fit(X)
    >>> resample_stability(model, X, n_resamples=4).regulator_frequency
    array([1., 1., 1., 1.])
    """
    check_is_fitted(model)
    table = _sliceable(X)
    draws = list(_draws(table.shape[0], n_resamples, scheme, fraction, random_state))
    reference = np.asarray(model.components_, dtype=np.float64)
    # A generator: rows of a resample are copied only when a worker is free for them.
    tasks = ((_prepared(model, seed), _take(table, rows)) for rows, seed in draws)
    # A dask array would arrive at one worker whole, or be computed from within a worker.
    if executor is None or hasattr(table, "dask"):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        results = parallel(delayed(_refit)(*task) for task in tasks)
    else:
        results = _in_order(executor, tasks)
    collected = _Collected.empty(reference.shape)
    try:
        for found in results:
            collected.add(found, reference, threshold)
            if progress is not None:
                progress(collected.n, n_resamples)
    except KeyboardInterrupt:
        # Without a finished resample there is nothing to return.
        if not collected.n:
            raise
    finally:
        _close(results)
    return collected.result(n_resamples, threshold)


def _draws(
    M: int, n_resamples: int, scheme: str, fraction: float, seed: int
) -> Iterator[tuple[NDArray[np.intp], int]]:
    """Rows and a seed for every resample; each has its own stream, so their order is free."""
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, not {n_resamples}.")
    if scheme not in ("subsample", "bootstrap"):
        raise ValueError(f"scheme must be 'subsample' or 'bootstrap', not {scheme!r}.")
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction must lie in (0, 1], not {fraction}.")
    size = M if scheme == "bootstrap" else max(2, round(fraction * M))
    for stream in np.random.SeedSequence(seed).spawn(n_resamples):
        rng = np.random.default_rng(stream)
        # Sorted: chunked and sparse tables are read in order.
        rows = np.sort(rng.choice(M, size, replace=scheme == "bootstrap"))
        yield rows, int(rng.integers(2**31))


def _prepared(model: Any, seed: int) -> Any:
    twin = clone(model)
    known = twin.get_params(deep=False)
    # With "auto" each resample could find another number, and counts would not compare.
    wanted = {"n_components": len(model.components_), "random_state": seed}
    return twin.set_params(**{name: value for name, value in wanted.items() if name in known})


def _sliceable(X: Any) -> Any:
    """The table in a form that can be indexed by rows; sparse and chunked tables stay so."""
    if isinstance(X, pd.DataFrame) or hasattr(X, "dask"):
        return X
    return X.tocsr() if issparse(X) else np.asarray(X)


def _in_order(executor: Executor, tasks: Iterable[tuple[Any, Any]]) -> Iterator[Array]:
    """Refits in the order of the tasks, `AHEAD` of them handed out at a time."""
    waiting: deque[Future[Array]] = deque()
    try:
        for task in tasks:
            waiting.append(executor.submit(_refit, *task))
            # Results come in the order of the tasks, so that sums have the same bits; a bounded
            # queue keeps the rows of later tasks out of memory.
            if len(waiting) == AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _take(table: Any, rows: NDArray[np.intp]) -> Any:
    return table.iloc[rows] if isinstance(table, pd.DataFrame) else table[rows]


def _refit(model: Any, X: Any) -> Array:
    return np.asarray(model.fit(X).components_, dtype=np.float64)


def _close(results: Any) -> None:
    """Stop what is still running; joblib's generator ends its workers when closed."""
    with warnings.catch_warnings():
        # joblib warns about cancelled tasks; after an interruption they are expected.
        warnings.filterwarnings("ignore", "[0-9]+ tasks ", UserWarning)
        results.close()


@dataclass
class _Collected:
    """Running sums, so that memory does not grow with the number of resamples."""

    n: int
    edges: Array
    weights: Array
    returned: Array
    correlation: list[Array]

    @classmethod
    def empty(cls, shape: tuple[int, int]) -> _Collected:
        return cls(0, np.zeros(shape), np.zeros(shape), np.zeros(shape[0]), [])

    def add(self, found: Array, reference: Array, threshold: float) -> None:
        pairs = match_rows(found, reference)
        rho = np.zeros(len(reference))
        rho[pairs.other] = np.abs(pairs.correlation)
        # Weights are averaged only over resamples that found the regulator; a wrong match would
        # blur them.
        back = rho >= threshold
        aligned = np.zeros_like(reference)
        aligned[pairs.other] = found[pairs.found] * pairs.scale[:, None]
        # A flipped sign is another effect, not the same edge.
        same = (aligned != 0) & ((reference == 0) | (np.sign(aligned) == np.sign(reference)))
        self.n += 1
        self.edges += same
        self.weights += aligned * back[:, None]
        self.returned += back
        self.correlation.append(rho)

    def result(self, n_resamples: int, threshold: float) -> Stability:
        returned = self.returned[:, None]
        return Stability(
            edge_frequency=self.edges / self.n,
            regulator_frequency=self.returned / self.n,
            correlation=np.array(self.correlation),
            mean_weights=np.divide(
                self.weights, returned, out=np.zeros_like(self.weights), where=returned > 0
            ),
            n_resamples=n_resamples,
            n_finished=self.n,
            threshold=threshold,
        )
