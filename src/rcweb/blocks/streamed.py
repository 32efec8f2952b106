"""From a table read in blocks to the condensed table of the refined method.

With few variables ``S = G0^T G0`` comes from one pass. With many a randomised range finder (Halko,
Martinsson, Tropp 2011) takes a few: with W (N, L) spanning ``S^2`` of a random matrix and
``Z = S W``, ``axes = (W^T Z)^-1/2 Z^T`` equals ``Q^T G0`` for an orthonormal basis Q of ``G0 W``;
Q itself, which has M rows, is never formed. The residual power is kept per variable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rcweb.blocks.base import Blocks, RowBlock, dense
from rcweb.blocks.reader import Reader
from rcweb.blocks.route import MOST_GATHERED, number_of_axes, route_of
from rcweb.blocks.steps import Centring, Collect, FarEntries, Moments, Multiply, Participation
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.lone import FAR, Scatter, most, scatter_of
from rcweb.engine.methods import FIT_METHODS
from rcweb.engine.missing.check import refuse_holes, refuse_infinite
from rcweb.engine.outliers import rows_seen
from rcweb.engine.prepare import Preparation, judge
from rcweb.engine.response import Response
from rcweb.engine.samples import Samples, participation_ratio, spread
from rcweb.engine.spectrum import leading_directions
from rcweb.engine.types import Array, Mask

RANGE_PASSES = 3  # of the range finder, the first one included; each reads the whole table
FILLED = 0.6  # share of the axes above which signal may continue beyond them
NOT_ALONE = 0.2  # share of an activity's power below which no single sample is suspect
SQUARE_ROUNDING = 1e-14  # relative size of squared singular values lost to rounding


@dataclass(frozen=True)
class First:
    """Results of the first pass, for variables divided by ``centring.unit``.

    preparation : the same in units of the table
    centring : what is done to every row
    largest, power : (N,) largest absolute value and sum of squares of centred variables
    product : ``S`` (N, N), or ``S W`` (N, L) for a random W
    seen : (n, N) some of the rows as they are
    """

    preparation: Preparation
    centring: Centring
    largest: Array
    power: Array
    product: Array
    seen: Array

    @property
    def varying(self) -> Mask:
        return self.preparation.varying


@dataclass(frozen=True)
class Streamed:
    """Samples left on disk (see `rcweb.engine.samples.Samples`), centred or not; and their
    condensed `table`."""

    reader: Reader
    first: First
    table: CondensedTable
    n_components: int | str
    centred: bool

    def some(self, most: int) -> Array:
        seen = (self.first.seen - self.first.centring.mean)[:, self.first.varying]
        return seen[spread(len(seen), most)]

    def seen(self) -> Array:
        """Evenly spread samples as they are in the table, (n, N)."""
        unit = self.first.centring.unit
        return self.first.seen if unit is None else self.first.seen * unit

    def participation(self, projection: Array) -> tuple[Array, Array]:
        """Bounds, if they show that no sample stands out; else exact values from one pass."""
        first = self.first
        # |activity| <= |projection| largest; and the sum of squares is known: no sample can hold
        # a larger share than this, so that 1 / share of them at least carry the activity.
        peak = (np.abs(projection).T @ first.largest[first.varying]) ** 2
        share = peak / np.maximum((projection * self.table.times(projection)).sum(axis=0), 1e-300)
        if share.max() < NOT_ALONE:
            return 1 / share, share
        wide = _wide(projection, first.varying)
        power, square, largest = self.reader.fold(Participation(first.centring, wide))
        total = np.maximum(power, 1e-300)
        return participation_ratio(total, square), largest / total

    def limited(self, limit: Callable[[Array], Array]) -> tuple[Samples, CondensedTable]:
        first = self.first
        reader = self.reader.through(Limited(first.centring, first.varying, limit))
        asked, N = self.n_components, int(first.varying.sum())
        ready = _first_pass(reader, N, asked, self.centred, False)
        table = _table(reader, ready, asked, self.table.observed)
        return Streamed(reader, ready, table, asked, self.centred), table


@dataclass(frozen=True)
class Limited:
    """Blocks centred, then `limit`ed."""

    centring: Centring
    varying: Mask
    limit: Callable[[Array], Array]

    def __call__(self, block: RowBlock) -> Array:
        return self.limit(self.centring(block)[:, self.varying])


@dataclass(frozen=True)
class _Straightened:
    """Blocks without what a response bends."""

    response: Response

    def __call__(self, block: RowBlock) -> Array:
        return self.response(dense(block))


def gather(blocks: Blocks, method: str) -> Array | None:
    """The whole table in memory if it is small or the method needs it, else None. The published
    method does: it resolves zeros to rounding error, which Gram matrices cannot."""
    M, N = blocks.shape
    needed = FIT_METHODS[method].solve is not None
    if needed and M * N > MOST_GATHERED:
        raise ValueError(
            f"method={method!r} takes tables of at most {MOST_GATHERED:,} entries unless they are "
            f"dense and in memory; this one has {M:,} x {N:,}. Use method='refined'."
        )
    if needed or route_of(M, N) == "rows":
        return np.asarray(blocks.fold(Collect())[0])
    return None


def condense(
    reader: Reader,
    n_components: int | str,
    *,
    center: bool,
    observed: Array | None = None,
    response: Response | None = None,
) -> tuple[Preparation, CondensedTable, Streamed]:
    """Read the table behind `reader`; return its preparation, condensed form and samples.

    For the routes "gram" and "axes"; `observed` (N,) is the share of measured entries; what a
    `response` bends is made straight first.
    """
    N = reader.blocks.shape[1]
    if response is not None:
        reader = reader.through(_Straightened(response))
    first = _first_pass(reader, N, n_components, center, True)
    scatter, lone = _find_lone(reader, first)
    if response is not None:
        lone[:, 2] = response.readings(lone[:, 2])
    # Replaced entries change means, products and extremes: the first pass is repeated.
    if scatter is not None:
        reader = reader.through(scatter.replace)
        first = _first_pass(reader, N, n_components, center, True)
        first = replace(first, preparation=replace(first.preparation, lone=lone))
    share = None if observed is None else observed[first.varying]
    table = _table(reader, first, n_components, share)
    samples = Streamed(reader, first, table, n_components, center)
    return first.preparation, table, samples


def _find_lone(reader: Reader, first: First) -> tuple[Scatter | None, Array]:
    """The limits for single extreme entries, and these entries; None if there are none. Takes one
    pass, and only if the extremes of the variables suggest such entries."""
    unit = 1.0 if first.centring.unit is None else first.centring.unit
    mean, nothing = first.centring.mean * unit, np.empty((0, 3))
    scatter = scatter_of(first.seen * unit)
    if scatter is None:
        return None, nothing
    reach = first.largest * unit + np.abs(mean - scatter.centre)
    if not (reach > FAR * scatter.size).any():
        return None, nothing
    lone = reader.fold(FarEntries(scatter))[0]
    M, N = reader.blocks.shape
    return (scatter, lone) if 0 < len(lone) <= most(M * N) else (None, nothing)


def _first_pass(reader: Reader, N: int, n_components: int | str, center: bool, raw: bool) -> First:
    """Extremes, means and the first products; repeated with other units if numbers are extreme.

    `raw` : the user's table, which may have constant variables and numbers of any size
    """
    M = reader.n_samples
    W = None
    if route_of(M, N) == "axes":
        W = _random((N, number_of_axes(M, N, n_components)))
    wanted = spread(M, rows_seen(N))
    low, high, *rest = reader.fold(Moments(None, wanted, W))
    refuse_infinite(np.isinf(low) | np.isinf(high), reader.blocks.names)
    refuse_holes(np.isnan(low) | np.isnan(high), reader.blocks.names)
    varying, scale, units = judge(low, high) if raw else (np.ones(N, dtype=bool), 1.0, None)
    unit = units
    if scale != 1:
        unit = np.full(N, scale)
    if unit is not None:
        rest = list(reader.fold(Moments(unit, wanted, W))[2:])
    _, (mean,), power, product, seen = rest
    # Moments are always taken about the mean, to avoid cancellation; without centring the mean's
    # part is added back.
    if not center:
        product = product + M * np.outer(mean, mean if W is None else mean @ W)
        mean, power = np.zeros(N), power + M * mean**2
    whole = 1.0 if unit is None else unit
    largest = np.maximum(np.abs(low / whole - mean), np.abs(high / whole - mean))
    taken_off = np.where(varying, mean * whole, low)
    preparation = Preparation(taken_off, varying, scale, units)
    return First(preparation, Centring(mean, unit), largest, power, product, seen)


def _random(shape: tuple[int, int], seed: int = 0) -> Array:
    """The start of the range finder. It is fixed, since the result hardly depends on it."""
    return np.random.default_rng(seed).standard_normal(shape)


def _table(
    reader: Reader, first: First, n_components: int | str, observed: Array | None
) -> CondensedTable:
    M, keep = reader.n_samples, first.varying
    if route_of(M, len(keep)) == "gram":
        gram = first.product if keep.all() else first.product[np.ix_(keep, keep)]
        return CondensedTable.condensed(M, None, gram, observed=observed)
    Z = first.product[keep]
    # Ends: the number of axes doubles while signal fills them, at most to the rank of the table.
    while True:
        axes, Z = _find_range(reader, first, Z)
        rest = np.maximum(first.power[keep] - (axes * axes).sum(axis=0), 0.0)
        table = CondensedTable.condensed(M, axes, axes @ axes.T, rest, observed)
        L, most = len(axes), min(M - 1, table.N)
        if not isinstance(n_components, str) or most <= L:
            return table
        if leading_directions(table, "auto").n_signal < FILLED * L:
            return table
        Z = np.hstack([Z, _random((table.N, min(L, most - L)), seed=L)])


def _find_range(reader: Reader, first: First, Z: Array) -> tuple[Array, Array]:
    """Leading axes (L, N) of the table from Z (N, L), a guess of their span; and a better guess."""
    W = Z
    # A fixed number of power iterations: each is a pass over the data, and their error only moves
    # power from the axes to `rest`, where it counts as noise.
    for _ in range(RANGE_PASSES - 1):
        W = np.linalg.qr(Z)[0]
        step = Multiply(first.centring, _wide(W, first.varying))
        Z = reader.fold(step)[0][first.varying]
    # T = W^T S W is symmetric up to rounding. Directions lost to rounding are dropped, since its
    # inverse root would amplify them.
    T = W.T @ Z
    squares, turn = np.linalg.eigh((T + T.T) / 2)
    known = squares > SQUARE_ROUNDING * squares[-1]
    axes = (Z @ (turn[:, known] / np.sqrt(squares[known]))).T
    return np.ascontiguousarray(axes), Z


def _wide(columns: Array, varying: Mask) -> Array:
    """Rows of zeros for constant variables."""
    if varying.all():
        return np.ascontiguousarray(columns)
    wide: Any = np.zeros((len(varying), columns.shape[1]))
    wide[varying] = columns
    return wide
