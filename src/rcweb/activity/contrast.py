"""Which regulators change between groups of samples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from rcweb.activity.arguments import (
    activity_table,
    sample_labels,
    sample_sheet,
    tell_left_out,
)
from rcweb.activity.moderated import LinearFit, moderate
from rcweb.engine.types import Array
from rcweb.knowledge.hypergeometric import benjamini_hochberg

UPPER_END = 0.975  # upper end of a 95 % interval


def contrast(
    activities: Any,
    groups: Any,
    reference: Any = None,
    *,
    paired: Any = None,
    covariates: Any = None,
    moderated: bool = True,
) -> pd.DataFrame:
    """Changes of every regulator between groups of samples; the surest first.

    activities : (samples, regulators), a DataFrame for names
    groups : one label per sample; samples without one are left out, with a warning
    reference : the group that all others are compared with; None: all pairs
    paired : one label per sample, such as its donor; differences between these are taken out
    covariates : DataFrame, one row per sample; numbers as they are, text as categories
    moderated : variances of regulators borrow from each other (Smyth 2004); False: each its own

    Returns columns regulator, group, reference, change (mean activity in the group minus that in
    the reference), lower and upper (95 % interval), t, p, and q (Benjamini-Hochberg over all rows).

    A group may have a single sample if others have more: residuals of all groups are pooled.
    Raises ValueError where no group has two samples, and where pairs or covariates divide the
    samples as the groups do.

    Examples
    --------
    >>> import numpy as np
    >>> from rcweb.activity import contrast
    >>> activities = np.random.default_rng(0).normal(size=(6, 3))
    >>> activities[3:, 1] += 9
    >>> table = contrast(activities, ["wt", "wt", "wt", "ko", "ko", "ko"], "wt")
    >>> table[["regulator", "group", "reference", "change", "q"]].head(1).round(2)
      regulator group reference  change    q
    0    rcweb1    ko        wt    8.44  0.0
    """
    table = activity_table(activities)
    labels = sample_labels(groups, table.index, "groups")
    nuisance = _nuisance(paired, covariates, table.index)
    there = labels.notna() & nuisance.notna().all(axis=1)
    tell_left_out(labels.index[labels.isna()], "have no group and are left out")
    tell_left_out(
        labels.index[labels.notna() & ~there], "lack a covariate or pair and are left out"
    )
    table, labels, nuisance = table[there], labels[there], nuisance[there]
    names = list(dict.fromkeys(labels))
    pairs = _pairs(names, reference)
    indicators = np.array([[label == name for name in names] for label in labels], dtype=np.float64)
    design = np.hstack([indicators, _columns(nuisance)])
    fit = LinearFit.of(design, table.to_numpy())
    if fit.df < 1:
        raise ValueError(
            f"{len(table)} samples in {len(names)} groups leave no degree of freedom for the "
            "scatter within groups: at least one group needs two samples"
            + (", beyond those that pairs and covariates use up." if nuisance.shape[1] else ".")
        )
    return _result(fit, pairs, names, list(table.columns), moderated)


def _pairs(names: list[Any], reference: Any) -> list[tuple[Any, Any]]:
    """(group, reference) of every comparison; groups in order of appearance."""
    if len(names) < 2:
        raise ValueError(f"There is one group only: {names[0]!r}." if names else "No groups.")
    if reference is None:
        return [(later, first) for first, later in combinations(names, 2)]
    if reference not in names:
        known = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise ValueError(f"There is no group {reference!r}; groups are {known}.")
    return [(name, reference) for name in names if name != reference]


def _nuisance(paired: Any, covariates: Any, samples: pd.Index) -> pd.DataFrame:
    """Pairs and covariates in one table; its column "paired", if any, is a category."""
    table = pd.DataFrame(index=samples)
    if covariates is not None:
        if not isinstance(covariates, pd.DataFrame):
            raise TypeError(
                f"covariates must be a DataFrame with one row per sample, not "
                f"{type(covariates).__name__}."
            )
        for title, column in sample_sheet(covariates, samples).items():
            table[f"covariate {title}"] = column
    if paired is not None:
        table["paired"] = sample_labels(paired, samples, "pairs").map(str, na_action="ignore")
    return table


def _columns(nuisance: pd.DataFrame) -> Array:
    """(M, k): numbers centred, categories as indicators of all levels but the first."""
    parts = [np.empty((len(nuisance), 0))]
    for _, column in nuisance.items():
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            values = column.to_numpy(dtype=np.float64)
            spread = float(values.std())
            # In units of their spread: a year and a fraction must count alike for rank.
            parts.append(((values - values.mean()) / (spread or 1.0))[:, None])
        else:
            dummies = pd.get_dummies(column.astype(str), drop_first=True)
            parts.append(dummies.to_numpy(dtype=np.float64))
    return np.hstack(parts)


def _result(
    fit: LinearFit,
    pairs: Sequence[tuple[Any, Any]],
    names: list[Any],
    regulators: list[Any],
    moderated: bool,
) -> pd.DataFrame:
    position = {name: k for k, name in enumerate(names)}
    first, second = np.array([(position[a], position[b]) for a, b in pairs]).T
    c = np.zeros((len(pairs), len(fit.coefficients)))
    c[np.arange(len(pairs)), first] = 1
    c[np.arange(len(pairs)), second] = -1
    change, unscaled, known = fit.contrasts(c)
    change[np.abs(change) < 1e-13 * np.abs(fit.coefficients).max(axis=0)] = 0.0  # rounding
    if not known.all():
        a, b = pairs[int(np.flatnonzero(~known)[0])]
        raise ValueError(
            f"Groups {a!r} and {b!r} cannot be compared: pairs or covariates divide the samples as "
            "the groups do. Leave out what goes with the groups."
        )
    variance, df = moderate(fit.variance, fit.df) if moderated else (fit.variance, float(fit.df))
    error = np.sqrt(np.outer(unscaled, variance))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without any scatter a change is certain, and no change is none.
        t = np.where(change == 0, 0.0, change / error)
    p = 2 * stdtr(df, -np.abs(t))
    half = stdtrit(df, UPPER_END) * error
    n, P = change.shape
    table = pd.DataFrame(
        {
            "regulator": np.tile(np.array(regulators, dtype=object), n),
            "group": np.repeat(np.array([a for a, _ in pairs], dtype=object), P),
            "reference": np.repeat(np.array([b for _, b in pairs], dtype=object), P),
            "change": change.ravel(),
            "lower": (change - half).ravel(),
            "upper": (change + half).ravel(),
            "t": t.ravel(),
            "p": p.ravel(),
            "q": benjamini_hochberg(p.ravel()),
        }
    )
    order = np.lexsort((-np.abs(table["t"].to_numpy()), table["p"].to_numpy()))
    return table.iloc[order].reset_index(drop=True)
