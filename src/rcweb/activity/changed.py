"""Are a regulator's targets among the variables that changed most?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from rcweb.activity.arguments import sample_labels
from rcweb.engine.types import Array, Mask
from rcweb.knowledge.genesets import GeneSets
from rcweb.knowledge.hypergeometric import benjamini_hochberg

FEWEST_CHANGED = 5  # measured ones of a list
HIGHEST = 0.99  # quantile of changes above which they count alike: one variable must not decide
DRAWS = 500
FEWEST_REPLICATES = 4  # of residuals that stand for noise


def changed(
    table: pd.DataFrame,
    members: Any,
    group: Any,
    reference: Any,
    *,
    groups: Any = None,
    residual_sd: Any = None,
    weights: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Lists whose members changed more than the other variables between two groups of samples.

    table : samples x variables, as measured
    members : GeneSets, ``{name: variables}``, a DataFrame lists x variables of probabilities or
        weights, or a fitted model (the sizes of its `components_`)
    group, reference : with `groups`, two of its labels; else names of samples, or masks
    groups : one label per sample; samples with the same label are replicates
    residual_sd : (variables,) spread of each variable around what is known of it, such as
        ``model.noise_``. None: within `groups`; without groups that of a model, else of the table
    weights : DataFrame lists x variables, multiplied on the members, such as probabilities

    Each variable's |change of its mean| over its `residual_sd`, limited at their 99 % quantile, is
    regressed on membership: `change` is the slope, for a plain list the mean of its members minus
    that of the others. Variables are not independent, so the slope is judged by 500 pairs of
    groups without a change: as many samples drawn from the residuals of `groups` (their replicates
    differ by noise alone), or without `groups` from the table (labels shuffled). `lower`, `upper`
    and `t` are in units of its spread over these draws, `p` is one-sided, over the draws of all
    lists, and q Benjamini-Hochberg over lists. The surest first; ``attrs["left_out"]`` holds lists
    with fewer than 5 measured members.

    Returns columns regulator (the list), group, reference, change, lower, upper, t, p, q. Raises
    ValueError for missing values, and where a sample is in both groups.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from rcweb.activity import changed
    >>> genes = [f"g{n}" for n in range(100)]
    >>> table = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 100)), columns=genes)
    >>> table.iloc[6:, :20] += 3
    >>> lists = {"touched": genes[:20], "others": genes[50:70]}
    >>> changed(table, lists, "ko", "wt", groups=["wt"] * 6 + ["ko"] * 6)["regulator"].tolist()
    ['touched', 'others']
    """
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table must be a DataFrame with names, not {type(table).__name__}.")
    G = table.to_numpy(dtype=np.float64)
    if not np.isfinite(G).all():
        raise ValueError("The table has missing or infinite values; fill them or leave them out.")
    names, X, left_out = _membership(members, table.columns, weights)
    labels = None if groups is None else sample_labels(groups, table.index, "groups")
    a, b = (_chosen(one, table.index, labels) for one in (group, reference))
    if (a & b).any():
        raise ValueError(f"Sample {table.index[a & b][0]!r} is in both groups.")
    noise = _noise_rows(G, labels)
    sd = _residual_sd(residual_sd, members, table, noise)
    test = _Regression.of(X[:, sd > 0], sd[sd > 0])
    slope, t = test(np.abs(G[a].mean(axis=0) - G[b].mean(axis=0))[sd > 0][None])
    null = _null(test, noise.rows[:, sd > 0], (int(a.sum()), int(b.sum())), noise.signs)
    centre, spread = null.mean(axis=0), np.maximum(null.std(axis=0), 1e-12)
    z = (t[0] - centre) / spread
    pool = np.sort(((null - centre) / spread).ravel())
    p = (len(pool) - np.searchsorted(pool, z) + 1) / (len(pool) + 1)
    # One unit of t in units of the slope: its error as if variables were independent.
    unit = np.divide(slope[0], t[0], out=np.zeros_like(z), where=t[0] != 0)
    half = float(ndtri(0.975)) * unit * spread
    value = z * unit * spread
    result = pd.DataFrame(
        {
            "regulator": np.array(names, dtype=object),
            "group": _shown(group, table.index[a], labels),
            "reference": _shown(reference, table.index[b], labels),
            "change": value,
            "lower": value - half,
            "upper": value + half,
            "t": z,
            "p": p,
            "q": benjamini_hochberg(p),
        }
    )
    result = result.iloc[np.argsort(-z, kind="stable")].reset_index(drop=True)
    result.attrs["left_out"] = left_out
    return result


@dataclass(frozen=True)
class _Noise:
    """Rows (n, N) that differ by noise alone; signs : whether their signs are arbitrary."""

    rows: Array
    sd: Array
    signs: bool


def _noise_rows(G: Array, labels: pd.Series | None) -> _Noise:
    """Residuals of replicates, each with the variance of a sample; all samples without labels."""
    if labels is None:
        return _Noise(G - G.mean(axis=0), G.std(axis=0, ddof=1), False)
    codes = pd.factorize(labels)[0]  # -1: no label
    size = np.bincount(codes[codes >= 0])
    used = (codes >= 0) & (size[codes] > 1)
    if used.sum() < FEWEST_REPLICATES:
        raise ValueError(
            f"{int(used.sum())} samples have a replicate in their group, which is too few to know "
            "the noise; leave groups out to compare with shuffled samples."
        )
    sums = np.zeros((len(size), G.shape[1]))
    np.add.at(sums, codes[used], G[used])
    codes = codes[used]
    rest = G[used] - sums[codes] / size[codes][:, None]
    df = len(codes) - len(set(codes))
    sd = np.sqrt((rest**2).sum(axis=0) / df)
    # The mean of n takes a share 1 / n of the variance of each of them with it.
    return _Noise(rest * np.sqrt(size / np.maximum(size - 1, 1))[codes][:, None], sd, True)


def _residual_sd(given: Any, members: Any, table: pd.DataFrame, noise: _Noise) -> Array:
    if given is None and not noise.signs and hasattr(members, "noise_"):
        given = pd.Series(members.noise_, index=list(members.network_.targets))
    if given is None:
        return noise.sd
    if isinstance(given, pd.Series):
        given = given.reindex(table.columns)
    sd = np.asarray(given, dtype=np.float64)
    if sd.shape != (table.shape[1],) or not (np.isfinite(sd) & (sd >= 0)).all():
        raise ValueError(
            f"residual_sd must hold a number of 0 or more for each of the {table.shape[1]} "
            "variables of the table."
        )
    return sd


@dataclass(frozen=True)
class _Regression:
    """Of changes (n, N) over `sd` on centred memberships `x` (T, N)."""

    x: Array
    sd: Array

    @classmethod
    def of(cls, X: Array, sd: Array) -> _Regression:
        return cls(X - X.mean(axis=1, keepdims=True), sd)

    def __call__(self, change: Array) -> tuple[Array, Array]:
        """Slopes and their t, (n, T), as if variables were independent."""
        y = change / self.sd
        y = np.minimum(y, np.quantile(y, HIGHEST, axis=1, keepdims=True))
        y = y - y.mean(axis=1, keepdims=True)
        power = np.maximum((self.x**2).sum(axis=1), 1e-300)
        slope = y @ self.x.T / power
        rest = np.maximum((y**2).sum(axis=1)[:, None] - slope**2 * power, 1e-300)
        return slope, slope * np.sqrt(power * (y.shape[1] - 2) / rest)


def _null(test: _Regression, rows: Array, sizes: tuple[int, int], signs: bool) -> Array:
    """t (`DRAWS`, T) of groups of these sizes drawn from rows without a change."""
    rng = np.random.default_rng(0)  # fixed: the same table gives the same p
    n, (a, b) = len(rows), sizes
    change = np.empty((DRAWS, rows.shape[1]))
    for one in change:
        # With replacement only where there are too few.
        drawn = rows[rng.choice(n, a + b, replace=n < a + b)]
        if signs:
            drawn = drawn * rng.choice([-1.0, 1.0], a + b)[:, None]
        one[:] = drawn[:a].mean(axis=0) - drawn[a:].mean(axis=0)
    return test(np.abs(change))[1]


def _membership(
    members: Any, variables: pd.Index, weights: pd.DataFrame | None
) -> tuple[list[str], Array, dict[str, str]]:
    """Names, memberships (T, N) of variables in lists, and lists left out with the reason."""
    if hasattr(members, "components_"):
        net = members.network_
        members = pd.DataFrame(np.abs(net.weights), list(net.regulators), list(net.targets))
    elif isinstance(members, Mapping):
        members = GeneSets.from_dict(members)
    if isinstance(members, GeneSets):
        X = members.matrix(list(map(str, variables))).toarray()
        names = list(members.names)
    elif isinstance(members, pd.DataFrame):
        names = list(map(str, members.index))
        X = members.reindex(columns=variables).fillna(0.0).to_numpy(dtype=np.float64)
    else:
        raise TypeError(
            "members must be GeneSets, a dict of lists, a DataFrame of lists x variables or a "
            f"fitted model, not {type(members).__name__}."
        )
    if weights is not None:
        X = X * weights.reindex(index=names, columns=variables).fillna(0.0).to_numpy()
    count = (X != 0).sum(axis=1)
    few = {n: f"{k} measured members" for n, k in zip(names, count) if k < FEWEST_CHANGED}
    kept = [k for k, name in enumerate(names) if name not in few]
    if not kept:
        raise ValueError(
            f"None of the {len(names)} lists has {FEWEST_CHANGED} variables of the table; "
            f"variables are called {str(variables[0])!r}, ..."
        )
    return [names[k] for k in kept], X[kept], few


def _chosen(which: Any, samples: pd.Index, labels: pd.Series | None) -> Mask:
    """The samples (M,) of a group."""
    if labels is not None:
        mask = (labels == which).to_numpy(dtype=bool)
        if not mask.any():
            known = ", ".join(map(repr, list(dict.fromkeys(labels.dropna()))[:20]))
            raise ValueError(f"There is no group {which!r}; groups are {known}, ...")
        return np.asarray(mask)
    if isinstance(which, str) or not len(which):
        raise ValueError(f"{which!r}: give a list of samples, or groups= and two of its labels.")
    given = np.asarray(which)
    if given.dtype == bool:
        if given.shape != (len(samples),) or not given.any():
            raise ValueError(f"A mask holds one truth value for each of {len(samples)} samples.")
        return given
    missing = [name for name in which if name not in samples]
    if missing:
        raise ValueError(f"There is no sample {missing[0]!r} in the table.")
    return np.asarray(samples.isin(list(which)))


def _shown(which: Any, samples: pd.Index, labels: pd.Series | None) -> Any:
    if labels is not None:
        return which
    more = f" +{len(samples) - 1}" if len(samples) > 1 else ""
    return f"{samples[0]}{more}"
