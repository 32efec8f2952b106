"""What was measured, from the rows of the plans: values of every unit, seed and method.

A unit is a planted cell, a world or a real table; every function returns (unit, seed) x method.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pandas as pd

from rcweb.lab.benchmark.foreign_page import is_null, tellable
from rcweb.lab.benchmark.methods import METHODS
from rcweb.lab.benchmark.organisms_page import curve_table

PLANTED = ("fig1", "fig2a", "fig2b", "fig2c", "fig3", "worlds")

# The rows of a plan; empty if it was not run.
ReadRows = Callable[[str], pd.DataFrame]


def by_method(rows: pd.DataFrame, unit: str, value: str) -> pd.DataFrame:
    """(unit, seed) x method; references are no competitors. "auto" is a method of its own."""
    empty = pd.DataFrame(index=pd.MultiIndex.from_arrays([[], []], names=["unit", "seed"]))
    if rows.empty or value not in rows:
        return empty
    known = rows["method"].map(lambda name: name in METHODS and METHODS[name].role != "reference")
    part = rows[(rows["status"] == "ok") & known & rows[value].notna()]
    if part.empty:
        return empty
    asked = part["asked"] if "asked" in part else pd.Series("known", part.index)
    # Knowing P is an advantage; the two must not be mixed in one mean.
    name = part["method"].where(asked == "known", part["method"] + ", P unknown")
    table = part.assign(unit=part[unit], name=name)
    wide = table.pivot_table(value, ["unit", "seed"], "name", aggfunc="mean", sort=False)
    return wide.rename_axis(columns=None)


def planted(read: ReadRows, value: str) -> pd.DataFrame:
    """The cells of the paper's figures and the other worlds, one thread."""
    rows = pd.concat([read(plan) for plan in PLANTED], ignore_index=True)
    return by_method(rows[rows["threads"] == 1] if len(rows) else rows, "label", value)


def foreign(read: ReadRows, value: str, nulls: bool = False) -> pd.DataFrame:
    """Worlds with a truth, or nulls."""
    rows = read("foreign")
    if rows.empty:
        return by_method(rows, "panel", value)
    return by_method(rows[is_null(rows) == nulls], "panel", value)


def random(read: ReadRows, value: str) -> pd.DataFrame:
    """Worlds of which every property was drawn at random."""
    return by_method(read("random"), "panel", value)


def certified_right(read: ReadRows, plan: str = "foreign") -> pd.DataFrame:
    """Share of certified rows that are right, in worlds whose regulators can be told apart."""
    rows = read(plan)
    if rows.empty or "n_certified" not in rows:
        return by_method(rows, "panel", "n_certified")
    share = rows["n_certified_right"] / rows["n_certified"].where(rows["n_certified"] > 0)
    return by_method(rows.assign(right=share)[tellable(rows)], "panel", "right")


def foreign_time(read: ReadRows) -> pd.DataFrame:
    """Seconds of CPU over FastICA's, worlds and nulls."""
    return by_method(read("foreign"), "panel", "seconds_ratio")


def organisms(read: ReadRows, value: str, part: str) -> pd.DataFrame:
    """By collection of known regulators where they count, otherwise by organism."""
    rows = read("organisms")
    if rows.empty:
        return by_method(rows, "panel", value)
    organism = rows["panel"].str.split(",").str[0]
    rows = rows.assign(organism=organism)[rows["part"] == part]
    return by_method(rows, "panel" if value == "known_again" else "organism", value)


def real_time(read: ReadRows) -> pd.DataFrame:
    """Seconds of CPU over FastICA's on the same table, told P: in the same process, or, for rows
    without that, over FastICA's mean."""
    ratio = ratio_to_fastica(organisms(read, "cpu_seconds", "whole"))
    rows = read("organisms")
    if "seconds_ratio" not in rows:
        return ratio
    beside = organisms(read, "seconds_ratio", "whole")
    return beside.reindex(index=ratio.index, columns=ratio.columns).fillna(ratio)


@lru_cache(maxsize=1)
def _curves(read: ReadRows) -> pd.DataFrame:
    """Known regulators by the number of edges, which many questions ask for."""
    rows = read("organisms")
    return curve_table(rows) if len(rows) else rows


def curve_ratio(read: ReadRows, value: str, numbers: tuple[int, ...] | None = None) -> pd.DataFrame:
    """Ratio to FastICA's mean over seeds at each number of edges, then the mean over numbers."""
    curves = _curves(read)
    if numbers is not None and len(curves):
        curves = curves[curves["n_edges"].isin(numbers)]
    if curves.empty:
        return by_method(curves, "panel", value)
    curves = curves[curves["signs"] == "together"]
    # Both may be 0, and then so is the harmonic mean.
    sum_of_both = (curves["recovery"] + curves["relevance"]).clip(lower=1e-12)
    modules = 2 * curves["recovery"] * curves["relevance"] / sum_of_both
    curves = curves.assign(status="ok", modules=modules)
    parts = [
        ratio_to_fastica(by_method(part, "panel", value)) for _, part in curves.groupby("n_edges")
    ]
    return pd.concat(parts).groupby(level=["unit", "seed"], sort=False).mean()


def ratio_to_fastica(wide: pd.DataFrame) -> pd.DataFrame:
    """Values over the mean over seeds of FastICA's; nothing where it was not run."""
    if "fastica" not in wide:
        return wide.iloc[:0]
    # The mean over seeds: a ratio to a single run would add its noise.
    fastica = wide["fastica"].groupby(level="unit").transform("mean")
    return wide.div(fastica.where(fastica > 0), axis=0)
