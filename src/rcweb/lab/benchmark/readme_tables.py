"""The two short tables of README.md."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd

from rcweb.lab.benchmark.comparison import OURS, accuracy_lines
from rcweb.lab.benchmark.measured import (
    ReadRows,
    certified_right,
    curve_ratio,
    foreign,
    organisms,
    random,
)

# Plan, label of the cell, how it is called.
CELLS_SHOWN = (
    ("fig1", "fig1 author N=500 M=280 P=100", "100 regulators, 500 variables, 280 samples"),
    ("fig2a", "fig2 A N=500 M=2000 P=60", "60 regulators, 500 variables, 50 % noise"),
    ("fig2b", "fig2 B N=500 M=2000 P=60", "60 regulators, 500 variables, few with many targets"),
    ("fig2b", "fig2 B N=1000 M=2000 P=120", "120 regulators, 1,000 variables, as before"),
    ("fig3", "fig3 A N=500 M=150 P=30", "30 regulators, 150 samples, 50 % noise"),
    ("fig3", "fig3 B N=500 M=200 P=30", "30 regulators, 200 samples, few with many targets"),
)
FASTICA = "fastica"
KEPT = ["rcweb", "FastICA", "paper's method", "best rival", "ceiling"]


def planted_cells(read: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    """A few cells of figures 1 to 3."""
    lines = []
    for plan, label, name in CELLS_SHOWN:
        summary = read(plan)
        (line,) = accuracy_lines(summary[summary["label"] == label]).to_dict("records")
        lines.append({"planted network": name, **{column: line[column] for column in KEPT}})
    return pd.DataFrame(lines)


def real_and_foreign(read: ReadRows) -> pd.DataFrame:
    """What was measured on tables of four organisms and in worlds the model was not made for."""
    ratio = partial(curve_ratio, read, "regulators")
    kept = organisms(read, "agree_95_kept", "whole")
    every = organisms(read, "agree_95", "whole")
    if not kept.empty:
        kept[FASTICA] = every[FASTICA]  # it has no grades: all of its components count
    questions = {
        "known regulators met with 500 edges, ratio": ratio((500,)),
        "with 2,000 edges": ratio((2000,)),
        "with 8,000 edges": ratio((8000,)),
        "significant pairs of regulator and known list, ratio": curve_ratio(read, "pairs"),
        "regulators that other random numbers give again": kept,
        "worlds the model was not made for: accuracy": foreign(read, "rho"),
        "there: false among the edges drawn": foreign(read, "fdr"),
        "there: certified regulators that are right": certified_right(read),
        "worlds drawn at random: accuracy": random(read, "rho"),
        "at random: false among the edges drawn": random(read, "fdr"),
        "at random: certified regulators that are right": certified_right(read, "random"),
    }
    lines = [
        {
            "real and foreign tables": name,
            "rcweb": _mean(values, OURS),
            "FastICA": _mean(values, FASTICA),
        }
        for name, values in questions.items()
        if not values.empty
    ]
    return pd.DataFrame(lines)


def _mean(values: pd.DataFrame, method: str) -> str:
    """Mean over units of the mean over seeds."""
    if method not in values:
        return ""
    by_unit = values[method].dropna().groupby(level="unit").mean()
    return f"{by_unit.mean():.2f}" if len(by_unit) else ""
