"""What the analyses of activities accept: tables with or without names, labels of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rcweb.storage.errors import shorten, warn_user


def activity_table(activities: Any) -> pd.DataFrame:
    """Samples x regulators, float64; an array gets the names rcweb0, rcweb1, ..."""
    if isinstance(activities, pd.DataFrame):
        table = activities.astype(np.float64)
    else:
        values = np.asarray(activities, dtype=np.float64)
        if values.ndim != 2:
            raise ValueError(f"activities are samples x regulators, not {values.ndim}-dimensional.")
        table = pd.DataFrame(values, columns=[f"rcweb{p}" for p in range(values.shape[1])])
    bad = np.argwhere(~np.isfinite(table.to_numpy()))
    if len(bad):
        m, p = bad[0]
        raise ValueError(
            f"{len(bad):,} activities are missing or infinite, such as that of "
            f"{table.columns[p]!r} in sample {table.index[m]!r}; leave these samples or regulators "
            "out."
        )
    if table.empty:
        raise ValueError(f"{table.shape[0]} samples and {table.shape[1]} regulators: no activity.")
    return table


def sample_labels(labels: Any, samples: pd.Index, what: str) -> pd.Series:
    """One label per sample, indexed as the `samples`; missing ones (NaN, None, "") are NaN.

    A Series is matched by its index if that holds samples; anything else by position.
    """
    if isinstance(labels, pd.Series) and _names_samples(labels.index, samples, what):
        found = labels.reindex(samples)
    else:
        if len(labels) != len(samples):
            raise ValueError(f"{len(labels)} {what} for {len(samples)} samples.")
        found = pd.Series(list(labels), index=samples, dtype=object)
    found = found.astype(object)
    return found.where(found.notna() & (found.astype(str).str.strip() != ""), np.nan)


def sample_sheet(sheet: Any, samples: pd.Index) -> pd.DataFrame:
    """The rows of a sheet for the samples, in their order; by position if it has no names."""
    table = pd.DataFrame(sheet)
    if _names_samples(table.index, samples, "the sheet"):
        return table.reindex(samples)
    if len(table) != len(samples):
        raise ValueError(
            f"The sheet has {len(table)} rows for {len(samples)} samples, and none is called as a "
            f"sample: samples are called {shorten(str(samples[0]))} ..., rows "
            f"{shorten(str(table.index[0]) if len(table) else '')} ..."
        )
    return table.set_axis(samples, axis="index")


def _names_samples(index: pd.Index, samples: pd.Index, what: str) -> bool:
    shared = index.isin(samples)
    if shared.any() and index[shared].has_duplicates:
        name = index[shared][index[shared].duplicated()][0]
        raise ValueError(f"{what}: sample {name!r} occurs twice.")
    return bool(shared.any())


def tell_left_out(samples: pd.Index, why: str) -> None:
    """Warn of samples that take no part, if there are any."""
    if len(samples):
        some = ", ".join(shorten(str(name)) for name in samples[:3])
        more = ", ..." if len(samples) > 3 else ""
        warn_user(f"{len(samples)} samples {why}: {some}{more}.", UserWarning)


def column_of(sheet: pd.DataFrame, title: str) -> pd.Series:
    """A column of the sheet; ValueError names those that there are."""
    if title not in sheet.columns:
        there = ", ".join(map(repr, sheet.columns))
        raise ValueError(f"The sheet has no column {title!r}; it has {there}.")
    return sheet[title]
