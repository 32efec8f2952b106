"""Which regulators go with which columns of a sample sheet."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import betainc, stdtr

from rcweb.activity.arguments import activity_table, sample_sheet
from rcweb.engine.types import Array, Ints
from rcweb.knowledge.hypergeometric import benjamini_hochberg
from rcweb.tables.grid import MISSING

FEWEST_VALUES = 4  # of 3 values a third of all orders is as extreme as the most extreme
# Up to this many samples the distribution of the statistic is that over orders of the samples.
# Beyond it t and beta are close: measured against 40,000 orders at p = 0.05 and 0.01, beta gives
# 0.048-0.053 and 0.008-0.016, and more where one category holds nearly all samples.
MOST_ORDERED = 12
MOST_ORDERS = 10_000


@dataclass(frozen=True)
class _Column:
    """A column of a sheet: `values` (n,), numbers or codes of categories, of the samples `rows`."""

    kind: str
    rows: Ints
    values: Array


def associate(activities: Any, sheet: Any) -> pd.DataFrame:
    """Every regulator against every column of a sample sheet; the surest associations first.

    activities : (samples, regulators), a DataFrame for names
    sheet : DataFrame indexed by sample. A column of numbers, also as text, is a "number", one of
        dates a "time"; anything else is a "category". Empty cells, and "NA" and the like among
        numbers, are not counted

    Returns columns regulator, column, kind, statistic, effect, n (samples), p, and q
    (Benjamini-Hochberg over all rows). Numbers and times: Spearman's rank correlation (effect) and
    its t. Categories: the Kruskal-Wallis H and the share of the variance of ranks between
    categories, eta^2 (effect; by chance about (categories - 1) / (n - 1)).
    ``attrs["left_out"]`` holds columns that were not tested, and why: constant, identifiers.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from rcweb.activity import associate
    >>> rng = np.random.default_rng(0)
    >>> activities = rng.normal(size=(40, 3))
    >>> sheet = pd.DataFrame({"hours": np.exp(activities[:, 1]), "run": ["a", "b"] * 20})
    >>> table = associate(activities, sheet)
    >>> table[["regulator", "column", "kind", "effect", "q"]].head(1).round(3)
      regulator column    kind  effect    q
    0    rcweb1  hours  number     1.0  0.0
    """
    table = activity_table(activities)
    parts, left_out = [], {}
    for title, cells in sample_sheet(sheet, table.index).items():
        column = _read(cells)
        if isinstance(column, str):
            left_out[str(title)] = column
            continue
        n = len(column.rows)
        test = _categories if column.kind == "category" else _numbers
        statistic, effect, p = test(_ranks(table.to_numpy()[column.rows]), column.values)
        parts.append(
            pd.DataFrame(
                {
                    "regulator": table.columns.astype(object),
                    "column": str(title),
                    "kind": column.kind,
                    "statistic": statistic,
                    "effect": effect,
                    "n": n,
                    "p": p,
                }
            )
        )
    names = ["regulator", "column", "kind", "statistic", "effect", "n", "p"]
    result = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)
    result["q"] = benjamini_hochberg(result["p"].to_numpy(dtype=np.float64))
    order = np.lexsort((-result["effect"].abs().to_numpy(dtype=np.float64), result["p"]))
    result = result.iloc[order].reset_index(drop=True)
    result.attrs["left_out"] = left_out
    return result


def _read(cells: pd.Series) -> _Column | str:
    """The column, or why it is left out."""
    text = cells.astype(object).where(cells.notna(), "").map(lambda cell: str(cell).strip())
    rows = np.flatnonzero(text != "")
    there, words = cells.iloc[rows], text.iloc[rows]
    if len(rows) < FEWEST_VALUES:
        return f"{len(rows)} values"
    if words.nunique() == 1:
        return "constant"
    # "NA" is no number, but among numbers a missing one; among names it may be a name.
    known = ~words.str.lower().isin(MISSING).to_numpy()
    kind, values = "category", np.empty(0)
    if known.sum() >= FEWEST_VALUES:
        kind, values = _as_numbers(there[known], words[known])
    if kind != "category":
        if np.ptp(values) == 0:
            return "constant"
        rows = rows[known]
    else:
        codes, names = pd.factorize(words)
        if len(names) == len(rows):
            return "identifiers: every sample has another value"
        values = codes.astype(np.float64)
    return _Column(kind, rows, values)


def _as_numbers(cells: pd.Series, words: pd.Series) -> tuple[str, Array]:
    """ "number" or "time" with the values, if all cells are such; else "category"."""
    nothing = np.empty(0)
    if pd.api.types.is_bool_dtype(cells) or isinstance(cells.dtype, pd.CategoricalDtype):
        return "category", nothing
    if pd.api.types.is_datetime64_any_dtype(cells):
        times = cells
    elif pd.api.types.is_timedelta64_dtype(cells):
        return "time", cells.dt.total_seconds().to_numpy(dtype=np.float64)
    else:
        numbers = pd.to_numeric(words, errors="coerce").to_numpy(dtype=np.float64)
        if np.isfinite(numbers).all():
            return "number", numbers
        # Dates as 2024-05-31 only: 3/4/24 means two days.
        times = pd.to_datetime(words, errors="coerce", format="ISO8601", utc=True)
    if times.isna().any():
        return "category", nothing
    seconds = (times - times.min()).dt.total_seconds()
    return "time", seconds.to_numpy(dtype=np.float64)


def _ranks(values: Array) -> Array:
    """Ranks of each column over its mean, ties shared, in units of their norm."""
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=0) - (len(values) + 1) / 2
    norm = np.sqrt((ranks**2).sum(axis=0))
    return np.asarray(np.divide(ranks, norm, out=np.zeros_like(ranks), where=norm > 0))


def _numbers(ranks: Array, values: Array) -> tuple[Array, Array, Array]:
    """t, Spearman's rho and p, (P,) each, for ranks (n, P)."""
    n, x = len(values), _ranks(values[:, None])[:, 0]
    rho = np.clip(x @ ranks, -1.0, 1.0)
    with np.errstate(divide="ignore"):
        t = rho * np.sqrt((n - 2) / (1 - rho**2))
    if n > MOST_ORDERED:
        return t, rho, 2 * stdtr(n - 2, -np.abs(t))
    orders, exact = _orders(n)
    return t, rho, _share(np.abs(x[orders] @ ranks), np.abs(rho), exact)


def _categories(ranks: Array, codes: Array) -> tuple[Array, Array, Array]:
    """H, eta^2 and p, (P,) each, for ranks (n, P)."""
    n, k = len(codes), codes.astype(np.intp)
    size = np.bincount(k)
    # Columns of this matrix have norm 1, so eta^2 is the length of the projected ranks.
    groups = (k[:, None] == np.arange(len(size))) / np.sqrt(size)
    eta = np.minimum(((groups.T @ ranks) ** 2).sum(axis=0), 1.0)
    eta[~ranks.any(axis=0)] = 0.0
    if n > MOST_ORDERED:
        return (n - 1) * eta, eta, _beta_tail(eta, size)
    orders, exact = _orders(n)
    drawn = sum((groups[orders, g] @ ranks) ** 2 for g in range(len(size)))
    return (n - 1) * eta, eta, _share(np.asarray(drawn), eta, exact)


def _beta_tail(eta: Array, size: Ints) -> Array:
    """p of eta^2: a beta distribution with its exact mean and variance over all orders.

    Variance of H by Kruskal & Wallis (1952); the beta approximation by Wallace (1959). Unlike chi^2
    it holds for many small categories.
    """
    n, g = int(size.sum()), len(size)
    mean = (g - 1) / (n - 1)
    square = 3 * g * g - 6 * g + n * (2 * g * g - 6 * g + 1)
    variance = 2 * (g - 1) - 2 * square / (5 * n * (n + 1)) - 6 / 5 * (1 / size).sum()
    variance /= (n - 1) ** 2
    total = mean * (1 - mean) / variance - 1
    return np.asarray(betainc(total * (1 - mean), total * mean, 1 - eta))


def _orders(n: int) -> tuple[Ints, bool]:
    """Orders of n samples, (orders, n): all of them, or some; and whether these are all."""
    if factorial(n) <= MOST_ORDERS:
        return np.array(list(permutations(range(n)))), True
    rng = np.random.default_rng(0)  # fixed: the same table gives the same p
    return rng.permuted(np.tile(np.arange(n), (MOST_ORDERS - 1, 1)), axis=1), False


def _share(drawn: Array, found: Array, exact: bool) -> Array:
    """Share of the draws (orders, P) that reach what was found; it counts as one of them."""
    reached = (drawn >= found - 1e-12).sum(axis=0)
    return np.asarray(reached / len(drawn) if exact else (reached + 1) / (len(drawn) + 1))
