"""How much of each activity is due to condition, batch and replicate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rcweb.activity.arguments import activity_table, column_of, sample_sheet, tell_left_out
from rcweb.engine.types import Array, Ints


def design(activities: Any, sheet: Any, condition: str, batch: str | None = None) -> pd.DataFrame:
    """Shares of the variance of every activity, one row per regulator, in their order.

    activities : (samples, regulators), a DataFrame for names
    sheet : DataFrame indexed by sample; condition, batch : titles of its columns. Samples with the
        same condition (and batch) are replicates; samples without a label are left out

    Returns columns regulator, condition, batch (0 if none is given), replicate: variance components
    of random effects by analysis of variance, negative ones taken as 0, that sum to 1 (NaN for a
    constant activity); and replicate_agreement, the intraclass correlation of replicates. With a
    batch the components are Henderson's method 3: conditions within batches first, or batches
    within conditions where every batch has one condition only. Raises ValueError without
    replicates, and where condition and batch divide the samples alike.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from rcweb.activity import design
    >>> noise = np.random.default_rng(0).normal(size=(40, 2))
    >>> sheet = pd.DataFrame({"medium": np.repeat(list("abcdefgh"), 5)})
    >>> activities = noise + np.outer(np.repeat(np.arange(8), 5), [1.0, 0.0])
    >>> design(activities, sheet, "medium")[["regulator", "condition", "replicate"]].round(2)
      regulator  condition  replicate
    0    rcweb0       0.90       0.10
    1    rcweb1       0.04       0.96
    """
    table = activity_table(activities)
    rows = sample_sheet(sheet, table.index)
    titles = [condition] if batch is None else [condition, batch]
    labels = pd.DataFrame({title: column_of(rows, title) for title in titles}).astype(object)
    labels = labels.where(labels.notna(), "").map(lambda cell: str(cell).strip())
    there = (labels != "").all(axis=1)
    tell_left_out(labels.index[~there], f"have no {' or '.join(titles)} and are left out")
    Y = table[there].to_numpy()
    codes = [pd.factorize(labels.loc[there, title])[0] for title in titles]
    cells = pd.factorize(pd.MultiIndex.from_arrays(codes))[0]
    if len(cells) < 2 or len(set(cells)) == len(cells):
        raise ValueError(
            f"No two samples share {' and '.join(map(repr, titles))}: without replicates their "
            "scatter cannot be told from differences between conditions."
        )
    replicate = _square_rest(Y, cells) / (len(cells) - len(set(cells)))
    if batch is None:
        parts = [_between(Y, codes[0], replicate), np.zeros(Y.shape[1])]
    else:
        parts = _two_factors(Y, codes[0], codes[1], replicate, titles)
    components = np.maximum(np.array([*parts, replicate]), 0.0)
    total = components.sum(axis=0)
    shares = np.divide(components, total, out=np.full_like(components, np.nan), where=total > 0)
    between = _between(Y, cells, replicate)
    whole = between + replicate
    agreement = np.divide(between, whole, out=np.full_like(whole, np.nan), where=whole > 0)
    return pd.DataFrame(
        {
            "regulator": table.columns.astype(object),
            "condition": shares[0],
            "batch": shares[1],
            "replicate": shares[2],
            "replicate_agreement": agreement,
        }
    )


def _square_rest(Y: Array, codes: Ints) -> Array:
    """Sum of squares within groups, (P,)."""
    size = np.bincount(codes)
    sums = np.zeros((len(size), Y.shape[1]))
    np.add.at(sums, codes, Y)
    return np.asarray(((Y - (sums / size[:, None])[codes]) ** 2).sum(axis=0))


def _between(Y: Array, codes: Ints, error: Array) -> Array:
    """Variance component of one factor; 0 if it has one level only."""
    size = np.bincount(codes)
    n, g = len(codes), len(size)
    if g == 1:
        return np.zeros(Y.shape[1])
    square = ((Y - Y.mean(axis=0)) ** 2).sum(axis=0) - _square_rest(Y, codes)
    typical = (n - (size**2).sum() / n) / (g - 1)  # size of a group, if sizes differ
    return np.asarray((square / (g - 1) - error) / typical)


def _two_factors(
    Y: Array, condition: Ints, batch: Ints, error: Array, titles: list[str]
) -> list[Array]:
    """Components of condition and batch: of one within the other, then of the other."""
    for first, second, swapped in ((condition, batch, False), (batch, condition, True)):
        found = _within_first(Y, first, second, error)
        if found is not None:
            return list(reversed(found)) if swapped else list(found)
    raise ValueError(
        f"{titles[0]!r} and {titles[1]!r} divide the samples alike, so their effects cannot be "
        "told apart; leave batch out."
    )


def _within_first(Y: Array, inner: Ints, outer: Ints, error: Array) -> tuple[Array, Array] | None:
    """Components of `inner`, from its differences within levels of `outer`, and of `outer`; None if
    there are no such differences. Expected sums of squares by traces (Henderson 1953, method 3)."""
    A, B = (codes[:, None] == np.arange(codes.max() + 1) for codes in (inner, outer))
    A, B = A.astype(np.float64), B.astype(np.float64)
    n, size = len(Y), B.sum(axis=0)
    counts = A.T @ B  # samples of every pair of levels
    within = A - B @ (counts / size).T  # inner factor, means over the outer one taken out
    gain = np.linalg.matrix_rank(within)
    if gain == 0:
        return None
    Q = np.linalg.svd(within, full_matrices=False)[0][:, :gain]
    trace = float((within**2).sum())
    a = (((Q.T @ Y) ** 2).sum(axis=0) - gain * error) / trace
    if len(size) == 1:
        return a, np.zeros_like(a)
    total = ((Y - Y.mean(axis=0)) ** 2).sum(axis=0) - _square_rest(Y, outer)
    # Of the inner factor too, a part lies between levels of the outer one.
    mixed = float(((counts**2) / size).sum() - (A.sum(axis=0) ** 2).sum() / n)
    own = n - float((size**2).sum()) / n
    b = (total - (len(size) - 1) * error - np.maximum(a, 0.0) * mixed) / own
    return a, b
