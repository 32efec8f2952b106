"""The columns of the scoreboard: what is asked, and its values for every method, unit and seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rcweb.lab.benchmark.foreign_page import is_null, tellable
from rcweb.lab.benchmark.methods import METHODS
from rcweb.lab.benchmark.organisms_page import curve_table

FOREIGN = "foreign/rows.jsonl"
ORGANISMS = "organisms/rows.jsonl"
PLANTED = ("fig1", "fig2a", "fig2b", "fig2c", "fig3", "worlds")

# The rows of a plan; empty if it was not run.
ReadRows = Callable[[str], pd.DataFrame]


@dataclass(frozen=True)
class Question:
    """One column.

    rows : where the rows that answer it are, below benchmarks/results
    values : a table of (unit, seed) x method; a unit is a planted cell, a world or a real table
    higher : whether more is better;  digits : to show
    """

    name: str
    asks: str
    rows: str
    values: Callable[[ReadRows], pd.DataFrame]
    higher: bool = True
    digits: int = 3


def questions() -> tuple[Question, ...]:
    """The columns in order."""
    return (
        Question(
            "planted: rho",
            "accuracy on the planted cells of figures 1 to 3 and the other worlds",
            "",
            lambda read: _planted(read, "rho"),
        ),
        Question(
            "planted: F1",
            "F1 of edges, same cells (rivals are told the true density)",
            "",
            lambda read: _planted(read, "f1"),
        ),
        Question(
            "foreign: rho",
            "accuracy in worlds the model was not made for",
            FOREIGN,
            lambda read: _foreign(read, "rho"),
        ),
        Question(
            "foreign: FDR",
            "false edges among those drawn (rivals are told the true density)",
            FOREIGN,
            lambda read: _foreign(read, "fdr"),
            higher=False,
        ),
        Question(
            "certified: right",
            "share of certified rows that are right, where rows can be told apart",
            FOREIGN,
            _certified_right,
        ),
        Question(
            "nulls: certified",
            "rows certified in a table without sparse regulators",
            FOREIGN,
            lambda read: _foreign(read, "n_certified", nulls=True),
            higher=False,
            digits=1,
        ),
        Question(
            "nulls: edges",
            "edges drawn in a table without sparse regulators",
            FOREIGN,
            lambda read: _foreign(read, "n_edges", nulls=True),
            higher=False,
            digits=0,
        ),
        Question(
            "real: regulators",
            "known regulators met, ratio to FastICA's mean, mean over 250 to 16,000 edges",
            ORGANISMS,
            lambda read: _curve(read, "regulators"),
        ),
        Question(
            "real: 500-1,000 edges",
            "the same with 500 and 1,000 edges",
            ORGANISMS,
            lambda read: _curve(read, "regulators", (500, 1000)),
        ),
        Question(
            "real: pairs",
            "significant pairs, ratio to FastICA's mean, mean over 250 to 16,000 edges",
            ORGANISMS,
            lambda read: _curve(read, "pairs"),
        ),
        Question(
            "real: modules",
            "harmonic mean of recovery and relevance, ratio to FastICA's mean, as before",
            ORGANISMS,
            lambda read: _curve(read, "modules"),
        ),
        Question(
            "knock-outs",
            "area for the deleted regulator's component",
            ORGANISMS,
            lambda read: _organisms(read, "knockout_area", "whole"),
        ),
        Question(
            "seeds",
            "share of regulators that agree with those of seed 0 (> .95)",
            ORGANISMS,
            lambda read: _organisms(read, "agree_95", "whole"),
        ),
        Question(
            "halves: known",
            "known regulators met in both halves of the samples",
            ORGANISMS,
            lambda read: _organisms(read, "known_again", "halves"),
            digits=1,
        ),
        Question(
            "halves: rows",
            "regulators that match between halves of the samples (> .7)",
            ORGANISMS,
            lambda read: _organisms(read, "rows_again", "halves"),
            digits=1,
        ),
        Question(
            "replicates",
            "intraclass correlation of the activities of replicates",
            ORGANISMS,
            lambda read: _organisms(read, "replicates", "whole"),
        ),
        Question(
            "time, foreign",
            "seconds of CPU, ratio to FastICA's on the same table (foreign worlds and nulls), log10",
            FOREIGN,
            _foreign_time,
            higher=False,
            digits=2,
        ),
        Question(
            "time, real",
            "seconds of CPU on real tables, ratio to FastICA's mean, log10",
            ORGANISMS,
            _real_time,
            higher=False,
            digits=2,
        ),
        Question(
            "memory",
            "MB beyond what the process held before the fit, real tables",
            ORGANISMS,
            lambda read: _organisms(read, "peak_mb", "whole"),
            higher=False,
            digits=0,
        ),
    )


def _wide(rows: pd.DataFrame, unit: str, value: str) -> pd.DataFrame:
    """(unit, seed) x method; references are no competitors. "auto" is a method of its own."""
    empty = pd.DataFrame(index=pd.MultiIndex.from_arrays([[], []], names=["unit", "seed"]))
    if rows.empty or value not in rows:
        return empty
    known = rows["method"].map(lambda name: name in METHODS and METHODS[name].role != "reference")
    part = rows[(rows["status"] == "ok") & known & rows[value].notna()]
    if part.empty:
        return empty
    asked = part["asked"] if "asked" in part else pd.Series("known", part.index)
    name = part["method"].where(asked == "known", part["method"] + ", P unknown")
    table = part.assign(unit=part[unit], name=name)
    wide = table.pivot_table(value, ["unit", "seed"], "name", aggfunc="mean", sort=False)
    return wide.rename_axis(columns=None)


def _planted(read: ReadRows, value: str) -> pd.DataFrame:
    rows = pd.concat([read(plan) for plan in PLANTED], ignore_index=True)
    return _wide(rows[rows["threads"] == 1] if len(rows) else rows, "label", value)


def _foreign(read: ReadRows, value: str, nulls: bool = False) -> pd.DataFrame:
    rows = read("foreign")
    if rows.empty:
        return _wide(rows, "panel", value)
    return _wide(rows[is_null(rows) == nulls], "panel", value)


def _certified_right(read: ReadRows) -> pd.DataFrame:
    rows = read("foreign")
    if rows.empty or "n_certified" not in rows:
        return _wide(rows, "panel", "n_certified")
    share = rows["n_certified_right"] / rows["n_certified"].where(rows["n_certified"] > 0)
    return _wide(rows.assign(right=share)[tellable(rows)], "panel", "right")


def _foreign_time(read: ReadRows) -> pd.DataFrame:
    return _wide(read("foreign"), "panel", "seconds_ratio").apply(np.log10)


def _organisms(read: ReadRows, value: str, part: str) -> pd.DataFrame:
    """By collection of known regulators where they count, otherwise by organism."""
    rows = read("organisms")
    if rows.empty:
        return _wide(rows, "panel", value)
    organism = rows["panel"].str.split(",").str[0]
    rows = rows.assign(organism=organism)[rows["part"] == part]
    return _wide(rows, "panel" if value == "known_again" else "organism", value)


def _real_time(read: ReadRows) -> pd.DataFrame:
    return _beside_fastica(_organisms(read, "cpu_seconds", "whole")).apply(np.log10)


def _curve(read: ReadRows, value: str, numbers: tuple[int, ...] | None = None) -> pd.DataFrame:
    """Ratio to FastICA's mean over seeds at each number of edges, then the mean over numbers."""
    rows = read("organisms")
    curves = curve_table(rows) if len(rows) else rows
    if curves.empty:
        return _wide(curves, "panel", value)
    curves = curves[curves["signs"] == "together"]
    if numbers is not None:
        curves = curves[curves["n_edges"].isin(numbers)]
    sum_of_both = (curves["recovery"] + curves["relevance"]).clip(lower=1e-12)
    modules = 2 * curves["recovery"] * curves["relevance"] / sum_of_both
    curves = curves.assign(status="ok", modules=modules)
    parts = [_beside_fastica(_wide(part, "panel", value)) for _, part in curves.groupby("n_edges")]
    return pd.concat(parts).groupby(level=["unit", "seed"], sort=False).mean()


def _beside_fastica(wide: pd.DataFrame) -> pd.DataFrame:
    if "fastica" not in wide:
        return wide.iloc[:0]
    fastica = wide["fastica"].groupby(level="unit").transform("mean")
    return wide.div(fastica.where(fastica > 0), axis=0)
