"""From rows to tables: mean and spread per cell, the gap closed, and times beside FastICA's."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rcweb.lab.benchmark.methods import METHODS
from rcweb.lab.benchmark.slopes import SIZES

MEANS = (
    "rho",
    "rho_best_match",
    "rho_edges",
    "precision",
    "recall",
    "f1",
    "average_precision",
    "true_density",
    "fdr",
    "precision_confident",
    "n_components_found",
    "n_edges",
    "knockout_area",
    "replicates",
    "agree_95",
    "agree_99",
    "agree_95_certified",
    "agree_99_certified",
    "agree_95_kept",
    "agree_99_kept",
    "known_again",
    "rows_again",
    "n_certified",
    "n_kept",
    "n_certified_right",
    "n_found",
    "calibration_error",
    "seconds_ratio",
    "peak_mb",
)
CELL = ("label", "figure", "panel", "n_features", "n_samples", "n_regulators", "asked")
# Scores closer than this are a draw.
DRAW = 5e-4
# Where the oracle is no better than the best rival there is no gap to close.
SMALLEST_GAP = 0.002


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per cell, threads and method: means, spread, median seconds, failures.

    rows : of `read_rows`

    Examples
    --------
    >>> import pandas as pd
    >>> from rcweb.lab.benchmark import summarise
    >>> rows = {"cell": "c", "label": "small", "threads": 1, "method": "rcweb", "status": "ok"}
    >>> table = summarise(pd.DataFrame([rows | {"rho": 0.75}, rows | {"rho": 0.5}]))
    >>> table[["label", "method", "n_ok", "rho"]]
       label method  n_ok    rho
    0  small  rcweb     2  0.625
    """
    labels = [name for name in CELL if name in rows]
    groups = rows.groupby(["cell", "threads", "method"], sort=False, dropna=False)
    table = groups[labels].first()
    table["n_ok"] = groups["status"].agg(lambda status: int((status == "ok").sum()))
    table["n_failed"] = groups["status"].agg(lambda status: int((status != "ok").sum()))
    for name in MEANS:
        if name in rows:
            table[name] = groups[name].mean()
    for name in ("rho", "f1"):
        if name in rows:
            table[f"{name}_sd"] = groups[name].std(ddof=1)
    if "rho" in rows:
        table["rho_min"], table["rho_max"] = groups["rho"].min(), groups["rho"].max()
    if "seconds" in rows:
        # Median: other work on the machine only ever adds time.
        table["seconds"] = groups["seconds"].median()
    if "cpu_seconds" in rows:
        table["cpu_seconds"] = groups["cpu_seconds"].median()
    if "exact_support" in rows:
        table["n_exact"] = groups["exact_support"].agg(lambda x: int((x == True).sum()))  # noqa: E712
    return _in_order(table.reset_index())


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    """By cell and method: parallel fits finish in any order."""
    names = [name for name in CELL[1:] if name in table]
    rank = {name: k for k, name in enumerate(METHODS)}
    keyed = table.assign(rank=table["method"].map(rank))
    ordered = keyed.sort_values([*names, "threads", "rank"], kind="stable")
    return ordered.drop(columns="rank").reset_index(drop=True)


def gap_closed(summary: pd.DataFrame, method: str = "rcweb") -> pd.DataFrame:
    """(rho - best rival) / (oracle - best rival) per cell, the rival being the best of its cell.

    summary : of `summarise`; the plan must have run the oracle
    method : whose gap

    NaN where the oracle is not ahead of the rival by more than 0.002.

    Examples
    --------
    >>> import pandas as pd
    >>> from rcweb.lab.benchmark import gap_closed
    >>> scores = {"method": ["rcweb", "fastica", "oracle"], "rho": [0.875, 0.5, 1.0]}
    >>> gap_closed(pd.DataFrame(scores).assign(label="small"))[["cell", "rival", "gap_closed"]]
        cell    rival  gap_closed
    0  small  fastica        0.75
    """
    lines = []
    for cell, group in summary.groupby("label", sort=False):
        rho = group.drop_duplicates("method").set_index("method")["rho"].dropna()
        rivals = rho[[name for name in rho.index if METHODS[name].role == "rival"]]
        if method not in rho or "oracle" not in rho or rivals.empty:
            continue
        best = str(rivals.idxmax())
        # The share of what was left to gain, not the gain: cells differ in difficulty.
        room = rho["oracle"] - rivals[best]
        gain = rho[method] - rivals[best]
        lines.append(
            {
                "cell": cell,
                "rival": best,
                "rho_rival": rivals[best],
                f"rho_{method}": rho[method],
                "rho_oracle": rho["oracle"],
                "gap_closed": gain / room if room > SMALLEST_GAP else np.nan,
            }
        )
    return pd.DataFrame(lines)


def time_ratio(summary: pd.DataFrame, method: str = "rcweb") -> pd.DataFrame:
    """Median seconds of a method over those of FastICA, per cell and number of threads.

    summary : of `summarise`
    method : whose time

    Examples
    --------
    >>> import pandas as pd
    >>> from rcweb.lab.benchmark import time_ratio
    >>> times = pd.DataFrame({"method": ["rcweb", "fastica"], "seconds": [3.0, 2.0]})
    >>> time_ratio(times.assign(label="small", threads=1))["ratio"].tolist()
    [1.5]
    """
    lines = []
    for (cell, threads), group in summary.groupby(["label", "threads"], sort=False):
        seconds = group.set_index("method")["seconds"].dropna()
        if method in seconds and "fastica" in seconds:
            ours, theirs = seconds[method], seconds["fastica"]
            lines.append(
                {
                    "cell": cell,
                    "threads": threads,
                    f"seconds_{method}": ours,
                    "seconds_fastica": theirs,
                    "ratio": ours / theirs,
                }
            )
    return pd.DataFrame(lines)


def accuracy_table(summary: pd.DataFrame, value: str = "rho") -> pd.DataFrame:
    """Cells down, methods across, ``mean ± sd`` in text; empty where nothing was measured."""
    text = [
        f"{mean:.3f}" if np.isnan(sd) else f"{mean:.3f} ± {sd:.3f}"
        for mean, sd in zip(summary[value], summary[f"{value}_sd"])
    ]
    table = summary.assign(text=np.where(summary[value].isna(), "", text))
    return wide_table(table, "text").fillna("").reset_index()


def wide_table(summary: pd.DataFrame, value: str) -> pd.DataFrame:
    """`value` with cells (their labels) down and methods across, both in the order of the plan."""
    # A cell may have been run with several numbers of threads; accuracy is the same.
    once = summary.drop_duplicates(["label", "method"])
    wide = once.pivot(index="label", columns="method", values=value)
    return wide.loc[list(once["label"].unique()), list(once["method"].unique())]


def short_labels(summary: pd.DataFrame) -> list[str]:
    """The cells in order, named by what differs between them."""
    cells = summary.drop_duplicates("label")
    parts = []
    if cells["panel"].nunique() > 1:
        parts.append(cells["panel"].str.removesuffix(" honest"))
    parts += [
        letter + "=" + cells[column].astype(str)
        for letter, column in SIZES.items()
        if cells[column].nunique() > 1
    ]
    if "asked" in cells and cells["asked"].nunique() > 1:
        parts.append(cells["asked"])
    if not parts:
        return [str(label) for label in cells["label"]]
    return ["  ".join(map(str, values)) for values in zip(*parts)]


def to_markdown(table: pd.DataFrame, digits: int = 3) -> str:
    """A table for a page; numbers are rounded, missing ones left empty."""

    def cell(value: object) -> str:
        if isinstance(value, float | np.floating):
            if np.isnan(value):
                return ""
            return f"{value:.{digits}f}" if value % 1 else f"{value:.0f}"
        return str(value)

    lines = [list(map(str, table.columns)), ["---"] * len(table.columns)]
    lines += [[cell(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
